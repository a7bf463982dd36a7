//! Leases of a daemon over a modelled kernel.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use axum::extract::connect_info::ConnectInfo;
use axum::http::{Request, header};
use groundwave_engine::Execution;
use groundwave_files::wall::MachineClock;
use groundwave_impair::{Direction, Impairment, ImpairmentField, Loss, ShapePort, Snapshot, world};
use groundwave_io_impair::leases::{LeasedFields, Owner};
use groundwave_kernel::{
    Driver, Fake, Handle, Options, Qdisc, Request as QdiscRequest, Shaper, Verb,
};
use serde_json::{Value, json};
use tower::ServiceExt;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::*;

const PORT: Direction = Direction::PORT1;

/// A daemon of the ports `a` and `b`.
async fn daemon(kernel: &Fake) -> Daemon {
    let shaper = Shaper::start(kernel.clone(), Options::default()).await.unwrap();
    let mut builder = world();
    builder.execution(Execution::Serial);
    let mut engine = builder.build::<Snapshot>(0, 1_000_000).unwrap();
    let (handle, effects) = (engine.handle(), engine.effects::<ShapePort>());
    tokio::spawn(async move {
        let never = std::future::pending::<()>();
        drop(engine.tend(MachineClock::start(), never).await);
    });
    let names = ["a", "b"];
    let interfaces = names.map(str::to_owned).to_vec();
    let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
    tokio::spawn(driver.run());
    let ports = Ports {
        names: names.map(|name| name.parse().unwrap()).to_vec(),
        addresses: vec![String::new(); 2],
        capabilities: access.capabilities().clone(),
    };
    let baseline = Baseline { path: "baseline.json".into(), read: Arc::new(|| Ok(None)) };
    Daemon::new(handle, access.into(), ports, baseline)
}

fn lossy(pct: f64) -> Impairment {
    Impairment { loss: Some(Loss::Bernoulli { pct, correlation: None }), ..Impairment::default() }
}

fn leased(pct: f64) -> BTreeMap<Direction, LeasedFields> {
    let fields = vec![ImpairmentField::Loss];
    BTreeMap::from([(PORT, LeasedFields { impairment: lossy(pct), fields, rules: None })])
}

/// The root discipline of another program, and the request that deletes it.
fn foreign_root() -> (Qdisc, QdiscRequest) {
    let (handle, parent) = (Handle::new(7, 0), Handle::ROOT);
    let kind = "pfifo";
    let root = Qdisc { kind: kind.to_owned(), handle, parent, ..Qdisc::default() };
    (root, QdiscRequest { verb: Verb::Delete, index: 0, handle, parent, kind, options: None })
}

#[tokio::test(start_paused = true)]
async fn refused_change_leaves_the_state_that_is_to_be_restored() {
    let kernel = Fake::new(&["a", "b"]);
    let daemon = daemon(&kernel).await;
    daemon.replace(PORT, lossy(1.0), false, None).await.after.unwrap();
    let hour_ns = 3_600_000_000_000;
    let lease = daemon.begin_lease(Owner::default(), hour_ns, leased(100.0)).await.unwrap();
    let (root, deletion) = foreign_root();
    kernel.insert_foreign("a", root);
    daemon.end_lease(lease.id).await.unwrap();
    let refused = daemon.replace(PORT, lossy(2.0), false, None).await;
    assert!(refused.after.is_err(), "the root is that of another program");
    kernel.send_foreign("a", &deletion).unwrap();
    let mut looks = 0;
    while daemon.read(PORT).await.unwrap().impairment != lossy(1.0) {
        looks += 1;
        assert!(looks < 100, "the state beneath the lease is not restored");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn refused_request_is_a_divergence_until_the_next_change() {
    let kernel = Fake::new(&["a", "b"]);
    let daemon = daemon(&kernel).await;
    let (root, deletion) = foreign_root();
    kernel.insert_foreign("a", root);
    let state = async || {
        let applied = daemon.read(PORT).await.unwrap();
        daemon.state(PORT, applied).await
    };
    assert!(daemon.replace(PORT, lossy(2.0), false, None).await.after.is_err());
    let refused = state().await;
    assert_eq!((refused.impairment, refused.requested), (Impairment::default(), Some(lossy(2.0))));
    let message = &refused.divergence.last().unwrap().message;
    assert!(message.starts_with("requested and not in force: "), "{message}");
    kernel.send_foreign("a", &deletion).unwrap();
    daemon.replace(PORT, lossy(3.0), false, None).await.after.unwrap();
    assert_eq!(state().await.divergence, []);
}

/// Lines of the audit log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push_str(&format!("{}={value:?} ", field.name()));
    }
}

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "audit"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn audit_log_names_who_began_changed_and_cancelled_a_lease() {
    let lines = Lines::default();
    let _subscribed = tracing::subscriber::set_default(lines.clone());
    let router = router(daemon(&Fake::new(&["a", "b"])).await);
    let ask = async |uid: u32, method: &str, path: &str, body: Value| {
        let peer = Peer { uid: Some(uid), pid: Some(7) };
        let mut request = Request::builder().method(method).uri(path);
        request = request.header(header::CONTENT_TYPE, "application/json");
        request = request.extension(ConnectInfo(peer));
        let request = request.body(Body::from(body.to_string())).unwrap();
        let status = router.clone().oneshot(request).await.unwrap().status().as_u16();
        let written = std::mem::take(&mut *lines.0.lock().unwrap());
        (status, written.concat())
    };
    let lease = |pct: f64| {
        let changes = json!({ "port1": { "impairment": lossy(pct), "fields": ["loss"] } });
        json!({ "duration": 60_000_000_000_u64, "changes": changes })
    };
    for (uid, method, path, body, status, words) in [
        (1, "POST", "/v1/leases", lease(100.0), 200, ["uid=1", "outcome=\"begun\"", "100.0"]),
        (2, "PUT", "/v1/leases/1", lease(50.0), 200, ["uid=2", "outcome=\"renewed\"", "50.0"]),
        (3, "POST", "/v1/leases", lease(101.0), 400, ["uid=3", "outcome=\"refused\"", "101"]),
        (4, "DELETE", "/v1/leases/1", Value::Null, 200, ["uid=4", "\"cancelled\"", "uid 1, pid 7"]),
        (5, "DELETE", "/v1/leases/1", Value::Null, 404, ["uid=5", "lease=1", "\"refused\""]),
    ] {
        let (code, line) = ask(uid, method, path, body).await;
        assert_eq!(code, status, "{method} {path}: {line}");
        for word in words {
            assert!(line.contains(word), "{method} {path}: {word}: {line}");
        }
    }
}
