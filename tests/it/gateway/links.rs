//! The mesh as a whole: links as both ends measure them, and as they should be.

use std::net::{IpAddr, Ipv4Addr};

use groundwave_web_gateway::mesh::topology_history;
use serde_json::{Value, json};

use super::{Bench, REGISTER, ask, beat, request};

#[test]
fn two_nodes_and_the_link_both_measure() {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    for number in [51, 52] {
        let (_, token, _) = bench.node(number);
        bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(number, 1)).is(200);
    }
    let graph = bench.get(&viewer, "/v1/mesh/topology");
    let document = graph.is(200);
    assert_eq!(document["links"].as_array().unwrap().len(), 1, "{document}");
    let link = &document["links"][0];
    assert_eq!(link["cost"], 255.0 / 240.0);
    assert_eq!(
        (&link["properties"]["status"], &link["properties"]["predicted"]),
        (&json!("up"), &Value::Null)
    );
    assert_eq!(document["strangers"], 1);
    let mut again = request(&viewer, "GET", "/v1/mesh/topology", &Value::Null);
    again.headers_mut().insert("if-none-match", graph.headers["etag"].clone());
    bench.send_from(IpAddr::V4(Ipv4Addr::LOCALHOST), again).is(304);
    let health = bench.get(&viewer, "/v1/mesh/health").is(200);
    let sum: f64 = health["components"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["weight"].as_f64().unwrap() * part["score"].as_f64().unwrap())
        .sum();
    assert_eq!(health["score"].as_f64().unwrap(), (sum * 100.0).round() / 100.0);
    let places = bench.get(&viewer, "/v1/mesh/topology?format=geojson").is(200);
    assert_eq!(places["type"], "FeatureCollection");
}

#[test]
fn the_topology_of_another_time_is_the_snapshot_before_it() {
    let bench = Bench::new();
    let viewer = bench.login("viewer");
    let at = |time: &str| bench.get(&viewer, &format!("/v1/mesh/topology?at={time}"));
    // No node: no snapshot is stored, and the response is marked.
    let keep =
        |ns: u64| bench.runtime.block_on(topology_history::store(&bench.gateway, ns)).unwrap();
    keep(1_000_000_000_000_000_000);
    at("2001-09-09T01:46:40Z").is(422);
    let (_, token, _) = bench.node(51);
    bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(51, 1)).is(200);
    keep(1_000_000_000_000_000_000);
    let (_, other, _) = bench.node(52);
    bench.call(&other, "POST", "/v1/nodes/heartbeat", &beat(52, 1)).is(200);
    keep(1_000_000_060_000_000_000);
    // An unchanged topology is not stored again.
    keep(1_000_000_120_000_000_000);
    let first = at("2001-09-09T01:47:39Z").is(200);
    assert_eq!(first["nodes"].as_array().unwrap().len(), 1);
    assert_eq!(first["at"], "2001-09-09T01:46:40.000Z");
    let second = at("2001-09-09T01:59:00Z");
    let document = second.is(200);
    assert_eq!(document["nodes"].as_array().unwrap().len(), 2);
    assert_eq!(document["at"], "2001-09-09T01:47:40.000Z");
    assert_eq!(second.headers["etag"], format!("\"{}\"", document["revision"].as_str().unwrap()));
    // The time is checked for data of any origin.
    for wrong in ["2200-01-01T00:00:00Z", "yesterday"] {
        at(&format!("{wrong}&origin=sim")).is(422);
    }
    at("2001-09-09T01:47:39Z&origin=sim").is(200);
    for wrong in ["2001-09-09T01:46:39Z", "2200-01-01T00:00:00Z", "yesterday"] {
        let problem = at(wrong).is(422);
        assert_eq!(problem["errors"][0]["pointer"], "/at", "{problem}");
    }
    let now = bench.get(&viewer, "/v1/mesh/topology").is(200);
    assert_eq!(now["links"], document["links"]);
}

