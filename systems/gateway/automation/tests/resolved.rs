//! Notices of alerts that are over.

use super::*;
use crate::automation::DeliveryRequest;

/// A webhook for each alert that is over.
fn notices() -> Value {
    let body = json!({ "text": "{{/trigger/message}}", "after_s": "{{/trigger/duration_s}}" });
    json!({
        "mode": "parallel",
        "steps": [
            step("over", "trigger", "node_event", json!({ "events": ["resolved"] })),
            step("hook", "action", "webhook_out", json!({ "url": "http://hook.test/", "body": body })),
        ],
        "edges": [edge("over", "hook", "true")],
    })
}

fn bodies(effects: &mut Effects<Deliver>) -> Vec<Value> {
    let mut bodies = Vec::new();
    while let Some(sent) = effects.try_next() {
        let DeliveryRequest::Webhook { body, .. } = sent.request else {
            panic!("found {:?}", sent.request);
        };
        bodies.push(body);
    }
    bodies
}

#[test]
fn an_alert_that_is_over_is_notified_once_with_its_duration() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "disk", &disk(0));
    put(&mut engine, "notices", &notices());
    observe(&mut engine, WALL + S, "gateway.disk_used_pct", 95.0);
    observe(&mut engine, WALL + 2 * S, "gateway.disk_used_pct", 97.0);
    assert_eq!(states(&engine, "notices"), []);
    observe(&mut engine, WALL + 91 * S, "gateway.disk_used_pct", 50.0);
    // It began in the tick that closed the alert: a kill after it loses no notice.
    assert_eq!(states(&engine, "notices").len(), 1);
    wait_until(&mut engine, WALL + 92 * S);
    wait_until(&mut engine, WALL + 93 * S);
    assert_eq!(bodies(&mut effects), [json!({ "text": "disk at 95.0 %", "after_s": 90 })]);
}

#[test]
fn a_step_that_closes_nothing_is_not_notified() {
    let mut engine = engine();
    put(&mut engine, "notices", &notices());
    let flow = json!({
        "steps": [
            step("go", "trigger", "manual", json!({})),
            step("close", "action", "alert", json!({ "message": "over", "resolve": true })),
        ],
        "edges": [edge("go", "close", "true")],
    });
    put(&mut engine, "close", &flow);
    trigger(&mut engine, WALL + S, "close", 1);
    wait_until(&mut engine, WALL + 2 * S);
    assert_eq!(states(&engine, "close"), [ExecutionState::Succeeded]);
    assert_eq!(states(&engine, "notices"), []);
}

#[test]
fn a_flow_that_opens_and_closes_because_of_itself_ends_at_the_depth_allowed() {
    let mut engine = engine();
    let key = json!({ "message": "again", "key": "key" });
    let mut over = key.clone();
    over["resolve"] = true.into();
    let flow = json!({
        "mode": "parallel",
        "steps": [
            step("go", "trigger", "manual", json!({})),
            step("over", "trigger", "node_event", json!({ "events": ["resolved"] })),
            step("open", "action", "alert", key),
            step("close", "action", "alert", over),
        ],
        "edges": [edge("go", "open", "true"), edge("over", "open", "true"), edge("open", "close", "true")],
    });
    put(&mut engine, "echo", &flow);
    trigger(&mut engine, WALL, "echo", 1);
    for second in 1..20 {
        wait_until(&mut engine, WALL + second * S);
    }
    let states = states(&engine, "echo");
    assert_eq!(states.len(), 6, "{states:?}");
    assert_eq!(states.iter().filter(|state| **state == ExecutionState::Skipped).count(), 1);
}
