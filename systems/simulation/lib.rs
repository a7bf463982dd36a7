//! The simulated mesh: plugins of nodes, links, flows, motion, measurements, coverage and the testbed,
//! and the view of them at the end of a tick.

pub mod coverage;
pub mod deployment;
pub mod evaluation;
pub mod flow;
pub mod history;
pub mod link;
pub mod measure;
#[cfg(test)]
mod mesh_tests;
pub mod motion;
pub mod site;
pub mod testbed;
mod world_view;

use std::sync::Arc;

use groundwave_engine::Builder;
use groundwave_model::terrain::Terrain;

pub use world_view::{MeshSnapshot, WorldView, section};

/// World of the simulated mesh over `terrain`, before it is built: its components, commands and
/// systems.
#[must_use]
pub fn world(terrain: Arc<dyn Terrain>) -> Builder {
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
        .plugin(groundwave_impair::impair)
        .plugin(testbed::testbed);
    builder
}
