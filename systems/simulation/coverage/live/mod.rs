//! Live coverage of a mesh: a world of its own whose transmitters and cells are entities.
//!
//! Each transmitter has a layer, the received power in the cells within its reach. A transmitter that is
//! new or changed has its layer computed again, and the cells under its old and its new layer choose
//! their server again from all layers; nothing else is computed. Like a [`super::job`], it lives beside
//! the main world, because its cells are no history to replay.

mod contest;
mod servers;

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_model::coverage::{LossSource, evaluate_layer_by};
use groundwave_model::radio::BadValue;
use groundwave_model::sweep::interference::{Channel, Demand, SHADOWING_CORRELATION_MAX};
use groundwave_model::terrain::Terrain;

use super::job::{CellIndex, row_of};
use super::losses::{self, EngineUse, Losses};
use super::{CoverageRequest, Detail, Grid, Layer, NO_POWER, Window, evaluate_layer};
use crate::site::{NodeId, WorldTerrain};

/// Most transmitters.
pub const TRANSMITTERS_MAX: usize = 256;

/// Most cells.
pub const LIVE_CELLS_MAX: u64 = 1 << 20;

/// Rows and columns of a square whose changes are told together.
pub const SQUARE: u32 = 64;

/// Transmitter. Written by [`LiveCoverage::set`].
#[derive(Component, Debug, Clone, PartialEq)]
struct Transmitter {
    id: NodeId,
    setup: CoverageRequest,
}

/// Place of a transmitter among all, which does not change while it is there.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Slot(u8);

/// Marks a transmitter whose layer is out of date.
#[derive(Component)]
struct Stale;

/// Interference between the transmitters.
#[derive(Resource, Debug, Clone, Copy, PartialEq)]
pub struct Interference {
    /// Share of time that each transmits, [0, 1].
    pub duty_share: f64,
    /// Correlation of the shadowing of the links of a receiver, [0, 0.9].
    pub shadowing_correlation: f64,
}

impl Interference {
    /// # Errors
    /// [`BadValue`] for a share or a correlation out of its range.
    pub fn check(&self) -> Result<(), BadValue> {
        let Self { duty_share, shadowing_correlation } = *self;
        if !(0.0..=1.0).contains(&duty_share) {
            return Err(BadValue::new("duty_percent", duty_share * 100.0, "[0, 100]"));
        }
        if !(0.0..=SHADOWING_CORRELATION_MAX).contains(&shadowing_correlation) {
            let allowed = format_args!("[0, {SHADOWING_CORRELATION_MAX}]");
            return Err(BadValue::new("shadowing_correlation", shadowing_correlation, allowed));
        }
        Ok(())
    }
}

/// Spectrum of a transmitter, and noise and requirement of its receivers. Written by [`LiveCoverage::set`].
#[derive(Component, Debug, Clone, Copy)]
struct Spectrum {
    channel: Channel,
    demand: Demand,
}

impl Spectrum {
    /// That of a setup; a receiver that cannot decode it requires an infinite SINR.
    fn of(setup: &CoverageRequest) -> Self {
        let radio = &setup.transmitter.radio;
        let (frequency_mhz, bandwidth_hz) = (radio.frequency_mhz, radio.bandwidth_hz);
        let none = Demand { noise_dbm: 0.0, required_sinr_db: f64::INFINITY };
        Self {
            channel: Channel { frequency_mhz, bandwidth_hz },
            demand: setup.demand().unwrap_or(none),
        }
    }
}

/// Transmitter as others see it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransmitterView {
    /// Node.
    pub id: NodeId,
    /// Received power at which the margin is 0 dB without interference, dBm; infinite where the receiver cannot
    /// decode it.
    pub sensitivity_dbm: f64,
    /// SINR at which the margin is 0 dB, dB; infinite where the receiver cannot decode it.
    pub required_sinr_db: f64,
}

/// Server of a cell: of the largest margin, over noise or, where it counts, over noise and interference.
/// Written by the systems of this world.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    /// Received power from it, hundredths of dBm; [`NO_DATA`] where the ground is not
    /// known, [`NO_POWER`] where no transmitter reaches.
    pub power_cdbm: i16,
    /// Probability that the link to it works, whole percent, 0 without one.
    pub link_percent: u8,
    /// Slot of that transmitter, 0 without one.
    pub slot: u8,
    /// Received power over noise and interference, hundredths of dB; [`NO_POWER`] without a server and
    /// where interference does not count.
    pub sinr_cdb: i16,
}

impl Default for Best {
    fn default() -> Self {
        Self { power_cdbm: NO_POWER, link_percent: 0, slot: 0, sinr_cdb: NO_POWER }
    }
}

/// The raster.
#[derive(Resource)]
struct Raster(Grid);

