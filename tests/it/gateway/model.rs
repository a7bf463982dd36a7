//! Canonical model: networks and what refers to them.

use groundwave::gateway::Settings;
use serde_json::{Value, json};

use super::{Answer, Bench, request};

const NETWORKS: &str = "/v1/model/networks";

fn matching(
    bench: &Bench,
    token: &str,
    method: &str,
    path: &str,
    tag: &str,
    body: &Value,
) -> Answer {
    let mut request = request(token, method, path, body);
    let headers = request.headers_mut();
    headers.insert("if-match", tag.parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), request)
}

#[test]
fn a_network_is_made_changed_and_removed_by_its_revision() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let body = json!({ "name": "home", "overlay_cidr": "10.50.0.0/24" });
    let made = bench.call(&admin, "POST", NETWORKS, &body);
    assert_eq!(made.headers["etag"], "\"1\"");
    let made = made.is(201);
    assert_eq!(
        (&made["name"], &made["revision"]),
        (&json!("home"), &json!(1))
    );
    let path = format!("{NETWORKS}/{}", made["network_id"].as_str().unwrap());

    let wider = json!({ "name": "home", "overlay_cidr": "10.50.0.0/16" });
    let changed = matching(&bench, &admin, "PUT", &path, "\"1\"", &wider);
    assert_eq!(changed.headers["etag"], "\"2\"");
    let changed = changed.is(200);
    assert_eq!(changed["created_at"], made["created_at"]);
    let stale = matching(&bench, &admin, "PUT", &path, "\"1\"", &body);
    assert_eq!(stale.problem(412), "precondition-failed");
    let foreign = matching(&bench, &admin, "PUT", &path, "\"abc\"", &body);
    assert_eq!(foreign.problem(412), "precondition-failed");

    let viewer = bench.login("viewer");
    assert_eq!(bench.get(&viewer, &path).is(200), changed);
    let listed = bench.get(&viewer, NETWORKS).is(200);
    assert_eq!(
        (&listed["total"], &listed["items"][0]),
        (&json!(1), &changed)
    );

    matching(&bench, &admin, "DELETE", &path, "\"1\"", &Value::Null).problem(412);
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    bench.get(&viewer, &path).problem(404);
    bench.call(&admin, "PUT", &path, &body).problem(404);
}

#[test]
fn a_problem_names_the_place_of_the_mistake() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let cases = [
        (json!({ "overlay_cidr": "10.50.0.0/24" }), ""),
        (
            json!({ "name": "", "overlay_cidr": "10.50.0.0/24" }),
            "/name",
        ),
        (
            json!({ "name": "a", "overlay_cidr": "10.50.0.1/24" }),
            "/overlay_cidr",
        ),
        (
            json!({ "name": "a", "overlay_cidr": "10.50.0.0/30" }),
            "/overlay_cidr",
        ),
        (
            json!({ "name": "a", "overlay_cidr": "10.50.0.0/24", "mtu": 1400 }),
            "",
        ),
        (
            json!({ "name": "a", "overlay_cidr": "10.50.0.0/24",
                "underlay_domain_ids": ["00000000-0000-7000-8000-000000000000"] }),
            "/underlay_domain_ids/0",
        ),
    ];
    for (body, pointer) in cases {
        let told = bench.call(&admin, "POST", NETWORKS, &body);
        assert_eq!(told.problem(422), "invalid-body", "{body}");
        let found = told.json()["errors"][0]["pointer"].clone();
        assert!(found == pointer || pointer.is_empty(), "{body}: {found}");
    }
    let body = json!({ "name": "a", "overlay_cidr": "10.50.0.0/24" });
    bench.call(&admin, "POST", NETWORKS, &body).is(201);
    let again = json!({ "name": "a", "overlay_cidr": "10.60.0.0/24" });
    let told = bench.call(&admin, "POST", NETWORKS, &again);
    assert_eq!(told.problem(409), "conflict");
}

#[test]
fn nodes_get_addresses_of_the_network_and_hold_it() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let body = json!({ "name": "home", "overlay_cidr": "10.50.0.0/24" });
    let made = bench.call(&admin, "POST", NETWORKS, &body).is(201);
    let path = format!("{NETWORKS}/{}", made["network_id"].as_str().unwrap());
    let (_, _, overlay) = bench.node(7);
    assert!(overlay.to_string().starts_with("10.50.0."), "{overlay}");
    let pools = bench.get(&admin, "/v1/mesh/ipam").is(200);
    assert_eq!(pools["pools"][0]["cidr"], "10.50.0.0/24");

    let elsewhere = json!({ "name": "home", "overlay_cidr": "10.60.0.0/24" });
    let told = bench.call(&admin, "PUT", &path, &elsewhere);
    assert_eq!(told.problem(409), "conflict");
    let told = bench.call(&admin, "DELETE", &path, &Value::Null);
    assert_eq!(told.problem(409), "conflict");
    // A wider range holds the leases.
    let wider = json!({ "name": "home", "overlay_cidr": "10.50.0.0/16" });
    bench.call(&admin, "PUT", &path, &wider).is(200);

    // A restart keeps the network and its leases.
    let before = bench.get(&admin, &path).is(200);
    let again = Bench::open(bench.close(), Settings::default());
    let admin = again.login("admin");
    assert_eq!(again.get(&admin, &path).is(200), before);
    let pools = again.get(&admin, "/v1/mesh/ipam").is(200);
    assert_eq!(pools["pools"][0]["cidr"], "10.50.0.0/16");
    assert_eq!(pools["pools"][0]["allocated"], 1);
}
