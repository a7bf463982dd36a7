//! Values of a link direction that somebody sets by hand in a running testbed.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::commands::pair;
use super::observed::LinkDirection;
use super::shape::{RATE_BPS_MIN, Shape};
use crate::link::LinkKey;

/// Values of a direction that stand in place of those of the model; absent ones follow the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManualShape {
    /// Loss probability of unicast and broadcast packets, [0, 1].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_prob: Option<f64>,
    /// Rate, bit/s, 64 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Mean delay, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<u64>,
    /// Standard deviation of the delay, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<u64>,
}

impl ManualShape {
    /// `true` without a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// A shape with these values; a direction that is down stays down.
    #[must_use]
    pub fn over(&self, shape: Shape) -> Shape {
        if !shape.up {
            return shape;
        }
        Shape {
            loss_prob: self.loss_prob.unwrap_or(shape.loss_prob),
            broadcast_loss_prob: self.loss_prob.unwrap_or(shape.broadcast_loss_prob),
            rate_bps: self.rate_bps.unwrap_or(shape.rate_bps),
            delay_ns: self.delay_ns.unwrap_or(shape.delay_ns),
            jitter_ns: self.jitter_ns.unwrap_or(shape.jitter_ns),
            ..shape
        }
    }
}

/// Values of both directions of a veth pair, in the order of its sides. Written by `testbed.set_link`.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq)]
pub struct ManualShapes(pub [ManualShape; 2]);

/// Links whose values by hand changed since their shapes were computed. Written by `testbed.set_link` and
/// `shape_links`.
#[derive(Resource, Debug, Default)]
pub struct ManualChanges(pub BTreeSet<LinkKey>);

/// Sets values of a direction by hand, or gives them back to the model where there is none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetLinkShape {
    /// The direction.
    pub side: LinkDirection,
    /// All its values by hand.
    pub values: ManualShape,
}
impl Command for SetLinkShape {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (pair, side) = pair(world, self.side)?;
        let loss_prob = self.values.loss_prob.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&loss_prob) {
            return Err(Refusal::invalid("loss_prob", loss_prob, "0 to 1"));
        }
        if let Some(rate_bps) = self.values.rate_bps.filter(|rate_bps| *rate_bps < RATE_BPS_MIN) {
            return Err(Refusal::invalid("rate_bps", rate_bps, format!("{RATE_BPS_MIN} or more")));
        }
        self.values.over(Shape { up: true, ..Shape::DOWN }).validate()?;
        let mut shapes = world.get_mut::<ManualShapes>(pair).expect("a veth pair has them");
        let mut now = *shapes;
        now.0[side] = self.values;
        if shapes.set_if_neq(now) {
            let key = LinkKey::new(self.side.from, self.side.to).expect("of a veth pair");
            world.resource_mut::<ManualChanges>().0.insert(key);
        }
        Ok(())
    }
}
impl Recorded for SetLinkShape {
    const NAME: &'static str = "testbed.set_link";
    type Reply = ();
}
