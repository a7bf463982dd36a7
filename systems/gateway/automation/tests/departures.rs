//! Alerts of nodes and flows that leave.

use groundwave_simulation::site::NodeId;

use super::*;
use crate::onboarding::DeregisterNode;

fn node(number: u8) -> NodeId {
    NodeId::from_u128(u128::from(number))
}

fn alerts(engine: &Engine<Snapshot>) -> Vec<(String, AlertState)> {
    let view = engine.view();
    let alerts = view.automation.alerts.values();
    alerts.map(|alert| (alert.message.clone(), alert.state)).collect()
}

/// A flow that counts the alerts that are over.
fn notices() -> Value {
    let note = json!({ "message": "over", "key": "{{/trigger/alert_id}}" });
    json!({
        "mode": "parallel",
        "steps": [
            step("over", "trigger", "node_event", json!({ "events": ["resolved"] })),
            step("note", "action", "alert", note),
        ],
        "edges": [edge("over", "note", "true")],
    })
}

#[test]
fn alerts_of_a_node_that_is_removed_are_over() {
    let mut engine = engine();
    for number in 1..=2 {
        test_world::let_in(&mut engine, WALL, number, node(number));
    }
    let action = json!({ "kind": "alert", "params": { "message": "{{/node/hostname}}" } });
    let flow = json!({
        "steps": [
            step("go", "trigger", "manual", json!({})),
            step("all", "action", "for_each_node", json!({ "action": action })),
        ],
        "edges": [edge("go", "all", "true")],
    });
    put(&mut engine, "each", &flow);
    put(&mut engine, "notices", &notices());
    trigger(&mut engine, WALL + S, "each", 1);
    let command = DeregisterNode { node: node(1), cascade: true, by: "ada".to_owned() };
    does_at(&mut engine, WALL + 2 * S, command).unwrap();
    let states = alerts(&engine);
    let state_of = |message: &str| states.iter().find(|(text, _)| text == message).unwrap().1;
    assert_eq!(state_of("n1"), AlertState::Closed);
    assert_eq!(state_of("n2"), AlertState::Open);
    wait_until(&mut engine, WALL + 3 * S);
    assert_eq!(super::states(&engine, "notices"), [ExecutionState::Succeeded]);
}

#[test]
fn alerts_of_a_flow_that_is_removed_are_over() {
    let mut engine = engine();
    put(&mut engine, "disk", &disk(0));
    observe(&mut engine, WALL + S, "gateway.disk_used_pct", 95.0);
    assert_eq!(alerts(&engine), [("disk at 95.0 %".to_owned(), AlertState::Open)]);
    let remove = Remove::<Automation> { id: id("disk"), expected: Expected::Present };
    does_at(&mut engine, WALL + 2 * S, remove).unwrap();
    assert_eq!(alerts(&engine), [("disk at 95.0 %".to_owned(), AlertState::Closed)]);
}
