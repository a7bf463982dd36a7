//! The model of Groundwave: nodes, links, flows, and the physics between them.
//!
//! Everything here is pure: no sockets, no files, no clocks. What it needs from outside it names
//! ([`terrain::Terrain`]), and `groundwave_io` supplies it.
//!
//! A feature is a folder with a plugin function; [`world`] registers all of them.

pub mod account;
pub mod automation;
pub mod camera;
pub mod canonical;
pub mod config;
pub mod configuration;
pub mod coverage;
pub mod decimal;
pub mod deployment;
pub mod external;
pub mod firewall;
pub mod fleet;
pub mod flow;
pub mod history;
#[cfg(test)]
mod hostile_tests;
mod identity;
pub mod impair;
pub mod link;
pub mod measure;
mod model;
pub mod motion;
pub mod onboarding;
pub mod peripheral;
mod persistent;
pub mod power;
#[doc(hidden)]
pub mod rollout;
pub mod sample;
pub mod site;
pub mod snapshot;
#[cfg(test)]
mod test_world;
pub mod testbed;
#[doc(hidden)]
pub mod testing;

use std::sync::Arc;

use groundwave_engine::Builder;

pub(crate) use model::numeric;
pub use model::{
    advice, bounds, mesh, patch, propagation, radio, relay, route, sensor, sweep, terrain,
};
pub use snapshot::Snapshot;

/// A world of nodes and links over `terrain`.
#[must_use]
pub fn world(terrain: Arc<dyn terrain::Terrain>) -> Builder {
    // Systems of the world iterate in parallel, which needs the pool under a serial executor too.
    let _threads = groundwave_engine::parallel::threads();
    let mut builder = Builder::new();
    builder
        .resource(site::WorldTerrain(terrain))
        .plugin(deployment::deployment)
        .plugin(site::site)
        .plugin(motion::motion)
        .plugin(link::link)
        .plugin(flow::flow)
        .plugin(measure::measure)
        .plugin(impair::impair)
        .plugin(testbed::testbed)
        .plugin(onboarding::onboarding)
        .plugin(account::account)
        .plugin(fleet::fleet)
        .plugin(canonical::canonical)
        .plugin(firewall::firewall)
        .plugin(power::power)
        .plugin(configuration::configuration)
        .plugin(peripheral::peripheral)
        .plugin(rollout::rollout)
        .plugin(automation::automation);
    builder
}
