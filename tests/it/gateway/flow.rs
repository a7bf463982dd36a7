//! Registration of a node, its reports, and the views of them.

use std::net::{IpAddr, Ipv4Addr};

use groundwave_protocol::proof_message;
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};

use super::{Bench, REGISTER, ask, beat, request};

#[test]
fn the_sequence_of_onboarding() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let underlay: IpAddr = "10.41.0.7".parse().unwrap();
    let send = |source, body: &Value| bench.send_from(source, request("", "POST", REGISTER, body));

    // A repeated request has the same answer.
    let registration_request = send(underlay, &ask(7)).is(202);
    assert_eq!(
        (&registration_request["state"], &registration_request["overlay_ip"]),
        (&json!("pending"), &Value::Null)
    );
    assert_eq!(
        send(underlay, &ask(7)).is(202)["registration_id"],
        registration_request["registration_id"]
    );
    let listed = bench.get(&admin, "/v1/admin/registrations?state=pending").is(200);
    let registration = &listed["items"][0];
    assert_eq!(registration["mac"], "02:00:00:00:00:07");
    assert_eq!(
        (&registration["proof"], &registration["mac_verified"]),
        (&json!("absent"), &json!(false))
    );

    // An admin agrees; it is in, with the same address whenever it asks.
    let id = registration_request["registration_id"].as_str().unwrap();
    let approve = format!("/v1/admin/registrations/{id}/approve");
    let named = json!({ "name": "Roof", "role_id": "relay" });
    let document = bench.call(&admin, "POST", &approve, &named).is(200);
    let inside = send(underlay, &ask(7)).is(200);
    assert_eq!(
        (&inside["overlay_ip"], &inside["credentials"]),
        (&document["overlay_ip"], &Value::Null)
    );
    assert_eq!(inside["gateway"]["endpoint"], "10.41.0.1:51820");
    assert_eq!(inside["allowed_ips"], json!(["10.42.0.0/24"]));

    // Only through the tunnel are its credentials sent, and a second request replaces them.
    let overlay: IpAddr = document["overlay_ip"].as_str().unwrap().parse().unwrap();
    let first = send(overlay, &ask(7)).is(200)["credentials"].clone();
    let second = send(overlay, &ask(7)).is(200)["credentials"].clone();
    bench.call("", "POST", "/api/auth/login", &first).problem(401);
    let login = bench.call("", "POST", "/api/auth/login", &second).is(200);
    assert_eq!((&login["token_type"], &login["role"]), (&json!("bearer"), &json!("operator")));
    let token = login["access_token"].as_str().unwrap();
    let me = bench.get(token, "/api/auth/me").is(200);
    assert_eq!((&me["kind"], &me["node_id"]), (&json!("node"), &inside["node_id"]));

    // The node sends a heartbeat, and every view shows it.
    let ack = bench.call(token, "POST", "/v1/nodes/heartbeat", &beat(7, 1)).is(200);
    assert_eq!((&ack["state"], &ack["overlay_ip"]), (&json!("online"), &document["overlay_ip"]));
    assert_eq!(ack["next_heartbeat_s"], 5.0);
    let old = bench.call(token, "POST", "/v1/nodes/heartbeat", &beat(7, 1));
    assert_eq!(old.problem(409), "stale-revision");
    let viewer = bench.login("viewer");
    let node_id = inside["node_id"].as_str().unwrap();
    let node = bench.get(&viewer, &format!("/v1/nodes/{node_id}")).is(200);
    assert_eq!((&node["name"], &node["state"]), (&json!("Roof"), &json!("online")));
    assert_eq!(node["registration"], "approved");
    let graph = bench.get(&viewer, "/v1/mesh/topology").is(200);
    assert_eq!(
        (&graph["type"], &graph["nodes"][0]["label"]),
        (&json!("NetworkGraph"), &json!("Roof"))
    );

    // Put out, it has nothing any more.
    let revoke = format!("/v1/admin/registrations/{id}/revoke");
    bench.call(&admin, "POST", &revoke, &json!({ "reason": "stolen" })).is(200);
    let answer = bench.call(token, "POST", "/v1/nodes/heartbeat", &beat(7, 2));
    assert_eq!(answer.problem(401), "token-revoked");
    assert_eq!(send(underlay, &ask(7)).problem(403), "registration-rejected");
    let pools = bench.get(&viewer, "/v1/mesh/ipam").is(200);
    assert_eq!(
        (&pools["pools"][0]["allocated"], &pools["pools"][0]["quarantined"]),
        (&json!(0), &json!(1))
    );
}

