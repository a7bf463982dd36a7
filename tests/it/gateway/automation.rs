//! Automation flows: their interface, and webhooks.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use groundwave_gateway::automation::{ExecutionState, ObserveGateway};
use groundwave_gateway::fleet::SetGatewayClock;
use groundwave_outbound::TargetPolicy;
use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::{Bench, beat, request};

pub const FLOWS: &str = "/v1/flows";

pub fn step(id: &str, role: &str, kind: &str, params: Value) -> Value {
    json!({ "step_id": id, "type": role, "kind": kind, "params": params })
}

/// A request of a user leads to one action.
pub fn flow(name: &str, kind: &str, params: Value) -> Value {
    json!({
        "name": name,
        "mode": "parallel",
        "steps": [step("go", "trigger", "manual", json!({})), step("act", "action", kind, params)],
        "edges": [{ "from": "go", "to": "act" }],
    })
}

pub fn alert(name: &str) -> Value {
    flow(name, "alert", json!({ "message": "{{/trigger/text}}" }))
}

pub fn webhook(name: &str, address: SocketAddr) -> Value {
    let url = format!("http://{address}/hook");
    let retry = json!({ "attempts": 20, "base_s": 1, "cap_s": 1 });
    flow(name, "webhook_out", json!({ "url": url, "retry": retry }))
}

/// Settings under which loopback may be reached.
pub fn settings() -> Settings {
    let allowed = vec!["127.0.0.1".parse().unwrap()];
    Settings { targets: TargetPolicy { forbids_private: false, allowed }, ..Settings::default() }
}

/// Creates a flow: its path.
#[track_caller]
pub fn create(bench: &Bench, token: &str, flow: &Value) -> String {
    let document = bench.call(token, "POST", FLOWS, flow).is(201);
    format!("{FLOWS}/{}", document["flow_id"].as_str().unwrap())
}

#[track_caller]
pub fn trigger(bench: &Bench, token: &str, path: &str) -> String {
    let body = json!({ "inputs": { "text": "hello" } });
    let document = bench.call(token, "POST", &format!("{path}/trigger"), &body).is(202);
    document["execution_id"].as_str().unwrap().to_owned()
}

/// Time goes on in the world of a bench until a condition holds.
#[track_caller]
pub fn until(bench: &Bench, what: &str, holds: impl Fn() -> bool) {
    for _ in 0..600 {
        if holds() {
            return;
        }
        let now_ns = bench.gateway.world.now_ns();
        let answer = bench.gateway.world.submit(SetGatewayClock { now_ns });
        bench.runtime.block_on(answer).unwrap();
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("not reached: {what}");
}

/// The execution, once it is over.
#[track_caller]
pub fn ended(bench: &Bench, token: &str, flow: &str, execution: &str) -> Value {
    let path = format!("{flow}/executions/{execution}");
    let is_over =
        |document: &Value| document["state"] != "running" && document["state"] != "queued";
    until(bench, "the end", || is_over(&bench.get(token, &path).json()));
    bench.get(token, &path).is(200)
}

/// HTTP receiver that keeps the idempotency key and the body of each request it accepted.
pub struct Receiver {
    pub address: SocketAddr,
    accepted: Arc<Mutex<Vec<(String, Value)>>>,
}

impl Receiver {
    pub fn at(listener: TcpListener) -> Self {
        let accepted = Arc::default();
        let address = listener.local_addr().unwrap();
        let requests: Arc<Mutex<Vec<(String, Value)>>> = Arc::clone(&accepted);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let mut reader = BufReader::new(stream);
                let (mut key, mut length) = (String::new(), 0);
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or(0) < 3 {
                        break;
                    }
                    let (name, value) = line.split_once(": ").unwrap_or((&line, ""));
                    match name.to_ascii_lowercase().as_str() {
                        "idempotency-key" => key = value.trim().to_owned(),
                        "content-length" => length = value.trim().parse().unwrap(),
                        _ => {}
                    }
                }
                let mut body = vec![0; length];
                if reader.read_exact(&mut body).is_err() {
                    continue;
                }
                let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
                requests.lock().unwrap().push((key, body));
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{\"state\":\"ok\"}";
                let _ = reader.get_mut().write_all(answer.as_bytes());
            }
        });
        Self { address, accepted }
    }

    fn new() -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Bodies of the requests.
    pub fn bodies(&self) -> Vec<Value> {
        let accepted = self.accepted.lock().unwrap();
        accepted.iter().map(|(_, body)| body.clone()).collect()
    }

    /// Requests by key.
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for (key, _) in self.accepted.lock().unwrap().iter() {
            *counts.entry(key.clone()).or_default() += 1;
        }
        counts
    }
}

