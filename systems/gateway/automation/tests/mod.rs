mod clock;
mod deliveries;
mod departures;
mod load;
mod nodes;
mod resolved;
mod retention;

use std::collections::BTreeMap;

use groundwave_engine::{Effects, Engine};
use serde_json::{Map, Value, json};

use super::*;
use crate::Snapshot;
use crate::config::{Expected, Put, Remove};
use crate::test_world::{self, does_at, engine};

const S: u64 = 1_000_000_000;
/// 2027-01-15 08:00:00 UTC.
const WALL: u64 = 1_800_000_000 * S;

/// Time goes on: an empty reading, so that the tick takes the wall clock.
fn wait_until(engine: &mut Engine<Snapshot>, at_ns: u64) {
    observe(engine, at_ns, "gateway.nothing", 0.0);
}

fn observe(engine: &mut Engine<Snapshot>, at_ns: u64, metric: &str, value: f64) {
    let readings = BTreeMap::from([(metric.to_owned(), value)]);
    does_at(engine, at_ns, ObserveGateway { readings }).unwrap();
}

fn id(name: &str) -> AutomationId {
    AutomationId::named(name)
}

/// An id with the time of the tests in its first bits.
fn execution(number: u128) -> ExecutionId {
    ExecutionId::from_u128(u128::from(WALL / 1_000_000) << 80 | number)
}

fn put(engine: &mut Engine<Snapshot>, name: &str, flow: &Value) {
    let mut flow = flow.clone();
    flow["name"] = name.into();
    let command = Put {
        id: id(name),
        object: serde_json::from_value::<Automation>(flow).unwrap(),
        expected: Expected::Any,
    };
    does_at(engine, WALL, command).unwrap();
}

fn trigger(engine: &mut Engine<Snapshot>, at_ns: u64, flow: &str, number: u128) {
    let command = TriggerFlow {
        flow: id(flow),
        execution: execution(number),
        inputs: Map::new(),
        by: "ann".to_owned(),
        dry_run: false,
    };
    assert!(does_at(engine, at_ns, command).unwrap());
}

fn step(id: &str, role: &str, kind: &str, params: Value) -> Value {
    json!({ "step_id": id, "type": role, "kind": kind, "params": params })
}

fn edge(from: &str, to: &str, when: &str) -> Value {
    json!({ "from": from, "to": to, "when": when })
}

/// A request of a user leads to a webhook.
fn webhook() -> Value {
    let retry = json!({ "attempts": 3, "base_s": 1, "cap_s": 60 });
    let params = json!({ "url": "http://hook.test/", "retry": retry });
    json!({
        "steps": [step("go", "trigger", "manual", json!({})), step("hook", "action", "webhook_out", params)],
        "edges": [edge("go", "hook", "true")],
    })
}

/// A full disk opens an alert and closes it again.
fn disk(for_s: u32) -> Value {
    let limit = json!({ "op": "ge", "value": 90.0, "hysteresis": 5.0, "for_s": for_s });
    json!({
        "mode": "parallel",
        "steps": [
            step("disk", "trigger", "sensor_value", json!({ "metric": "gateway.disk_used_pct" })),
            step("full", "condition", "threshold", limit),
            step("open", "action", "alert", json!({ "message": "disk at {{/trigger/value}} %" })),
            step("close", "action", "alert", json!({ "message": "over", "resolve": true })),
        ],
        "edges": [
            edge("disk", "full", "true"), edge("full", "open", "true"), edge("full", "close", "false"),
        ],
    })
}

fn states(engine: &Engine<Snapshot>, flow: &str) -> Vec<ExecutionState> {
    let view = engine.view();
    let of_flow = view.automation.of_flow(id(flow));
    of_flow.map(|(_, held)| held.state).collect()
}

fn fail(error: &str) -> AttemptOutcome {
    AttemptOutcome::Failed { error: error.to_owned(), retry: true, wait_s: None }
}

fn finish(engine: &mut Engine<Snapshot>, at_ns: u64, sent: &Deliver, outcome: AttemptOutcome) {
    let command = FinishAttempt { delivery: sent.delivery, attempt: sent.attempt, outcome };
    does_at(engine, at_ns, command).unwrap();
}

#[test]
fn a_threshold_starts_executions_when_it_is_crossed_and_not_between() {
    let mut engine = engine();
    put(&mut engine, "disk", &disk(0));
    for (second, value, executions) in [
        (1, 80.0, 0),
        (2, 90.0, 1),
        (3, 99.0, 1),
        // Within the hysteresis it is still full.
        (4, 86.0, 1),
        (5, 84.0, 2),
        (6, 91.0, 3),
    ] {
        observe(&mut engine, WALL + second * S, "gateway.disk_used_pct", value);
        assert_eq!(states(&engine, "disk").len(), executions, "at {second} s");
    }
    let all = [ExecutionState::Succeeded; 3];
    assert_eq!(states(&engine, "disk"), all);
    let view = engine.view();
    let alerts: Vec<_> = view.automation.alerts.values().collect();
    assert_eq!(alerts.len(), 2);
    assert_eq!(alerts[0].message, "disk at 90.0 %");
    assert_eq!((alerts[0].state, alerts[1].state), (AlertState::Closed, AlertState::Open));
    let told = view.events.iter().filter(|event| event.kind.word() == "alert");
    assert_eq!(told.count(), 2);
}

