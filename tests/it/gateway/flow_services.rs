//! Actions of flows on the other services of the program: nodes, impairment daemon, planning server.

use axum::http::Method;
use groundwave_http::client::Client;
use groundwave_io_gateway::notice::FlowServers;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};
use uuid::Uuid;

use super::automation::{create, ended, flow, free_address, settings, trigger};
use super::process::{admin, start_with};
use super::{Bench, beat};
use crate::impair;
use crate::support::eventually;

#[test]
fn a_flow_impairs_a_direction_and_clears_it_at_a_running_daemon() {
    let daemon = impair::Bench::new();
    let flow_servers = FlowServers { impaird: Some(daemon.listen()), ..FlowServers::default() };
    let bench = Bench::with(Settings { flow_servers, ..settings() });
    let operator = bench.login("operator");
    let current = || {
        let state = daemon.call("GET", "/v1/impairments/port1", &Value::Null);
        state.json()["impairment"].clone()
    };
    let shape = json!({ "latency": { "kind": "constant", "duration": 20_000_000 } });
    let params = json!({ "direction": "port1", "impairment": shape });
    let path = create(&bench, &operator, &flow("slow", "apply_impairment", params));
    let execution = trigger(&bench, &operator, &path);
    let state = ended(&bench, &operator, &path, &execution);
    assert_eq!(state["state"], "succeeded", "{state}");
    assert_eq!(state["steps"][1]["output"]["body"]["impairment"], shape);
    assert_eq!(current(), shape);
    // What the daemon refuses is not asked for again.
    let params = json!({ "direction": "port1", "impairment": { "loss": { "pct": 900 } } });
    let path = create(&bench, &operator, &flow("wrong", "apply_impairment", params));
    let execution = trigger(&bench, &operator, &path);
    let state = ended(&bench, &operator, &path, &execution);
    let error = state["steps"][1]["error"].as_str().unwrap();
    assert!(error.contains("status 4") && error.contains("attempts: 1"), "{state}");
    assert_eq!(current(), shape);
    let params = json!({ "direction": "port1" });
    let path = create(&bench, &operator, &flow("clear", "apply_impairment", params));
    let execution = trigger(&bench, &operator, &path);
    let state = ended(&bench, &operator, &path, &execution);
    assert_eq!(state["state"], "succeeded", "{state}");
    assert_eq!(current(), json!({}));
    // For a time, it is a lease of the daemon over what is there.
    let loss = json!({ "loss": { "model": "bernoulli", "pct": 5.0 } });
    let params = json!({ "direction": "port1", "impairment": loss, "for_s": 600 });
    let path = create(&bench, &operator, &flow("brief", "apply_impairment", params));
    let execution = trigger(&bench, &operator, &path);
    let state = ended(&bench, &operator, &path, &execution);
    assert_eq!(state["state"], "succeeded", "{state}");
    assert_eq!(current()["loss"]["pct"], 5.0);
    let leases = daemon.call("GET", "/v1/leases", &Value::Null).json();
    let [lease] = leases.as_array().unwrap().as_slice() else { panic!("{leases}") };
    assert!(lease["owner"]["name"].as_str().unwrap().starts_with("gateway, delivery "), "{lease}");
    let of = |key: &str| lease[key].as_u64().unwrap();
    assert_eq!(of("ends_at_wall") - of("starts_at_wall"), 600_000_000_000);
    let cancelled = daemon.call("DELETE", &format!("/v1/leases/{}", lease["id"]), &Value::Null);
    assert!(cancelled.status.is_success());
    assert_eq!(current(), json!({}));
    let long = json!({ "direction": "port1", "impairment": loss, "for_s": 31_622_401 });
    let refused = bench.call(&operator, "POST", "/v1/flows", &flow("x", "apply_impairment", long));
    let refused = refused.is(422);
    assert_eq!(refused["errors"][0]["pointer"], "/steps/1/params/for_s", "{refused}");
}

#[test]
fn a_flow_analyses_a_link_at_the_planning_server_of_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let address = free_address().to_string();
    let options = ["planning", "--flat-earth", "--bind", &address];
    let server = start_with(folder.path(), "info", std::process::Stdio::piped(), &options);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let post = |path: &str, body: &Value| -> Value {
        let request = async {
            let mut client = Client::tcp(&address).await.unwrap();
            let (status, body) = client.ask(Method::POST, path, Some(body)).await.unwrap();
            let document: Value = serde_json::from_slice(&body).unwrap();
            assert!(status.is_success(), "{document}");
            document
        };
        runtime.block_on(request)
    };
    let deployment = post("/api/v1/deployments", &json!({ "name": "d" }));
    let nodes = format!("/api/v1/deployments/{}/nodes", deployment["id"].as_str().unwrap());
    let node = |name: &str, lon: f64| {
        let body = json!({ "name": name, "lat": 57.72, "lon": lon, "height_agl_m": 25.0 });
        post(&nodes, &body)["id"].clone()
    };
    let (tx, rx) = (node("a", 11.70), node("b", 11.71));
    let token = admin(&server);
    let request = json!({ "tx_node_id": tx, "rx_node_id": "{{/trigger/rx}}", "samples": 8 });
    let params = json!({ "analysis": "link_analysis", "request": request });
    let (status, answer) = server.post(&token, "/v1/flows", &flow("link", "run_plan", params));
    assert_eq!(status, 201, "{answer}");
    let path = format!("/v1/flows/{}", answer["flow_id"].as_str().unwrap());
    let body = json!({ "inputs": { "rx": rx } });
    let (status, document) = server.post(&token, &format!("{path}/trigger"), &body);
    assert_eq!(status, 202, "{document}");
    let path = format!("{path}/executions/{}", document["execution_id"].as_str().unwrap());
    let get = || server.ask(&token, "GET", &path, &Value::Null).1;
    eventually(|| get()["state"] != "running");
    let document = get();
    assert_eq!(document["state"], "succeeded", "{document}");
    let analysis = &document["steps"][1]["output"]["body"];
    assert_eq!((&analysis["tx_node_id"], &analysis["rx_node_id"]), (&tx, &rx), "{document}");
    assert!(analysis["result"].is_object(), "{document}");
}