#[test]
fn forged_proof_of_the_secret_gives_no_trust() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let rotation = bench.call(&admin, "POST", "/v1/trust/secret/rotate", &Value::Null).is(201);
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::STANDARD;
    let secret = base64.decode(rotation["secret"].as_str().unwrap()).unwrap();
    assert_eq!(secret.len(), 32);
    let proven = |number: u8, secret: &[u8]| {
        let mut registration_request = ask(number);
        let text = |key: &str| registration_request[key].as_str().unwrap().to_owned();
        let fields = ["public_key", "mac", "hostname", "nonce", "ts"].map(text);
        let message = proof_message([&fields[0], &fields[1], &fields[2], &fields[3], &fields[4]]);
        let mut hmac = Hmac::<sha2::Sha256>::new_from_slice(secret).unwrap();
        hmac.update(&message);
        registration_request["proof"] = base64.encode(hmac.finalize().into_bytes()).into();
        registration_request["key_id"] = rotation["key_id"].clone();
        registration_request
    };
    let source: IpAddr = "10.41.0.9".parse().unwrap();
    let state = |registration_request: &Value| {
        let document =
            bench.send_from(source, request("", "POST", REGISTER, registration_request)).is(202);
        let id = document["registration_id"].as_str().unwrap().to_owned();
        let path = format!("/v1/admin/registrations/{id}");
        bench.get(&admin, &path).is(200)["proof"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&proven(1, &secret)), "valid");
    assert_eq!(state(&proven(2, &[0; 32])), "invalid");
    let mut moved = proven(3, &secret);
    moved["hostname"] = json!("another");
    assert_eq!(state(&moved), "invalid");
    assert_eq!(state(&ask(4)), "absent");
    // Under the policy that needs a proof, who has none is turned away.
    let policy = json!({ "policy": "trusted" });
    bench.call(&admin, "PUT", "/v1/trust/policy", &policy).is(200);
    bench.send_from(source, request("", "POST", REGISTER, &ask(5))).problem(403);
    bench.call(&admin, "PUT", "/v1/trust/policy", &json!({ "policy": "open" })).problem(409);
}

#[test]
fn a_node_registered_ahead_comes_in_with_its_code_as_the_planned_node() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let expected = json!({ "name": "Mast", "mac": "02:00:00:00:00:0c", "tags": ["north"] });
    let registration = bench.call(&admin, "POST", "/v1/nodes/register", &expected).is(201);
    assert_eq!(registration["node"]["state"], "joining");
    let mut registration_request = ask(12);
    registration_request["enrollment_code"] = registration["enrollment_code"].clone();
    let source: IpAddr = "10.41.0.12".parse().unwrap();
    let document =
        bench.send_from(source, request("", "POST", REGISTER, &registration_request)).is(201);
    assert_eq!(document["node_id"], registration["node"]["node_id"]);
    let unknown = json!({ "name": "x", "mac": "02:00:00:00:00:0d", "node_id": uuid::Uuid::nil() });
    bench.call(&admin, "POST", "/v1/nodes/register", &unknown).problem(404);
}

#[test]
fn people_log_in_for_less_than_they_may_and_never_for_more() {
    let bench = Bench::new();
    let body = |name: &str| json!({ "username": name, "password": super::PASSWORD });
    let login = |role: &str, name: &str| {
        bench.call("", "POST", &format!("/api/auth/login/{role}"), &body(name))
    };
    assert_eq!(login("viewer", "admin").is(200)["role"], "viewer");
    assert_eq!(login("admin", "admin").is(200)["role"], "admin");
    assert_eq!(login("admin", "operator").problem(403), "forbidden");
    assert_eq!(login("operator", "viewer").problem(403), "forbidden");
    let less = login("viewer", "admin").is(200)["access_token"].as_str().unwrap().to_owned();
    bench.call(&less, "POST", "/v1/trust/secret/rotate", &Value::Null).problem(403);
    bench.get(&less, "/v1/nodes").is(200);
    // Logged out, this token is dead and others are not.
    let other = bench.login("admin");
    bench.call(&less, "POST", "/api/auth/logout", &Value::Null).is(204);
    assert_eq!(bench.get(&less, "/v1/nodes").problem(401), "token-revoked");
    bench.get(&other, "/v1/nodes").is(200);
}

