//! Impairments that change all the time, over the modelled kernel; each must be in force when it is
//! acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{Method, Request, header};
use groundwave_engine::{Execution, Seed};
use groundwave_files::wall::MachineClock;
use groundwave_impair::{ShapePort, Snapshot, world};
use groundwave_impaird::{Baseline, Daemon, Ports, router};
use groundwave_kernel::{Driver, Fake, Options, Shaper};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// Interfaces of the two ports.
const INTERFACES: [&str; 2] = ["soak-east", "soak-west"];
/// Time between two changes.
const PAUSE: Duration = Duration::from_millis(50);
/// Largest answer, bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The daemon and what it acknowledged.
pub struct Impairments {
    changes: Arc<AtomicU64>,
    faults: Arc<Mutex<Vec<String>>>,
    _folder: tempfile::TempDir,
}

impl Impairments {
    /// Starts the daemon and the changes.
    pub fn start(runtime: &Runtime) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("baseline.json");
        let options = Options { tables: folder.path().to_owned(), ..Options::default() };
        let kernel = Fake::new(&INTERFACES);
        let shaper = runtime.block_on(Shaper::start(kernel, options)).expect("a modelled kernel");
        let mut builder = world();
        builder.execution(Execution::Serial);
        let mut engine = builder.build::<Snapshot>(0, 1_000_000).expect("a world");
        let (handle, effects) = (engine.handle(), engine.effects::<ShapePort>());
        runtime.spawn(async move {
            let never = std::future::pending::<()>();
            drop(engine.tend(MachineClock::start(), never).await);
        });
        let interfaces = INTERFACES.map(str::to_owned).to_vec();
        let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
        runtime.spawn(driver.run());
        let ports = Ports {
            names: INTERFACES.map(|name| name.parse().unwrap()).to_vec(),
            addresses: INTERFACES.map(str::to_owned).to_vec(),
            capabilities: access.capabilities().clone(),
        };
        let baseline = Baseline {
            path: file.clone(),
            read: Arc::new(move || Ok(std::fs::read_to_string(&file).ok())),
        };
        let router = router(Daemon::new(handle, access.into(), ports, baseline));
        let (changes, faults) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
        let (count, found) = (Arc::clone(&changes), Arc::clone(&faults));
        runtime.spawn(async move {
            let mut chance = Seed(15).stream("soak.impair", 0, 0);
            loop {
                tokio::time::sleep(PAUSE).await;
                let path = format!("/v1/impairments/port{}", 1 + chance.bits() % 2);
                let wanted = f64::from((chance.bits() % 1000) as u32) / 20.0;
                let body = json!({ "loss": { "model": "bernoulli", "pct": wanted } });
                ask(&router, Method::PUT, &path, &body).await;
                let kept = ask(&router, Method::GET, &path, &Value::Null).await;
                count.fetch_add(1, Ordering::Relaxed);
                let pct = kept["impairment"]["loss"]["pct"].as_f64().unwrap_or(0.0);
                if (pct - wanted).abs() > 1e-6 {
                    let what =
                        format!("impairment of {path}: {wanted} % acknowledged, {kept} kept");
                    found.lock().unwrap_or_else(PoisonError::into_inner).push(what);
                }
            }
        });
        Self { changes, faults, _folder: folder }
    }

    /// Changes so far.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// Impairments that were acknowledged and not kept.
    pub fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn ask(router: &axum::Router, method: Method, path: &str, body: &Value) -> Value {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header(header::CONTENT_TYPE, "application/json");
    let body = match body {
        Value::Null => Body::empty(),
        body => Body::from(body.to_string()),
    };
    let request = request.body(body).expect("a request");
    let response = router.clone().oneshot(request).await.expect("an answer");
    let bytes = to_bytes(response.into_body(), ANSWER_BYTES_MAX).await;
    serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or(Value::Null)
}