#[test]
fn a_threshold_waits_for_its_time_and_forgets_a_short_excess() {
    let mut engine = engine();
    put(&mut engine, "disk", &disk(30));
    observe(&mut engine, WALL + S, "gateway.disk_used_pct", 95.0);
    observe(&mut engine, WALL + 20 * S, "gateway.disk_used_pct", 80.0);
    wait_until(&mut engine, WALL + 40 * S);
    assert_eq!(states(&engine, "disk"), []);
    observe(&mut engine, WALL + 50 * S, "gateway.disk_used_pct", 95.0);
    wait_until(&mut engine, WALL + 79 * S);
    assert_eq!(states(&engine, "disk"), []);
    // No further reading is needed.
    wait_until(&mut engine, WALL + 80 * S);
    assert_eq!(states(&engine, "disk"), [ExecutionState::Succeeded]);
}

#[test]
fn modes_skip_restart_and_run_side_by_side() {
    use ExecutionState::{Cancelled, Running, Skipped};
    for (mode, expected) in [
        ("single", [Running, Skipped]),
        ("restart", [Cancelled, Running]),
        ("parallel", [Running, Running]),
    ] {
        let mut engine = engine();
        let mut flow = webhook();
        flow["mode"] = mode.into();
        put(&mut engine, "hook", &flow);
        trigger(&mut engine, WALL, "hook", 1);
        trigger(&mut engine, WALL + S, "hook", 2);
        assert_eq!(states(&engine, "hook"), expected, "{mode}");
    }
}

#[test]
fn a_flow_that_triggers_itself_ends_at_the_depth_allowed() {
    let mut engine = engine();
    let flow = json!({
        "mode": "parallel",
        "steps": [
            step("heard", "trigger", "node_event", json!({ "events": ["alert"] })),
            step("go", "trigger", "manual", json!({})),
            step("again", "action", "alert", json!({ "message": "again", "key": "{{/execution/execution_id}}" })),
        ],
        "edges": [edge("heard", "again", "true"), edge("go", "again", "true")],
    });
    put(&mut engine, "echo", &flow);
    trigger(&mut engine, WALL, "echo", 1);
    for second in 1..20 {
        wait_until(&mut engine, WALL + second * S);
    }
    let states = states(&engine, "echo");
    assert_eq!(states.len(), 6);
    let skipped = |state: &&ExecutionState| **state == ExecutionState::Skipped;
    assert_eq!(states.iter().filter(skipped).count(), 1);
}

#[test]
fn a_schedule_runs_at_its_times_and_makes_up_for_missed_ones_once() {
    let mut engine = engine();
    let flow = json!({
        "steps": [
            step("hourly", "trigger", "schedule", json!({ "cron": "30 * * * *", "tz": "Europe/Berlin" })),
            step("told", "action", "alert", json!({ "message": "{{/trigger/scheduled_at}}", "key": "{{/trigger/scheduled_at}}" })),
        ],
        "edges": [edge("hourly", "told", "true")],
    });
    put(&mut engine, "hourly", &flow);
    wait_until(&mut engine, WALL + 1799 * S);
    assert_eq!(states(&engine, "hourly"), []);
    wait_until(&mut engine, WALL + 1800 * S);
    assert_eq!(states(&engine, "hourly"), [ExecutionState::Succeeded]);
    wait_until(&mut engine, WALL + 5 * 3600 * S);
    wait_until(&mut engine, WALL + 5 * 3600 * S + S);
    assert_eq!(states(&engine, "hourly").len(), 2);
    let view = engine.view();
    let messages: Vec<_> = view.automation.alerts.values().map(|a| a.message.clone()).collect();
    assert_eq!(messages, ["2027-01-15T08:30:00.000Z", "2027-01-15T09:30:00.000Z"]);
}

#[test]
fn executions_are_kept_by_the_retention_of_their_flow() {
    let mut engine = engine();
    let mut flow = disk(0);
    flow["retention"] = json!({ "per_state": 2, "days": 1 });
    put(&mut engine, "disk", &flow);
    for number in 0..6 {
        let value = if number % 2 == 0 { 95.0 } else { 50.0 };
        observe(&mut engine, WALL + (number + 1) * S, "gateway.disk_used_pct", value);
    }
    assert_eq!(states(&engine, "disk").len(), 2);
    wait_until(&mut engine, WALL + 2 * 86_400 * S);
    assert_eq!(states(&engine, "disk"), []);
}

#[test]
fn a_dry_run_acts_on_nothing() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "hook", &webhook());
    let command = TriggerFlow {
        flow: id("hook"),
        execution: execution(7),
        inputs: Map::new(),
        by: "ann".to_owned(),
        dry_run: true,
    };
    does_at(&mut engine, WALL, command).unwrap();
    assert_eq!(states(&engine, "hook"), [ExecutionState::Succeeded]);
    assert_eq!(effects.try_next(), None);
}

#[test]
fn executions_of_a_removed_flow_are_cancelled_and_kept() {
    let mut engine = engine();
    put(&mut engine, "hook", &webhook());
    trigger(&mut engine, WALL, "hook", 1);
    let remove = Remove::<Automation> { id: id("hook"), expected: Expected::Present };
    does_at(&mut engine, WALL + S, remove).unwrap();
    assert_eq!(states(&engine, "hook"), [ExecutionState::Cancelled]);
}
