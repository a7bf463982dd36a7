//! The planner of the server: its services over a world and a store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use groundwave_engine::{Handle, StoreFault};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Terrain;
use groundwave_page::Frontend;
use groundwave_planning::{Planner, ReplayWorld};
use groundwave_scenario::formats::without_options;
use groundwave_simulation::WorldView;
use tokio_util::sync::CancellationToken;

use super::config::ServerConfig;
use super::ground::log_terrain;

/// Planner over the view of a world, with `probe` (tick of the last commit) and `copy` of its store.
pub(super) fn planner(
    config: &ServerConfig,
    view: Handle<WorldView>,
    terrain: Arc<dyn Terrain>,
    probe: impl Fn() -> Result<u64, StoreFault> + Send + Sync + 'static,
    copy: impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + 'static,
    frontend: Frontend,
    stop: CancellationToken,
) -> Planner {
    // Ground may have been fetched since.
    let files = config.clone();
    Planner::new(
        view,
        terrain,
        Arc::new(move || {
            let tick = probe().map_err(|fault| fault.to_string())?;
            Ok(format!("reachable, last commit in tick {tick}"))
        }),
        Arc::new(move |path: &Path| copy(path).map_err(|fault| fault.to_string())),
        ReplayWorld::new::<Snapshot>(world),
        Arc::new(move |inputs: &BTreeMap<String, String>| {
            let opened = log_terrain(&files).for_log(inputs);
            opened.map(|ground| ground.terrain).map_err(|why| without_options(why.message()))
        }),
        frontend,
        stop,
    )
}