/// Windows whose cells must choose again.
#[derive(Resource, Default)]
struct Dirty(Vec<Window>);

/// Progress of a live coverage.
#[derive(Resource, Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveProgress {
    /// Number of the last step that changed a cell.
    pub revision: u64,
    /// Transmitters whose layer is out of date.
    pub stale: usize,
    /// Cells of layers evaluated so far.
    pub evaluated_cells: u64,
}

/// Revision of the last change in each square, row by row.
#[derive(Resource)]
struct Revisions(Vec<u64>);

/// Coverage of a mesh that follows its nodes.
pub struct LiveCoverage {
    world: World,
    schedule: Schedule,
    slots: Vec<Option<Entity>>,
}

impl LiveCoverage {
    /// A coverage of `grid` without transmitters.
    ///
    /// # Errors
    /// When the grid has more than [`LIVE_CELLS_MAX`] cells.
    pub fn new(grid: Grid, terrain: Arc<dyn Terrain>) -> Result<Self, BadValue> {
        if grid.len() > LIVE_CELLS_MAX {
            let allowed = format_args!("[1, {LIVE_CELLS_MAX}]");
            return Err(BadValue::new("cells", grid.len(), allowed));
        }
        let mut world = World::new();
        let cell = |index| (CellIndex(index as u32), Best::default());
        world.spawn_batch((0..grid.len()).map(cell));
        let squares = grid.rows().div_ceil(SQUARE) * grid.columns().div_ceil(SQUARE);
        world.insert_resource(Revisions(vec![0; squares as usize]));
        world.insert_resource(WorldTerrain(terrain));
        world.insert_resource(Raster(grid));
        world.init_resource::<Dirty>();
        world.init_resource::<LiveProgress>();
        let mut schedule = Schedule::default();
        let systems = (evaluate_stale_layer, contest::settle_contests, servers::choose_servers);
        world.init_resource::<contest::Fresh>();
        schedule.add_systems(systems.chain());
        Ok(Self { world, schedule, slots: Vec::new() })
    }

    /// The same with the interference between the transmitters, before the first of them is set.
    ///
    /// # Errors
    /// [`BadValue`] for a share or a correlation out of its range.
    pub fn with_interference(mut self, interference: Interference) -> Result<Self, BadValue> {
        interference.check()?;
        self.world.insert_resource(interference);
        Ok(self)
    }

    /// The same with losses of another processor, before the first transmitter is set: servers, and cells with enough
    /// power, are those of the exact evaluation.
    #[must_use]
    pub fn with_losses(mut self, source: Arc<dyn LossSource>) -> Self {
        losses::insert(&mut self.world, source);
        self
    }

    /// Work of another processor; `None` without one.
    #[must_use]
    pub fn engine_use(&self) -> Option<&EngineUse> {
        self.world.get_resource::<EngineUse>()
    }

    /// Sets all transmitters, each once, in any order. Those that are the same as before keep their
    /// layer.
    ///
    /// # Errors
    /// The first [`BadValue`] in their setups, or when there are too many; then nothing is changed.
    pub fn set(&mut self, transmitters: Vec<(NodeId, CoverageRequest)>) -> Result<(), BadValue> {
        if transmitters.len() > TRANSMITTERS_MAX {
            let allowed = format_args!("[0, {TRANSMITTERS_MAX}]");
            return Err(BadValue::new("transmitters", transmitters.len(), allowed));
        }
        let terrain = Arc::clone(&self.world.resource::<WorldTerrain>().0);
        for (_, setup) in &transmitters {
            setup.prepare(&*terrain)?;
        }
        for slot in 0..self.slots.len() {
            let Some(entity) = self.slots[slot] else {
                continue;
            };
            let own = self.world.get::<Transmitter>(entity).map(|own| own.id);
            if own.is_none_or(|id| transmitters.iter().all(|(other, _)| *other != id)) {
                let window = self.world.get::<Layer>(entity).map(|layer| layer.window);
                self.world.resource_mut::<Dirty>().0.extend(window);
                self.world.despawn(entity);
                self.slots[slot] = None;
            }
        }
        for (id, setup) in transmitters {
            self.set_one(Transmitter { id, setup });
        }
        let stale = self.world.query::<&Stale>().iter(&self.world).count();
        self.world.resource_mut::<LiveProgress>().stale = stale;
        Ok(())
    }

    /// Takes another terrain: every layer is stale.
    pub fn renew(&mut self, terrain: Arc<dyn Terrain>) {
        self.world.insert_resource(WorldTerrain(terrain));
        let layers: Vec<_> = self.slots.iter().flatten().copied().collect();
        self.world.resource_mut::<LiveProgress>().stale = layers.len();
        for layer in layers {
            self.world.entity_mut(layer).insert(Stale);
        }
    }

