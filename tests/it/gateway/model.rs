//! Canonical model: networks and what refers to them.

use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::{Answer, Bench, beat, request};

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
    let answer = bench.call(&admin, "POST", NETWORKS, &body);
    assert_eq!(answer.headers["etag"], "\"1\"");
    let answer = answer.is(201);
    assert_eq!((&answer["name"], &answer["revision"]), (&json!("home"), &json!(1)));
    let path = format!("{NETWORKS}/{}", answer["network_id"].as_str().unwrap());

    let wider = json!({ "name": "home", "overlay_cidr": "10.50.0.0/16" });
    let changed = matching(&bench, &admin, "PUT", &path, "\"1\"", &wider);
    assert_eq!(changed.headers["etag"], "\"2\"");
    let changed = changed.is(200);
    assert_eq!(changed["created_at"], answer["created_at"]);
    let stale = matching(&bench, &admin, "PUT", &path, "\"1\"", &body);
    assert_eq!(stale.problem(412), "precondition-failed");
    let foreign = matching(&bench, &admin, "PUT", &path, "\"abc\"", &body);
    assert_eq!(foreign.problem(412), "precondition-failed");
    let weak = matching(&bench, &admin, "PUT", &path, "W/\"2\"", &wider);
    assert_eq!(weak.problem(412), "precondition-failed");
    matching(&bench, &admin, "PUT", &path, "\"x\", \"2\"", &wider).is(200);

    let viewer = bench.login("viewer");
    assert_eq!(bench.get(&viewer, &path).is(200), changed);
    let listed = bench.get(&viewer, NETWORKS).is(200);
    assert_eq!((&listed["total"], &listed["items"][0]), (&json!(1), &changed));

    matching(&bench, &admin, "DELETE", &path, "\"1\"", &Value::Null).problem(412);
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    bench.get(&viewer, &path).problem(404);
    bench.call(&admin, "PUT", &path, &body).problem(404);
}

#[test]
fn a_network_of_a_removed_node_is_served_by_nobody() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let (node, _, _) = bench.node(7);
    let mut body =
        json!({ "name": "far", "overlay_cidr": "10.60.0.0/24", "gateway_node_id": node });
    let document = bench.call(&admin, "POST", NETWORKS, &body).is(201);
    let path = format!("{NETWORKS}/{}", document["network_id"].as_str().unwrap());
    bench.call(&admin, "DELETE", &format!("/v1/nodes/{node}"), &Value::Null).is(204);
    assert_eq!(bench.get(&admin, &path).is(200)["gateway_node_id"], node);
    let pools = bench.get(&admin, "/v1/mesh/ipam").is(200);
    assert_eq!(pools["pools"][0]["cidr"], "10.42.0.0/24");
    bench.call(&admin, "PUT", &path, &body).is(200);
    body["description"] = json!("on the hill");
    bench.call(&admin, "PUT", &path, &body).is(200);
    // Another one cannot name the node.
    let other = json!({ "name": "new", "overlay_cidr": "10.61.0.0/24", "gateway_node_id": node });
    bench.call(&admin, "POST", NETWORKS, &other).problem(422);
}

#[test]
fn a_problem_names_the_place_of_the_mistake() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let cases = [
        (json!({ "overlay_cidr": "10.50.0.0/24" }), ""),
        (json!({ "name": "", "overlay_cidr": "10.50.0.0/24" }), "/name"),
        (json!({ "name": "a", "overlay_cidr": "10.50.0.1/24" }), "/overlay_cidr"),
        (json!({ "name": "a", "overlay_cidr": "10.50.0.0/30" }), "/overlay_cidr"),
        (json!({ "name": "a", "overlay_cidr": "10.50.0.0/24", "mtu": 1400 }), ""),
        (
            json!({ "name": "a", "overlay_cidr": "10.50.0.0/24",
                "underlay_domain_ids": ["00000000-0000-7000-8000-000000000000"] }),
            "/underlay_domain_ids/0",
        ),
    ];
    for (body, pointer) in cases {
        let answer = bench.call(&admin, "POST", NETWORKS, &body);
        assert_eq!(answer.problem(422), "invalid-body", "{body}");
        let place = answer.json()["errors"][0]["pointer"].clone();
        assert!(place == pointer || pointer.is_empty(), "{body}: {place}");
    }
    let body = json!({ "name": "a", "overlay_cidr": "10.50.0.0/24" });
    bench.call(&admin, "POST", NETWORKS, &body).is(201);
    let again = json!({ "name": "a", "overlay_cidr": "10.60.0.0/24" });
    let answer = bench.call(&admin, "POST", NETWORKS, &again);
    assert_eq!(answer.problem(409), "conflict");
}

