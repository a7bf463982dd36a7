//! `groundwave serve`: planning server and mesh gateway over one simulation.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use groundwave::gateway::Gateway;
use groundwave::http::serve::{serve, shutdown_signal};
use groundwave::planning::{Frontend, Planner, built_in, router};
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Effects, Engine, Running};
use groundwave_io::journal::FileJournal;
use groundwave_io::store::RedbStore;
use groundwave_io::terrain::TerrainStack;
use groundwave_io::wall::MachineClock;
use groundwave_systems::fleet::StoreMinute;
use groundwave_systems::terrain::Terrain;
use groundwave_systems::{Snapshot, world};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::gateway::GatewayOptions;
use super::ground::GroundArgs;
use super::output::Output;
use super::standing::bound;

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "info,groundwave=debug";

/// Simulated time of a tick, ns. Nothing in a plan moves by itself; the step only counts ticks.
const STEP_NS: u64 = 1_000_000;

/// A service of `serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Radio planning on terrain, port 8787
    Planning,
    /// Live mesh gateway, port 8080
    Gateway,
}

/// Serve the planning API and the mesh gateway over HTTP
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Serve {
    /// Services [default: both]
    #[arg(value_enum, value_name = "SERVICE")]
    services: Vec<Service>,

    /// Address of the planning API
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        default_value = "127.0.0.1:8787"
    )]
    bind: SocketAddr,

    /// Store file; created if missing
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    db: PathBuf,

    /// Folder of static files [default: frontend/ if it exists, else a built-in page]
    #[arg(long, env = "PLAN_FRONTEND", value_name = "DIR")]
    frontend: Option<PathBuf>,

    /// Folder of .hgt terrain tiles [default: none, flat ground at 0 m]
    #[arg(long, env = "PLAN_SRTM_DIR", value_name = "DIR")]
    srtm_dir: Option<PathBuf>,

    /// EGM96 geoid grid [default: none, undulation 0 m]
    #[arg(long, env = "PLAN_GEOID", value_name = "FILE")]
    geoid: Option<PathBuf>,

    /// Record every command to a new log file, for `replay`; it starts with the content of the store,
    /// which includes secrets of the gateway, and has mode 0600
    #[arg(long, env = "GROUNDWAVE_RECORD", value_name = "FILE")]
    record: Option<PathBuf>,

    #[command(flatten)]
    gateway: GatewayOptions,
}

const EXAMPLES: &str = "\
Examples:
  groundwave serve
  groundwave serve planning
  groundwave serve planning --bind 127.0.0.1:8788 --db plans.db
  groundwave serve gateway --state gateway-state --tunnel off
  groundwave serve --record today.gwlog
  PLAN_SRTM_DIR=.data/srtm PLAN_GEOID=.data/geoid/WW15MGH.DAC groundwave serve

Both APIs are described at /docs and /openapi.json of their port. The planning API has no
authentication: listen on localhost or behind a proxy. The gateway has accounts; the password of
the first admin is written to STATE/bootstrap-admin. `groundwave replay today.gwlog` replays a
recording. Log filter: RUST_LOG.";