#[test]
fn a_flow_orders_a_command_from_each_node_with_a_tag() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let mut nodes = Vec::new();
    for number in [7, 8] {
        let (node, token, _) = bench.node(number);
        let join = json!({ "supported_commands": ["reboot"] });
        bench.call(&token, "POST", "/v1/nodes/join", &join).is(200);
        nodes.push((node, token));
    }
    let tags = json!({ "tags": ["roof"] });
    let path = format!("/v1/nodes/{}", nodes[0].0);
    bench.call(&operator, "PATCH", &path, &tags).is(200);
    let action = json!({ "kind": "command", "params": { "kind": "reboot", "args": { "why": "{{/node/name}}" } } });
    let params = json!({ "tag": "roof", "action": action });
    let path = create(&bench, &operator, &flow("reboot", "for_each_node", params));
    let execution = trigger(&bench, &operator, &path);
    let answer = ended(&bench, &operator, &path, &execution);
    assert_eq!(answer["state"], "succeeded", "{answer}");
    assert_eq!(answer["steps"][1]["output"], json!({ "nodes": 1 }));
    let deliveries = |number: u8, token: &str| {
        let answer = bench.call(token, "POST", "/v1/nodes/heartbeat", &beat(number, 1));
        answer.is(200)["commands"].clone()
    };
    let commands = deliveries(7, &nodes[0].1);
    assert_eq!(commands[0]["kind"], "reboot", "{commands}");
    assert_eq!(commands[0]["args"]["why"], "node-7");
    assert_eq!(deliveries(8, &nodes[1].1), json!([]));
}

#[test]
fn secrets_of_commands_reach_their_node_and_nobody_else() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let (node, token, _) = bench.node(7);
    let join = json!({ "supported_commands": ["join"] });
    bench.call(&token, "POST", "/v1/nodes/join", &join).is(200);
    let args = json!({ "ssid": "roof", "psk": "canary-psk" });
    let params = json!({ "kind": "join", "args": args });
    let path = create(&bench, &operator, &flow("join", "command", params));
    let hidden = json!({ "ssid": "roof", "psk": "(set)" });
    assert_eq!(bench.get(&operator, &path).is(200)["steps"][1]["params"]["args"], hidden);
    let there = json!({ "kind": "join", "args": args, "node_id": node });
    let path = create(&bench, &operator, &flow("join there", "command", there.clone()));
    let execution = trigger(&bench, &operator, &path);
    let answer = ended(&bench, &operator, &path, &execution);
    assert_eq!(answer["state"], "succeeded", "{answer}");
    assert!(!answer.to_string().contains("canary"), "{answer}");
    let order = json!({ "kind": "join", "args": args });
    bench.call(&operator, "POST", &format!("/v1/nodes/{node}/commands"), &order).is(202);
    let answer = bench.call(&token, "POST", "/v1/nodes/heartbeat", &beat(7, 1)).is(200);
    for place in 0..2 {
        assert_eq!(answer["commands"][place]["args"], args, "{answer}");
    }
    // A node that is not in the mesh is no receiver.
    let absent = Uuid::from_u128(9).to_string();
    let mut unknown = flow("join nobody", "command", there);
    unknown["steps"][1]["params"]["node_id"] = absent.into();
    let refused = bench.call(&operator, "POST", "/v1/flows", &unknown);
    assert_eq!(refused.json()["errors"][0]["pointer"], "/steps/1/params/node_id");
    refused.problem(422);
    unknown["enabled"] = false.into();
    let disabled = bench.call(&operator, "POST", "/v1/flows", &unknown).is(201);
    let path = format!("/v1/flows/{}", disabled["flow_id"].as_str().unwrap());
    bench.call(&operator, "PATCH", &path, &json!({ "enabled": true })).problem(422);
    bench.call(&operator, "PATCH", &path, &json!({ "name": "nobody joins" })).is(200);
    let checked = bench.call(
        &operator,
        "POST",
        "/v1/flows/validate",
        &flow(
            "headers",
            "webhook_out",
            json!({
                "url": "https://hook.test/", "headers": { "X-A": "b\r\nHost: c" }
            }),
        ),
    );
    let checked = checked.is(200);
    assert_eq!(checked["valid"], false);
    assert_eq!(checked["errors"][0]["pointer"], "/steps/1/params/headers/X-A", "{checked}");
}