#[test]
fn nodes_get_addresses_of_the_network_and_hold_it() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let body = json!({ "name": "home", "overlay_cidr": "10.50.0.0/24" });
    let document = bench.call(&admin, "POST", NETWORKS, &body).is(201);
    let path = format!("{NETWORKS}/{}", document["network_id"].as_str().unwrap());
    let (_, _, overlay) = bench.node(7);
    assert!(overlay.to_string().starts_with("10.50.0."), "{overlay}");
    let pools = bench.get(&admin, "/v1/mesh/ipam").is(200);
    assert_eq!(pools["pools"][0]["cidr"], "10.50.0.0/24");

    let elsewhere = json!({ "name": "home", "overlay_cidr": "10.60.0.0/24" });
    let answer = bench.call(&admin, "PUT", &path, &elsewhere);
    assert_eq!(answer.problem(409), "conflict");
    let answer = bench.call(&admin, "DELETE", &path, &Value::Null);
    assert_eq!(answer.problem(409), "conflict");
    // In a wider range the gateway has another address, which nodes do not know.
    let wider = json!({ "name": "home", "overlay_cidr": "10.48.0.0/13" });
    let answer = bench.call(&admin, "PUT", &path, &wider);
    assert_eq!(answer.problem(409), "conflict");

    // A restart keeps the network and its leases.
    let before = bench.get(&admin, &path).is(200);
    let again = Bench::open(bench.close(), Settings::default());
    let admin = again.login("admin");
    assert_eq!(again.get(&admin, &path).is(200), before);
    let pools = again.get(&admin, "/v1/mesh/ipam").is(200);
    assert_eq!(pools["pools"][0]["cidr"], "10.50.0.0/24");
    assert_eq!(pools["pools"][0]["allocated"], 1);
}

#[test]
fn free_addresses_are_those_that_a_node_can_get() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let free = || bench.get(&admin, "/v1/mesh/ipam").is(200)["pools"][0]["free"].clone();
    let before = free().as_u64().unwrap();
    let ahead = |number: u8, ip: &str| {
        let mac = format!("02:00:00:00:04:{number:02x}");
        let body = json!({ "name": format!("Ahead {number}"), "mac": mac, "overlay_ip": ip });
        bench.call(&admin, "POST", "/v1/nodes/register", &body).is(201);
    };
    // Nobody gets it but by hand.
    ahead(1, "10.42.0.3");
    assert_eq!(free(), json!(before));
    ahead(2, "10.42.0.60");
    assert_eq!(free(), json!(before - 1));
    bench.node(8);
    assert_eq!(free(), json!(before - 2));
}

