use super::*;

#[test]
fn a_delivery_is_repeated_with_growing_waits_and_made_once() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "hook", &webhook());
    trigger(&mut engine, WALL + S, "hook", 1);
    let first = effects.try_next().unwrap();
    assert_eq!(first.attempt, 1);
    finish(&mut engine, WALL + 2 * S, &first, fail("refused"));
    assert_eq!(effects.try_next(), None);
    wait_until(&mut engine, WALL + 3 * S);
    let second = effects.try_next().unwrap();
    assert_eq!((second.delivery, second.attempt), (first.delivery, 2));
    // The outcome of an earlier attempt is outdated.
    let late = FinishAttempt { delivery: first.delivery, attempt: 1, outcome: fail("late") };
    assert!(does_at(&mut engine, WALL + 3 * S, late).is_err());
    finish(&mut engine, WALL + 4 * S, &second, fail("refused"));
    wait_until(&mut engine, WALL + 5 * S);
    assert_eq!(effects.try_next(), None, "the second wait is two seconds");
    wait_until(&mut engine, WALL + 6 * S);
    let third = effects.try_next().unwrap();
    let output = json!({ "status": 204 });
    finish(&mut engine, WALL + 7 * S, &third, AttemptOutcome::Delivered { output });
    assert_eq!(states(&engine, "hook"), [ExecutionState::Succeeded]);
    wait_until(&mut engine, WALL + 600 * S);
    assert_eq!(effects.try_next(), None);
    assert!(engine.view().automation.deliveries.is_empty());
    let view = engine.view();
    let (_, held) = view.automation.of_flow(id("hook")).next().unwrap();
    let hook = held.steps.iter().find(|step| step.step_id == "hook").unwrap();
    assert_eq!(hook.output.as_ref().unwrap()["attempts"], 3);
}

#[test]
fn the_last_failure_ends_in_the_dead_letter_list_and_can_be_sent_again() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "hook", &webhook());
    trigger(&mut engine, WALL, "hook", 1);
    for (attempt, at_s) in [(1, 1), (2, 3), (3, 9)] {
        let sent = effects.try_next().unwrap();
        assert_eq!(sent.attempt, attempt);
        finish(&mut engine, WALL + at_s * S, &sent, fail("refused"));
        wait_until(&mut engine, WALL + (at_s + 3) * S);
    }
    assert_eq!(effects.try_next(), None);
    assert_eq!(states(&engine, "hook"), [ExecutionState::Failed]);
    let view = engine.view();
    let (delivery, held) = view.automation.deliveries.iter().next().unwrap();
    assert!(held.dead);
    let resend = ResendDelivery { delivery: *delivery };
    does_at(&mut engine, WALL + 20 * S, resend.clone()).unwrap();
    let again = effects.try_next().unwrap();
    assert_eq!((again.delivery, again.attempt), (*delivery, 1));
    assert!(does_at(&mut engine, WALL + 21 * S, resend).is_err());
}

#[test]
fn an_attempt_in_flight_at_a_restart_is_made_again_with_the_same_key() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "hook", &webhook());
    trigger(&mut engine, WALL, "hook", 1);
    let lost = effects.try_next().unwrap();
    does_at(&mut engine, WALL + S, ResumeDeliveries {}).unwrap();
    assert_eq!(effects.try_next(), Some(lost));
}

#[test]
fn an_execution_that_hangs_fails_after_its_time_and_lets_the_next_one_begin() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    let mut flow = webhook();
    flow["mode"] = "queued".into();
    put(&mut engine, "hook", &flow);
    trigger(&mut engine, WALL, "hook", 1);
    trigger(&mut engine, WALL + S, "hook", 2);
    let waits = [ExecutionState::Running, ExecutionState::Queued];
    assert_eq!(states(&engine, "hook"), waits);
    wait_until(&mut engine, WALL + 60 * S);
    let next = [ExecutionState::Failed, ExecutionState::Running];
    assert_eq!(states(&engine, "hook"), next);
    assert!(effects.try_next().is_some() && effects.try_next().is_some());
}

#[test]
fn a_cancelled_execution_sends_nothing_any_more() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    put(&mut engine, "hook", &webhook());
    trigger(&mut engine, WALL, "hook", 1);
    let sent = effects.try_next().unwrap();
    finish(&mut engine, WALL + S, &sent, fail("refused"));
    let cancel = CancelExecution { execution: execution(1), by: "ann".to_owned() };
    does_at(&mut engine, WALL + S, cancel.clone()).unwrap();
    wait_until(&mut engine, WALL + 100 * S);
    assert_eq!(effects.try_next(), None);
    assert_eq!(states(&engine, "hook"), [ExecutionState::Cancelled]);
    assert!(does_at(&mut engine, WALL + 101 * S, cancel).is_err());
}

#[test]
fn a_receiver_that_is_down_for_a_minute_gets_each_alert_once() {
    let mut engine = engine();
    let mut effects = engine.effects::<Deliver>();
    let mut flow = webhook();
    flow["mode"] = "parallel".into();
    flow["max_concurrency"] = 20.into();
    // The usual repetition.
    flow["steps"][1]["params"] = json!({ "url": "http://hook.test/" });
    put(&mut engine, "hook", &flow);
    for number in 0..20 {
        trigger(&mut engine, WALL + S, "hook", number);
    }
    let mut accepted = BTreeMap::new();
    for second in 1..200 {
        let at_ns = WALL + second * S;
        wait_until(&mut engine, at_ns);
        while let Some(sent) = effects.try_next() {
            let outcome = if second <= 61 {
                fail("connection refused")
            } else {
                *accepted.entry(sent.delivery).or_insert(0) += 1;
                AttemptOutcome::Delivered { output: json!({}) }
            };
            finish(&mut engine, at_ns, &sent, outcome);
        }
    }
    assert_eq!(accepted.len(), 20);
    assert!(accepted.values().all(|count| *count == 1), "{accepted:?}");
    assert!(engine.view().automation.deliveries.is_empty());
}
