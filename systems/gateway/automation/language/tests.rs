use serde_json::{Value, json};

use super::*;

fn flow(steps: &Value, edges: &Value) -> AutomationFlow {
    let flow = json!({ "name": "f", "steps": steps, "edges": edges, "variables": { "n": 0 } });
    serde_json::from_value(flow).unwrap()
}

fn step(id: &str, role: &str, kind: &str, params: Value) -> Value {
    json!({ "step_id": id, "type": role, "kind": kind, "params": params })
}

fn mistakes(steps: &Value, edges: &Value) -> Vec<(String, &'static str)> {
    let mistakes = plan(&flow(steps, edges)).unwrap_err();
    mistakes.into_iter().map(|mistake| (mistake.pointer, mistake.code.as_str())).collect()
}

#[test]
fn every_mistake_names_the_step_that_fails() {
    let go = || step("go", "trigger", "manual", json!({}));
    let told = || step("told", "action", "alert", json!({ "message": "x" }));
    let each = |action: Value| step("all", "action", "for_each_node", json!({ "action": action }));
    let link = |from: &str, to: &str| json!({ "from": from, "to": to });
    let cases = [
        (
            json!([go(), step("told", "action", "sing", json!({}))]),
            json!([]),
            "/steps/1/kind",
            "unknown-kind",
        ),
        (
            json!([go(), step("told", "trigger", "alert", json!({ "message": "x" }))]),
            json!([]),
            "/steps/1/kind",
            "unknown-kind",
        ),
        (
            json!([go(), step("told", "action", "alert", json!({}))]),
            json!([]),
            "/steps/1/params",
            "invalid-params",
        ),
        (
            json!([go(), step("told", "action", "alert", json!({ "message": "x", "more": 1 }))]),
            json!([]),
            "/steps/1/params/more",
            "invalid-params",
        ),
        (
            json!([go(), each(json!({ "kind": "alert", "params": {} }))]),
            json!([link("go", "all")]),
            "/steps/1/params/action/params",
            "invalid-params",
        ),
        (
            json!([go(), each(json!({ "kind": "webhook_out", "params": { "url": "ftp://x/" } }))]),
            json!([link("go", "all")]),
            "/steps/1/params/action/params/url",
            "invalid-params",
        ),
        (
            json!([go(), each(json!({ "kind": "for_each_node", "params": {} }))]),
            json!([link("go", "all")]),
            "/steps/1/params/action/kind",
            "invalid-params",
        ),
        (
            json!([step("go", "trigger", "schedule", json!({ "cron": "61 * * * *" })), told()]),
            json!([]),
            "/steps/0/params/cron",
            "invalid-schedule",
        ),
        (
            json!([step("go", "trigger", "schedule", json!({ "cron": "0 0 30 2 *" })), told()]),
            json!([]),
            "/steps/0/params/cron",
            "invalid-schedule",
        ),
        (
            json!([
                step(
                    "go",
                    "trigger",
                    "schedule",
                    json!({ "cron": "* * * * *", "tz": "Mars/North" })
                ),
                told()
            ]),
            json!([]),
            "/steps/0/params/tz",
            "invalid-schedule",
        ),
        (json!([go(), go(), told()]), json!([]), "/steps/1/step_id", "invalid-step-id"),
        (json!([go(), told()]), json!([link("go", "nobody")]), "/edges/0/to", "invalid-edge"),
        (json!([go(), told()]), json!([link("told", "go")]), "/edges/0/to", "invalid-edge"),
        (json!([go(), told()]), json!([]), "/steps/1", "unreachable"),
        (json!([go()]), json!([]), "/steps", "incomplete"),
        (
            json!([
                go(),
                told(),
                step("b", "action", "set_variable", json!({ "name": "n", "value": 1 }))
            ]),
            json!([link("go", "told"), link("told", "b"), link("b", "told")]),
            "/steps/1",
            "cycle",
        ),
        (
            json!([
                step("go", "trigger", "sensor_value", json!({ "metric": "sys.load1" })),
                told()
            ]),
            json!([link("go", "told")]),
            "/steps/0",
            "no-threshold",
        ),
        (
            json!([go(), step("b", "action", "set_variable", json!({ "name": "m", "value": 1 }))]),
            json!([]),
            "/steps/1/params/name",
            "invalid-params",
        ),
        (
            json!([go(), step("b", "action", "webhook_out", json!({ "url": "ftp://x/" }))]),
            json!([]),
            "/steps/1/params/url",
            "invalid-params",
        ),
        (
            json!([go(), step("b", "action", "mqtt_publish", json!({ "topic": "a/#" }))]),
            json!([]),
            "/steps/1/params/topic",
            "invalid-params",
        ),
    ];
    for (steps, edges, pointer, code) in cases {
        let found = mistakes(&steps, &edges);
        assert!(found.contains(&(pointer.to_owned(), code)), "{found:?} lacks {pointer} {code}");
    }
    let many: Vec<Value> =
        (0..65).map(|n| step(&format!("s{n}"), "trigger", "manual", json!({}))).collect();
    assert_eq!(mistakes(&json!(many), &json!([])), [("/steps".to_owned(), "out-of-range")]);
    assert!(plan(&flow(&json!([go(), told()]), &json!([link("go", "told")]))).is_ok());
}

#[test]
fn each_kind_has_a_schema_of_its_parameters() {
    let all = catalogue();
    assert_eq!(all.len(), 20);
    for info in all {
        assert_eq!(info.params["type"], "object", "{}", info.kind);
        assert!(info.params.get("properties").is_some() || info.kind == "manual", "{}", info.kind);
    }
}