#[test]
fn a_new_account_changes_its_password_first() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let eve = json!({ "username": "eve", "password": "a first password", "role": "operator" });
    let document = bench.call(&admin, "POST", "/v1/admin/users", &eve).is(201);
    assert!(document.get("password").is_none() && document["must_change_password"] == true);
    for bad in ["short", "passwordpassword", "my groundwave password"] {
        let weak = json!({ "username": "mallory", "password": bad, "role": "viewer" });
        bench.call(&admin, "POST", "/v1/admin/users", &weak).problem(422);
    }
    let credentials = json!({ "username": "eve", "password": "a first password" });
    let login = || bench.call("", "POST", "/api/auth/login", &credentials);
    let token = login().is(200)["access_token"].as_str().unwrap().to_owned();
    bench.get(&token, "/v1/nodes").problem(403);
    let change =
        json!({ "current_password": "a first password", "new_password": "another password" });
    bench.call(&token, "POST", "/api/auth/password", &change).is(204);
    assert_eq!(bench.get(&token, "/v1/nodes").problem(401), "token-revoked");
    login().problem(401);
    let token = json!({ "username": "eve", "password": "another password" });
    let token = bench.call("", "POST", "/api/auth/login", &token).is(200);
    bench.get(token["access_token"].as_str().unwrap(), "/v1/nodes").is(200);
}

#[test]
fn guessing_passwords_takes_ever_longer() {
    let bench = Bench::new();
    let wrong = json!({ "username": "admin", "password": "not this one" });
    for _ in 0..5 {
        bench.call("", "POST", "/api/auth/login", &wrong).problem(401);
    }
    let waits = bench.call("", "POST", "/api/auth/login", &wrong);
    assert_eq!(waits.problem(429), "rate-limited");
    assert!(waits.headers.contains_key("retry-after"));
    // The right one does not help either, from here; somebody else elsewhere is not bothered.
    let right = json!({ "username": "viewer", "password": super::PASSWORD });
    bench.call("", "POST", "/api/auth/login", &right).problem(429);
    let elsewhere = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 9));
    bench.send_from(elsewhere, request("", "POST", "/api/auth/login", &right)).is(200);
}

#[test]
fn node_token_gives_access_to_its_own_node_only() {
    let bench = Bench::new();
    let (one, token, _) = bench.node(21);
    let (other, _, _) = bench.node(22);
    bench.get(&token, &format!("/v1/nodes/{one}")).is(200);
    bench.get(&token, &format!("/v1/nodes/{other}")).problem(404);
    let mut foreign = beat(21, 1);
    foreign["node_id"] = json!(other);
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &foreign).problem(404);
    let samples = json!({ "samples": [] });
    let path = |id: &str| format!("/v1/nodes/{id}/telemetry");
    bench.call(&token, "POST", &path(&other), &samples).problem(404);
    bench.call(&token, "POST", &path(&one), &samples).is(202);
    bench.get(&token, "/v1/nodes").problem(403);
}

#[test]
fn orders_reach_a_node_with_its_next_heartbeat() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(31);
    let operator = bench.login("operator");
    let path = format!("/v1/nodes/{id}/commands");
    let order = json!({ "kind": "identify" });
    bench.call(&operator, "POST", &path, &order).problem(422);
    let join = json!({ "supported_commands": ["identify"], "board": "test", "firmware": { "agent": "1" } });
    let joined = bench.call(&token, "POST", "/v1/nodes/join", &join).is(200);
    assert_eq!(joined["config"]["heartbeat_period_s"], 5.0);
    let command = bench.call(&operator, "POST", &path, &order).is(202);
    let ack = bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(31, 1)).is(200);
    assert_eq!(ack["commands"][0]["command_id"], command["command_id"]);
    let result = format!("{path}/{}/result", command["command_id"].as_str().unwrap());
    let outcome = json!({ "state": "done", "output": "blinked" });
    bench.call(&token, "POST", &result, &outcome).is(204);
    bench.call(&token, "POST", &result, &outcome).problem(409);
    let listed = bench.get(&operator, &path).is(200);
    assert_eq!(listed["items"][0]["result"], "blinked");
}

