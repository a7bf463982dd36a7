//! Forbidden targets of cameras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use groundwave_engine::Id;
use groundwave_gateway::camera::{Camera, CameraSource};
use groundwave_gateway::config::{Expected, Put};
use serde_json::{Value, json};

use super::{CAMERAS, await_status};
use crate::gateway::Bench;

/// Port of this machine and the number of connections to it.
fn counted(bench: &Bench) -> (u16, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let port = bench.runtime.block_on(async move {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            while listener.accept().await.is_ok() {
                counter.fetch_add(1, Ordering::SeqCst);
            }
        });
        port
    });
    (port, count)
}

#[test]
fn forbidden_targets_are_refused_in_definitions_and_when_they_are_read() {
    let bench = Bench::new();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let (port, count) = counted(&bench);
    let sources = [(CameraSource::HttpMjpeg, "http"), (CameraSource::Rtsp, "rtsp")];
    for (source, scheme) in sources {
        for host in ["127.0.0.1", "localhost", "[::ffff:7f00:1]", "169.254.169.254"] {
            let url = format!("{scheme}://{host}:{port}/");
            let body = json!({ "name": "C", "source": source, "url": url });
            let answer = bench.call(&admin, "POST", CAMERAS, &body);
            assert_eq!(answer.problem(422), "target-forbidden", "{url}");
        }
    }
    // A definition from a time when the target was allowed, as a name may be that leads elsewhere now.
    for (source, scheme) in sources {
        let id = uuid::Uuid::now_v7();
        let object = Camera {
            name: scheme.to_owned(),
            source,
            device: None,
            url: Some(format!("{scheme}://localhost:{port}/")),
            node_id: None,
            sealed_auth: None,
            width: 640,
            height: 480,
            fps: 10,
            is_started: false,
        };
        let put = Put { id: Id::new(id), object, expected: Expected::Absent };
        let outcome = bench.runtime.block_on(bench.gateway.world.submit(put));
        assert_eq!(outcome.unwrap().revision, 1);
        let camera = format!("{CAMERAS}/{id}");
        let start = format!("{camera}/start");
        bench.call(&operator, "POST", &start, &Value::Null).is(202);
        let answer = await_status(&bench, &operator, &camera, |status| status["state"] == "failed");
        let why = answer["error"].as_str().unwrap();
        assert!(why.contains("forbidden target"), "{scheme}: {why}");
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
}
