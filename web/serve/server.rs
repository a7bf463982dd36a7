//! The server: planning API and mesh gateway over one simulation and one store.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use clap::builder::FalseyValueParser;
use clap::{Args, ValueEnum};
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Engine, FaultKind, Handle, Health, Running, StoreFault};
use groundwave_files::wall::{MachineClock, wall_ns};
use groundwave_gateway::automation::Deliver;
use groundwave_gateway::fleet::StoreMinute;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::serve::{Serving, serve_with, shutdown_signal};
use groundwave_io_gateway::archive;
use groundwave_model::terrain::{Posts, Terrain};
use groundwave_page::{Basemap, Frontend, Source};
use groundwave_planning::{Planner, StoredLog, built_in, open_log, router};
use groundwave_setup::terrain::{TerrainOptions, budget_bytes, inputs_of, memory_mb, posts_parser};
use groundwave_store::RedbStore;
use groundwave_store::journal_file::FileJournal;
use groundwave_terrain::{OffTiles, TerrainStack};
use groundwave_web_gateway::Gateway;
use groundwave_web_gateway::serve::STEP_NS;
use groundwave_web_gateway::serve::gateway::{GatewayConfig, RunningGateway};
use groundwave_web_gateway::services::backups::StorageCopier;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

/// Exit code after the world broke, so that a supervisor restarts the program: a write failed or a
/// system panicked. What was acknowledged is on disk.
const WORLD_BROKE: u8 = 3;

/// Period of the check that the world still ticks.
const WORLD_CHECK_PERIOD: Duration = Duration::from_millis(100);

/// Time that connections have to end after the world broke.
const BROKEN_GRACE: Duration = Duration::from_secs(5);

/// A service of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Radio planning on terrain, port 8787
    Planning,
    /// Live mesh gateway, port 8080
    Gateway,
}

/// Configuration of the server.
#[derive(Debug, Clone, Args)]
pub struct ServerConfig {
    /// Services [default: both]
    #[arg(value_enum, value_name = "SERVICE")]
    pub services: Vec<Service>,

    /// Address of the planning API
    #[arg(
        long,
        env = "PLAN_BIND",
        value_name = "ADDR",
        value_parser = groundwave_http::socket_address,
        default_value = "127.0.0.1:8787"
    )]
    pub bind: SocketAddr,

    /// Store file; created if missing
    #[arg(long, env = "PLAN_DB", value_name = "FILE", default_value = "plan.db")]
    pub db: PathBuf,

    /// Folder of static files [default: frontend/ if it exists, else a built-in page]
    #[arg(long, env = "PLAN_FRONTEND", value_name = "DIR")]
    pub frontend: Option<PathBuf>,

    /// Base map of the page: a PMTiles archive with roads and names [default: none, coasts and borders]
    #[arg(long, env = "PLAN_BASEMAP", value_name = "FILE")]
    pub basemap: Option<PathBuf>,

    /// Folder of terrain: .hgt tiles, GeoTIFF files [default: none, ground at 0 m assumed and said to be missing]
    #[arg(long, env = "PLAN_SRTM_DIR", value_name = "DIR")]
    pub srtm_dir: Option<PathBuf>,

    /// Take ground without a tile as known, at 0 m above sea level: open sea, or flat earth
    #[arg(long, env = "PLAN_FLAT_EARTH", value_parser = FalseyValueParser::new())]
    pub flat_earth: bool,

    /// Height between posts of the terrain: `interpolated` between four, or that of the `nearest` one
    /// [default: interpolated]
    #[arg(long, env = "PLAN_POSTS", value_name = "WAY", value_parser = posts_parser())]
    pub posts: Option<Posts>,

    /// Memory of decoded terrain, MB: the least recently used is dropped and decoded again when needed
    /// [default: a quarter of the machine's]
    #[arg(long = "memory", env = "PLAN_MEMORY", value_name = "MB", value_parser = memory_mb)]
    pub memory_mb: Option<u64>,

    /// EGM96 geoid grid [default: none, undulation 0 m]
    #[arg(long, env = "PLAN_GEOID", value_name = "FILE")]
    pub geoid: Option<PathBuf>,

    /// Record every command to a new log file, for `replay`; it starts with the content of the store,
    /// which includes secrets of the gateway, and has mode 0600
    #[arg(long, env = "GROUNDWAVE_RECORD", value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Log to list on the page for replay; can be given several times
    #[arg(long = "replay", value_name = "FILE")]
    pub replays: Vec<PathBuf>,

    /// Configuration of the gateway.
    #[command(flatten)]
    pub gateway: GatewayConfig,
}

