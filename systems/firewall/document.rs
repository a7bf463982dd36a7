//! Document of the firewall.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::state::{Firewall, FirewallId, FirewallKind};

/// The rulesets in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FirewallDocument(Firewall);

impl Document for FirewallDocument {
    const TABLE: &'static str = "firewall";
    type Kind = FirewallKind;
    type Changed = Changed<Firewall>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let firewall = entity.get::<Firewall>().expect("the firewall has one");
        Self(firewall.clone())
    }

    fn restore(self, id: FirewallId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<FirewallKind>>().vacant(id)?;
        world.spawn((id, self.0));
        Ok(())
    }
}