#[test]
fn a_trigger_takes_every_event_there_is() {
    let schema = schemars::schema_for!(NodeEventKind);
    let kinds = schema.get("oneOf").and_then(Value::as_array).unwrap().iter();
    let events: Vec<Value> = kinds.map(|kind| kind["const"].clone()).collect();
    assert!(events.contains(&json!("resolved")) && events.contains(&json!("recovered")));
    let steps = json!([
        step("any", "trigger", "node_event", json!({ "events": events })),
        step("note", "action", "alert", json!({ "message": "x" })),
    ]);
    let edges = json!([{ "from": "any", "to": "note" }]);
    assert_eq!(plan(&flow(&steps, &edges)).map(|plan| plan.steps.len()), Ok(2));
}

#[test]
fn steps_run_when_all_edges_to_them_are_resolved() {
    let steps = json!([
        step("go", "trigger", "manual", json!({})),
        step("check", "condition", "response", json!({ "pointer": "/trigger/x", "op": "exists" })),
        step("yes", "action", "alert", json!({ "message": "yes" })),
        step("no", "action", "alert", json!({ "message": "no" })),
        step("rescue", "action", "alert", json!({ "message": "rescue" })),
    ]);
    let edges = json!([
        { "from": "go", "to": "check" },
        { "from": "check", "to": "yes" },
        { "from": "check", "to": "no", "when": "false" },
        { "from": "yes", "to": "rescue", "when": "error" },
    ]);
    let plan = plan(&flow(&steps, &edges)).unwrap();
    let mut progress = vec![(StepState::Pending, None); 5];
    progress[0].0 = StepState::Succeeded;
    assert_eq!(next_step(&plan, &mut progress), Some(1));
    progress[1] = (StepState::Succeeded, Some(true));
    assert_eq!(next_step(&plan, &mut progress), Some(2));
    progress[2].0 = StepState::Failed;
    assert_eq!(next_step(&plan, &mut progress), Some(4));
    assert_eq!(progress[3].0, StepState::Skipped);
    assert_eq!(outcome(&plan, &progress), None);
    progress[4].0 = StepState::Succeeded;
    assert_eq!(outcome(&plan, &progress), Some(Outcome::Succeeded));
    progress[4].0 = StepState::Failed;
    assert_eq!(outcome(&plan, &progress), Some(Outcome::Failed));
    progress[1].1 = Some(false);
    progress[2].0 = StepState::Skipped;
    progress[4].0 = StepState::Skipped;
    assert_eq!(outcome(&plan, &progress), Some(Outcome::Skipped));
}

#[test]
fn schedules_follow_the_clock_changes_of_their_time_zone() {
    // 2027-03-28 00:59:59 UTC; clocks in Berlin go from 02:00 to 03:00 at 01:00 UTC.
    let before_ms = 1_806_195_599_000;
    let next = next_run_ms("0 4 * * *", "Europe/Berlin", before_ms).unwrap();
    assert_eq!(time(next), "2027-03-28T02:00:00.000Z");
    let next = next_run_ms("0 4 * * *", "UTC", before_ms).unwrap();
    assert_eq!(time(next), "2027-03-28T04:00:00.000Z");
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_it_begins_on() {
    let window = TimeWindow {
        from: "22:00".to_owned(),
        to: "06:00".to_owned(),
        tz: "UTC".to_owned(),
        days: vec![Weekday::Fri],
    };
    // 2027-01-15 is a Friday.
    let friday_ms = 1_799_971_200_000;
    let hour_ms = 3_600_000;
    for (hour, expected) in [(21, false), (22, true), (29, true), (30, false), (5, false)] {
        assert_eq!(in_window(&window, friday_ms + hour * hour_ms), Ok(expected), "{hour}");
    }
}

#[test]
fn texts_are_filled_with_values_of_the_context() {
    let context = json!({ "trigger": { "name": "n1", "value": 3.5, "none": null } });
    let filled =
        fill("{{/trigger/name}}: {{ /trigger/value }}{{/trigger/none}}{{/no}} {{", &context);
    assert_eq!(filled, "n1: 3.5 {{");
    let value = json!({ "v": "{{/trigger/value}}", "t": ["a {{/trigger/name}}"] });
    assert_eq!(fill_value(&value, &context), json!({ "v": 3.5, "t": ["a n1"] }));
}

#[test]
fn values_in_topics_are_one_level_each() {
    let context = json!({ "node": { "name": "a/b+#\n", "id": "$x" }, "n": 2 });
    assert_eq!(fill_topic("{{/node/id}}/{{/node/name}}/{{/n}}", &context), "_x/a_b___/2");
    assert_eq!(fill_topic("plain/+", &context), "plain/+");
}

#[test]
fn values_are_compared_by_their_type() {
    use ResponseOperator::{Contains, Eq, Exists, Gt, Ne};
    let cases = [
        (Some(json!(1)), Eq, json!(1.0), true),
        (Some(json!("up")), Eq, json!("down"), false),
        (None, Ne, json!(1), true),
        (None, Exists, Value::Null, false),
        (Some(json!(3)), Gt, json!(2), true),
        (Some(json!("3")), Gt, json!(2), false),
        (Some(json!("abc")), Contains, json!("b"), true),
        (Some(json!([1, 2])), Contains, json!(3), false),
    ];
    for (found, op, wanted, expected) in cases {
        assert_eq!(compare(found.as_ref(), op, &wanted), expected, "{found:?} {op:?} {wanted}");
    }
}