/// A started server.
pub struct Server {
    engine: Running<Snapshot>,
    runtime: Runtime,
    planning: Option<(TcpListener, Router)>,
    gateway: Option<RunningGateway>,
    stop: CancellationToken,
    world: Handle<Snapshot>,
}

impl Server {
    /// Opens the store, starts the simulation and takes all ports.
    ///
    /// # Errors
    /// When an option is invalid, or a file or port is unavailable.
    pub fn start(config: &ServerConfig) -> Result<Self, Failure> {
        let folders: Vec<_> = config.srtm_dir.iter().cloned().collect();
        let posts = config.posts.unwrap_or_default();
        let stack = TerrainStack::open_folders(&folders, config.geoid.as_deref(), posts);
        let off_tiles = match config.flat_earth {
            true => OffTiles::SeaLevel,
            false => OffTiles::AssumedSeaLevel,
        };
        let stack = stack
            .map_err(Failure::input)?
            .off_tiles(off_tiles)
            .with_budget(budget_bytes(config.memory_mb));
        let inputs = inputs_of(&stack, config.flat_earth);
        let terrain: Arc<dyn Terrain> = Arc::new(stack);
        if config.srtm_dir.is_none() && !config.flat_earth {
            tracing::warn!(
                "no terrain data: links and coverages assume ground at 0 m; set PLAN_SRTM_DIR, or \
                 PLAN_FLAT_EARTH=true if the ground is flat"
            );
        }
        let with_gateway = config.has(Service::Gateway);
        let frontend = match config.has(Service::Planning) {
            true => Some(config.frontend()?),
            false => None,
        };
        if frontend.is_none() && config.basemap.is_some() {
            let what =
                "invalid --basemap: found the gateway alone, allowed with the planning service";
            return Err(Failure::Input(what.to_owned()));
        }
        let basemap = frontend.as_ref().and_then(|page| page.basemap.clone());
        let logs = config.logs()?;
        let mut builder = world(Arc::clone(&terrain));
        builder.resource(match with_gateway {
            true => config.gateway.overlay()?,
            false => Default::default(),
        });
        let folder = config.db.parent().filter(|folder| !folder.as_os_str().is_empty());
        let state = with_gateway.then_some(config.gateway.state.path.as_path());
        for folder in folder.into_iter().chain(state) {
            groundwave_http::create_private(folder)?;
        }
        let store = RedbStore::open(&config.db).map_err(Failure::input)?;
        let is_new = store.last_tick().map_err(Failure::machine)? == 0;
        let (probe, copy, whole_copy) = (store.probe(), store.copier(), store.whole_copier());
        let mut engine = builder.build::<Snapshot>(0, STEP_NS).map_err(Failure::machine)?;
        let rows = engine.keep(store).map_err(Failure::Input)?;
        if is_new {
            add_built_in(&mut engine)?;
        }
        if with_gateway {
            let vault = config.gateway.vault()?;
            vault.seal_earlier(&mut engine).map_err(Failure::Machine)?;
        }
        if let Some(path) = &config.record {
            config.record(path, inputs, &mut engine)?;
        }
        let handle = engine.handle();
        let minutes = engine.effects::<StoreMinute>();
        let deliveries = engine.effects::<Deliver>();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let mut server = Self {
            engine: engine.spawn_on_demand(MachineClock::start())?,
            runtime,
            planning: None,
            gateway: None,
            stop: CancellationToken::new(),
            world: handle.clone(),
        };
        let path = std::path::absolute(&config.db).unwrap_or(config.db.clone());
        tracing::info!(store = %path.display(), documents = rows, terrain = terrain.describe().name, "opened");
        let open = || {
            // All ports are taken before one is served.
            if let Some(frontend) = frontend {
                let listener = server.runtime.block_on(groundwave_http::bind(config.bind))?;
                let files = TerrainOptions {
                    srtm_dir: config.srtm_dir.clone(),
                    geoid: config.geoid.clone(),
                    memory_mb: config.memory_mb,
                    ..TerrainOptions::default()
                };
                let planner = Planner::new(
                    handle.clone(),
                    Arc::clone(&terrain),
                    Arc::new(move || {
                        let tick = probe().map_err(|fault| fault.to_string())?;
                        Ok(format!("reachable, last commit in tick {tick}"))
                    }),
                    Arc::new(move |path: &Path| copy(path).map_err(|fault| fault.to_string())),
                    Arc::new(move |inputs: &BTreeMap<String, String>| {
                        let opened = files.for_log(inputs);
                        opened.map(|ground| ground.terrain).map_err(|why| why.message().to_owned())
                    }),
                    frontend,
                    server.stop.clone(),
                );
                for log in logs {
                    planner.replays.add(log);
                }
                server.planning = Some((listener, router(planner)));
            }
            if with_gateway {
                groundwave_http::restrict_to_owner(&config.db)?;
                let planning = server
                    .planning
                    .as_ref()
                    .map(|(listener, _)| listener.local_addr())
                    .transpose()?;
                let gateway = config.gateway.open(handle, planning, server.stop.clone())?;
                let copy = archiver(&config.gateway.state.path, &gateway, whole_copy);
                gateway.backups.set_storage_copier(copy);
                if let Some(planning) = planning {
                    gateway.outbound.listens_on(planning);
                }
                let starting = RunningGateway::start(&config.gateway, gateway, minutes, deliveries);
                let gateway = server.runtime.block_on(starting)?;
                server.planning = match server.planning.take() {
                    Some((listener, routes)) => {
                        let routes = match gateway.is_reachable_from(listener.local_addr()?)? {
                            true => groundwave_page::with_gateway(
                                routes,
                                gateway.routes(),
                                basemap.as_ref(),
                            ),
                            false => routes,
                        };
                        Some((listener, routes))
                    }
                    None => None,
                };
                server.gateway = Some(gateway);
            }
            Ok(())
        };
        match open() {
            Ok(()) => Ok(server),
            Err(failure) => {
                // The failure to open is the one to report.
                let _ = server.close();
                Err(failure)
            }
        }
    }

