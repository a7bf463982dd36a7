//! The engine on a model of its own: tanks that leak.

use std::io;
use std::sync::{Arc, Mutex};

use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::log::{Entry, FORMAT, Header, Journal, Reader, write_entry, write_header};
use crate::*;

struct TankKind;
impl Kind for TankKind {
    const NAME: &'static str = "tank";
}
type TankId = Id<TankKind>;

#[derive(Component, Clone, Copy, PartialEq)]
struct Level(f64);

#[derive(Serialize, Deserialize)]
struct Fill {
    tank: TankId,
    litres: f64,
}
impl Command for Fill {
    type Out = Result<f64, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if !(self.litres >= 0.0 && self.litres.is_finite()) {
            return Err(Refusal::invalid("litres", self.litres, "0 or more"));
        }
        if let Ok(entity) = world.resource::<Index<TankKind>>().get(self.tank) {
            let mut level = world.get_mut::<Level>(entity).unwrap();
            level.0 += self.litres;
            return Ok(level.0);
        }
        world.spawn((self.tank, Level(self.litres)));
        Ok(self.litres)
    }
}
impl Recorded for Fill {
    const NAME: &'static str = "tank.fill";
    type Reply = f64;
}

#[derive(Serialize, Deserialize)]
struct Remove {
    tank: TankId,
}
impl Command for Remove {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<TankKind>>().get(self.tank)?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for Remove {
    const NAME: &'static str = "tank.drop";
    type Reply = ();
}

#[derive(Serialize, Deserialize)]
struct Kick {
    system: bool,
}
#[derive(Resource, Default)]
struct Kicked(bool);
impl Command for Kick {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        assert!(self.system, "kicked");
        world.resource_mut::<Kicked>().0 = true;
        Ok(())
    }
}
impl Recorded for Kick {
    const NAME: &'static str = "tank.kick";
    type Reply = ();
}

type Levels = Vec<(TankId, u64)>;

#[derive(Default, Serialize)]
struct View {
    tick: u64,
    levels: Levels,
}
impl Snapshot for View {
    fn gather(world: &World, clock: Clock) -> Self {
        let levels = world.get_resource::<Section<Levels>>().map(Section::share);
        Self {
            tick: clock.tick,
            levels: levels.as_deref().cloned().unwrap_or_default(),
        }
    }
}

fn leak(mut tanks: Query<(&TankId, &mut Level)>, clock: Res<Clock>, seed: Res<Seed>) {
    for (id, mut level) in &mut tanks {
        let mut chance = seed.stream("leak", id.as_u128(), clock.tick);
        level.0 *= chance.between(0.9, 1.0);
    }
}
fn explode(kicked: Res<Kicked>) {
    assert!(!kicked.0, "a system was kicked");
}
fn publish(
    index: Res<Index<TankKind>>,
    levels: Query<&Level>,
    mut section: ResMut<Section<Levels>>,
) {
    let level = |entity| levels.get(entity).unwrap().0.to_bits();
    section.redraw(
        index
            .iter()
            .map(|(id, entity)| (id, level(entity)))
            .collect(),
    );
}

#[derive(Serialize, Deserialize)]
struct TankRow {
    litres: f64,
}
impl Document for TankRow {
    const TABLE: &'static str = "tanks";
    type Kind = TankKind;
    type Changed = Changed<Level>;
    fn read(entity: EntityRef<'_>) -> Self {
        Self {
            litres: entity.get::<Level>().unwrap().0,
        }
    }
    fn restore(self, id: TankId, world: &mut World) -> Result<(), Refusal> {
        world.spawn((id, Level(self.litres)));
        Ok(())
    }
}

fn tanks(engine: &mut Builder) {
    engine
        .kind::<TankKind>()
        .resource(Kicked::default())
        .section::<Levels>()
        .command::<Fill>()
        .command::<Remove>()
        .command::<Kick>()
        .document::<TankRow>()
        .systems(Phase::Ingest, leak)
        .systems(Phase::Plan, explode)
        .systems(Phase::Publish, publish);
}

