//! Ticks, logs, stores, replays and breaks.

use super::*;

#[test]
fn submitter_reads_its_own_write_and_gets_refusals() {
    let mut engine = engine();
    let handle = engine.handle();
    let good = handle.submit(fill("a", 5.0)).unwrap();
    let bad = handle.submit(fill("a", f64::NAN)).unwrap();
    let ticked = engine.tick(None).unwrap();
    assert_eq!((ticked.tick, ticked.commands, ticked.refused.len()), (1, 2, 1));
    assert_eq!(good.wait(), Ok(5.0));
    assert!(matches!(bad.wait(), Err(Refusal::Invalid { key, .. }) if key == "litres"));
    assert_eq!(handle.view().levels.len(), 1);
}

#[test]
fn full_inbox_gives_busy_at_once() {
    let engine = engine();
    let handle = engine.handle();
    let accepted = (0..).map(|_| handle.submit(fill("a", 1.0))).take_while(Result::is_ok).count();
    assert_eq!(accepted, limits::INBOX_COMMANDS_MAX);
    assert!(matches!(handle.submit(fill("a", 1.0)), Err(Refusal::Busy)));
}

/// Twelve ticks with commands in some of them, a log with marks, and its digest.
fn recorded() -> (Memory, String) {
    let memory = Memory::begun();
    let mut engine = engine();
    engine.record(memory.clone());
    let handle = engine.handle();
    for tick in 1..=12u64 {
        if tick % 4 == 1 {
            handle.submit(fill(&format!("t{tick}"), tick as f64)).unwrap();
            handle.submit(fill("t1", 0.25)).unwrap();
        }
        if tick == 10 {
            handle.submit(Remove { tank: TankId::named("t5") }).unwrap();
            handle.submit(Remove { tank: TankId::named("never") }).unwrap();
        }
        engine.tick(Some(1_000 + tick)).unwrap();
        if tick % 5 == 0 {
            engine.mark().unwrap();
        }
    }
    let digest = engine.mark().unwrap();
    (memory, digest)
}

#[test]
fn replay_comes_to_the_same_bits_and_counts_what_it_proved() {
    let (memory, digest) = recorded();
    let bytes = memory.bytes();
    let mut fresh = engine();
    let mut log = Reader::open(&bytes[..]).unwrap();
    let replayed = replay(&mut fresh, &mut log, |_| Next::Go).unwrap();
    // Refused when it was recorded as well: the tank that never was.
    let refused: Vec<_> =
        replayed.refused.iter().map(|one| (one.tick, one.command.as_str())).collect();
    assert_eq!(refused, [(10, "tank.drop")]);
    let expected = Replayed {
        from: 0,
        ticks: 12,
        commands: 8,
        marks: 3,
        torn_bytes: 0,
        refused: replayed.refused.clone(),
        refused_count: 1,
        digest,
    };
    assert_eq!(replayed, expected);
}

#[test]
fn replay_with_another_seed_differs() {
    let (memory, _) = recorded();
    let bytes = memory.bytes();
    let mut builder = Builder::new();
    builder.plugin(leaks).plugin(tanks);
    let mut other = builder.build::<View>(43, 1_000_000).unwrap();
    let outcome = replay(&mut other, &mut Reader::open(&bytes[..]).unwrap(), |_| Next::Go);
    assert!(matches!(outcome, Err(ReplayError::Diverged { tick: 5, .. })), "{outcome:?}");
}

#[test]
fn a_panic_breaks_the_world_and_leaves_the_log_intact() {
    for system in [true, false] {
        let memory = Memory::begun();
        let mut engine = engine();
        engine.record(memory.clone());
        let handle = engine.handle();
        let before = handle.submit(fill("a", 1.0)).unwrap();
        engine.tick(None).unwrap();
        assert_eq!(before.wait(), Ok(1.0));

        let bystander = handle.submit(fill("b", 1.0)).unwrap();
        let kick = handle.submit(Kick { system }).unwrap();
        let broken = engine.tick(None).unwrap_err();
        assert!(broken.what.contains("kicked"), "{broken}");
        assert!(matches!(bystander.wait(), Err(Refusal::Broken { .. })));
        // The reply of a command that itself panicked is lost with it.
        assert!(matches!(kick.wait(), Err(Refusal::Broken { .. } | Refusal::Stopped)));
        assert!(matches!(handle.health(), Health::Broken(_)));
        assert!(matches!(handle.submit(fill("c", 1.0)), Err(Refusal::Broken { .. })));
        assert!(engine.tick(None).is_err(), "a broken world stays broken");

        let bytes = memory.bytes();
        let mut log = Reader::open(&bytes[..]).unwrap();
        let count = std::iter::from_fn(|| log.next_entry().unwrap()).count();
        assert_eq!((count, log.torn_bytes()), (3, 0));
    }
}

