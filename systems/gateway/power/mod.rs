//! Uninterruptible power supplies: latest samples, and events of their batteries.
//!
//! Samples come from nodes, users and the NUT server, as commands; older ones are in the history of
//! readings.

mod commands;
mod sample;
mod state;
#[cfg(test)]
mod tests;

use groundwave_engine::{Builder, ComponentDocument, Phase};

use crate::dependents;

pub use commands::{RecordUpsSamples, RemoveUps, SAMPLES_AT_ONCE_MAX};
pub use sample::{STATUSES_MAX, UpsSample, UpsStatus};
pub use state::{LatestUps, UPS_MAX, Ups, UpsId, UpsKind, UpsSource, check_ups_id};

/// Power supplies.
pub fn power(engine: &mut Builder) {
    dependents::register(engine.world(), state::remove_supplies);
    engine
        .kind::<UpsKind>()
        .section::<LatestUps>()
        .command::<RecordUpsSamples>()
        .command::<RemoveUps>()
        .document::<ComponentDocument<Ups>>()
        .systems(Phase::Publish, state::publish_ups);
}
