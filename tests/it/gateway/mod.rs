//! The mesh gateway: who may do what, how nodes get in, what they send, what is stored.

mod admission;
mod agents;
mod api_tokens;
mod automation;
mod backup;
mod bare_agent;
mod cameras;
mod canary;
mod channels;
mod connections;
mod cot;
mod events;
mod external;
mod firewall;
mod firmware;
mod flood;
mod flow;
mod flow_services;
mod full_disk;
mod fuzz;
mod join_keys;
mod links;
mod local_services;
mod logins;
mod matrix;
mod model;
mod names;
mod node_commands;
mod node_metrics;
mod node_settings;
mod notices;
mod once;
mod operator_day;
mod own_node;
mod page;
mod playback;
mod power;
mod process;
mod readings;
mod refusals;
mod reload;
mod schema;
mod secrets;
mod sensors;
mod status;
mod tokens;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use groundwave_engine::{Handle, Running};
use groundwave_files::wall::MachineClock;
use groundwave_gateway::account::{AccountId, AccountRole, CreateAccount};
use groundwave_gateway::automation::Deliver;
use groundwave_gateway::fleet::StoreMinute;
use groundwave_gateway::{Snapshot, world};
use groundwave_io_gateway::Audit;
use groundwave_model::terrain::{Flat, Terrain};
use groundwave_protocol::{GatewayEnd, PublicKey};
use groundwave_store::RedbStore;
use groundwave_telemetry::TelemetryStore;
use groundwave_web_gateway::Effort;
use groundwave_web_gateway::flow_workers;
use groundwave_web_gateway::{Gateway, Settings, background_tasks, router};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

/// Everybody's password.
pub const PASSWORD: &str = "correct horse battery";
/// The key of all tokens.
pub const KEY: [u8; 32] = [42; 32];

/// A gateway without a kernel's tunnel, over a store in a folder of its own.
pub struct Bench {
    pub runtime: Runtime,
    pub router: axum::Router,
    pub gateway: Gateway,
    pub world: Handle<Snapshot>,
    pub folder: tempfile::TempDir,
    running: Mutex<Option<Running<Snapshot>>>,
    stop: CancellationToken,
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

    /// The body, if the status is as wanted.
    #[track_caller]
    pub fn is(&self, status: u16) -> Value {
        let body = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{body}");
        self.json()
    }

    /// The kind of the problem, if the status is as wanted.
    #[track_caller]
    pub fn problem(&self, status: u16) -> String {
        let document = self.is(status);
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/problem+json");
        let kind = document["type"].as_str().unwrap();
        kind.trim_start_matches("urn:groundwave:problem:").to_owned()
    }
}

/// Cheap hashes: what they cost is not what is tested.
pub fn effort() -> Effort {
    Effort { memory_kib: 8, passes: 1 }
}