#[test]
fn a_log_that_cannot_be_written_loses_no_acknowledged_command() {
    let memory = Memory::begun();
    let mut engine = engine();
    engine.record(memory.clone());
    memory.fail();
    let reply = engine.handle().submit(fill("a", 1.0)).unwrap();
    assert!(engine.tick(None).is_err());
    assert!(matches!(reply.wait(), Err(Refusal::Broken { .. })));
    assert!(engine.view().levels.is_empty(), "what is not committed is not published");
}

#[test]
fn durable_rows_come_back_and_idle_ticks_commit_nothing() {
    let shelf = Shelf::default();
    let mut builder = Builder::new();
    builder.kind::<TankKind>().command::<Fill>().command::<Remove>().document::<TankRow>();
    let mut first = builder.build::<View>(1, 1_000).unwrap();
    first.keep(shelf.clone()).unwrap();
    let handle = first.handle();
    for name in ["a", "b", "c"] {
        handle.submit(fill(name, 2.0)).unwrap();
    }
    first.tick(None).unwrap();
    handle.submit(Remove { tank: TankId::named("b") }).unwrap();
    handle.submit(fill("c", 0.5)).unwrap();
    first.tick(None).unwrap();
    first.tick(None).unwrap();
    assert_eq!(shelf.0.lock().unwrap().1, [1, 2], "the third tick changed nothing");
    drop(first);

    let mut builder = Builder::new();
    builder.plugin(leaks).plugin(tanks);
    let mut second = builder.build::<View>(1, 1_000).unwrap();
    assert_eq!(second.keep(shelf.clone()), Ok(2));
    let level = |name| {
        let world = second.world();
        let entity = world.resource::<Index<TankKind>>().get(TankId::named(name)).ok()?;
        Some(world.get::<Level>(entity)?.0)
    };
    assert_eq!((level("a"), level("b"), level("c")), (Some(2.0), None, Some(2.5)));
}

#[test]
fn an_undeclared_order_is_an_error_that_names_the_systems() {
    fn double(mut tanks: Query<&mut Level>) {
        tanks.iter_mut().for_each(|mut level| level.0 *= 2.0);
    }
    let mut builder = Builder::new();
    builder.plugin(leaks).plugin(tanks).systems(Phase::Ingest, double);
    let error = builder.build::<View>(1, 1_000).map(drop).unwrap_err().to_string();
    assert!(error.contains("leak") && error.contains("double"), "{error}");
}

#[test]
fn steps_outside_the_limits_are_refused() {
    for step_ns in [0, limits::STEP_NS_MIN - 1, limits::STEP_NS_MAX + 1] {
        let outcome = Builder::new().build::<View>(1, step_ns).map(drop);
        assert!(
            matches!(outcome, Err(BuildError::Step { found: found_ns }) if found_ns == step_ns)
        );
    }
}

struct Ticking(u64);
impl Pacer for Ticking {
    fn monotonic_ns(&mut self) -> u64 {
        self.0 += 1_000_000;
        self.0
    }
    fn wall_ns(&mut self) -> u64 {
        self.0
    }
}

#[test]
fn a_paced_world_answers_and_stops_with_its_inbox_drained() {
    let running = {
        let engine = engine();
        let handle = engine.handle();
        let running = engine.spawn(Ticking(0)).unwrap();
        assert_eq!(handle.submit(fill("a", 3.0)).unwrap().wait(), Ok(3.0));
        let last = handle.submit(fill("b", 4.0)).unwrap();
        let (engine, outcome) = running.stop();
        assert_eq!(outcome, Ok(()));
        assert_eq!(last.wait(), Ok(4.0));
        assert!(matches!(handle.submit(fill("c", 1.0)), Err(Refusal::Stopped)));
        engine
    };
    assert_eq!(running.view().levels.len(), 2);
}

