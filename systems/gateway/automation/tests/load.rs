use super::*;

#[test]
fn a_tick_evaluates_a_bounded_number_of_steps_and_all_executions_end() {
    let mut engine = engine();
    let mut steps =
        vec![step("go", "trigger", "sensor_value", json!({ "metric": "gateway.load" }))];
    steps.push(step("high", "condition", "threshold", json!({ "op": "gt", "value": 1.0 })));
    let mut edges = vec![edge("go", "high", "true")];
    for number in 0..12 {
        let name = format!("set{number}");
        steps.push(step(&name, "action", "set_variable", json!({ "name": "n", "value": number })));
        edges.push(edge("high", &name, "true"));
    }
    let flow = json!({ "steps": steps, "edges": edges, "variables": { "n": 0 } });
    for number in 0..100 {
        put(&mut engine, &format!("flow{number}"), &flow);
    }
    observe(&mut engine, WALL + S, "gateway.load", 2.0);
    let done = |engine: &Engine<Snapshot>| {
        let view = engine.view();
        let all = view.automation.executions();
        all.filter(|(_, held)| held.state == ExecutionState::Succeeded).count()
    };
    // 13 steps of each flow, 512 in a tick.
    assert!(done(&engine) < 100, "{}", done(&engine));
    wait_until(&mut engine, WALL + S);
    wait_until(&mut engine, WALL + S);
    assert_eq!(done(&engine), 100);
}

/// A reading over a limit leads to a webhook.
fn watching() -> Value {
    let mut flow = webhook();
    flow["mode"] = "parallel".into();
    flow["steps"][0] = step("go", "trigger", "sensor_value", json!({ "metric": "gateway.load" }));
    let limit = json!({ "op": "gt", "value": 1.0 });
    let limit = step("high", "condition", "threshold", limit);
    flow["steps"].as_array_mut().unwrap().push(limit);
    flow["edges"] = json!([edge("go", "high", "true"), edge("high", "hook", "true")]);
    flow
}

/// Attempts that were asked for, by the flow.
fn asked(
    engine: &Engine<Snapshot>,
    effects: &mut Effects<Deliver>,
) -> Vec<(AutomationId, Deliver)> {
    let view = engine.view();
    let all = std::iter::from_fn(|| effects.try_next());
    let flow = |sent: Deliver| (view.automation.deliveries[&sent.delivery].flow, sent);
    all.map(flow).collect()
}

#[test]
fn a_hundred_flows_fire_at_once_and_a_hanging_one_holds_up_itself_alone() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    for number in 0..100 {
        put(&mut engine, &format!("flow{number}"), &watching());
    }
    let hanging = id("flow50");
    // Each second the value goes over the limit and back: all flows fire again.
    for second in 0..6 {
        let at_ns = WALL + (2 * second + 1) * S;
        let before = engine.view().tick;
        observe(&mut engine, at_ns, "gateway.load", 2.0);
        let asked = asked(&engine, &mut effects);
        // All of them are asked for in the tick of the reading.
        assert_eq!(engine.view().tick, before + 1);
        let others: Vec<_> = asked.iter().filter(|(flow, _)| *flow != hanging).collect();
        assert_eq!(others.len(), 99, "second {second}");
        for (_, sent) in others {
            let output = json!({ "status": 200 });
            finish(&mut engine, at_ns, sent, AttemptOutcome::Delivered { output });
        }
        observe(&mut engine, at_ns + S, "gateway.load", 0.0);
        for number in (0..100).filter(|number| *number != 50) {
            let states = states(&engine, &format!("flow{number}"));
            let done = [ExecutionState::Succeeded; 6];
            assert_eq!(states, done[..=second as usize], "flow {number}");
        }
    }
    // The hanging one has few attempts in flight, however often it fired.
    let view = engine.view();
    let in_flight = view.automation.deliveries.values().filter(|held| held.in_flight).count();
    assert_eq!((view.automation.deliveries.len(), in_flight), (6, 4));
}

#[test]
fn a_delivery_that_was_held_up_is_made_when_an_attempt_of_its_flow_ends() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    let mut flow = webhook();
    flow["mode"] = "parallel".into();
    put(&mut engine, "hook", &flow);
    for number in 0..6 {
        trigger(&mut engine, WALL + S, "hook", number);
    }
    let first = asked(&engine, &mut effects);
    assert_eq!(first.len(), 4);
    let output = json!({ "status": 200 });
    finish(&mut engine, WALL + 2 * S, &first[0].1, AttemptOutcome::Delivered { output });
    let fifth = asked(&engine, &mut effects);
    assert_eq!(fifth.len(), 1);
    // An execution that is cancelled makes way too.
    let cancel = CancelExecution { execution: execution(1), by: "ann".to_owned() };
    does_at(&mut engine, WALL + 3 * S, cancel).unwrap();
    assert_eq!(asked(&engine, &mut effects).len(), 1);
}