/// An address at which nothing listens, for now.
pub fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn a_flow_is_made_changed_and_removed_by_its_version() {
    let bench = Bench::new();
    let (operator, viewer) = (bench.login("operator"), bench.login("viewer"));
    let path = create(&bench, &operator, &alert("one"));
    assert_eq!(bench.call(&operator, "POST", FLOWS, &alert("one")).problem(409), "conflict");
    let answer = bench.get(&viewer, &path);
    assert_eq!(answer.headers["etag"], "\"1\"");
    let summary = &bench.get(&viewer, FLOWS).is(200)["items"][0];
    assert_eq!(summary["trigger_kinds"], json!(["manual"]));
    assert_eq!(summary["last_execution"], Value::Null);
    let off = json!({ "enabled": false });
    let changed = bench.call(&operator, "PATCH", &path, &off).is(200);
    assert_eq!((&changed["version"], &changed["enabled"]), (&json!(2), &json!(false)));
    let triggered = bench.call(&operator, "POST", &format!("{path}/trigger"), &Value::Null);
    assert_eq!(triggered.problem(409), "conflict");
    let mut stale = request(&operator, "PUT", &path, &alert("two"));
    stale.headers_mut().insert("if-match", "\"1\"".parse().unwrap());
    let here = "127.0.0.1".parse().unwrap();
    assert_eq!(bench.send_from(here, stale).problem(412), "precondition-failed");
    let replaced = bench.call(&operator, "PUT", &path, &alert("two")).is(200);
    assert_eq!((&replaced["version"], &replaced["name"]), (&json!(3), &json!("two")));
    let execution = trigger(&bench, &operator, &path);
    let document = bench.get(&viewer, &format!("{path}/executions/{execution}")).is(200);
    assert_eq!((&document["state"], &document["flow_version"]), (&json!("succeeded"), &json!(3)));
    assert_eq!(document["steps"][1]["input"]["message"], "hello");
    let alerts = bench.get(&viewer, "/v1/flows/alerts?state=open").is(200);
    let id = alerts["items"][0]["alert_id"].as_str().unwrap();
    let ack = format!("/v1/flows/alerts/{id}/ack");
    let acked = bench.call(&operator, "POST", &ack, &json!({ "note": "seen" })).is(200);
    assert_eq!((&acked["state"], &acked["acked_by"]), (&json!("acked"), &json!("operator")));
    bench.call(&operator, "POST", &ack, &Value::Null).problem(409);
    bench.call(&operator, "DELETE", &path, &Value::Null).is(204);
    bench.get(&viewer, &path).problem(404);
    let listing = bench.get(&viewer, &format!("{path}/executions?state=succeeded")).is(200);
    assert_eq!(listing["total"], 1);
}

#[test]
fn validation_names_the_step_and_the_server_that_is_missing() {
    let bench = Bench::new();
    let operator = bench.login("operator");
    let metadata = bench.get(&operator, "/v1/flows/builder/metadata").is(200);
    let presets = metadata["presets"].as_array().unwrap();
    assert_eq!(presets.len(), 3);
    for preset in presets {
        let document = bench.call(&operator, "POST", "/v1/flows/validate", &preset["flow"]).is(200);
        let errors = document["errors"].as_array().unwrap();
        // This gateway has neither an SMTP server nor a broker.
        let codes: Vec<_> = errors.iter().map(|error| error["code"].as_str().unwrap()).collect();
        assert_eq!(codes, ["backend-absent"; 2], "{document}");
        let refused = bench.call(&operator, "POST", FLOWS, &preset["flow"]).is(422);
        assert_eq!(refused["errors"], document["errors"]);
    }
    let cron = json!({
        "name": "f",
        "steps": [step("at", "trigger", "schedule", json!({ "cron": "nonsense" }))],
    });
    let document = bench.call(&operator, "POST", "/v1/flows/validate", &cron).is(200);
    assert_eq!(document["errors"][0]["pointer"], "/steps/0/params/cron");
    assert!(document["errors"][0]["message"].as_str().unwrap().contains("\"at\""));
    let ok = bench.call(&operator, "POST", "/v1/flows/validate", &alert("f")).is(200);
    assert_eq!(ok["valid"], true);
}

#[test]
fn a_secret_is_sent_and_not_shown_again() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let receiver = Receiver::new();
    let mut flow = webhook("hook", receiver.address);
    flow["steps"][1]["params"]["authorization"] = "Bearer hush".into();
    let key = "aHVzaCBodXNoIGh1c2ggaHVzaCBodXNo";
    flow["steps"][1]["params"]["signing_key"] = format!("whsec_{key}").into();
    let path = create(&bench, &operator, &flow);
    let definition = bench.get(&operator, &path).is(200);
    for secret in ["authorization", "signing_key"] {
        assert_eq!(definition["steps"][1]["params"][secret], "(set)");
        flow["steps"][1]["params"][secret] = "(set)".into();
    }
    bench.call(&operator, "PUT", &path, &flow).is(200);
    let execution = trigger(&bench, &operator, &path);
    until(&bench, "the webhook", || receiver.counts().len() == 1);
    let path = format!("{path}/executions/{execution}");
    until(&bench, "the end", || bench.get(&operator, &path).json()["state"] == "succeeded");
    let document = bench.get(&operator, &path).is(200);
    assert_eq!(document["steps"][1]["output"]["body"]["state"], "ok");
    assert!(!document.to_string().contains("hush"), "{document}");
    let view = bench.world.view();
    let view = serde_json::to_string(&*view).unwrap();
    assert!(!view.contains("hush") && !view.contains(key));
}

