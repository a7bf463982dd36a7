//! `groundwave impaird`: impairment daemon.

use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use groundwave::http::serve::{serve_to, shutdown_signal};
use groundwave::impair::{Baseline, Daemon, DriverQueries, Peer, Ports, router};
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Engine, Execution};
use groundwave_io::host::interface::bus_address;
use groundwave_io::host::privilege::keep_net_admin;
use groundwave_io::host::socket::{Access as SocketAccess, Socket};
use groundwave_io::impair::config::{self, BASELINE_PATH, CONFIG_PATH, Config, TABLES_PATH};
use groundwave_io::journal::FileJournal;
use groundwave_io::kernel::{Driver, DriverHandle, LinuxTc, Options, Shaper};
use groundwave_io::wall::{MachineClock, wall_ns};
use groundwave_systems::impair::{Direction, Extensions, ShapePort, Snapshot, world};
use tokio_util::sync::CancellationToken;

use super::failure::Failure;
use super::output::Output;

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "info";

/// Simulated time of a tick, ns; the step only counts ticks.
const STEP_NS: u64 = 1_000_000;

/// The unit file for systemd.
const UNIT: &str = include_str!("../impair/impaird.service");

/// Serve the impairment API on a Unix socket
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Impaird {
    /// Configuration file [default: /etc/impair/impaird.toml if it exists]
    #[arg(long, env = "IMPAIRD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,

    /// Socket path; overrides the configuration [default: /run/impair/impair.sock]
    #[arg(long, env = "IMPAIR_SOCKET", value_name = "PATH")]
    socket: Option<PathBuf>,

    /// Interfaces of port1 and port2, instead of a configuration file
    #[arg(long, num_args = 2, value_names = ["PORT1", "PORT2"], conflicts_with = "config")]
    interfaces: Option<Vec<String>>,

    /// Check the configuration and exit
    #[arg(long)]
    check: bool,

    /// Print the systemd unit file and exit
    #[arg(long)]
    unit: bool,
}

const EXAMPLES: &str = "\
Examples:
  groundwave impaird --config examples/impaird.toml --check
  groundwave impaird --unit > impaird.service
  sudo groundwave impaird --interfaces eth1 eth2

Configuration file; every key but ports shows its default:
  socket = \"/run/impair/impair.sock\"
  mode = \"0660\"                             # of the socket
  group = \"netdev\"                          # of the socket; default: group of the process
  baseline_path = \"/var/lib/impair/baseline.json\"
  tables = \"/var/lib/impair/dist\"           # <name>.table, delay distributions
  log = \"/var/lib/impair/log\"               # folder of replayable logs; default: none
  extensions = []                           # gilbert-elliott, paretonormal
  [[ports]]
  direction = \"port1\"
  interface = \"eth1\"
  [[ports]]
  direction = \"port2\"
  interface = \"eth2\"

The API is described at /swagger-ui and /api-docs/openapi.json; `groundwave impair` is its client.
Access to the socket is full access. Changes are logged with target `audit`. Impairments stay in
force when the daemon stops. Log filter: RUST_LOG.";

impl Impaird {
    /// Serves until a stop signal.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if self.unit {
            return match output.json {
                true => output.json(&serde_json::json!({ "unit": UNIT })),
                false => output.text(UNIT),
            };
        }
        let config = self.configuration()?;
        if self.check {
            let [first, second] = &config.interfaces;
            let socket = config.socket.display();
            return output.text(&format!("port1 {first}, port2 {second}, socket {socket}\n"));
        }
        // Before any other thread: they inherit what this one keeps.
        let (socket, listener) =
            Socket::listen(&config.socket, &config.access).map_err(Failure::input)?;
        let kept = keep_net_admin()?;
        tracing::info!("capabilities kept: {kept}");
        let served = serve_on(listener, &socket, &config);
        drop(socket);
        served?;
        tracing::info!("stopped");
        Ok(())
    }

    fn configuration(&self) -> Result<Config, Failure> {
        let usual = Path::new(CONFIG_PATH);
        let file = self.config.as_deref().or_else(|| {
            let wanted = self.interfaces.is_none() && usual.exists();
            wanted.then_some(usual)
        });
        let mut config = match (file, self.interfaces.as_deref()) {
            (Some(file), _) => config::load(file).map_err(Failure::input)?,
            (None, Some([first, second])) => Config {
                socket: config::SOCKET_PATH.into(),
                access: SocketAccess {
                    mode: 0o660,
                    group: None,
                },
                baseline: BASELINE_PATH.into(),
                tables: TABLES_PATH.into(),
                log: None,
                interfaces: [first.clone(), second.clone()],
                extensions: Extensions::default(),
            },
            _ => {
                let what = format!(
                    "no configuration: {CONFIG_PATH} is not there; allowed: --config FILE, or \
                     --interfaces PORT1 PORT2"
                );
                return Err(Failure::Input(what));
            }
        };
        if let Some(socket) = &self.socket {
            config.socket.clone_from(socket);
        }
        Ok(config)
    }
}