fn engine() -> Engine<View> {
    let mut builder = Builder::new();
    builder.plugin(tanks);
    builder.build(42, 1_000_000).unwrap()
}

fn fill(name: &str, litres: f64) -> Fill {
    Fill {
        tank: TankId::named(name),
        litres,
    }
}

/// A journal in memory that can be told to fail.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<(Vec<u8>, bool)>>);
impl Memory {
    fn begun() -> Self {
        let memory = Self::default();
        let inputs = std::collections::BTreeMap::new();
        let header = Header {
            format: FORMAT,
            seed: 42,
            step_ns: 1_000_000,
            inputs,
        };
        write_header(&mut memory.0.lock().unwrap().0, &header).unwrap();
        memory
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().0.clone()
    }
    fn fail(&self) {
        self.0.lock().unwrap().1 = true;
    }
}
impl Journal for Memory {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        write_entry(&mut self.0.lock().unwrap().0, entry)
    }
    fn commit(&mut self) -> io::Result<()> {
        if self.0.lock().unwrap().1 {
            Err(io::Error::other("disk full"))
        } else {
            Ok(())
        }
    }
}

/// A store in memory, with the ticks of its commits.
#[derive(Clone, Default)]
struct Shelf(Arc<Mutex<(std::collections::BTreeMap<[u8; 16], Vec<u8>>, Vec<u64>)>>);
impl Store for Shelf {
    fn load(&mut self) -> Result<Vec<Row>, StoreFault> {
        let rows = self.0.lock().unwrap().0.clone().into_iter();
        Ok(rows
            .map(|(key, value)| Row {
                table: "tanks".to_owned(),
                key,
                value: Some(value),
            })
            .collect())
    }
    fn commit(&mut self, tick: u64, rows: &[Row]) -> Result<(), StoreFault> {
        let mut shelf = self.0.lock().unwrap();
        shelf.1.push(tick);
        for row in rows {
            match &row.value {
                Some(value) => shelf.0.insert(row.key, value.clone()),
                None => shelf.0.remove(&row.key),
            };
        }
        Ok(())
    }
}

#[test]
fn a_submitter_reads_its_own_write_and_hears_refusals() {
    let mut engine = engine();
    let handle = engine.handle();
    let good = handle.submit(fill("a", 5.0)).unwrap();
    let bad = handle.submit(fill("a", f64::NAN)).unwrap();
    let ticked = engine.tick(None).unwrap();
    assert_eq!(
        (ticked.tick, ticked.commands, ticked.refused.len()),
        (1, 2, 1)
    );
    assert_eq!(good.wait(), Ok(5.0));
    assert!(matches!(bad.wait(), Err(Refusal::Invalid { key, .. }) if key == "litres"));
    assert_eq!(handle.view().levels.len(), 1);
}

#[test]
fn a_full_inbox_says_busy_at_once() {
    let engine = engine();
    let handle = engine.handle();
    let accepted = (0..)
        .map(|_| handle.submit(fill("a", 1.0)))
        .take_while(Result::is_ok)
        .count();
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
            handle
                .submit(fill(&format!("t{tick}"), tick as f64))
                .unwrap();
            handle.submit(fill("t1", 0.25)).unwrap();
        }
        if tick == 10 {
            handle
                .submit(Remove {
                    tank: TankId::named("t5"),
                })
                .unwrap();
            handle
                .submit(Remove {
                    tank: TankId::named("never"),
                })
                .unwrap();
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
    let replayed = replay(&mut fresh, &mut log, |_| {}).unwrap();
    let expected = Replayed {
        ticks: 12,
        commands: 8,
        marks: 3,
        torn_bytes: 0,
        digest,
    };
    assert_eq!(replayed, expected);
}

