//! Presets: flows for notices that most meshes need.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// Flow to begin with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowPreset {
    /// Name.
    pub name: String,
    /// Title.
    pub title: String,
    /// Flow, for `POST /v1/flows`: addresses are to be replaced, and channels that the gateway lacks to
    /// be removed.
    pub flow: Value,
}

/// Steps that send a text by webhook, e-mail and MQTT, each after `from`.
fn channels(from: &[&str], subject: &str, text: &str) -> (Vec<Value>, Vec<Value>) {
    let steps = vec![
        json!({ "step_id": "webhook", "type": "action", "kind": "webhook_out",
            "params": { "url": "https://hooks.example.org/mesh", "body": { "text": text, "trigger": "{{/trigger}}" } } }),
        json!({ "step_id": "email", "type": "action", "kind": "email",
            "params": { "to": ["operator@example.org"], "subject": subject, "body": text } }),
        json!({ "step_id": "mqtt", "type": "action", "kind": "mqtt_publish",
            "params": { "topic": "mesh/notices", "payload": { "text": text, "trigger": "{{/trigger}}" } } }),
    ];
    let mut edges = Vec::new();
    for from in from {
        for to in ["webhook", "email", "mqtt"] {
            edges.push(json!({ "from": from, "to": to }));
        }
    }
    (steps, edges)
}

fn preset(
    name: &str,
    title: &str,
    first: Vec<Value>,
    first_edges: Vec<Value>,
    (steps, edges): (Vec<Value>, Vec<Value>),
) -> FlowPreset {
    let steps: Vec<Value> = first.into_iter().chain(steps).collect();
    let edges: Vec<Value> = first_edges.into_iter().chain(edges).collect();
    FlowPreset {
        name: name.to_owned(),
        title: title.to_owned(),
        flow: json!({
            "name": name, "mode": "parallel", "max_concurrency": 1000, "steps": steps, "edges": edges,
        }),
    }
}

/// All presets.
pub fn presets() -> Vec<FlowPreset> {
    let silent = "{{/trigger/summary}}";
    let outage = "{{/trigger/outage_id}}";
    let disk = "disk of the gateway at {{/trigger/value}} %";
    let rejected =
        "registration of {{/trigger/hostname}} ({{/trigger/mac}}) rejected: {{/trigger/reason}}";
    vec![
        preset(
            "silent-node",
            "Nodes that go silent, grouped by the relay they are behind, and their return",
            vec![
                json!({ "step_id": "silent", "type": "trigger", "kind": "node_event", "params": { "events": ["outage"] } }),
                json!({ "step_id": "back", "type": "trigger", "kind": "node_event", "params": { "events": ["recovered"] } }),
                json!({ "step_id": "open", "type": "action", "kind": "alert",
                    "params": { "severity": "critical", "message": silent, "key": outage } }),
                json!({ "step_id": "close", "type": "action", "kind": "alert",
                    "params": { "message": silent, "key": outage, "resolve": true } }),
            ],
            vec![
                json!({ "from": "silent", "to": "open" }),
                json!({ "from": "back", "to": "close" }),
            ],
            channels(&["open", "close"], silent, silent),
        ),
        preset(
            "full-disk",
            "A disk that fills up",
            vec![
                json!({ "step_id": "disk", "type": "trigger", "kind": "sensor_value", "params": { "metric": "gateway.disk_used_pct" } }),
                json!({ "step_id": "full", "type": "condition", "kind": "threshold", "params": { "op": "ge", "value": 90, "hysteresis": 5, "for_s": 60 } }),
                json!({ "step_id": "open", "type": "action", "kind": "alert", "params": { "severity": "critical", "message": disk, "key": "disk" } }),
                json!({ "step_id": "close", "type": "action", "kind": "alert", "params": { "message": "the disk has space", "key": "disk", "resolve": true } }),
            ],
            vec![
                json!({ "from": "disk", "to": "full" }),
                json!({ "from": "full", "to": "open" }),
                json!({ "from": "full", "to": "close", "when": "false" }),
            ],
            channels(&["open"], "Disk of the gateway at {{/trigger/value}} %", disk),
        ),
        preset(
            "rejected-registration",
            "A registration that was rejected",
            vec![
                json!({ "step_id": "rejected", "type": "trigger", "kind": "node_event", "params": { "events": ["rejected"] } }),
                json!({ "step_id": "open", "type": "action", "kind": "alert",
                    "params": { "severity": "info", "message": rejected, "key": "{{/trigger/registration_id}}" } }),
            ],
            vec![json!({ "from": "rejected", "to": "open" })],
            channels(&["open"], "Registration of {{/trigger/hostname}} rejected", rejected),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use groundwave_gateway::automation::{AutomationFlow, plan};

    use super::*;

    #[test]
    fn presets_are_valid_flows() {
        let all = presets();
        assert_eq!(all.len(), 3);
        for preset in all {
            let flow: AutomationFlow = serde_json::from_value(preset.flow).unwrap();
            assert_eq!(flow.name, preset.name);
            assert!(plan(&flow).is_ok(), "{}: {:?}", preset.name, plan(&flow));
        }
    }
}