    fn set_one(&mut self, transmitter: Transmitter) {
        let spectrum = Spectrum::of(&transmitter.setup);
        let known = self.slots.iter().flatten().find_map(|entity| {
            let own = self.world.get::<Transmitter>(*entity)?;
            (own.id == transmitter.id).then_some((*entity, *own == transmitter))
        });
        match known {
            Some((_, true)) => {}
            Some((entity, false)) => {
                self.world.entity_mut(entity).insert((transmitter, spectrum, Stale));
            }
            None => {
                let free = self.slots.iter().position(Option::is_none);
                let slot = free.unwrap_or(self.slots.len());
                // At most TRANSMITTERS_MAX are there at once.
                let place = Slot(slot as u8);
                let parts = (transmitter, spectrum, place, Layer::default(), Stale);
                let entity = Some(self.world.spawn(parts).id());
                match free {
                    Some(slot) => self.slots[slot] = entity,
                    None => self.slots.push(entity),
                }
            }
        }
    }

    /// Brings one layer up to date, if one is not, and the cells under it.
    pub fn step(&mut self) -> LiveProgress {
        self.schedule.run(&mut self.world);
        self.progress()
    }

    /// Lets the cells of layers that are gone choose again, if there are any; returns true if a cell changed.
    pub fn settle(&mut self) -> bool {
        let before = self.progress().revision;
        if self.progress().stale == 0 {
            self.schedule.run(&mut self.world);
        }
        self.progress().revision != before
    }

    /// Progress so far.
    #[must_use]
    pub fn progress(&self) -> LiveProgress {
        self.world.resource::<LiveProgress>().clone()
    }

    /// The raster of the cells.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.world.resource::<Raster>().0
    }

    /// Transmitters by slot.
    #[must_use]
    pub fn transmitters(&self) -> Vec<Option<TransmitterView>> {
        let own = |entity: &Option<Entity>| {
            let Transmitter { id, setup } = self.world.get::<Transmitter>((*entity)?)?;
            Some(TransmitterView {
                id: *id,
                sensitivity_dbm: setup.sensitivity_dbm().unwrap_or(f64::INFINITY),
                required_sinr_db: Spectrum::of(setup).demand.required_sinr_db,
            })
        };
        self.slots.iter().map(own).collect()
    }

    /// Squares that changed after `revision` with the revision of their last change, in its order.
    #[must_use]
    pub fn changed_since(&self, revision: u64) -> Vec<(u64, u32)> {
        let revisions = (0..).zip(&self.world.resource::<Revisions>().0);
        let mut changed: Vec<_> = revisions
            .filter(|(_, last)| **last > revision)
            .map(|(square, last)| (*last, square))
            .collect();
        changed.sort_unstable();
        changed
    }

    /// The cells of a row from the west; none for a row beyond the grid.
    #[must_use]
    pub fn row(&self, row: u32) -> &[Best] {
        row_of(&self.world, self.grid(), row)
    }
}

/// Evaluates the layer of the first transmitter that is stale.
fn evaluate_stale_layer(
    raster: Res<Raster>,
    ground: Res<WorldTerrain>,
    interference: Option<Res<Interference>>,
    (source, mut engine_use): (Option<Res<Losses>>, Option<ResMut<EngineUse>>),
    mut fresh: ResMut<contest::Fresh>,
    mut stale: Query<(Entity, &Transmitter, &Slot, &mut Layer), With<Stale>>,
    mut dirty: ResMut<Dirty>,
    mut progress: ResMut<LiveProgress>,
    mut commands: Commands,
) {
    let first = stale.iter_mut().min_by_key(|(_, _, slot, _)| **slot);
    let Some((entity, transmitter, _, mut layer)) = first else {
        return;
    };
    dirty.0.push(layer.window);
    let detail = if interference.is_some() { Detail::Deciles } else { Detail::Power };
    let (setup, grid, terrain) = (&transmitter.setup, &raster.0, &*ground.0);
    let approximate = match (&source, &mut engine_use) {
        (Some(source), Some(engine_use)) => {
            let outcome = match detail {
                Detail::Power => evaluate_layer_by(&*source.0, setup, grid, terrain),
                Detail::Deciles => Err("interference counts".to_owned()),
            };
            let outcome = outcome.map_err(|reason| engine_use.note(reason)).ok();
            outcome.map(|(layer, counts)| {
                engine_use.counts.add(counts);
                layer
            })
        }
        _ => None,
    };
    fresh.0 = approximate.is_some().then_some(entity);
    *layer = approximate.unwrap_or_else(|| evaluate_layer(setup, grid, terrain, detail));
    dirty.0.push(layer.window);
    progress.evaluated_cells += layer.window.len();
    progress.stale -= 1;
    commands.entity(entity).remove::<Stale>();
}