#[test]
fn replay_with_another_seed_is_told_apart() {
    let (memory, _) = recorded();
    let bytes = memory.bytes();
    let mut builder = Builder::new();
    builder.plugin(tanks);
    let mut other = builder.build::<View>(43, 1_000_000).unwrap();
    let outcome = replay(&mut other, &mut Reader::open(&bytes[..]).unwrap(), |_| {});
    assert!(
        matches!(outcome, Err(ReplayError::Diverged { tick: 5, .. })),
        "{outcome:?}"
    );
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
        assert!(matches!(
            kick.wait(),
            Err(Refusal::Broken { .. } | Refusal::Stopped)
        ));
        assert!(matches!(handle.health(), Health::Broken(_)));
        assert!(matches!(
            handle.submit(fill("c", 1.0)),
            Err(Refusal::Broken { .. })
        ));
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
    assert!(
        engine.view().levels.is_empty(),
        "what is not committed is not published"
    );
}

#[test]
fn durable_rows_come_back_and_idle_ticks_commit_nothing() {
    let shelf = Shelf::default();
    let mut builder = Builder::new();
    builder
        .kind::<TankKind>()
        .command::<Fill>()
        .command::<Remove>()
        .document::<TankRow>();
    let mut first = builder.build::<View>(1, 1_000).unwrap();
    first.keep(shelf.clone()).unwrap();
    let handle = first.handle();
    for name in ["a", "b", "c"] {
        handle.submit(fill(name, 2.0)).unwrap();
    }
    first.tick(None).unwrap();
    handle
        .submit(Remove {
            tank: TankId::named("b"),
        })
        .unwrap();
    handle.submit(fill("c", 0.5)).unwrap();
    first.tick(None).unwrap();
    first.tick(None).unwrap();
    assert_eq!(
        shelf.0.lock().unwrap().1,
        [1, 2],
        "the third tick changed nothing"
    );
    drop(first);

    let mut builder = Builder::new();
    builder.plugin(tanks);
    let mut second = builder.build::<View>(1, 1_000).unwrap();
    assert_eq!(second.keep(shelf.clone()), Ok(2));
    let level = |name| {
        let world = second.world();
        let entity = world
            .resource::<Index<TankKind>>()
            .get(TankId::named(name))
            .ok()?;
        Some(world.get::<Level>(entity)?.0)
    };
    assert_eq!(
        (level("a"), level("b"), level("c")),
        (Some(2.0), None, Some(2.5))
    );
}

#[test]
fn an_undeclared_order_is_an_error_that_names_the_systems() {
    fn double(mut tanks: Query<&mut Level>) {
        tanks.iter_mut().for_each(|mut level| level.0 *= 2.0);
    }
    let mut builder = Builder::new();
    builder.plugin(tanks).systems(Phase::Ingest, double);
    let error = builder
        .build::<View>(1, 1_000)
        .map(drop)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("leak") && error.contains("double"),
        "{error}"
    );
}

#[test]
fn steps_outside_the_limits_are_refused() {
    for step_ns in [0, limits::STEP_NS_MIN - 1, limits::STEP_NS_MAX + 1] {
        let outcome = Builder::new().build::<View>(1, step_ns).map(drop);
        assert!(matches!(outcome, Err(BuildError::Step { found }) if found == step_ns));
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
        assert!(matches!(
            handle.submit(fill("c", 1.0)),
            Err(Refusal::Stopped)
        ));
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
    assert_eq!(
        (
            bytes.len(),
            rmp_serde::from_slice::<TankId>(&bytes).unwrap()
        ),
        (18, id)
    );
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
    let unknown = registry
        .from_json("tank.fil", serde_json::json!({}))
        .err()
        .unwrap();
    assert!(unknown.contains("tank.fill"), "{unknown}");
    assert_eq!(
        registry.names().collect::<Vec<_>>(),
        ["tank.drop", "tank.fill", "tank.kick"]
    );
}