impl Bench {
    /// A gateway with an admin, an operator and a viewer.
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    /// A gateway whose settings are these, but for what tests need.
    pub fn with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bench = Self::open(folder, settings);
        for role in [AccountRole::Viewer, AccountRole::Operator, AccountRole::Admin] {
            bench.account(role.word(), role);
        }
        bench
    }

    /// A gateway over what a folder holds.
    pub fn open(folder: tempfile::TempDir, settings: Settings) -> Self {
        let terrain: Arc<dyn Terrain> = Arc::new(Flat { elevation_msl_m: 0.0 });
        let mut engine = world(terrain).build::<Snapshot>(0, 1_000_000).unwrap();
        let store = RedbStore::open(&folder.path().join("world.db")).unwrap();
        let copy = store.whole_copier();
        engine.keep(store).unwrap();
        let world = engine.handle();
        let minutes = engine.effects::<StoreMinute>();
        let deliveries = engine.effects::<Deliver>();
        let running = engine.spawn_on_demand(MachineClock::start()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let stop = CancellationToken::new();
        let settings = Settings {
            effort: effort(),
            tunnel: Some(GatewayEnd {
                public_key: PublicKey::new([9; 32]).unwrap(),
                endpoint: "10.41.0.1:51820".to_owned(),
                overlay_ip: Ipv4Addr::new(10, 42, 0, 1),
            }),
            // The firewall of this machine is not for tests.
            netns: Some(settings.netns.unwrap_or_else(|| "/nowhere".into())),
            ..settings
        };
        let audit = Audit::open(&folder.path().join("audit.jsonl"), &KEY).unwrap();
        let history = TelemetryStore::open(&folder.path().join("telemetry.redb")).unwrap();
        let (gateway, router) = runtime.block_on(async {
            let gateway = Gateway::new(world.clone(), settings, &KEY, audit, history, stop.clone());
            gateway
                .backups
                .set_copier(Box::new(move |path| copy(path).map_err(|fault| fault.to_string())));
            let router = router(gateway.clone());
            background_tasks::start_clock(&gateway).await.unwrap();
            tokio::spawn(background_tasks::store_minutes(gateway.clone(), minutes));
            tokio::spawn(flow_workers::deliver(gateway.clone(), deliveries));
            (gateway, router)
        });
        Self { runtime, router, gateway, world, folder, running: Mutex::new(Some(running)), stop }
    }

    /// Makes an account that need not change its password.
    pub fn account(&self, username: &str, role: AccountRole) {
        self.runtime.block_on(async {
            let secret = self.gateway.passwords.hash(PASSWORD.to_owned()).await;
            let command = CreateAccount {
                account: AccountId::named(username),
                username: username.to_owned(),
                role,
                secret: secret.unwrap(),
                must_change_password: false,
            };
            self.gateway.world.submit(command).await.unwrap();
        });
    }

    /// Sends a request as if from `source`.
    pub fn send_from(&self, source: IpAddr, mut request: Request<Body>) -> Answer {
        let peer = ConnectInfo(SocketAddr::new(source, 40_000));
        request.extensions_mut().insert(peer);
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let (parts, body) = response.into_parts();
            let body = to_bytes(body, usize::MAX).await.unwrap().to_vec();
            Answer { status: parts.status, headers: parts.headers, body }
        })
    }

    /// Sends a request with a token, if there is one, and a JSON body, unless it is null.
    pub fn call(&self, token: &str, method: &str, path: &str, body: &Value) -> Answer {
        let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.send_from(here, request(token, method, path, body))
    }

    /// Reads.
    pub fn get(&self, token: &str, path: &str) -> Answer {
        self.call(token, "GET", path, &Value::Null)
    }

    /// Logs in.
    pub fn login(&self, username: &str) -> String {
        let body = json!({ "username": username, "password": PASSWORD });
        let document = self.call("", "POST", "/api/auth/login", &body).is(200);
        document["access_token"].as_str().unwrap().to_owned()
    }

    /// Lets a node in and logs it in: its id, its token, its overlay address.
    pub fn node(&self, number: u8) -> (String, String, IpAddr) {
        let admin = self.login("admin");
        let underlay = IpAddr::V4(Ipv4Addr::new(10, 41, 0, number));
        let pending = self.send_from(underlay, request("", "POST", REGISTER, &ask(number)));
        let id = pending.is(202)["registration_id"].as_str().unwrap().to_owned();
        let approve = format!("/v1/admin/registrations/{id}/approve");
        let document = self.call(&admin, "POST", &approve, &Value::Null).is(200);
        let overlay: IpAddr = document["overlay_ip"].as_str().unwrap().parse().unwrap();
        let inside = self.send_from(overlay, request("", "POST", REGISTER, &ask(number)));
        let document = inside.is(200);
        let login = self.call("", "POST", "/api/auth/login", &document["credentials"]);
        let token = login.is(200)["access_token"].as_str().unwrap().to_owned();
        (document["node_id"].as_str().unwrap().to_owned(), token, overlay)
    }

    /// Puts the same router on a port, for clients that need one.
    pub fn listen(&self) -> SocketAddr {
        let router = self.router.clone();
        let stop = self.stop.clone();
        self.runtime.block_on(async {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(groundwave_http::serve::serve(listener, router, stop));
            address
        })
    }

    /// Stops the gateway and hands its folder back.
    pub fn close(mut self) -> tempfile::TempDir {
        self.end();
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }

    fn end(&self) {
        self.stop.cancel();
        if let Some(running) = self.running.lock().unwrap().take() {
            let (engine, ended) = running.stop();
            assert_eq!(ended, Ok(()));
            drop(engine);
        }
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.end();
    }
}

/// Path of registration by unknown peers.
pub const REGISTER: &str = "/v1/mesh/wg-register";

/// A request.
pub fn request(token: &str, method: &str, path: &str, body: &Value) -> Request<Body> {
    let mut request =
        Request::builder().method(Method::from_bytes(method.as_bytes()).unwrap()).uri(path);
    if !token.is_empty() {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let body = if body.is_null() {
        Body::empty()
    } else {
        request = request.header(header::CONTENT_TYPE, "application/json");
        Body::from(body.to_string())
    };
    request.body(body).unwrap()
}

/// Registration request of an unknown peer, for one use.
pub fn ask(number: u8) -> Value {
    use base64::Engine as _;
    let nonce = groundwave_credentials::random::<16>().unwrap();
    let now_ns = groundwave_files::wall::wall_ns();
    json!({
        "public_key": PublicKey::new([number; 32]).unwrap(),
        "mac": format!("02:00:00:00:00:{number:02x}"),
        "hostname": format!("node-{number}"),
        "nonce": base64::engine::general_purpose::STANDARD.encode(nonce),
        "ts": groundwave_http::time::rfc3339(now_ns),
    })
}

/// Heartbeat of a node.
pub fn beat(number: u8, seq: u64) -> Value {
    json!({
        "mac": format!("02:00:00:00:00:{number:02x}"),
        "hostname": format!("node-{number}"),
        "boot_id": "boot",
        "seq": seq,
        "uptime_s": 60,
        "signal_dbm": -60.5,
        "active_transport": "wifi",
        "capabilities": ["gps"],
        "mesh": { "neighbor_count": 1, "links": [
            { "neigh_address": format!("02:00:00:00:00:{:02x}", number + 1), "tq": 240, "signal_dbm": -58.0 },
        ] },
        "metrics": { "mesh.tx_mbps": 1.5, "gps.fix_mode": 3 },
    })
}
