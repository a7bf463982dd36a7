//! The impairment daemon and its client, over a modelled kernel.

mod client;
mod containers;
mod fuzz;
mod interface;
mod leases;
mod ports;
mod process;
mod race;
mod rivals;
mod schema;

use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use groundwave_engine::{Broken, Execution};
use groundwave_files::wall::MachineClock;
use groundwave_http::serve::serve_to;
use groundwave_impair::{Direction, Extensions, ShapePort, Snapshot, world};
use groundwave_impaird::{Baseline, Daemon, EarlierRequests, Peer, Ports, router};
use groundwave_io_impair::state_file;
use groundwave_kernel::{Driver, Fake, Options, Shaper};
use serde_json::Value;
use tokio::net::{TcpListener, UnixListener};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// The interfaces of the two ports.
pub const INTERFACES: [&str; 2] = ["gw-east", "gw-west"];

/// A daemon over a modelled kernel.
pub struct Bench {
    pub runtime: Runtime,
    pub router: axum::Router,
    pub kernel: Fake,
    pub folder: tempfile::TempDir,
    stop: CancellationToken,
    over: CancellationToken,
    world: Option<JoinHandle<Result<(), Broken>>>,
}

/// Response to a request.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

impl Bench {
    /// As shipped, on a kernel that has everything.
    pub fn new() -> Self {
        Self::over(Fake::new(&INTERFACES), Extensions::default())
    }

    /// Over this kernel.
    pub fn over(kernel: Fake, extensions: Extensions) -> Self {
        Self::resumed(kernel, extensions, None)
    }

    /// Over this kernel, with the leases of a file and the names of rules beside it.
    pub fn resumed(kernel: Fake, extensions: Extensions, leases: Option<&Path>) -> Self {
        Self::on(&INTERFACES, kernel, extensions, leases)
    }

    /// With these interfaces as ports, of a kernel that has them.
    pub fn of(interfaces: &[&str]) -> Self {
        Self::on(interfaces, Fake::new(interfaces), Extensions::default(), None)
    }

    /// Over this kernel, with the leases of a file and these interfaces as ports.
    pub fn on(
        interfaces: &[&str],
        kernel: Fake,
        extensions: Extensions,
        leases: Option<&Path>,
    ) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        let folder = tempfile::tempdir().unwrap();
        let tables = folder.path().join("dist");
        std::fs::create_dir(&tables).unwrap();
        let options = Options { extensions, tables, take_over: false };
        let mut shaper = runtime.block_on(Shaper::start(kernel.clone(), options)).unwrap();
        let rules =
            leases.map(|file| EarlierRequests::open(state_file::beside(file, "rules")).unwrap());
        let rules = rules.unwrap_or_default();
        for (direction, interface) in Direction::first(interfaces.len()).zip(interfaces) {
            shaper.remember(interface, rules.of(direction).to_vec());
        }
        let mut builder = world();
        builder.execution(Execution::Serial);
        let mut engine = builder.build::<Snapshot>(0, 1_000_000).unwrap();
        let (handle, effects) = (engine.handle(), engine.effects::<ShapePort>());
        let over = CancellationToken::new();
        let last = over.clone().cancelled_owned();
        let world = runtime.spawn(async move { engine.tend(MachineClock::start(), last).await });
        let names: Vec<_> = interfaces.iter().map(|name| (*name).to_owned()).collect();
        let (driver, access) = Driver::new(shaper, names, handle.clone(), effects);
        runtime.spawn(driver.run());
        let ports = Ports {
            names: interfaces.iter().map(|name| name.parse().unwrap()).collect(),
            addresses: std::iter::once("0000:03:00.0".to_owned())
                .chain(interfaces.iter().skip(1).map(|_| "virtual".to_owned()))
                .collect(),
            capabilities: access.capabilities().clone(),
        };
        let baseline = baseline(&folder.path().join("baseline.json"));
        let daemon = Daemon::new(handle, access.into(), ports, baseline);
        let mut daemon = daemon.with_earlier_requests(rules);
        if let Some(file) = leases {
            daemon = runtime.block_on(daemon.with_leases(file.to_owned())).unwrap();
            runtime.block_on(daemon.resume_leases());
        }
        Self {
            runtime,
            router: router(daemon),
            kernel,
            folder,
            stop: CancellationToken::new(),
            over,
            world: Some(world),
        }
    }

    /// Sends a request as it is.
    pub fn send(&self, request: Request<Body>) -> Answer {
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            Answer {
                status: parts.status,
                headers: parts.headers,
                body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
            }
        })
    }

    /// Sends a request, with a JSON body unless it is null.
    pub fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let mut request =
            Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
        let mut content = Body::empty();
        if !body.is_null() {
            request = request.header(header::CONTENT_TYPE, "application/json");
            content = Body::from(body.to_string());
        }
        self.send(request.body(content).unwrap())
    }

    /// Serves on a socket in the bench's folder.
    pub fn listen(&self) -> std::path::PathBuf {
        let path = self.folder.path().join("impair.sock");
        self.listen_at(&path);
        path
    }

    /// Serves on a socket.
    pub fn listen_at(&self, path: &Path) {
        let _entered = self.runtime.enter();
        let listener = UnixListener::bind(path).unwrap();
        let (router, stop) = (self.router.clone(), self.stop.clone());
        self.runtime.spawn(async move { serve_to::<_, Peer>(listener, router, stop).await });
    }

    /// Serves on a port, for tools without Unix sockets.
    pub fn listen_tcp(&self) -> std::net::SocketAddr {
        let listener = self.runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let (router, stop) = (self.router.clone(), self.stop.clone());
        self.runtime.spawn(async move { serve_to::<_, Peer>(listener, router, stop).await });
        address
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(world) = self.world.take() {
            self.over.cancel();
            assert_eq!(self.runtime.block_on(world).unwrap(), Ok(()));
        }
    }
}

fn baseline(path: &Path) -> Baseline {
    let file = path.to_owned();
    Baseline {
        path: path.to_owned(),
        read: Arc::new(move || Ok(std::fs::read_to_string(&file).ok())),
    }
}
