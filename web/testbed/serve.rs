//! The testbed controller: a simulation in real time, the driver of its network, and the HTTP API
//! that changes it.

use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use axum::http::Method;
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::Header;
use groundwave_engine::{Effects, Engine, Execution, Next, Running, Throttle};
use groundwave_files::access::Access;
use groundwave_files::descriptors::raise_limit;
use groundwave_files::socket::Socket;
use groundwave_files::wall::{MachineClock, wall_ns};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::client::Client as Http;
use groundwave_http::serve::{serve_to, shutdown_or_hangup_signal};
use groundwave_http::{Failure, Problem};
use groundwave_impair::{Direction as PortName, DivergenceKind};
use groundwave_impaird::Peer;
use groundwave_impaird::wire::AppliedState;
use groundwave_setup::recording::Source;
use groundwave_setup::simulation::{header, prepare_after, queue};
use groundwave_setup::terrain::{TerrainOptions, replay_failure};
use groundwave_simulation::evaluation;
use groundwave_simulation::testbed::{Means, Port, Settings, TakeOver, Work};
use groundwave_store::journal_file;
use groundwave_store::journal_file::FileJournal;
use groundwave_testbed::{
    BoundPorts, ControllerLock, DaemonReply, DaemonRequest, DaemonState, Driver, Names, State,
    TestbedError, TestbedNetwork, restore, tear_down,
};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::wire::Testbed;
use crate::{Controller, router};

/// Threads that serve connections.
const THREADS: usize = 2;

/// An engine ready to drive a testbed.
pub struct Prepared {
    settings: Settings,
    engine: Engine<Snapshot>,
    effects: Effects<Work>,
    /// The network may exist already.
    adopt: bool,
    /// Simulated seconds per second.
    speed: f64,
    lock: ControllerLock,
}

/// Prepares a new testbed: queues the scenario or recording, records it, and computes the first tick.
///
/// # Errors
/// When the scenario or its terrain is invalid.
pub fn prepare(
    state: &State,
    path: &Path,
    source: &Source,
    settings: Settings,
    terrain: &TerrainOptions,
    speed: f64,
) -> Result<Prepared, Failure> {
    let scenario = &source.scenario;
    let terrain = source.ground(terrain)?;
    let begin = serde_json::to_value(&settings).map_err(Failure::machine)?;
    let first =
        vec![("testbed.begin", begin), ("testbed.pace", serde_json::json!({ "speed": speed }))];
    let mut engine = prepare_after(path, scenario, &terrain, first)?;
    state.create().map_err(Failure::machine)?;
    let lock = state.claim().map_err(Failure::machine)?;
    std::fs::write(state.terrain(), terrain.source.to_json())?;
    let journal = FileJournal::create(&state.log(), &header(scenario, &terrain));
    engine.record(journal.map_err(Failure::input)?).checkpoint_every(CHECKPOINT_TICKS);
    let effects = engine.effects::<Work>();
    let ticked = engine.tick(Some(wall_ns())).map_err(Failure::machine)?;
    if let Some((name, refusal)) = ticked.refused.first() {
        let message = format!("command {name} rejected: {refusal}");
        let _ = remove(state, None, UnrestoredPorts::Keep);
        return Err(Failure::Input(message));
    }
    terrain.check_tiles()?;
    Ok(Prepared { settings, engine, effects, adopt: false, speed, lock })
}

