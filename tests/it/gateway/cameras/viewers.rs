//! Bounds and tokens of viewers.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use groundwave_outbound::TargetPolicy;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::{bench, define, free_port};
use crate::gateway::{Bench, request};

#[test]
fn viewers_are_bounded_by_address_camera_and_in_all() {
    let bench = bench();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let mut cameras = Vec::new();
    for number in 0..5 {
        let url = format!("http://127.0.0.1:{}/", free_port());
        let name = format!("C{number}");
        let camera =
            define(&bench, &admin, &json!({ "name": name, "source": "http_mjpeg", "url": url }));
        bench.call(&operator, "POST", &format!("{camera}/start"), &Value::Null).is(202);
        cameras.push(camera);
    }
    let open = |camera: &str, source: u8| {
        let mut request_head = request("", "GET", &format!("{camera}/stream"), &Value::Null);
        let peer = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(10, 0, 0, source)), 40_000);
        request_head.extensions_mut().insert(axum::extract::ConnectInfo(peer));
        bench.runtime.block_on(bench.router.clone().oneshot(request_head)).unwrap()
    };
    let mut streams = Vec::new();
    for source in [1, 2] {
        for _ in 0..8 {
            let answer = open(&cameras[0], source);
            assert_eq!(answer.status(), 200);
            streams.push(answer);
        }
    }
    assert_eq!(open(&cameras[1], 1).status(), 429);
    assert_eq!(open(&cameras[0], 3).status(), 503);
    for (camera, source) in [(1, 3), (1, 4), (2, 5), (2, 6), (3, 7), (3, 8)] {
        streams.extend((0..8).map(|_| open(&cameras[camera], source)));
    }
    assert!(streams.iter().all(|answer| answer.status() == 200));
    let refused = open(&cameras[4], 9);
    assert_eq!(refused.status(), 503);
    assert!(refused.headers().contains_key("retry-after"));
    streams.pop();
    assert_eq!(open(&cameras[4], 9).status(), 200);
}

#[test]
fn streams_require_a_token_where_the_gateway_does() {
    let targets =
        TargetPolicy { allowed: vec!["127.0.0.1".parse().unwrap()], ..TargetPolicy::default() };
    let bench = Bench::with(Settings { targets, camera_tokens: true, ..Settings::default() });
    let (admin, viewer) = (bench.login("admin"), bench.login("viewer"));
    let url = format!("http://127.0.0.1:{}/", free_port());
    let camera =
        define(&bench, &admin, &json!({ "name": "C", "source": "http_mjpeg", "url": url }));
    for token in ["", "?t=", "?t=nonsense"] {
        bench.get("", &format!("{camera}/stream{token}")).problem(401);
    }
    bench.get("", &format!("{camera}/stream?t={viewer}")).problem(409);
}
