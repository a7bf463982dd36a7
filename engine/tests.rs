//! The engine on a model of its own: tanks that leak.

use std::io;
use std::sync::{Arc, Mutex};

use bevy_ecs::prelude::*;
use serde::{Deserialize, Serialize};

use crate::log::{Entry, FORMAT, Header, Journal, Reader, Writer};
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
        Self { tick: clock.tick, levels: levels.as_deref().cloned().unwrap_or_default() }
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
    section.redraw(index.iter().map(|(id, entity)| (id, level(entity))).collect());
}

#[derive(Serialize, Deserialize)]
struct TankRow {
    litres: f64,
}
impl Document for TankRow {
    const TABLE: &'static str = "tanks";
    type Kind = TankKind;
    type Changed = Changed<Level>;
    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        Self { litres: entity.get::<Level>().unwrap().0 }
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
        .systems(Phase::Plan, explode)
        .systems(Phase::Publish, publish);
}

fn engine() -> Engine<View> {
    built(&[leaks, tanks]).unwrap()
}

fn built(plugins: &[fn(&mut Builder)]) -> Result<Engine<View>, BuildError> {
    let mut builder = Builder::new();
    for plugin in plugins {
        builder.plugin(*plugin);
    }
    builder.build(42, 1_000_000)
}

fn leaks(engine: &mut Builder) {
    engine.systems(Phase::Ingest, leak);
}

fn fill(name: &str, litres: f64) -> Fill {
    Fill { tank: TankId::named(name), litres }
}

/// A journal in memory with injected failures.
#[derive(Clone)]
struct Memory(Arc<Mutex<(Writer<Vec<u8>>, bool)>>);
impl Memory {
    fn begun() -> Self {
        let inputs = std::collections::BTreeMap::new();
        let header = Header { format: FORMAT, seed: 42, step_ns: 1_000_000, inputs };
        let writer = Writer::begin(Vec::new(), &header).unwrap();
        Self(Arc::new(Mutex::new((writer, false))))
    }
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().0.get_ref().clone()
    }
    fn fail(&self) {
        self.0.lock().unwrap().1 = true;
    }
}
impl Journal for Memory {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        self.0.lock().unwrap().0.append(entry)
    }
    fn commit(&mut self) -> io::Result<()> {
        if self.0.lock().unwrap().1 {
            Err(io::Error::other("disk full"))
        } else {
            self.0.lock().unwrap().0.flush()
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
            .map(|(key, value)| Row { table: "tanks".to_owned(), key, value: Some(value) })
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

mod checkpoint;
mod full;
mod world;