/// Prepares the takeover of a testbed without a controller: replays its log and continues it.
///
/// # Errors
/// When the log is invalid or not that of a testbed.
pub fn take_over(state: &State, terrain: &TerrainOptions) -> Result<Prepared, Failure> {
    let name = &state.testbed;
    let unusable = |err: Failure| match err {
        Failure::Input(why) | Failure::Machine(why) => Failure::Input(format!(
            "the log of testbed {name} cannot be resumed: {why}; `groundwave testbed down --name \
             {name}` removes the testbed"
        )),
        other => other,
    };
    let lock = state.claim().map_err(Failure::machine)?;
    let opened = journal_file::open(&state.log()).map_err(Failure::input);
    let mut log = opened.map_err(unusable)?;
    evaluation::compare(&mut log);
    let header: Header = log.header().clone();
    let source = std::fs::read(state.terrain()).unwrap_or_default();
    let terrain = terrain.or(TerrainOptions::from_json(&source)).for_log(&header.inputs)?;
    let mut builder = world(terrain.terrain.clone());
    builder.execution(Execution::Parallel);
    let mut engine: Engine<Snapshot> =
        builder.build(header.seed, header.step_ns).map_err(Failure::input)?;
    let replayed = groundwave_engine::replay(&mut engine, &mut log, |_| Next::Go);
    replayed.map_err(replay_failure).map_err(unusable)?;
    drop(log);
    let view = engine.view();
    let Some(settings) = view.testbed.settings.clone() else {
        let what = "its controller ended before its first tick was logged";
        return Err(unusable(Failure::Input(what.to_owned())));
    };
    // Remaining commands of the scenario.
    match settings.scenario.as_deref().map(|path| (path, Source::open(path))) {
        Some((path, Ok(source))) => {
            let last_tick = engine.clock().tick;
            queue(&mut engine, path, (&source.scenario, &terrain), |tick| tick > last_tick)?;
        }
        Some((path, Err(_))) => {
            tracing::warn!(path = %path.display(), "scenario unreadable; its remaining commands are skipped");
        }
        None => {}
    }
    let (journal, ..) = FileJournal::append_to(&state.log()).map_err(Failure::input)?;
    engine.record(journal).checkpoint_every(CHECKPOINT_TICKS);
    let effects = engine.effects::<Work>();
    let from_ns = view.now_ns;
    let submitted = engine.handle().submit(TakeOver { from_ns });
    submitted.map_err(Failure::machine)?;
    // Ticked once here, because a paused simulation would not apply it.
    engine.tick(Some(wall_ns())).map_err(Failure::machine)?;
    let speed = view.testbed.speed;
    Ok(Prepared { settings, engine, effects, adopt: true, speed, lock })
}

/// Stop signals of a controller, from before it makes anything: one that arrives while the network is set up ends it
/// in order, as soon as it is up.
pub struct StopSignals {
    runtime: Runtime,
    stop: CancellationToken,
}

impl StopSignals {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system takes no handler.
    pub fn listen() -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .enable_all()
            .build()?;
        let stop = CancellationToken::new();
        {
            let _context = runtime.enter();
            groundwave_http::stop_on(shutdown_or_hangup_signal()?, stop.clone());
        }
        Ok(Self { runtime, stop })
    }
}

/// A controller whose network is up.
pub struct RunningTestbed {
    runtime: Runtime,
    engine: Running<Snapshot>,
    driver: JoinHandle<Result<(), TestbedError>>,
    socket: Socket,
    listener: UnixListener,
    controller: Controller,
    stop: CancellationToken,
    /// Free when this process ends.
    _lock: ControllerLock,
}

