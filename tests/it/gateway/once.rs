//! A request repeated for want of an answer is carried out once.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

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
