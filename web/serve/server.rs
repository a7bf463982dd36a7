//! The server: planning API and mesh gateway over one simulation and one store.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use groundwave_engine::{Engine, Handle, Health, Running};
use groundwave_files::wall::{MachineClock, wall_ns};
use groundwave_gateway::automation::Deliver;
use groundwave_gateway::fleet::StoreMinute;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::refuse_folder;
use groundwave_http::serve::{Serving, serve_with, shutdown_signal};
use groundwave_model::terrain::{SharedTerrain, Terrain};
use groundwave_planning::wire::ground::GroundData;
use groundwave_planning::{built_in, router};
use groundwave_setup::terrain::inputs_of;
use groundwave_simulation::WorldView;
use groundwave_store::RedbStore;
use groundwave_web_gateway::serve::STEP_NS;
use groundwave_web_gateway::serve::gateway::RunningGateway;
use groundwave_web_gateway::services::earlier_secrets::seal_earlier;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::archive::archiver;
pub use super::config::{ServerConfig, Service};
use super::planning::planner;
use super::{foreign_log, ground};

/// Exit code after the world broke, so that a supervisor restarts the program: a write failed or a
/// system panicked. What was acknowledged is on disk.
const WORLD_BROKE: u8 = 3;

/// Period of the check that the world still ticks.
const WORLD_CHECK_PERIOD: Duration = Duration::from_millis(100);

/// Time that connections have to end after the world broke.
const BROKEN_GRACE: Duration = Duration::from_secs(5);

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
        let stack = ground::open(config)?;
        let inputs = inputs_of(&stack, config.flat_earth);
        if !stack.has_folder() && !config.flat_earth {
            tracing::warn!(
                "no terrain data: the ground of links and coverages is unknown; set PLAN_SRTM_DIR, fetch \
                 ground on the page or with `groundwave terrain fetch`, or set PLAN_FLAT_EARTH=true if \
                 the ground is flat"
            );
        }
        for (other, own, is_set) in [
            ("GROUNDWAVE_LAND_COVER", "PLAN_LAND_COVER", config.land_cover.is_some()),
            ("GROUNDWAVE_FLAT_EARTH", "PLAN_FLAT_EARTH", config.flat_earth),
        ] {
            if !is_set && std::env::var_os(other).is_some() {
                tracing::warn!("{other} is of other commands, `serve` takes {own}");
            }
        }
        let terrain = Arc::new(SharedTerrain::new(Arc::new(stack)));
        let mut fetches = Vec::new();
        for data in [GroundData::Heights, GroundData::LandCover] {
            fetches.push((data, ground::source(config, data, Arc::clone(&terrain))?));
        }
        let with_gateway = config.has(Service::Gateway);
        let frontend = match config.has(Service::Planning) {
            true => Some(config.frontend()?),
            false => None,
        };
        let basemap = frontend.as_ref().and_then(|page| page.basemap.clone());
        let logs = match config.has(Service::Planning) {
            true => config.logs()?,
            false => Vec::new(),
        };
        let mut builder = world(terrain.clone());
        builder.resource(match with_gateway {
            true => config.gateway.overlay()?,
            false => Default::default(),
        });
        refuse_folder("--db", &config.db, "the path of a file")?;
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
            seal_earlier(&vault, &mut engine).map_err(Failure::Machine)?;
        }
        if let Some(path) = &config.record {
            config.record(path, inputs, &mut engine)?;
        }
        let handle = engine.handle();
        let plan = engine.handle_of::<WorldView>();
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
        let store = path.display();
        if is_new {
            tracing::info!(%store, "new, empty store");
        }
        tracing::info!(%store, documents = rows, terrain = terrain.describe().name, "opened");
        let open = || {
            // All ports are taken before one is served.
            if let Some(frontend) = frontend {
                let listener = server.runtime.block_on(groundwave_http::bind(config.bind))?;
                let ground = terrain.current();
                let planner =
                    planner(config, plan, ground, probe, copy, frontend, server.stop.clone());
                for (data, source) in fetches {
                    planner.ground.set(data, source);
                }
                planner.set_recorder(foreign_log::recorder(config));
                if let Some(engine) = config.engine.open().map_err(Failure::Input)? {
                    planner.set_engine(Arc::new(engine));
                }
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
                                (gateway.routes(), gateway.address()?.port()),
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
            // All ports are taken: connections wait until they are served.
            groundwave_http::notify::ready()?;
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
        groundwave_http::notify::stopping()?;
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

/// Adds the built-in catalogue to a store without commits.
fn add_built_in(engine: &mut Engine<Snapshot>) -> Result<(), Failure> {
    let reply = engine.handle().submit(built_in()).map_err(Failure::machine)?;
    engine.tick(Some(wall_ns())).map_err(Failure::machine)?;
    reply.wait().map(drop).map_err(Failure::machine)
}