impl RunningTestbed {
    /// Creates or adopts the network, takes the socket and starts the simulation.
    ///
    /// # Errors
    /// When the network cannot be created or the socket is in use.
    pub fn start(state: &State, prepared: Prepared, signals: StopSignals) -> Result<Self, Failure> {
        let StopSignals { runtime, stop } = signals;
        let Prepared { settings, engine, effects, adopt, speed, lock } = prepared;
        let names = Names { testbed: settings.name.clone(), network: settings.network };
        // A file and two sockets for each node.
        tracing::debug!(limit = raise_limit(), "open files");
        let handle = engine.handle();
        let network = TestbedNetwork::new(names, state.folder())?;
        let ports = BoundPorts::new(Box::new(request_impairment), &state.ports())?;
        let (up, is_up) = mpsc::channel();
        let world = handle.clone();
        // Also where it panics: a controller without it would serve the last readings for ever.
        let ended = stop.clone().drop_guard();
        // A thread of its own: kernel calls block.
        let driver = std::thread::Builder::new().name("testbed".to_owned()).spawn(move || {
            let outcome = drive(Driver::new(network, ports, world, effects), adopt, &up);
            if let Err(err) = &outcome {
                tracing::error!(%err, "the network is no longer updated");
            }
            drop(ended);
            outcome
        })?;
        let Ok(kernel) = is_up.recv() else {
            drop(engine);
            return Err(match driver.join() {
                Ok(outcome) => Failure::machine(outcome.expect_err("it reported no start")),
                Err(_) => panicked(),
            });
        };
        let access = Access { mode: 0o600, group: None };
        let (socket, listener) =
            Socket::listen(&state.socket(), &access).map_err(Failure::input)?;
        let throttle = Throttle::default();
        throttle.set(speed);
        let engine = engine.spawn_throttled(MachineClock::start(), throttle.clone())?;
        let controller = Controller::new(handle, throttle, stop.clone()).on_kernel(kernel);
        let _lock = lock;
        Ok(Self { runtime, engine, driver, socket, listener, controller, stop, _lock })
    }

    /// Current state of the testbed.
    #[must_use]
    pub fn show(&self) -> Testbed {
        self.controller.show()
    }

    /// Token that stops [`Self::run`].
    #[must_use]
    pub fn stop_token(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Serves until a stop signal, a stop request or until the stop token is cancelled.
    ///
    /// # Errors
    /// When the socket, the simulation, the log or the network fails.
    pub fn run(self) -> Result<(), Failure> {
        let Self { runtime, engine, driver, socket, listener, controller, stop, _lock } = self;
        let served: Result<(), Failure> = runtime.block_on(async {
            listener.set_nonblocking(true)?;
            let listener = tokio::net::UnixListener::from_std(listener)?;
            serve_to::<_, Peer>(listener, router(controller), stop).await?;
            Ok(())
        });
        runtime.shutdown_background();
        let (mut engine, world_ended) = engine.stop();
        // The digest that a replay of the log compares.
        let marked = engine.mark();
        drop(engine);
        let driven = driver.join().map_err(|_| panicked());
        drop(socket);
        served?;
        world_ended.map_err(Failure::machine)?;
        marked?;
        driven?.map_err(Failure::machine)
    }
}

/// The end of the thread that keeps the network in step, other than by an error.
fn panicked() -> Failure {
    let what = "the network is no longer updated: the thread that does so has ended by a fault of this program";
    Failure::Machine(what.to_owned())
}

fn drive(
    mut driver: Driver<Snapshot>,
    adopt: bool,
    up: &mpsc::Sender<Option<Means>>,
) -> Result<(), TestbedError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(TestbedError::runtime)?;
    runtime.block_on(async {
        if adopt {
            driver.adopt().await?;
        } else {
            driver.catch_up().await?;
        }
        // The receiver may be gone.
        let _ = up.send(driver.means());
        driver.run().await
    })
}

/// Time limit for the answer of an impairment daemon.
const DAEMON_TIMEOUT: Duration = Duration::from_secs(5);

/// Sends a request about a port to an impairment daemon.
fn request_impairment(address: String, port: PortName, request: DaemonRequest) -> DaemonReply {
    Box::pin(async move {
        let answer = call_daemon(&address, port, request);
        let answer = tokio::time::timeout(DAEMON_TIMEOUT, answer).await;
        answer.unwrap_or_else(|_| {
            let waited = DAEMON_TIMEOUT.as_secs();
            Err(format!("{address}: no answer in {waited} s"))
        })
    })
}

