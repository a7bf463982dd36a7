use groundwave_simulation::site::NodeId;

use super::*;
use crate::peripheral::RecordHostReadings;

fn node(number: u8) -> NodeId {
    NodeId::from_u128(u128::from(number))
}

/// Lets nodes in.
fn let_in(engine: &mut Engine<Snapshot>, count: u8) {
    for number in 1..=count {
        test_world::let_in(engine, WALL, number, node(number));
    }
}

/// A request of a user leads to an action for each node.
fn each(params: Value) -> Value {
    json!({
        "mode": "parallel",
        "steps": [
            step("go", "trigger", "manual", json!({})),
            step("all", "action", "for_each_node", params),
        ],
        "edges": [edge("go", "all", "true")],
    })
}

fn outcome_of(engine: &Engine<Snapshot>, flow: &str) -> (ExecutionState, StepRecord) {
    let view = engine.view();
    let (_, held) = view.automation.of_flow(id(flow)).next_back().unwrap();
    (held.state, held.steps[1].clone())
}

#[test]
fn a_step_for_each_node_raises_an_alert_for_each_that_fits() {
    let mut engine = engine();
    let_in(&mut engine, 3);
    let action = json!({ "kind": "alert", "params": { "message": "{{/node/hostname}}" } });
    let flow = each(json!({ "action": action, "node_ids": [node(1), node(3)] }));
    put(&mut engine, "each", &flow);
    trigger(&mut engine, WALL + S, "each", 1);
    let (state, step) = outcome_of(&engine, "each");
    assert_eq!(state, ExecutionState::Succeeded, "{step:?}");
    assert_eq!(step.output, Some(json!({ "nodes": 2 })));
    let view = engine.view();
    let alerts = view.automation.alerts.values();
    let mut alerts: Vec<_> = alerts.map(|held| (held.node, held.message.clone())).collect();
    alerts.sort();
    let expected = [1, 3].map(|number| (Some(node(number).uuid()), format!("n{number}")));
    assert_eq!(alerts, expected);
}

#[test]
fn a_step_for_each_node_waits_for_all_its_deliveries_and_names_the_node_that_failed() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    let_in(&mut engine, 2);
    let retry = json!({ "attempts": 1 });
    let params = json!({ "url": "http://hook.test/", "body": "{{/node/node_id}}", "retry": retry });
    let action = json!({ "kind": "webhook_out", "params": params });
    put(&mut engine, "each", &each(json!({ "action": action })));
    trigger(&mut engine, WALL + S, "each", 1);
    let sent: Vec<_> = std::iter::from_fn(|| effects.try_next()).collect();
    assert_eq!(sent.len(), 2);
    let output = json!({ "status": 200 });
    let delivered = AttemptOutcome::Delivered { output };
    finish(&mut engine, WALL + 2 * S, &sent[0], delivered);
    assert_eq!(outcome_of(&engine, "each").0, ExecutionState::Running);
    finish(&mut engine, WALL + 3 * S, &sent[1], fail("refused"));
    let (state, step) = outcome_of(&engine, "each");
    assert_eq!(state, ExecutionState::Failed);
    let DeliveryRequest::Webhook { body, .. } = &sent[1].request else {
        panic!("{sent:?}");
    };
    let error = step.error.unwrap();
    let named = format!("node {}", body.as_str().unwrap());
    assert!(error.contains("1 of 2 nodes failed"), "{error}");
    assert!(error.contains(&named), "{error}");
    assert_eq!(step.each, None);
}

#[test]
fn a_step_for_each_node_refuses_more_nodes_than_it_may() {
    let mut engine = engine();
    let_in(&mut engine, 3);
    let action = json!({ "kind": "alert", "params": { "message": "x" } });
    put(&mut engine, "each", &each(json!({ "action": action, "max_nodes": 2 })));
    trigger(&mut engine, WALL + S, "each", 1);
    let (state, step) = outcome_of(&engine, "each");
    assert_eq!(state, ExecutionState::Failed);
    assert_eq!(step.error.as_deref(), Some("found 3 nodes, allowed 2"));
    assert!(engine.view().automation.alerts.is_empty());
}

#[test]
fn a_sensor_of_the_gateway_starts_an_execution() {
    let mut engine = engine();
    let limit = json!({ "op": "ge", "value": 60.0 });
    let flow = json!({
        "steps": [
            step("hot", "trigger", "sensor_value", json!({ "metric": "gateway.i2c.bme280.temp_c" })),
            step("high", "condition", "threshold", limit),
            step("told", "action", "alert", json!({ "message": "{{/trigger/value}} {{/trigger/unit}}" })),
        ],
        "edges": [edge("hot", "high", "true"), edge("high", "told", "true")],
    });
    put(&mut engine, "hot", &flow);
    for (second, value, count) in [(1, 59.5, 0), (2, 61.0, 1), (3, 62.0, 1)] {
        let readings = BTreeMap::from([("i2c.bme280.temp_c".to_owned(), value)]);
        let command = RecordHostReadings { readings, partial: true };
        does_at(&mut engine, WALL + second * S, command).unwrap();
        assert_eq!(states(&engine, "hot").len(), count, "{value}");
    }
    let view = engine.view();
    let alert = view.automation.alerts.values().next().unwrap();
    assert_eq!(alert.message, "61.0 °C");
    let told = view.events.iter().filter(|event| event.kind.word() == "flow.execution");
    assert_eq!(told.count(), 1);
}