#[test]
fn ids_read_names_from_people_and_bytes_from_machines() {
    let id = TankId::named("north");
    let from_name: TankId = serde_json::from_str("\"north\"").unwrap();
    let from_uuid: TankId = serde_json::from_str(&format!("\"{id}\"")).unwrap();
    let bytes = rmp_serde::to_vec_named(&id).unwrap();
    assert_eq!((from_name, from_uuid), (id, id));
    assert_eq!((bytes.len(), rmp_serde::from_slice::<TankId>(&bytes).unwrap()), (18, id));
    assert_ne!(id, TankId::named("south"));
    let long = format!("\"{}\"", "x".repeat(65));
    assert!(serde_json::from_str::<TankId>(&long).is_err());
    assert!(serde_json::from_str::<TankId>("\"\"").is_err());
}

#[test]
fn unknown_commands_and_bodies_are_refused_by_name() {
    let engine = engine();
    let registry = engine.registry();
    let body = serde_json::json!({ "tank": "a", "litres": "many" });
    let wrong = registry.from_json("tank.fill", body).err().unwrap();
    assert!(wrong.contains("many"), "{wrong}");
    let unknown = registry.from_json("tank.fil", serde_json::json!({})).err().unwrap();
    assert!(unknown.contains("tank.fill"), "{unknown}");
    assert_eq!(registry.names().collect::<Vec<_>>(), ["tank.drop", "tank.fill", "tank.kick"]);
}

/// Desired level of a tank, as an effect.
#[derive(Debug, PartialEq)]
struct Refill(TankId, u64);
impl Effect for Refill {
    type Key = TankId;
    fn key(&self) -> TankId {
        self.0
    }
}

fn ask(tanks: Query<(&TankId, &Level), Changed<Level>>, mut outbox: ResMut<Outbox<Refill>>) {
    let mut all: Vec<_> = tanks.iter().collect();
    all.sort_by_key(|(id, _)| **id);
    for (id, level) in all {
        outbox.emit(Refill(*id, level.0.ceil() as u64));
    }
}

fn asking() -> Engine<View> {
    let mut builder = Builder::new();
    builder.plugin(leaks).plugin(tanks).effect::<Refill>().systems(Phase::Mirror, ask);
    builder.build(42, 1_000_000).unwrap()
}

#[test]
fn effects_leave_after_the_commit_and_the_latest_of_a_thing_stays() {
    let mut engine = asking();
    let handle = engine.handle();
    handle.submit(fill("early", 1.0)).unwrap();
    engine.tick(None).unwrap();
    let mut effects = engine.effects::<Refill>();
    assert_eq!(effects.try_next(), None, "no driver was attached");
    handle.submit(fill("a", 9.0)).unwrap();
    engine.tick(None).unwrap();
    handle.submit(fill("b", 4.0)).unwrap();
    handle.submit(fill("a", 100.0)).unwrap();
    engine.tick(None).unwrap();
    let mut departures = Vec::new();
    while let Some(Refill(id, level)) = effects.try_next() {
        departures.push((id, level));
    }
    departures.retain(|(id, _)| *id != TankId::named("early"));
    let level =
        |name: &str| departures.iter().find(|(id, _)| *id == TankId::named(name)).unwrap().1;
    assert_eq!(departures.len(), 2, "{departures:?}");
    assert!(level("a") > 90, "the later one");
    assert!((1..=4).contains(&level("b")));
}

#[test]
fn effects_of_a_lost_tick_are_not_sent_and_a_stopped_world_gives_stopped() {
    let memory = Memory::begun();
    let mut engine = asking();
    engine.record(memory.clone());
    let mut effects = engine.effects::<Refill>();
    engine.handle().submit(fill("a", 9.0)).unwrap();
    memory.fail();
    engine.tick(None).unwrap_err();
    assert_eq!(effects.try_next(), None, "the disk denied it");
    drop(engine);
    let mut next = std::pin::pin!(effects.next());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert_eq!(next.as_mut().poll(&mut context), std::task::Poll::Ready(None));
}