async fn call_daemon(
    address: &str,
    port: PortName,
    request: DaemonRequest,
) -> Result<DaemonState, String> {
    let text = |err: &dyn std::error::Error| format!("{address}: {err}");
    let connected = match address.contains('/') {
        true => Http::unix(address.as_ref()).await,
        false => Http::tcp(address).await,
    };
    let mut http = connected.map_err(|err| text(&err))?;
    let (method, body) = match request {
        DaemonRequest::Read => (Method::GET, None),
        DaemonRequest::Set(impairment) => (Method::PUT, Some(impairment)),
        DaemonRequest::Clear => (Method::DELETE, None),
    };
    let body = body.map(serde_json::to_value).transpose().map_err(|err| text(&err))?;
    // The shape is the state beneath leases of others, which end by themselves.
    let query = if method == Method::PUT { "?beneath=true" } else { "" };
    let path = format!("/v1/impairments/{port}{query}");
    let response = http.ask(method, &path, body.as_ref()).await;
    let (status, bytes) = response.map_err(|err| text(&err))?;
    if !status.is_success() {
        let body = || String::from_utf8_lossy(&bytes).into_owned();
        let problem = serde_json::from_slice::<Problem>(&bytes);
        let detail = problem.map_or_else(|_| body(), |problem| problem.detail);
        return Err(format!("{address}: {detail} (status {})", status.as_u16()));
    }
    let state: AppliedState = serde_json::from_slice(&bytes).map_err(|err| text(&err))?;
    let verifiable =
        state.divergence.into_iter().filter(|item| item.kind != DivergenceKind::Unverifiable);
    let mut divergence: Vec<_> = verifiable.map(|item| item.message).collect();
    let base = state.base.filter(|base| *base != state.impairment);
    if base.is_some() {
        let ids: Vec<_> = state.leases.iter().map(ToString::to_string).collect();
        let ids = ids.join(", ");
        divergence.push(format!(
            "{port} of {address} has other values by lease {ids} of another client, see `impair leases`"
        ));
    }
    let in_force = state.impairment;
    Ok(DaemonState { impairment: base.unwrap_or_else(|| in_force.clone()), in_force, divergence })
}

/// Treatment of bound ports that cannot be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnrestoredPorts {
    /// Their state is kept, for another attempt.
    Keep,
    /// They are left as they are.
    Forget,
}

/// Restores bound ports, then removes everything with the testbed's name, except the log, which is
/// copied to `keep_log`. Returns the number of nodes.
///
/// # Errors
/// When something cannot be removed, or a port not be restored that is not to be forgotten; the rest is
/// removed then, and a repetition tries the port again.
pub fn remove(
    state: &State,
    keep_log: Option<&Path>,
    unrestored: UnrestoredPorts,
) -> Result<usize, Failure> {
    let record = state.ports();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut ask: groundwave_testbed::Ask = Box::new(request_impairment);
    let restored = runtime.block_on(restore(&record, &mut ask));
    let outcomes = restored.map_err(|err| {
        Failure::Machine(format!("restore the ports of {}: {err}", record.display()))
    });
    let ports = std::fs::read(&record).ok();
    let removed = tear_down(state, keep_log).map_err(Failure::machine)?;
    if let Some(ports) = ports.filter(|_| unrestored == UnrestoredPorts::Keep) {
        state.create().map_err(Failure::machine)?;
        std::fs::write(&record, ports)?;
    }
    let mut problems = Vec::new();
    for (port, outcome) in outcomes? {
        if let Err(why) = outcome {
            problems.push(match port {
                Port::Interface(name) => format!("interface {name}: {why}"),
                Port::Daemon { address, port } => format!("{port} of {address}: {why}"),
            });
        }
    }
    if problems.is_empty() {
        return Ok(removed);
    }
    let (problems, name) = (problems.join("; "), &state.testbed);
    if unrestored == UnrestoredPorts::Forget {
        tracing::warn!(problems, "bound ports are left as they are");
        return Ok(removed);
    }
    Err(Failure::Machine(format!(
        "not restored: {problems}; `groundwave testbed down --name {name}` tries again, with \
         --forget-ports it leaves them as they are"
    )))
}
