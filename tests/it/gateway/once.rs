//! A request repeated for want of an answer is carried out once.

use std::net::{IpAddr, Ipv4Addr};
use std::process::Stdio;

use serde_json::{Value, json};

use super::firmware::{image, upload_path};
use super::process::{Process, admin, start};
use super::{Answer, Bench, request};

fn ask(bench: &Bench, token: &str, path: &str, key: &str, body: &Value) -> Answer {
    let mut request = request(token, "POST", path, body);
    let headers = request.headers_mut();
    headers.insert("idempotency-key", key.parse().unwrap());
    bench.send_from(IpAddr::V4(Ipv4Addr::LOCALHOST), request)
}

#[test]
fn the_same_key_and_body_are_done_once() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let path = "/v1/trust/secret/rotate";
    let body = json!({ "grace_s": 60 });
    let first = ask(&bench, &admin, path, "one", &body);
    let again = ask(&bench, &admin, path, "one", &body);
    assert_eq!(first.is(201), again.is(201));
    assert!(!first.headers.contains_key("idempotency-replayed"));
    assert_eq!(again.headers["idempotency-replayed"], "true");
    // Without a key, or with another one, the request is carried out again.
    let other = ask(&bench, &admin, path, "two", &body).is(201);
    let plain = bench.call(&admin, "POST", path, &body).is(201);
    assert_ne!(first.json()["key_id"], other["key_id"]);
    assert_ne!(other["key_id"], plain["key_id"]);
    // The same key for something else is a mistake.
    let other = ask(&bench, &admin, path, "one", &json!({ "grace_s": 61 }));
    assert_eq!(other.problem(422), "invalid-body");
    // A failed request stays failed: the problem is repeated, as a problem of this request.
    let wrong = json!({ "grace_s": -1 });
    let [one, two] = [(); 2].map(|()| ask(&bench, &admin, path, "bad", &wrong));
    assert_eq!(one.problem(422), two.problem(422));
    assert_eq!(two.headers["idempotency-replayed"], "true");
    assert_ne!(one.json()["request_id"], two.json()["request_id"]);
    let empty = ask(&bench, &admin, path, "", &body);
    assert_eq!(empty.problem(400), "invalid-body");
}

#[test]
fn a_key_is_its_callers_own() {
    let bench = Bench::new();
    bench.account("second", groundwave_gateway::account::AccountRole::Admin);
    let (one, two) = (bench.login("admin"), bench.login("second"));
    let body =
        json!({ "username": "third", "password": "correct horse battery", "role": "viewer" });
    ask(&bench, &one, "/v1/admin/users", "k", &body).is(201);
    ask(&bench, &one, "/v1/admin/users", "k", &body).is(201);
    // Another admin with the same key and body asks for the first time.
    let other = ask(&bench, &two, "/v1/admin/users", "k", &body);
    assert_eq!(other.problem(409), "conflict");
    // A viewer is nobody to ask, with a key that was good or without.
    let viewer = bench.login("viewer");
    ask(&bench, &viewer, "/v1/admin/users", "k", &body).is(403);
}

/// A registration and an upload of 700 kB are carried out once over a kill of the gateway.
#[test]
fn repeated_requests_after_a_kill_have_the_first_replies() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), "info", Stdio::piped());
    let token = admin(&server);
    let image = image();
    let upload = upload_path(&image);
    let register = json!({ "name": "mast-1", "mac": "02:00:00:00:00:01" }).to_string();
    let requests = [
        ("/v1/nodes/register", "application/json", register.as_bytes()),
        (upload.as_str(), "application/octet-stream", image.as_slice()),
    ];
    let replies = |server: &Process| {
        requests.map(|(path, media, body)| {
            let fields = [("Content-Type", media), ("Idempotency-Key", "first")];
            let (status, body) = server.exchange(&token, "POST", path, &fields, body);
            (status, String::from_utf8(body).unwrap())
        })
    };
    let first = replies(&server);
    assert!(first.iter().all(|(status, _)| *status == 201), "{first:?}");
    server.kill();
    let server = start(folder.path(), "info", Stdio::piped());
    assert_eq!(replies(&server), first);
    for path in ["/v1/firmware/images", "/v1/nodes"] {
        let (status, answer) = server.ask(&token, "GET", path, &Value::Null);
        assert_eq!((status, &answer["total"]), (200, &json!(1)), "{answer}");
    }
    // Without the key both would be in the way of themselves.
    let fields = [("Content-Type", "application/octet-stream")];
    assert_eq!(server.exchange(&token, "POST", &upload, &fields, &image).0, 409);
}
