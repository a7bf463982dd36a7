//! Cameras over a restart of the gateway.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};

use super::CAMERAS;
use crate::gateway::process::{admin, start_with};
use crate::support::eventually;

/// The shortest stream that has frames: a scan between the first and the last marker.
const FRAME: &[u8] = b"--b\r\n\r\n\xff\xd8\xff\xda\x00\x02\x01\xff\xd9\r\n";

/// Sends frames until the viewer is gone.
fn send_frames(mut viewer: TcpStream) {
    let mut lines = BufReader::new(viewer.try_clone().unwrap()).lines();
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=b\r\n\r\n";
    let mut sent = viewer.write_all(head);
    while sent.is_ok() {
        sent = viewer.write_all(FRAME);
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A camera of this machine.
fn camera() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for viewer in listener.incoming().flatten() {
            std::thread::spawn(move || send_frames(viewer));
        }
    });
    address
}

#[test]
fn started_cameras_are_started_again_after_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}/", camera());
    let options = ["--allow-target", "127.0.0.1"];
    let server = start_with(folder.path(), "info", Stdio::piped(), &options);
    let token = admin(&server);
    let post = |path: &str, body: &Value| server.post(&token, path, body);
    let define = |name: &str| {
        let body = json!({ "name": name, "source": "http_mjpeg", "url": url });
        let (status, answer) = post(CAMERAS, &body);
        assert_eq!(status, 201, "{answer}");
        format!("{CAMERAS}/{}", answer["camera_id"].as_str().unwrap())
    };
    let cameras = ["Started", "Stopped", "Changed", "New"].map(define);
    for camera in &cameras[..3] {
        assert_eq!(post(&format!("{camera}/start"), &Value::Null).0, 202);
    }
    assert_eq!(post(&format!("{}/stop", cameras[1]), &Value::Null).0, 200);
    let change = json!({ "fps": 5 });
    let (status, answer) = server.ask(&token, "PATCH", &cameras[2], &change);
    assert_eq!((status, &answer["state"]), (200, &json!("stopped")));
    // Killed.
    drop(server);
    let server = start_with(folder.path(), "info", Stdio::piped(), &options);
    let state = |camera: &str| {
        let path = format!("{camera}/status");
        let (status, answer) = server.ask(&token, "GET", &path, &Value::Null);
        assert_eq!(status, 200, "{answer}");
        answer["state"].as_str().unwrap().to_owned()
    };
    assert!(eventually(|| state(&cameras[0]) == "running"));
    let states = cameras.each_ref().map(|camera| state(camera));
    assert_eq!(states, ["running", "stopped", "stopped", "stopped"]);
}
