//! Reports of what was measured.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::components::LinkMeasurements;
use super::values::{LevelView, Measured};
use crate::link::recorded_link;
use crate::site::{NodeId, node};

/// Maximum number of measurements of a report; more are sent in several.
pub const MEASUREMENTS_MAX: usize = 10_000;

/// A measurement of a direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Node that sent.
    pub from: NodeId,
    /// Node that received.
    pub to: NodeId,
    /// Measured values; they replace all earlier ones.
    pub values: Measured,
}

/// Reports what was measured of links at the time of this tick.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveLinks {
    /// At most [`MEASUREMENTS_MAX`]; of several for one direction the last one counts.
    pub measurements: Vec<Measurement>,
}

impl Command for ObserveLinks {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let count = self.measurements.len();
        if count > MEASUREMENTS_MAX {
            let allowed = format!("up to {MEASUREMENTS_MAX} measurements");
            return Err(Refusal::invalid("measurements", count, allowed));
        }
        for measurement in &self.measurements {
            let Measurement { from, to, values } = measurement;
            node(world, *from)?;
            node(world, *to)?;
            if from == to {
                return Err(Refusal::invalid("to", to, "another node than from"));
            }
            values.validate()?;
        }
        let at_ns = world.resource::<Clock>().now_ns();
        for Measurement { from, to, values } in self.measurements {
            let level = LevelView { from, to, at_ns, values };
            record(world, level)?;
        }
        Ok(())
    }
}
impl Recorded for ObserveLinks {
    const NAME: &'static str = "link.observe";
    type Reply = ();
}

/// Makes `level` the last measurement of its direction.
pub(super) fn record(world: &mut World, level: LevelView) -> Result<(), Refusal> {
    let link = recorded_link(world, level.from, level.to)?;
    let mut link = world.entity_mut(link);
    let backward = usize::from(level.from > level.to);
    match link.get_mut::<LinkMeasurements>() {
        Some(mut levels) => levels.0[backward] = Some(level),
        None => {
            let mut first = LinkMeasurements::default();
            first.0[backward] = Some(level);
            link.insert(first);
        }
    }
    Ok(())
}
