use std::io::Cursor;

use super::*;
use crate::log::Checkpoint;

/// A thermostat, which remembers on which side of its threshold it was.
#[derive(Resource, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Alarm(bool);
impl State for Alarm {
    const TABLE: &'static str = "alarm";
    fn save(world: &World) -> Self {
        world.resource::<Self>().clone()
    }
    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        *world.resource_mut::<Self>() = self;
        Ok(())
    }
}

/// On beyond 100 l in all, off below 50 l.
fn ring(levels: Query<&Level>, mut alarm: ResMut<Alarm>) {
    let all: f64 = levels.iter().map(|level| level.0).sum();
    let on = all > 100.0 || (alarm.0 && all >= 50.0);
    alarm.set_if_neq(Alarm(on));
}

fn alarms(engine: &mut Builder) {
    engine.resource(Alarm::default()).state::<Alarm>().systems(Phase::Plan, ring.before(explode));
}

/// Fills up to 110 l, then takes away all but 60 l; a checkpoint every third tick.
fn recorded(plugins: &[fn(&mut Builder)]) -> (Memory, Engine<View>) {
    let memory = Memory::begun();
    let mut engine = built(plugins).unwrap();
    engine.record(memory.clone()).checkpoint_every(3);
    for name in ["a", "b"] {
        drop(engine.handle().submit(fill(name, 55.0)).unwrap());
    }
    engine.tick(Some(1_000)).unwrap();
    drop(engine.handle().submit(fill("c", 5.0)).unwrap());
    engine.tick(Some(5_000_000)).unwrap();
    let tank = TankId::named("a");
    drop(engine.handle().submit(Remove { tank }).unwrap());
    while engine.clock().tick < 10 {
        engine.tick(None).unwrap();
    }
    drop(engine.handle().submit(fill("d", 1.0)).unwrap());
    engine.tick(None).unwrap();
    engine.mark().unwrap();
    (memory, engine)
}

#[test]
fn a_world_goes_on_from_a_checkpoint_with_its_memory() {
    let plugins = [alarms as fn(&mut Builder), tanks];
    let (memory, engine) = recorded(&plugins);
    assert!(engine.world().resource::<Alarm>().0, "on by its memory only");
    for (begin, from) in [(0, 0), (2, 0), (3, 3), (8, 6), (99, 9)] {
        let mut log = Reader::open(Cursor::new(memory.bytes())).unwrap();
        let mut other = resume(|| built(&plugins), &mut log, begin).unwrap();
        assert_eq!((other.clock().tick, other.view().tick), (from, from));
        let replayed = replay(&mut other, &mut log, |_| Next::Go).unwrap();
        assert_eq!((replayed.from, replayed.ticks), (from, 11));
        assert_eq!(replayed.digest, engine.digest());
        assert!(other.checkpoint().unwrap() == engine.checkpoint().unwrap());
        assert_eq!(other.clock(), engine.clock(), "the wall clock as well");
    }
}

#[test]
fn unfit_checkpoint_is_skipped() {
    let (memory, engine) = recorded(&[alarms, tanks]);
    // Another version, without alarms: it has no such table, and begins at the beginning.
    let mut log = Reader::open(Cursor::new(memory.bytes())).unwrap();
    let mut other = resume(|| built(&[tanks]), &mut log, 9).unwrap();
    assert_eq!(other.clock().tick, 0);
    let replayed = replay(&mut other, &mut log, |_| Next::Go).unwrap();
    assert_eq!((replayed.from, replayed.digest), (0, engine.digest()));
    // Leaks happen whenever their system runs, so a world that leaks cannot be taken up.
    let (memory, engine) = recorded(&[leaks, tanks]);
    let mut log = Reader::open(Cursor::new(memory.bytes())).unwrap();
    let mut other = resume(|| built(&[leaks, tanks]), &mut log, 9).unwrap();
    let replayed = replay(&mut other, &mut log, |_| Next::Go).unwrap();
    assert_eq!((replayed.from, replayed.digest), (0, engine.digest()));
}

#[test]
fn checkpoints_are_cut_and_joined_and_bent_ones_refused() {
    let at_tick = |tick| {
        let rows = (0..3).map(|at| Row {
            table: format!("t{at}"),
            key: [at; 16],
            value: Some(vec![at; 700_000]),
        });
        Checkpoint::new(tick, 9, rows.collect())
    };
    let whole = at_tick(7);
    let parts = whole.split().unwrap();
    assert_eq!(parts.len(), 3);
    assert!(Checkpoint::join(parts.clone()).unwrap() == whole);
    assert!(Checkpoint::join(parts[..2].to_vec()).is_err());
    let mut other = parts.clone();
    other.iter_mut().for_each(|part| part.tick = 8);
    assert!(Checkpoint::join(other).is_err());
    assert!(Checkpoint::join(vec![]).is_err());
    // In a log one with a part torn off is as if it were not there.
    let memory = Memory::begun();
    let mut journal = memory.clone();
    let mut offsets = Vec::new();
    for tick in [7, 8] {
        for part in at_tick(tick).split().unwrap() {
            journal.append(&Entry::Checkpoint(part)).unwrap();
        }
        journal.commit().unwrap();
        offsets.push(memory.bytes().len());
    }
    let tick_of = |bytes: &[u8], tick| {
        let mut log = Reader::open(Cursor::new(bytes)).unwrap();
        log.checkpoint(tick).unwrap().map(|checkpoint| checkpoint.tick)
    };
    let bytes = memory.bytes();
    assert_eq!((tick_of(&bytes, 9), tick_of(&bytes, 7)), (Some(8), Some(7)));
    assert_eq!(tick_of(&bytes, 6), None);
    assert_eq!(tick_of(&bytes[..offsets[1] - 1], 9), Some(7));
    assert_eq!(tick_of(&bytes[..offsets[0] - 1], 9), None);
}

#[test]
fn a_log_of_a_world_that_was_not_empty_begins_with_it() {
    let plugins = [alarms as fn(&mut Builder), tanks];
    let mut engine = built(&plugins).unwrap();
    for name in ["a", "b"] {
        drop(engine.handle().submit(fill(name, 55.0)).unwrap());
    }
    engine.tick(Some(1_000)).unwrap();
    assert!(engine.world().resource::<Alarm>().0);
    let memory = Memory::begun();
    engine.record_from_here(memory.clone()).unwrap();
    let tank = TankId::named("a");
    drop(engine.handle().submit(Remove { tank }).unwrap());
    engine.tick(Some(9_000)).unwrap();
    engine.mark().unwrap();
    let log = || Reader::open(Cursor::new(memory.bytes())).unwrap();
    let mut fresh = built(&plugins).unwrap();
    let mut ticks = Vec::new();
    let replayed = replay(&mut fresh, &mut log(), |engine| {
        ticks.push(engine.clock().tick);
        Next::Go
    })
    .unwrap();
    assert_eq!((replayed.marks, replayed.commands, ticks), (2, 1, vec![3]));
    assert_eq!(fresh.digest(), engine.digest());
    // On between 50 and 100 l, only because it remembers.
    assert!(fresh.world().resource::<Alarm>().0);
    // Another version's state is an error.
    let mut other = built(&[tanks]).unwrap();
    let refused = replay(&mut other, &mut log(), |_| Next::Go);
    assert!(matches!(refused, Err(ReplayError::Beginning { .. })), "{refused:?}");
}