#[test]
fn forbidden_targets_are_refused_when_a_flow_is_made() {
    let bench = Bench::new();
    let operator = bench.login("operator");
    let receiver = Receiver::new();
    let refused = bench.call(&operator, "POST", FLOWS, &webhook("hook", receiver.address));
    assert_eq!(refused.status, 422, "{}", refused.json());
    assert!(refused.json().to_string().contains("127.0.0.1"), "{}", refused.json());
    assert!(receiver.counts().is_empty());
}

/// Deliveries that failed for good are sent again and removed.
#[test]
fn dead_deliveries_are_sent_again_and_removed() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let mut flow = webhook("hook", free_address());
    flow["steps"][1]["params"]["retry"] = json!({ "attempts": 1, "base_s": 1, "cap_s": 1 });
    let path = create(&bench, &operator, &flow);
    let execution = trigger(&bench, &operator, &path);
    let path = format!("{path}/executions/{execution}");
    until(&bench, "the failure", || bench.get(&operator, &path).json()["state"] == "failed");
    let dead = bench.get(&operator, "/v1/flows/deliveries?state=dead").is(200);
    assert_eq!((&dead["total"], &dead["items"][0]["attempts"]), (&json!(1), &json!(1)));
    let id = dead["items"][0]["delivery_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/flows/deliveries/{id}");
    bench.call(&operator, "POST", &format!("{path}/resend"), &Value::Null).is(202);
    until(&bench, "the second failure", || {
        let again = bench.get(&operator, "/v1/flows/deliveries?state=dead").json();
        again["total"] == 1
    });
    bench.call(&operator, "DELETE", &path, &Value::Null).is(204);
    assert_eq!(bench.get(&operator, "/v1/flows/deliveries").is(200)["total"], 0);
}

#[test]
fn a_receiver_that_comes_back_gets_each_notice_once() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let address = free_address();
    let path = create(&bench, &operator, &webhook("hook", address));
    for _ in 0..5 {
        trigger(&bench, &operator, &path);
    }
    let attempts = || {
        let view = bench.world.view();
        let deliveries = view.automation.deliveries.values();
        deliveries.map(|delivery| delivery.attempts).min().unwrap_or_default()
    };
    until(&bench, "two attempts of each", || attempts() >= 2);
    let receiver = Receiver::at(TcpListener::bind(address).unwrap());
    let is_empty = || bench.world.view().automation.deliveries.is_empty();
    until(&bench, "all deliveries", is_empty);
    let counts = receiver.counts();
    assert_eq!((counts.len(), counts.values().max()), (5, Some(&1)), "{counts:?}");
}

#[test]
fn a_hundred_flows_fire_at_once_and_a_hanging_one_holds_none_of_them_up() {
    let bench = Bench::with(settings());
    let operator = bench.login("operator");
    let receiver = Receiver::new();
    // It accepts connections and never answers.
    let hanging = TcpListener::bind("127.0.0.1:0").unwrap();
    for number in 0..100 {
        let target = match number {
            50 => hanging.local_addr().unwrap(),
            _ => receiver.address,
        };
        let mut flow = webhook(&format!("flow {number}"), target);
        flow["steps"][0] =
            step("go", "trigger", "sensor_value", json!({ "metric": "gateway.disk_used_pct" }));
        let high = step("high", "condition", "threshold", json!({ "op": "gt", "value": 1 }));
        flow["steps"].as_array_mut().unwrap().push(high);
        flow["edges"] = json!([{ "from": "go", "to": "high" }, { "from": "high", "to": "act" }]);
        create(&bench, &operator, &flow);
    }
    let (_, node, _) = bench.node(7);
    let readings = BTreeMap::from([("gateway.disk_used_pct".to_owned(), 2.0)]);
    let answer = bench.gateway.world.submit(ObserveGateway { readings });
    bench.runtime.block_on(answer).unwrap();
    let states = || {
        let view = bench.world.view();
        let mut counts = [0; 2];
        for (_, execution) in view.automation.executions() {
            match execution.state {
                ExecutionState::Succeeded => counts[0] += 1,
                ExecutionState::Running => counts[1] += 1,
                state => panic!("{state:?}: {:?}", execution.error),
            }
        }
        counts
    };
    let count = std::cell::Cell::new(0);
    until(&bench, "99 executions, while one hangs", || {
        count.set(count.get() + 1);
        // On a busy machine more heartbeats would exceed their rate.
        if count.get() % 10 == 1 {
            let heartbeat = beat(7, count.get());
            bench.call(&node, "POST", "/v1/nodes/heartbeat", &heartbeat).is(200);
        }
        states() == [99, 1]
    });
    assert_eq!(receiver.counts().len(), 99);
}
