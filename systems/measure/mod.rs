//! What was measured of links, beside what the model predicts of them.
//!
//! Measurements come in by command, as reports of devices or from the recordings of others, and
//! change nothing but themselves: the model goes on predicting, and whoever reads both can tell how
//! far they are apart ([`residual`]).

pub mod calibrate;
mod commands;
mod residual;
mod series;
mod state;
#[cfg(test)]
mod tests;
mod view;

use crate::persistent::PersistentMap;
use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Index, Phase, Section};

pub use commands::{MEASUREMENTS_MAX, Measured, Measurement, ObserveLinks};
pub use residual::{Quantity, Residual, residual};
pub use series::{Bucket, Series};
pub use view::{LevelView, Levels};

use crate::site::{NodeId, NodeKind};

/// A direction: who sends, who receives.
pub type Way = (NodeId, NodeId);

/// The last measurement of each direction. Written by `link.observe`, and by `forget_departed`
/// when a node goes.
#[derive(Resource, Debug, Clone, Default)]
pub struct Measurements(PersistentMap<Way, LevelView>);

/// Measured links.
pub fn measure(engine: &mut Builder) {
    engine
        .resource(Measurements::default())
        .section::<Levels>()
        .state::<state::Known>()
        .command::<ObserveLinks>()
        .systems(Phase::Ingest, forget_departed)
        .systems(Phase::Publish, publish_levels);
}

fn forget_departed(index: Res<Index<NodeKind>>, mut known: ResMut<Measurements>) {
    let gone = |id: &NodeId| index.get(*id).is_err();
    if index.departed().is_empty() || known.0.is_empty() {
        return;
    }
    let departed: Vec<Way> = known.0.keys().copied().collect();
    for way in departed.iter().filter(|way| gone(&way.0) || gone(&way.1)) {
        known.0.remove(way);
    }
}

fn publish_levels(known: Res<Measurements>, mut section: ResMut<Section<Levels>>) {
    if known.is_changed() {
        // The map shares what did not change.
        section.redraw(Levels(known.0.clone()));
    }
}
