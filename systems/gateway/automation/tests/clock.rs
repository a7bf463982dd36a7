//! A wall clock that was ahead and is set back.

use super::*;

/// The clock of the tests, ten years ahead.
const AHEAD: u64 = WALL + 10 * 365 * 86_400 * S;

#[test]
fn schedules_run_after_the_clock_is_set_back() {
    let mut engine = engine();
    let flow = json!({
        "steps": [
            step("hourly", "trigger", "schedule", json!({ "cron": "30 * * * *", "tz": "UTC" })),
            step("told", "action", "alert", json!({ "message": "{{/trigger/scheduled_at}}" })),
        ],
        "edges": [edge("hourly", "told", "true")],
    });
    put(&mut engine, "hourly", &flow);
    wait_until(&mut engine, AHEAD);
    assert_eq!(states(&engine, "hourly").len(), 1);
    wait_until(&mut engine, WALL + S);
    assert_eq!(states(&engine, "hourly").len(), 1);
    wait_until(&mut engine, WALL + 1800 * S);
    assert_eq!(states(&engine, "hourly").len(), 2);
    // A correction by seconds repeats no run.
    wait_until(&mut engine, WALL + 1790 * S);
    wait_until(&mut engine, WALL + 1801 * S);
    assert_eq!(states(&engine, "hourly").len(), 2);
}

#[test]
fn cooldowns_and_thresholds_wait_their_time_after_the_clock_is_set_back() {
    let mut engine = engine();
    let flow = json!({
        "mode": "parallel",
        "steps": [
            step("go", "trigger", "manual", json!({})),
            step("rest", "condition", "cooldown", json!({ "for_s": 60 })),
            step("told", "action", "alert", json!({ "message": "x" })),
        ],
        "edges": [edge("go", "rest", "true"), edge("rest", "told", "true")],
    });
    put(&mut engine, "rest", &flow);
    put(&mut engine, "disk", &disk(30));
    // Its id has the time of the clock, as those that the gateway makes.
    let first = TriggerFlow {
        flow: id("rest"),
        execution: ExecutionId::from_u128(u128::from(AHEAD / 1_000_000) << 80 | 1),
        inputs: Map::new(),
        by: "ann".to_owned(),
        dry_run: false,
    };
    assert!(does_at(&mut engine, AHEAD, first).unwrap());
    observe(&mut engine, AHEAD + S, "gateway.disk_used_pct", 95.0);
    wait_until(&mut engine, WALL + S);
    trigger(&mut engine, WALL + 2 * S, "rest", 2);
    wait_until(&mut engine, WALL + 31 * S);
    trigger(&mut engine, WALL + 61 * S, "rest", 3);
    use ExecutionState::{Skipped, Succeeded};
    // That of the clock ahead comes last.
    assert_eq!(states(&engine, "rest"), [Skipped, Succeeded, Succeeded]);
    assert_eq!(states(&engine, "disk"), [Succeeded]);
}

#[test]
fn deliveries_are_attempted_again_after_the_clock_is_set_back() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "hook", &webhook());
    trigger(&mut engine, AHEAD, "hook", 1);
    let first = effects.try_next().unwrap();
    finish(&mut engine, AHEAD + S, &first, fail("refused"));
    wait_until(&mut engine, WALL + S);
    assert_eq!(effects.try_next().map(|sent| sent.attempt), Some(2));
}
