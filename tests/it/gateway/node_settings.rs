//! Desired settings of nodes: pushed, reported back, pushed again after a restart.

use std::time::Duration;

use groundwave_web_gateway::Settings;
use serde_json::{Value, json};

use super::{Bench, automation, beat, request};

/// Join report of a node with batman-adv.
fn report(hop_penalty: &str) -> Value {
    json!({ "supported_commands": ["configure", "echo"],
        "settings": { "batman.hop_penalty": hop_penalty, "batman.bonding": "false" } })
}

/// The commands that a node gets with its next heartbeat.
fn fetched(bench: &Bench, token: &str, seq: u64) -> Vec<Value> {
    let ack = bench.call(token, "POST", "/v1/nodes/heartbeat", &beat(51, seq)).is(200);
    ack["commands"].as_array().unwrap().clone()
}

#[test]
fn settings_are_pushed_until_the_node_has_them() {
    // As many heartbeats as the test sends are within the limit of their rate.
    let bench =
        Bench::with(Settings { heartbeat: Duration::from_millis(100), ..Settings::default() });
    let (id, token, _) = bench.node(51);
    let (admin, viewer) = (bench.login("admin"), bench.login("viewer"));
    let path = format!("/v1/nodes/{id}/settings");
    let settings = json!({ "batman": { "hop_penalty": 40 }, "confirm_within_s": 30 });
    // A node whose agent permits nothing has nothing to set.
    let document = bench.call(&admin, "PUT", &path, &settings).is(422);
    assert!(document["detail"].as_str().unwrap().contains("permits no settings"), "{document}");
    bench.get(&viewer, &path).problem(404);
    let join = |hop_penalty: &str| {
        bench.call(&token, "POST", "/v1/nodes/join", &report(hop_penalty)).is(200);
    };
    join("15");
    for wrong in [
        json!({ "batman": { "fragmentation": true } }),
        json!({ "batman": { "orig_interval_ms": 39 } }),
        json!({ "batman": {} }),
        json!({ "batman": { "hop_penalty": 40 }, "confirm_within_s": 9 }),
    ] {
        bench.call(&admin, "PUT", &path, &wrong).problem(422);
    }
    // Settings are pushed as a whole by admins only: not as a command, nor by a flow.
    let operator = bench.login("operator");
    for kind in ["configure", "firmware"] {
        let command = json!({ "kind": kind, "args": { "batman.hop_penalty": "1" } });
        let commands = format!("/v1/nodes/{id}/commands");
        let document = bench.call(&operator, "POST", &commands, &command).is(422);
        assert_eq!(document["errors"][0]["pointer"], "/kind");
        let each = json!({ "action": { "kind": "command", "params": command }, "max_nodes": 5 });
        for (step, params, field) in [
            ("command", command.clone(), "params/kind"),
            ("for_each_node", each, "params/action/params/kind"),
        ] {
            let flow = automation::flow("push", step, params);
            let document = bench.call(&operator, "POST", "/v1/flows", &flow).is(422);
            assert_eq!(document["errors"][0]["pointer"], format!("/steps/1/{field}"));
        }
    }
    let document = bench.call(&admin, "PUT", &path, &settings).is(200);
    assert_eq!(document["push"]["state"], "queued");
    let difference = json!([{ "setting": "batman.hop_penalty", "wanted": "40", "found": "15" }]);
    assert_eq!(document["divergence"], difference);

    let commands = fetched(&bench, &token, 1);
    assert_eq!(commands[0]["kind"], "configure");
    let args = json!({ "batman.hop_penalty": "40", "confirm_within_s": "30" });
    assert_eq!(commands[0]["args"], args);
    let finish = |command: &Value, state: &str| {
        let command = command["command_id"].as_str().unwrap();
        let result = format!("/v1/nodes/{id}/commands/{command}/result");
        bench.call(&token, "POST", &result, &json!({ "state": state })).is(204);
    };
    finish(&commands[0], "done");
    join("40");
    let document = bench.get(&viewer, &path).is(200);
    assert_eq!((&document["divergence"], &document["push"]["state"]), (&json!([]), &json!("done")));
    assert!(fetched(&bench, &token, 2).is_empty());

    // The machine restarted with its old settings: they are pushed again, by the gateway.
    join("15");
    let commands = fetched(&bench, &token, 3);
    assert_eq!(commands[0]["args"], args);
    let listed = bench.get(&viewer, &format!("/v1/nodes/{id}/commands")).is(200);
    assert_eq!(listed["items"][1]["by"], "gateway");
    // Undone by the node: not pushed again before an admin requests it.
    finish(&commands[0], "failed");
    join("15");
    assert!(fetched(&bench, &token, 4).is_empty());
    let again = format!("{path}/push");
    bench.call(&admin, "POST", &again, &Value::Null).is(202);
    assert_eq!(fetched(&bench, &token, 5).len(), 1);

    let mut stale = request(&admin, "DELETE", &path, &Value::Null);
    stale.headers_mut().insert("if-match", "\"7\"".parse().unwrap());
    bench.send_from("127.0.0.1".parse().unwrap(), stale).problem(412);
    bench.call(&admin, "DELETE", &path, &Value::Null).is(204);
    bench.call(&admin, "POST", &again, &Value::Null).problem(404);
}
