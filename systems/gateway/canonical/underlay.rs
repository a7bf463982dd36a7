//! Underlay addresses, from which overlay ranges stay apart.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal, State};
use serde::{Deserialize, Serialize};

use crate::onboarding::AddressPool;

/// Underlay addresses of this gateway, once it has started. Written by `model.set_underlay`.
#[derive(Resource, Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Underlay(Option<AddressPool>);

impl Underlay {
    /// The range.
    pub(super) const fn range(self) -> Option<AddressPool> {
        self.0
    }
}

impl State for Underlay {
    const TABLE: &'static str = "underlay";

    fn save(world: &World) -> Self {
        *world.resource::<Self>()
    }

    fn is_fresh(&self) -> bool {
        self.0.is_none()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self);
        Ok(())
    }
}

/// Sets the underlay addresses, as this gateway is configured.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetUnderlay {
    /// Range.
    pub range: AddressPool,
}
impl Command for SetUnderlay {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        world.insert_resource(Underlay(Some(self.range)));
        Ok(())
    }
}
impl Recorded for SetUnderlay {
    const NAME: &'static str = "model.set_underlay";
    type Reply = ();
}
