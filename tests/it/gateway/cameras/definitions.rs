//! Definitions of cameras and their secrets.

use serde_json::{Value, json};

use super::{CAMERAS, bench, define};

#[test]
fn definitions_are_checked_and_secrets_are_kept() {
    let bench = bench();
    let (admin, viewer) = (bench.login("admin"), bench.login("viewer"));
    let wrong = [
        (json!({ "source": "v4l2", "device": "/dev/sda" }), "/device"),
        (json!({ "source": "v4l2", "device": "/dev/video0/../sda" }), "/device"),
        (json!({ "source": "v4l2" }), "/device"),
        (json!({ "source": "http_mjpeg", "url": "rtsp://10.0.0.1/" }), "/url"),
        (json!({ "source": "rtsp", "url": "rtsp://user:pw@10.0.0.1/" }), "/url"),
        (json!({ "source": "http_mjpeg", "url": "http://169.254.169.254/" }), "/url"),
        (json!({ "source": "rtsp", "url": "rtsp://[::1]/" }), "/url"),
        (json!({ "source": "rtsp", "url": "rtsp://2130706434/" }), "/url"),
        (json!({ "source": "node" }), "/node_id"),
        (json!({ "source": "node", "node_id": uuid::Uuid::nil(), "url": "@evil/" }), "/url"),
        (json!({ "source": "http_mjpeg", "url": "http://10.0.0.1/", "fps": 61 }), "/fps"),
    ];
    for (mut body, pointer) in wrong {
        body["name"] = json!("C");
        let document = bench.call(&admin, "POST", CAMERAS, &body).is(422);
        assert_eq!(document["errors"][0]["pointer"], pointer, "{body}: {document}");
    }
    let body = json!({
        "name": "Gate",
        "source": "http_mjpeg",
        "url": "http://10.0.0.7/video?pw=canary-query",
        "auth": { "username": "u", "password": "canary-password" },
    });
    let camera = define(&bench, &admin, &body);
    for path in [CAMERAS, &camera, &format!("{camera}/status"), "/v1/admin/audit"] {
        let document = bench.get(&admin, path);
        assert!(!String::from_utf8_lossy(&document.body).contains("canary"), "{path}");
    }
    assert_eq!(bench.get(&viewer, &camera).is(200)["has_auth"], true);
    // Credentials do not follow a camera to another host.
    let moved = bench.call(&admin, "PATCH", &camera, &json!({ "url": "http://10.0.0.8/video" }));
    assert_eq!(moved.is(422)["errors"][0]["pointer"], "/auth");
    let same = bench.call(&admin, "PATCH", &camera, &json!({ "url": "http://10.0.0.7/other" }));
    assert_eq!(same.is(200)["revision"], 2);
    bench.call(&admin, "DELETE", &camera, &Value::Null).is(204);
    bench.get("", &format!("{camera}/stream")).problem(404);
    let absent = json!({ "name": "USB", "source": "v4l2", "device": "/dev/video999" });
    let camera = define(&bench, &admin, &absent);
    let started = bench.call(&admin, "POST", &format!("{camera}/start"), &Value::Null);
    assert_eq!(started.problem(503), "backend-absent");
    let detected = bench.get(&admin, &format!("{CAMERAS}/detect")).is(200);
    assert!(detected["devices"].is_array() && detected["nodes"] == json!([]), "{detected}");
}
