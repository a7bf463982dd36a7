//! Cameras: real MJPEG and RTSP servers, many viewers, limits, restarts.

mod definitions;
mod guard;
mod restart;
mod streams;
mod viewers;

use std::time::Duration;

use groundwave_outbound::TargetPolicy;
use groundwave_web_gateway::Settings;
use serde_json::Value;

use super::Bench;

const CAMERAS: &str = "/v1/camera";

/// A gateway that may reach this machine, by its start flag.
fn bench() -> Bench {
    let targets =
        TargetPolicy { allowed: vec!["127.0.0.1".parse().unwrap()], ..TargetPolicy::default() };
    Bench::with(Settings { targets, ..Settings::default() })
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn define(bench: &Bench, admin: &str, body: &Value) -> String {
    let document = bench.call(admin, "POST", CAMERAS, body).is(201);
    format!("{CAMERAS}/{}", document["camera_id"].as_str().unwrap())
}

/// Waits until the status of a camera is as wanted.
fn await_status(bench: &Bench, token: &str, camera: &str, fits: impl Fn(&Value) -> bool) -> Value {
    let mut last = Value::Null;
    for _ in 0..600 {
        last = bench.get(token, &format!("{camera}/status")).is(200);
        if fits(&last) {
            return last;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not within 30 s: {last}");
}

/// Waits for frames to arrive.
fn await_running(bench: &Bench, token: &str, camera: &str) -> Value {
    await_status(bench, token, camera, |status| status["state"] == "running")
}