    /// Address of the planning API, if it is served.
    #[must_use]
    pub fn planning_address(&self) -> Option<SocketAddr> {
        let (listener, _) = self.planning.as_ref()?;
        listener.local_addr().ok()
    }

    /// Token that stops [`Self::run`].
    #[must_use]
    pub fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Serves until a stop signal or until the stop token is cancelled.
    ///
    /// # Errors
    /// When a port, the simulation or the log fails.
    pub fn run(mut self) -> Result<(), Failure> {
        let (planning, gateway) = (self.planning.take(), self.gateway.take());
        let stop = self.stop.clone();
        let world = self.world.clone();
        let served: Result<(), Failure> = self.runtime.block_on(async move {
            groundwave_http::stop_on(shutdown_signal()?, stop.clone());
            // Both services share the bound of connections: they share the descriptors.
            let serving = Serving::of_process();
            let planning = async {
                let Some((listener, routes)) = planning else {
                    return Ok(());
                };
                let address = listener.local_addr()?;
                tracing::info!("listening on http://{address}, API at http://{address}/docs/");
                let served =
                    serve_with::<_, SocketAddr>(listener, routes, stop.clone(), serving.clone())
                        .await;
                stop.cancel();
                served
            };
            let gateway = async {
                let Some(gateway) = gateway else {
                    return Ok(());
                };
                let served = gateway.serve(stop.clone(), serving.clone()).await;
                stop.cancel();
                served
            };
            tokio::select! {
                (planning, gateway) = async { tokio::join!(planning, gateway) } => {
                    planning?;
                    gateway?;
                }
                () = end_with_world(world, stop.clone()) => {}
            }
            Ok(())
        });
        let closed = self.close();
        served?;
        closed?;
        tracing::info!("stopped");
        Ok(())
    }