#[test]
fn a_domain_is_held_by_networks_and_interfaces() {
    let bench = Bench::new();
    let (admin, operator) = (bench.login("admin"), bench.login("operator"));
    let body = json!({ "name": "mesh", "kind": "batman_adv", "ifname": "bat0", "mtu": 1500 });
    let document = bench.call(&admin, "POST", "/v1/model/underlay-domains", &body).is(201);
    let domain = document["domain_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/model/underlay-domains/{domain}");
    let same = json!({ "name": "other", "kind": "ethernet", "ifname": "bat0" });
    let answer = bench.call(&admin, "POST", "/v1/model/underlay-domains", &same);
    assert_eq!(answer.problem(409), "conflict");

    let (node, token, _) = bench.node(7);
    let mut heartbeat = beat(7, 1);
    heartbeat["interfaces"] = json!([{ "name": "bat0", "mac": "02:00:00:00:00:07", "mtu": 1500,
        "operstate": "up", "ips": ["10.41.0.7"] }, { "name": "wg0", "operstate": "unknown" }]);
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
    let listed = bench.get(&operator, &format!("/v1/model/interfaces?node_id={node}")).is(200);
    assert_eq!(listed["total"], 2);
    let items = listed["items"].as_array().unwrap();
    let bat0 = items.iter().find(|item| item["ifname"] == "bat0").unwrap();
    assert_eq!(
        (&bat0["kind"], &bat0["oper"], &bat0["domain_id"]),
        (&json!("batman"), &json!("up"), &Value::Null)
    );
    let interface = format!("/v1/model/interfaces/{}", bat0["interface_id"].as_str().unwrap());
    let none = json!({ "domain_id": "00000000-0000-7000-8000-000000000000" });
    let answer = bench.call(&operator, "PUT", &interface, &none);
    assert_eq!(answer.problem(422), "invalid-body");
    let body = json!({ "domain_id": domain, "label": "mast" });
    let set = bench.call(&operator, "PUT", &interface, &body).is(200);
    assert_eq!(
        (&set["domain_id"], &set["label"], &set["revision"]),
        (&json!(domain), &json!("mast"), &json!(1))
    );
    let unknown = "/v1/model/interfaces/00000000-0000-7000-8000-000000000000";
    bench.call(&operator, "PUT", unknown, &body).problem(404);
    let answer = bench.call(&admin, "DELETE", &path, &Value::Null);
    assert!(
        answer.problem(409) == "conflict"
            && answer.json()["detail"].to_string().contains("interface")
    );

    // Settings go with their node.
    bench.call(&admin, "DELETE", &format!("/v1/nodes/{node}"), &Value::Null).is(204);
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
}

#[test]
fn once_roles_are_defined_nodes_have_one_of_them() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let (node, _, _) = bench.node(7);
    let path = format!("/v1/nodes/{node}");
    let has = |role: &str| bench.call(&admin, "PATCH", &path, &json!({ "role_id": role }));
    has("free-text").is(200);
    let body = json!({ "name": "relay", "capabilities": ["gps"], "color": "#00aa00", "plan_role": "relay" });
    let document = bench.call(&admin, "POST", "/v1/model/roles", &body).is(201);
    let answer = has("free-text-2");
    assert_eq!(answer.problem(422), "invalid-body");
    assert_eq!(answer.json()["errors"][0]["pointer"], "/role_id");
    let id = document["role_id"].as_str().unwrap();
    for one in ["relay", id] {
        has(one).is(200);
        for wanted in ["relay", id] {
            let listed = bench.get(&admin, &format!("/v1/nodes?role_id={wanted}")).is(200);
            assert_eq!(listed["total"], 1, "{one} by {wanted}");
        }
    }
    assert_eq!(bench.get(&admin, "/v1/nodes?role_id=free-text").is(200)["total"], 0);
    let role = format!("/v1/model/roles/{id}");
    let answer = bench.call(&admin, "DELETE", &role, &Value::Null);
    assert!(
        answer.problem(409) == "conflict" && answer.json()["detail"].to_string().contains("node-7")
    );
    let recolored = json!({ "name": "relay", "color": "#0000aa" });
    bench.call(&admin, "PUT", &role, &recolored).is(200);
    let renamed = json!({ "name": "other" });
    bench.call(&admin, "PUT", &role, &renamed).problem(409);
    for bad in [json!({ "name": "Relay" }), json!({ "name": "a", "color": "red" })] {
        bench.call(&admin, "POST", "/v1/model/roles", &bad).problem(422);
    }
    bench.call(&admin, "DELETE", &format!("/v1/nodes/{node}"), &Value::Null).is(204);
    bench.call(&admin, "DELETE", &role, &Value::Null).is(204);
    let listed = bench.get(&admin, "/v1/model/roles").is(200);
    assert_eq!(listed["total"], 0);
}
