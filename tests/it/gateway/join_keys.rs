//! Join keys: several nodes, an end, tags.

use std::net::{IpAddr, Ipv4Addr};

use serde_json::{Value, json};

use super::{Answer, Bench, REGISTER, ask, request};

const KEYS: &str = "/v1/trust/join-keys";

fn register(bench: &Bench, number: u8, code: &Value) -> Answer {
    let underlay = IpAddr::V4(Ipv4Addr::new(10, 41, 0, number));
    let mut body = ask(number);
    body["enrollment_code"] = code.clone();
    bench.send_from(underlay, request("", "POST", REGISTER, &body))
}

#[test]
fn a_join_key_admits_nodes_until_it_is_used_up_or_removed() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let body = json!({ "name": "site a", "valid_s": 3600, "nodes_max": 2, "tags": ["site-a"] });
    let document = bench.call(&admin, "POST", KEYS, &body).is(201);
    bench.call(&admin, "POST", KEYS, &body).problem(409);
    let operator = bench.login("operator");
    bench.get(&operator, KEYS).problem(403);
    let code = &document["join_key"];
    // It is not stored, so it cannot be shown again.
    let listed = bench.get(&admin, KEYS);
    let text = String::from_utf8(listed.body.clone()).unwrap();
    assert!(!text.contains(code.as_str().unwrap()));

    let first = register(&bench, 7, code).is(201);
    assert_eq!(first["state"], "approved");
    // The same node again uses nothing up.
    assert_eq!(register(&bench, 7, code).is(200)["state"], "approved");
    assert_eq!(register(&bench, 8, code).is(201)["state"], "approved");
    assert_eq!(register(&bench, 9, code).is(202)["state"], "pending");
    let refusal = |answer: &Value| {
        let id = answer["registration_id"].as_str().unwrap();
        bench.get(&admin, &format!("/v1/admin/registrations/{id}")).is(200)["code_refusal"].clone()
    };
    assert_eq!(refusal(&first), Value::Null);
    assert_eq!(refusal(&register(&bench, 9, code).is(202)), "used");
    assert_eq!(refusal(&register(&bench, 12, &json!("x")).is(202)), "wrong");
    assert_eq!(refusal(&register(&bench, 13, &Value::Null).is(202)), Value::Null);
    let listed = bench.get(&admin, KEYS).is(200);
    assert_eq!(listed["items"][0]["nodes_used"], 2);
    let nodes = bench.get(&admin, "/v1/nodes?tag=site-a").is(200);
    assert_eq!(nodes["total"], 2, "{nodes}");

    let body = json!({ "name": "site b", "valid_s": 3600, "nodes_max": 100 });
    let other = bench.call(&admin, "POST", KEYS, &body).is(201);
    let path = format!("{KEYS}/{}", other["join_key_id"].as_str().unwrap());
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    assert_eq!(register(&bench, 10, &other["join_key"]).is(202)["state"], "pending");
    for (key, value) in [("valid_s", json!(59)), ("nodes_max", json!(0)), ("name", json!(""))] {
        let mut wrong = json!({ "name": "c", "valid_s": 3600, "nodes_max": 1 });
        wrong[key] = value;
        bench.call(&admin, "POST", KEYS, &wrong).problem(422);
    }
}

#[test]
fn registered_address_with_another_key_waits_for_an_admin() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    bench.node(7);
    let body = json!({ "name": "site a", "valid_s": 3600, "nodes_max": 9 });
    let document = bench.call(&admin, "POST", KEYS, &body).is(201);
    let mut copied_request = ask(8);
    copied_request["mac"] = json!("02:00:00:00:00:07");
    copied_request["enrollment_code"] = document["join_key"].clone();
    let source = IpAddr::V4(Ipv4Addr::new(10, 41, 0, 8));
    let answer = bench.send_from(source, request("", "POST", REGISTER, &copied_request));
    assert_eq!(answer.is(202)["state"], "pending");
}

#[test]
fn a_node_that_is_revoked_or_removed_makes_no_place_for_another() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let body = json!({ "name": "site a", "valid_s": 3600, "nodes_max": 2 });
    let document = bench.call(&admin, "POST", KEYS, &body).is(201);
    let code = &document["join_key"];
    let [revoked, removed] = [7, 8].map(|number| register(&bench, number, code).is(201));
    let text = |answer: &Value, key: &str| answer[key].as_str().unwrap().to_owned();
    let revoke = format!("/v1/admin/registrations/{}/revoke", text(&revoked, "registration_id"));
    bench.call(&admin, "POST", &revoke, &json!({ "reason": "stolen" })).is(200);
    let remove = format!("/v1/nodes/{}", text(&removed, "node_id"));
    bench.call(&admin, "DELETE", &remove, &Value::Null).is(204);
    // Whoever has the key has it still.
    assert_eq!(register(&bench, 9, code).is(202)["state"], "pending");
    assert_eq!(bench.get(&admin, KEYS).is(200)["items"][0]["nodes_used"], 2);
}

#[test]
fn a_join_key_that_is_used_up_passes_no_rate_limit() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let key = |name: &str, nodes_max: u32| {
        let body = json!({ "name": name, "valid_s": 3600, "nodes_max": nodes_max });
        bench.call(&admin, "POST", KEYS, &body).is(201)["join_key"].clone()
    };
    let source = IpAddr::V4(Ipv4Addr::new(10, 41, 0, 200));
    let statuses = |code: &Value, numbers: std::ops::Range<u8>| -> Vec<u16> {
        let ask = |number| {
            let mut body = ask(number);
            body["enrollment_code"] = code.clone();
            bench.send_from(source, request("", "POST", REGISTER, &body)).status.as_u16()
        };
        numbers.map(ask).collect()
    };
    // Many nodes may be behind one address.
    assert_eq!(statuses(&key("wide", 100), 20..40), [201; 20]);
    let narrow = key("narrow", 1);
    assert_eq!(statuses(&narrow, 40..41), [201]);
    let others = statuses(&narrow, 41..53);
    assert!(others.contains(&429), "{others:?}");
}
