//! `groundwave serve`: the planning server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use groundwave::http::serve::{serve, told_to_stop};
use groundwave::planning::{Frontend, Planner, built_in, router};
use groundwave_engine::Running;
use groundwave_io::store::RedbStore;
use groundwave_io::terrain::TerrainStack;
use groundwave_io::wall::MachineClock;
use groundwave_systems::terrain::Terrain;
use groundwave_systems::{Snapshot, world};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::output::Output;

/// Log filter where `RUST_LOG` says nothing.
pub const LOG_FILTER: &str = "info,groundwave=debug";

/// Simulated time of a tick, ns. Nothing in a plan moves by itself; the step only counts ticks.
const STEP_NS: u64 = 1_000_000;

/// Serve the planning interface over HTTP
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// Address to listen on
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        default_value = "127.0.0.1:8787"
    )]
    bind: SocketAddr,

    /// The store; made when there is none
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    db: PathBuf,

    /// Folder of static files [default: frontend/ where there is one, else a built-in page]
    #[arg(long, env = "PLAN_FRONTEND", value_name = "DIR")]
    frontend: Option<PathBuf>,

    /// Folder of .hgt terrain tiles; without one the ground is 0 m everywhere
    #[arg(long, env = "PLAN_SRTM_DIR", value_name = "DIR")]
    srtm_dir: Option<PathBuf>,

    /// EGM96 undulation grid; without one the undulation is 0 m
    #[arg(long, env = "PLAN_GEOID", value_name = "FILE")]
    geoid: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  groundwave serve
  PLAN_SRTM_DIR=.data/srtm PLAN_GEOID=.data/geoid/WW15MGH.DAC groundwave serve
  groundwave serve --bind 0.0.0.0:8787 --db /var/lib/groundwave/plan.db

The interface is described at /docs and /openapi.json. There is no authentication: listen on
localhost, or put a proxy in front. Log filter: RUST_LOG.";

impl Serve {
    /// Serves until told to stop.
    pub fn run(self, _: Output) -> Result<(), Failure> {
        let terrain: Arc<dyn Terrain> = Arc::new(
            TerrainStack::open(self.srtm_dir.as_deref(), self.geoid.as_deref())
                .map_err(Failure::input)?,
        );
        let frontend = self.find_frontend()?;
        let store = RedbStore::open(&self.db).map_err(Failure::input)?;
        let fresh = store.last_tick().map_err(Failure::machine)? == 0;
        let probe = store.probe();
        let copy = store.copier();

        let mut engine = world(Arc::clone(&terrain))
            .build::<Snapshot>(0, STEP_NS)
            .map_err(Failure::machine)?;
        let rows = engine.keep(store).map_err(Failure::Input)?;
        if fresh {
            // Nothing was ever committed, not even by a server killed before this point.
            let reply = engine
                .handle()
                .submit(built_in())
                .map_err(Failure::machine)?;
            engine
                .tick(Some(groundwave_io::wall::wall_ns()))
                .map_err(Failure::machine)?;
            reply.wait().map_err(Failure::machine)?;
        }
        let handle = engine.handle();
        let running = engine.spawn_on_demand(MachineClock::start())?;
        tracing::info!(store = %self.db.display(), documents = rows, terrain = terrain.describe().name, "opened");

        let stop = CancellationToken::new();
        let planner = Planner::new(
            handle,
            terrain,
            Arc::new(move || {
                let tick = probe().map_err(|fault| fault.to_string())?;
                Ok(format!("reachable, last commit in tick {tick}"))
            }),
            Arc::new(move |path: &Path| copy(path).map_err(|fault| fault.to_string())),
            frontend,
            stop.clone(),
        );
        let served = self.listen(planner, stop);
        finish(running, served)
    }

    fn find_frontend(&self) -> Result<Frontend, Failure> {
        match &self.frontend {
            Some(folder) if folder.is_dir() => Ok(Frontend::Folder(folder.clone())),
            Some(folder) => {
                let what = format!("the frontend folder {} is not there", folder.display());
                Err(Failure::Input(what))
            }
            None => Ok(Some(PathBuf::from("frontend"))
                .filter(|folder| folder.is_dir())
                .map_or(Frontend::BuiltIn, Frontend::Folder)),
        }
    }

    fn listen(&self, planner: Planner, stop: CancellationToken) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let bind = self.bind;
        let served = runtime.block_on(async move {
            let listener = tokio::net::TcpListener::bind(bind)
                .await
                .map_err(|err| Failure::Machine(format!("listen on {bind}: {err}")))?;
            let told = told_to_stop()?;
            let address = listener.local_addr()?;
            tracing::info!("listening on http://{address}, interface at http://{address}/docs/");
            let asked = stop.clone();
            tokio::spawn(async move {
                told.await;
                tracing::info!("told to stop");
                asked.cancel();
            });
            serve(listener, router(planner), stop).await?;
            Ok(())
        });
        // Computations under way are abandoned; what was acknowledged is on disk.
        runtime.shutdown_background();
        served
    }
}

/// Stops the world after the server, and tells what went wrong first.
fn finish(running: Running<Snapshot>, served: Result<(), Failure>) -> Result<(), Failure> {
    let (engine, ended) = running.stop();
    drop(engine);
    served?;
    ended.map_err(Failure::machine)?;
    tracing::info!("stopped");
    Ok(())
}