#[test]
fn entries_that_a_report_loses_are_counted() {
    let bench = Bench::new();
    let (_, token, _) = bench.node(32);
    let wrong: Vec<u32> = (0..100).collect();
    let join = json!({ "supported_commands": wrong, "board": "test" });
    let joined = bench.call(&token, "POST", "/v1/nodes/join", &join).is(200);
    assert_eq!(joined["rejected_count"], 100);
    assert_eq!(joined["rejected"].as_array().unwrap().len(), 64);
}

#[test]
fn of_a_metric_sent_twice_the_last_value_counts_and_the_other_is_named() {
    let bench = Bench::new();
    let (id, token, _) = bench.node(33);
    let body = beat(33, 1);
    let twice = body
        .to_string()
        .replace("\"mesh.tx_mbps\":1.5", "\"mesh.tx_mbps\":1.5,\"mesh.tx_mbps\":7.25");
    let mut heartbeat = request(&token, "POST", "/v1/nodes/heartbeat", &body);
    *heartbeat.body_mut() = twice.into();
    let ack = bench.send_from(IpAddr::V4(Ipv4Addr::LOCALHOST), heartbeat).is(200);
    assert_eq!(ack["rejected"][0]["pointer"], "/metrics/mesh.tx_mbps", "{ack}");
    let path = format!("/v1/nodes/{id}/telemetry/latest");
    let latest = bench.get(&bench.login("viewer"), &path).is(200);
    assert!(latest.to_string().contains("7.25"), "{latest}");
}

#[test]
fn a_change_of_what_changed_meanwhile_is_refused() {
    let bench = Bench::new();
    let (id, _, _) = bench.node(41);
    let operator = bench.login("operator");
    let path = format!("/v1/nodes/{id}");
    let original = bench.get(&operator, &path);
    let tag = original.headers["etag"].to_str().unwrap().to_owned();
    let change = |tag: &str, name: &str| {
        let mut request = request(&operator, "PATCH", &path, &json!({ "name": name }));
        request.headers_mut().insert("if-match", tag.parse().unwrap());
        bench.send_from(IpAddr::V4(Ipv4Addr::LOCALHOST), request)
    };
    assert_eq!(change(&tag, "one").is(200)["name"], "one");
    assert_eq!(change(&tag, "two").problem(412), "precondition-failed");
    assert_eq!(change("*", "three").is(200)["name"], "three");
    let place = json!({ "position_override": { "lat": 57.1, "lon": 11.9, "alt_m": 12 } });
    let placed = bench.call(&operator, "PATCH", &path, &place).is(200);
    assert_eq!(
        (&placed["position"]["lat"], &placed["position"]["source"]),
        (&json!(57.1), &json!("override"))
    );
    let nowhere = json!({ "position_override": { "lat": 91, "lon": 0 } });
    bench.call(&operator, "PATCH", &path, &nowhere).problem(422);
    let back = json!({ "position_override": null });
    assert_eq!(bench.call(&operator, "PATCH", &path, &back).is(200)["position"], Value::Null);
}

#[test]
fn who_did_what_is_written_down() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let mac = json!({ "mac": "02:00:00:00:00:63", "label": "mast" });
    bench.call(&admin, "POST", "/v1/trust/macs", &mac).is(201);
    bench.call(&admin, "POST", "/v1/trust/macs", &mac).is(200);
    let viewer = bench.login("viewer");
    bench.call(&viewer, "POST", "/v1/trust/macs", &mac).problem(403);
    let document = bench.get(&admin, "/v1/admin/audit?action=trust_mac_add").is(200);
    let actions: Vec<_> = document["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|deed| (deed["actor"].as_str().unwrap(), deed["outcome"].as_u64().unwrap()))
        .collect();
    assert_eq!(actions, [("viewer", 403), ("admin", 200), ("admin", 201)]);
}
