//! The gateway of a running mesh: plugins of accounts, onboarding, fleet, firewall, configuration and
//! automation beside those of the simulation, and the snapshot of all of them.

pub mod account;
pub mod automation;
pub mod camera;
pub mod canonical;
pub mod config;
pub mod configuration;
mod dependents;
pub mod external;
pub mod firewall;
pub mod fleet;
#[cfg(test)]
mod hostile_tests;
mod identity;
pub mod onboarding;
pub mod outage;
pub mod peripheral;
pub mod power;
#[doc(hidden)]
pub mod rollout;
pub mod snapshot;
#[cfg(test)]
mod test_world;
mod timed_id;

use std::sync::Arc;

use groundwave_engine::Builder;
use groundwave_model::terrain::Terrain;

pub use snapshot::Snapshot;

/// A world of nodes and links over `terrain`.
#[must_use]
pub fn world(terrain: Arc<dyn Terrain>) -> Builder {
    let mut builder = groundwave_simulation::world(terrain);
    builder
        .plugin(onboarding::onboarding)
        .plugin(account::account)
        .plugin(fleet::fleet)
        .plugin(canonical::canonical)
        .plugin(firewall::firewall)
        .plugin(power::power)
        .plugin(configuration::configuration)
        .plugin(peripheral::peripheral)
        .plugin(rollout::rollout)
        .plugin(outage::outage)
        .plugin(automation::automation);
    builder
}
