use super::*;

/// The flow of a disk that is full, with so many executions kept of a state.
fn put_disk(engine: &mut Engine<Snapshot>, name: &str, per_state: u32) {
    let mut flow = disk(0);
    flow["retention"] = json!({ "per_state": per_state, "days": 1 });
    flow["steps"][0]["params"]["metric"] = format!("gateway.{name}").into();
    put(engine, name, &flow);
}

/// Fills and empties the disk so many times: two executions each.
fn fill(engine: &mut Engine<Snapshot>, name: &str, first_s: u64, times: u64) {
    for time in 0..2 * times {
        let value = if time % 2 == 0 { 95.0 } else { 50.0 };
        observe(engine, WALL + (first_s + time) * S, &format!("gateway.{name}"), value);
    }
}

#[test]
fn a_lower_retention_takes_effect_where_an_execution_of_the_flow_ends() {
    let mut engine = engine();
    put_disk(&mut engine, "one", 6);
    put_disk(&mut engine, "other", 6);
    fill(&mut engine, "one", 1, 3);
    put_disk(&mut engine, "one", 2);
    fill(&mut engine, "other", 11, 1);
    assert_eq!(states(&engine, "one").len(), 6);
    fill(&mut engine, "one", 21, 1);
    assert_eq!(states(&engine, "one").len(), 2);
}

#[test]
fn a_checkpoint_with_a_lower_retention_is_taken_up_as_it_was() {
    let mut before = engine();
    put_disk(&mut before, "one", 6);
    fill(&mut before, "one", 1, 3);
    put_disk(&mut before, "one", 2);
    let checkpoint = before.checkpoint().unwrap();
    let mut after = engine();
    after.take_up(&checkpoint).unwrap();
    assert_eq!(after.digest(), before.digest());
    assert_eq!(states(&after, "one").len(), 6);
    for world in [&mut before, &mut after] {
        fill(world, "one", 21, 1);
        assert_eq!(states(world, "one").len(), 2);
    }
    assert_eq!(after.digest(), before.digest());
}

#[test]
fn a_flow_put_again_counts_the_executions_of_its_predecessor() {
    let mut engine = engine();
    put_disk(&mut engine, "one", 6);
    fill(&mut engine, "one", 1, 3);
    let remove = Remove::<Automation> { id: id("one"), expected: Expected::Present };
    does_at(&mut engine, WALL + 10 * S, remove).unwrap();
    put_disk(&mut engine, "one", 4);
    assert_eq!(states(&engine, "one").len(), 6);
    fill(&mut engine, "one", 21, 1);
    assert_eq!(states(&engine, "one").len(), 4);
}

#[test]
fn a_checkpoint_with_deliveries_and_alerts_goes_on_as_the_world_it_is_of() {
    let mut before = engine();
    put(&mut before, "hook", &webhook());
    put(&mut before, "disk", &disk(0));
    let mut effects = before.effects::<Deliver>();
    trigger(&mut before, WALL, "hook", 1);
    let first = effects.try_next().unwrap();
    for (second, value) in [(1, 95.0), (2, 50.0), (3, 96.0)] {
        observe(&mut before, WALL + second * S, "gateway.disk_used_pct", value);
    }
    let open = *before.view().automation.alerts.keys().last().unwrap();
    let acknowledge = AcknowledgeAlert { alert: open, by: "ann".to_owned(), note: None };
    does_at(&mut before, WALL + 4 * S, acknowledge.clone()).unwrap();
    let mut after = engine();
    after.take_up(&before.checkpoint().unwrap()).unwrap();
    assert_eq!(after.digest(), before.digest());
    for world in [&mut before, &mut after] {
        assert!(does_at(world, WALL + 5 * S, acknowledge.clone()).is_err());
        finish(world, WALL + 5 * S, &first, fail("refused"));
        observe(world, WALL + 7 * S, "gateway.disk_used_pct", 50.0);
        let states: Vec<_> =
            world.view().automation.alerts.values().map(|alert| alert.state).collect();
        assert_eq!(states, [AlertState::Closed; 2]);
    }
    assert_eq!(after.digest(), before.digest());
}