impl Serve {
    /// Serves until told to stop.
    pub fn run(self, _: Output) -> Result<(), Failure> {
        let terrain: Arc<dyn Terrain> = Arc::new(
            TerrainStack::open(self.srtm_dir.as_deref(), self.geoid.as_deref())
                .map_err(Failure::input)?,
        );
        let planning = self.shows(Service::Planning);
        let gateway = self.shows(Service::Gateway).then_some(&self.gateway);
        let frontend = match planning {
            true => self.find_frontend()?,
            false => Frontend::BuiltIn,
        };
        let pool = gateway.map(GatewayOptions::overlay).transpose()?;
        let store = RedbStore::open(&self.db).map_err(Failure::input)?;
        let fresh = store.last_tick().map_err(Failure::machine)? == 0;
        let probe = store.probe();
        let copy = store.copier();
        let whole = store.whole_copier();

        let mut builder = world(Arc::clone(&terrain));
        builder.resource(pool.unwrap_or_default());
        let mut engine = builder
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
        if let Some(path) = &self.record {
            self.record(path, &mut engine)?;
        }
        let handle = engine.handle();
        let minutes = engine.effects::<StoreMinute>();
        let running = engine.spawn_on_demand(MachineClock::start())?;
        tracing::info!(store = %self.db.display(), documents = rows, terrain = terrain.describe().name, "opened");

        let stop = CancellationToken::new();
        let gateway = match gateway {
            Some(options) => {
                keep_to_owner(&self.db)?;
                let made = options.open(handle.clone(), Arc::clone(&terrain), stop.clone());
                match made {
                    Ok(gateway) => {
                        let copy = move |to: &Path| whole(to).map_err(|fault| fault.to_string());
                        gateway.backups.set_copier(Box::new(copy));
                        Some((gateway, minutes))
                    }
                    Err(failure) => return finish(running, Err(failure)),
                }
            }
            None => None,
        };
        let planner = planning.then(|| {
            Planner::new(
                handle,
                terrain,
                Arc::new(move || {
                    let tick = probe().map_err(|fault| fault.to_string())?;
                    Ok(format!("reachable, last commit in tick {tick}"))
                }),
                Arc::new(move |path: &Path| copy(path).map_err(|fault| fault.to_string())),
                frontend,
                stop.clone(),
            )
        });
        let served = self.listen(planner, gateway, stop);
        finish(running, served)
    }

    fn shows(&self, service: Service) -> bool {
        self.services.is_empty() || self.services.contains(&service)
    }

    fn record(&self, path: &Path, engine: &mut Engine<Snapshot>) -> Result<(), Failure> {
        let ground = GroundArgs {
            srtm_dir: self.srtm_dir.clone(),
            geoid: self.geoid.clone(),
        };
        let header = Header {
            format: FORMAT,
            seed: 0,
            step_ns: STEP_NS,
            inputs: ground.server_inputs(),
        };
        let journal = FileJournal::create(path, &header).map_err(Failure::input)?;
        keep_to_owner(path)?;
        let begun = engine.record_from_here(journal);
        begun.map_err(Failure::Machine)?;
        engine.checkpoint_every(CHECKPOINT_TICKS);
        Ok(())
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

    fn listen(
        &self,
        planner: Option<Planner>,
        gateway: Option<(Gateway, Effects<StoreMinute>)>,
        stop: CancellationToken,
    ) -> Result<(), Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()?;
        let bind = self.bind;
        let start = match gateway {
            Some((gateway, minutes)) => Some(self.gateway.start(gateway, minutes)?),
            None => None,
        };
        let served = runtime.block_on(async move {
            // Both ports are taken before either is served: one alone would look like success.
            let planning = match planner {
                Some(planner) => Some((bound(bind).await?, router(planner))),
                None => None,
            };
            let gateway = match start {
                Some(start) => Some(start.open().await?),
                None => None,
            };
            let told = shutdown_signal()?;
            let asked = stop.clone();
            tokio::spawn(async move {
                told.await;
                tracing::info!("told to stop");
                asked.cancel();
            });
            let plans = async {
                let Some((listener, routes)) = planning else {
                    return Ok(());
                };
                let address = listener.local_addr()?;
                tracing::info!(
                    "listening on http://{address}, interface at http://{address}/docs/"
                );
                let served = serve(listener, routes, stop.clone()).await;
                stop.cancel();
                served
            };
            let nodes = async {
                let Some(gateway) = gateway else {
                    return Ok(());
                };
                let served = gateway.serve(stop.clone()).await;
                stop.cancel();
                served
            };
            let (plans, nodes) = tokio::join!(plans, nodes);
            plans?;
            nodes?;
            Ok(())
        });
        // Computations under way are abandoned; what was acknowledged is on disk.
        runtime.shutdown_background();
        served
    }
}

/// A store that holds secrets is its owner's alone.
fn keep_to_owner(store: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let owner = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(store, owner)?;
    Ok(())
}

/// Stops the world after the server, and tells what went wrong first.
fn finish(running: Running<Snapshot>, served: Result<(), Failure>) -> Result<(), Failure> {
    let (mut engine, ended) = running.stop();
    // A log ends with what the world came to; without a log this goes nowhere.
    if ended.is_ok() {
        engine.mark()?;
    }
    drop(engine);
    served?;
    ended.map_err(Failure::machine)?;
    tracing::info!("stopped");
    Ok(())
}