fn serve_on(listener: UnixListener, socket: &Socket, config: &Config) -> Result<(), Failure> {
    // One thread for all: a change is a few system calls, and handing it from thread to thread
    // would cost more than they do.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let mut engine = engine(config)?;
    let shaper = runtime.block_on(async {
        let options = Options {
            extensions: config.extensions,
            tables: config.tables.clone(),
        };
        let kernel = LinuxTc::open(None).map_err(Failure::machine)?;
        let started = Shaper::start(kernel, options).await;
        started.map_err(Failure::machine)
    })?;
    let handle = engine.handle();
    let effects = engine.effects::<ShapePort>();
    let interfaces = config.interfaces.clone();
    let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
    let ports = Ports {
        interfaces: config.interfaces.clone(),
        addresses: config.interfaces.each_ref().map(|name| bus_address(name)),
        capabilities: access.capabilities().clone(),
    };
    announce(socket, &ports);
    let daemon = Daemon::new(
        handle,
        driver_queries(access),
        ports,
        baseline(&config.baseline),
    );
    runtime.block_on(async move {
        listener.set_nonblocking(true)?;
        let listener = tokio::net::UnixListener::from_std(listener)?;
        let told = shutdown_signal()?;
        let stop = CancellationToken::new();
        let asked = stop.clone();
        // The world outlives the last request.
        let over = CancellationToken::new();
        let last = over.clone();
        let world = tokio::spawn(async move {
            let ended = engine.tend(MachineClock::start(), last.cancelled_owned());
            ended.await
        });
        tokio::spawn(driver.run());
        tokio::spawn(async move {
            told.await;
            tracing::info!("told to stop");
            asked.cancel();
        });
        let served = serve_to::<_, Peer>(listener, router(daemon), stop).await;
        over.cancel();
        let ended = world.await.map_err(Failure::machine)?;
        served?;
        ended.map_err(Failure::machine)
    })
}

/// The world of the two ports, with its log if one is wanted.
fn engine(config: &Config) -> Result<Engine<Snapshot>, Failure> {
    let mut builder = world();
    // Two ports are not worth a pool of threads.
    builder.execution(Execution::Serial);
    let mut engine = builder
        .build::<Snapshot>(0, STEP_NS)
        .map_err(Failure::machine)?;
    if let Some(folder) = &config.log {
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
        port1 = ports.interfaces[0],
        port2 = ports.interfaces[1],
        backend = format!("{} {}", can.backend_name, can.backend_version),
        missing = can
            .missing
            .iter()
            .map(|missing| missing.module.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        "listening on {}, interface at /swagger-ui",
        socket.path().display()
    );
}

/// The driver behind what handlers ask.
fn driver_queries(access: DriverHandle) -> DriverQueries {
    let counters = access.clone();
    DriverQueries {
        refresh: Arc::new(move |direction: Direction| {
            let access = access.clone();
            Box::pin(async move { access.refresh(direction).await })
        }),
        stats: Arc::new(move |direction: Direction| {
            let access = counters.clone();
            Box::pin(async move { access.stats(direction).await })
        }),
    }
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