    /// Stops the simulation and ends the log with a digest.
    fn close(self) -> Result<(), Failure> {
        // Computations in progress are abandoned; acknowledged commands are on disk.
        self.runtime.shutdown_background();
        let (mut engine, ended) = self.engine.stop();
        if ended.is_ok() {
            engine.mark()?;
        }
        ended.map_err(|broken| Failure::Exit { message: broken.to_string(), code: WORLD_BROKE })
    }
}

/// Stops the server when its world breaks: every command would be refused for ever, and a supervisor
/// restarts only what ends. Connections have [`BROKEN_GRACE`] to end.
async fn end_with_world(world: Handle<Snapshot>, stop: CancellationToken) {
    while !matches!(world.health(), Health::Broken(_)) {
        tokio::time::sleep(WORLD_CHECK_PERIOD).await;
    }
    tracing::error!("the world broke: the server ends");
    stop.cancel();
    tokio::time::sleep(BROKEN_GRACE).await;
}

impl ServerConfig {
    fn has(&self, service: Service) -> bool {
        self.services.is_empty() || self.services.contains(&service)
    }

    fn frontend(&self) -> Result<Frontend, Failure> {
        let source = match &self.frontend {
            Some(folder) if folder.is_dir() => Source::Folder(folder.clone()),
            Some(folder) => {
                return Err(Failure::Input(format!(
                    "missing frontend folder {}",
                    folder.display()
                )));
            }
            None => Some(PathBuf::from("frontend"))
                .filter(|folder| folder.is_dir())
                .map_or(Source::BuiltIn, Source::Folder),
        };
        let basemap =
            self.basemap.as_deref().map(Basemap::open).transpose().map_err(Failure::Input)?;
        Ok(Frontend { source, basemap })
    }

    /// The logs to list, each read once.
    fn logs(&self) -> Result<Vec<StoredLog>, Failure> {
        if !self.replays.is_empty() && !self.has(Service::Planning) {
            let what =
                "invalid --replay: found the gateway alone, allowed with the planning service";
            return Err(Failure::Input(what.to_owned()));
        }
        let logs = self.replays.iter().map(|path| {
            let log = open_log(path);
            log.map_err(|why| Failure::Input(format!("invalid --replay {}: {why}", path.display())))
        });
        logs.collect()
    }

    fn record(
        &self,
        path: &Path,
        inputs: BTreeMap<String, String>,
        engine: &mut Engine<Snapshot>,
    ) -> Result<(), Failure> {
        let header = Header { format: FORMAT, seed: 0, step_ns: STEP_NS, inputs };
        let journal = FileJournal::create(path, &header).map_err(Failure::input)?;
        groundwave_http::restrict_to_owner(path)?;
        let started = engine.record_from_here(journal);
        started.map_err(Failure::Machine)?;
        engine.checkpoint_every(CHECKPOINT_TICKS);
        Ok(())
    }
}

/// A function that writes an archive of the gateway: store, keys, audit log, telemetry.
fn archiver(
    state: &Path,
    gateway: &Gateway,
    copy: impl Fn(&Path) -> Result<(), StoreFault> + Send + Sync + 'static,
) -> StorageCopier {
    let (state, history) = (state.to_owned(), gateway.history.clone());
    Box::new(move |to: &Path| {
        let store = to.with_extension("store");
        copy(&store)?;
        let pack = || archive::pack(File::create_new(to)?, &store, &state, &history);
        pack().map_err(|err| StoreFault {
            kind: FaultKind::of(&err),
            operation: "pack the copy",
            cause: err.to_string(),
        })
    })
}

/// Adds the built-in catalogue to a store without commits.
fn add_built_in(engine: &mut Engine<Snapshot>) -> Result<(), Failure> {
    let reply = engine.handle().submit(built_in()).map_err(Failure::machine)?;
    engine.tick(Some(wall_ns())).map_err(Failure::machine)?;
    reply.wait().map(drop).map_err(Failure::machine)
}
