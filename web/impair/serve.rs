//! The impairment daemon.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Engine, Execution};
use groundwave_files::socket::Socket;
use groundwave_files::wall::{MachineClock, wall_ns};
use groundwave_host::privilege::keep_net_admin;
use groundwave_http::Failure;
use groundwave_http::serve::{serve_to, shutdown_or_hangup_signal};
use groundwave_impair::{Direction, ShapePort, Snapshot, world};
use groundwave_io_impair::config::Config;
use groundwave_io_impair::port_name::PortName;
use groundwave_io_impair::state_file;
use groundwave_kernel::{Driver, KernelError, Options, Shaper};
use groundwave_store::journal_file::FileJournal;
use tokio::net::UnixListener;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::{Baseline, Daemon, EarlierRequests, Peer, Ports, ports, router};

/// Simulated time of a tick, ns; it only counts ticks.
const STEP_NS: u64 = 1_000_000;

/// A started impairment daemon.
pub struct ImpairDaemon {
    runtime: Runtime,
    socket: Socket,
    listener: std::os::unix::net::UnixListener,
    engine: Engine<Snapshot>,
    driver: Pin<Box<dyn Future<Output = ()> + Send>>,
    daemon: Daemon,
}

impl ImpairDaemon {
    /// Takes the socket, drops all capabilities but CAP_NET_ADMIN, and reads the ports.
    ///
    /// # Errors
    /// When the configuration is invalid, or the socket or the kernel is unavailable.
    pub fn start(config: &Config) -> Result<Self, Failure> {
        // Before any other thread: threads inherit the capabilities.
        let (socket, listener) =
            Socket::listen(&config.socket, &config.access).map_err(Failure::input)?;
        // Namespaces are entered with a capability that is dropped next.
        let kernel = ports::kernel(&config.ports)?;
        let kept = keep_net_admin()?;
        tracing::info!("capabilities kept: {kept}");
        // A single thread: a change is a few system calls, cheaper than passing it to another.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let engine = engine(config)?;
        let rules = state_file::beside(&config.socket, "rules");
        let rules = EarlierRequests::open(rules.clone()).map_err(|err| {
            let file = rules.display();
            Failure::Input(format!(
                "read the last requests {file}: {err}; without that file rules in force have numbers and \
                 distributions are unknown"
            ))
        })?;
        let shaper = runtime.block_on(async {
            let options = Options {
                extensions: config.extensions,
                tables: config.tables.clone(),
                take_over: config.take_over,
            };
            let mut shaper = Shaper::start(kernel, options).await.map_err(Failure::machine)?;
            for (direction, port) in Direction::first(config.ports.len()).zip(&config.ports) {
                shaper.remember(&port.to_string(), rules.of(direction).to_vec());
                shaper.check(&port.to_string()).await.map_err(|err| match err {
                    KernelError::Bridge { .. } | KernelError::Unsupported { .. } => {
                        Failure::input(err)
                    }
                    other => Failure::machine(other),
                })?;
            }
            Ok::<_, Failure>(shaper)
        })?;
        let handle = engine.handle();
        let effects = engine.effects::<ShapePort>();
        let interfaces = config.ports.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
        let ports = Ports {
            addresses: config.ports.iter().map(ports::bus_address).collect(),
            names: config.ports.clone(),
            capabilities: access.capabilities().clone(),
        };
        announce(&socket, &ports);
        let daemon = Daemon::new(handle, access.into(), ports, baseline(&config.baseline));
        let daemon = daemon.with_earlier_requests(rules);
        let file = state_file::beside(&config.socket, "leases");
        let daemon = runtime.block_on(daemon.with_leases(file.clone()));
        let daemon = daemon.map_err(|err| {
            let file = file.display();
            Failure::Input(format!(
                "read the leases {file}: {err}; without that file nothing of them is known"
            ))
        })?;
        Ok(Self { runtime, socket, listener, engine, driver: Box::pin(driver.run()), daemon })
    }

    /// Serves until a stop signal; the impairments stay in force.
    ///
    /// # Errors
    /// When the socket, the simulation or the log fails.
    pub fn run(self) -> Result<(), Failure> {
        let Self { runtime, socket, listener, mut engine, driver, daemon } = self;
        let served = runtime.block_on(async move {
            listener.set_nonblocking(true)?;
            let listener = UnixListener::from_std(listener)?;
            let stop = CancellationToken::new();
            // The simulation outlives the last request.
            let served_all = CancellationToken::new();
            let end = served_all.clone();
            let world = tokio::spawn(async move {
                let ended = engine.tend(MachineClock::start(), end.cancelled_owned());
                ended.await
            });
            // Also where it panics: a daemon without it would let each request wait for the kernel in vain.
            let ends = stop.clone().drop_guard();
            let driver = tokio::spawn(async move {
                let _ends = ends;
                driver.await;
            });
            groundwave_http::stop_on(shutdown_or_hangup_signal()?, stop.clone());
            daemon.resume_leases().await;
            groundwave_http::notify::ready()?;
            let served = serve_to::<_, Peer>(listener, router(daemon), stop).await;
            let is_broken = driver.is_finished() && driver.await.is_err();
            served_all.cancel();
            let ended = world.await.map_err(Failure::machine)?;
            served?;
            if is_broken {
                let what = "the driver of the kernel has ended by a fault of this program";
                return Err(Failure::Machine(what.to_owned()));
            }
            ended.map_err(Failure::machine)
        });
        drop(socket);
        served?;
        tracing::info!("stopped");
        Ok(())
    }
}

/// The simulation of the ports, with a log if configured.
fn engine(config: &Config) -> Result<Engine<Snapshot>, Failure> {
    let mut builder = world();
    // A few ports need no thread pool.
    builder.execution(Execution::Serial);
    let mut engine = builder.build::<Snapshot>(0, STEP_NS).map_err(Failure::machine)?;
    if let Some(folder) = &config.log {
        std::fs::create_dir_all(folder).map_err(|err| {
            Failure::Input(format!("make the folder of logs {}: {err}", folder.display()))
        })?;
        let path = folder.join(format!("impaird-{}.gwlog", wall_ns()));
        let header = Header {
            format: FORMAT,
            seed: 0,
            step_ns: STEP_NS,
            inputs: std::collections::BTreeMap::new(),
        };
        engine.record(FileJournal::create(&path, &header).map_err(Failure::input)?);
        engine.checkpoint_every(CHECKPOINT_TICKS);
    }
    Ok(engine)
}

fn announce(socket: &Socket, ports: &Ports) {
    let can = &ports.capabilities;
    tracing::info!(
        port1 = %ports.names[0],
        port2 = %ports.names[1],
        further = further(&ports.names),
        backend = format!("{} {}", can.backend_name, can.backend_version),
        missing = can
            .missing
            .iter()
            .map(|missing| missing.module.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        "listening on {}, API at /swagger-ui",
        socket.path().display()
    );
}

/// Further ports, `port3=eth3, port4=eth4`; `None` without any.
fn further(names: &[PortName]) -> Option<String> {
    let named = Direction::first(names.len()).zip(names).skip(Direction::BOTH.len());
    let texts: Vec<_> = named.map(|(direction, name)| format!("{direction}={name}")).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

fn baseline(path: &Path) -> Baseline {
    let file = path.to_owned();
    Baseline {
        path: path.to_owned(),
        read: Arc::new(move || match std::fs::read_to_string(&file) {
            Ok(text) => Ok(Some(text)),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(err) => Err(err),
        }),
    }
}