#[test]
fn a_planned_link_is_predicted_beside_what_is_measured() {
    use groundwave_model::radio::{Environment, Role};
    use groundwave_model::terrain::GeoPoint;
    use groundwave_simulation::deployment::{CreateDeployment, DeploymentId, Outline};
    use groundwave_simulation::site::{AddNode, NodeId};
    let bench = Bench::new();
    let admin = bench.login("admin");
    let deployment = DeploymentId::named("hill");
    let outline = Outline {
        name: "hill".to_owned(),
        center: None,
        region: None,
        environment: Environment::default(),
    };
    let create = CreateDeployment { deployment, outline };
    bench.runtime.block_on(bench.gateway.world.submit(create)).unwrap();
    for (number, lat_deg) in [(95_u8, 57.0), (96, 57.01)] {
        let node = NodeId::named(&format!("mast {number}"));
        let planned = AddNode {
            node,
            name: format!("mast {number}"),
            role: Role::Relay,
            position: GeoPoint::new(lat_deg, 11.0).unwrap(),
            station: groundwave_model::sample::station(),
            deployment: Some(deployment),
        };
        bench.runtime.block_on(bench.gateway.world.submit(planned)).unwrap();
        let expected = json!({ "name": format!("mast {number}"), "node_id": node.uuid(),
            "mac": format!("02:00:00:00:00:{number:02x}") });
        let registration = bench.call(&admin, "POST", "/v1/nodes/register", &expected).is(201);
        let mut registration_request = ask(number);
        registration_request["enrollment_code"] = registration["enrollment_code"].clone();
        let source: IpAddr = "10.41.0.95".parse().unwrap();
        let document =
            bench.send_from(source, request("", "POST", REGISTER, &registration_request)).is(201);
        assert_eq!(document["node_id"], json!(node.uuid()));
        let mut heartbeat = beat(number, 1);
        heartbeat["node_id"] = json!(node.uuid());
        bench.call(&admin, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
    }
    let graph = bench.get(&admin, "/v1/mesh/topology").is(200);
    assert_eq!(
        (&graph["nodes"][0]["properties"]["planned"], &graph["predictions_pending"]),
        (&json!(true), &json!(0))
    );
    let link = &graph["links"][0]["properties"];
    let predicted = link["predicted"]["rx_power_dbm"].as_f64().unwrap();
    let above = link["signal_above_prediction_db"].as_f64().unwrap();
    assert!((-58.0 - predicted - above).abs() < 1e-9, "{link}");
    assert_eq!(link["predicted"]["viable"], true);
    // Free space over 1.1 km: the prediction is of this world.
    assert!(link["predicted"]["path_loss_db"].as_f64().unwrap() > 90.0, "{link}");
    let places = bench.get(&admin, "/v1/mesh/topology?format=geojson").is(200);
    assert_eq!(places["features"].as_array().unwrap().len(), 3);
    // A live node cannot be changed by a plan.
    let node = &graph["nodes"][0];
    assert_eq!(
        bench
            .get(&admin, &format!("/v1/nodes/{}", node["properties"]["node_id"].as_str().unwrap()))
            .is(200)["position"]["source"],
        "plan"
    );
}

#[test]
fn a_graph_sent_in_pieces_is_the_graph() {
    use groundwave_web_gateway::mesh::graph::drawing;
    let bench = Bench::new();
    // A revision that looks like the beginning of the lists.
    let revision = "\"nodes\":[\"links\":[";
    let check = |nodes: usize, links: usize| {
        let _runtime = bench.runtime.enter();
        let drawn = drawing(&bench.world.view(), revision.to_owned(), 1);
        let whole = drawn.graph();
        assert_eq!((whole.nodes.len(), whole.links.len()), (nodes, links));
        // At every length at which another thread, or another round of threads, takes over.
        for part in [1, 2, 3, 1_000] {
            let sent = drawn.pieces_of(part).collect::<Vec<_>>().concat();
            let sent = String::from_utf8(sent).unwrap();
            assert_eq!(sent, serde_json::to_string(&whole).unwrap(), "{part}");
        }
    };
    check(0, 0);
    for number in 61..=75 {
        let (_, token, _) = bench.node(number);
        let document = beat(number, 1);
        bench.call(&token, "POST", "/v1/nodes/heartbeat", &document).is(200);
    }
    check(15, 14);
    let viewer = bench.login("viewer");
    let document = bench.get(&viewer, "/v1/mesh/topology").is(200);
    assert_eq!(document["links"].as_array().unwrap().len(), 14);
}
