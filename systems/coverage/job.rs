//! An interactive coverage as a world of its own.
//!
//! A client asks for a grid and wants to see it grow. Its cells are entities like everything else
//! that changes: spawned in bulk, written by a system, read by whoever looks. They live in a
//! world of their own rather than among nodes and links, because a tick of the main world must
//! stay short and its log must stay small: 65,536 cells that come and go with every click are no
//! history anyone replays. The job's world holds a copy of what it was asked, so that nothing
//! that happens meanwhile mixes into it, and dropping it cancels it.
//!
//! Every step evaluates some rows, all cores together, through [`evaluate_block`]: the function
//! behind sweeps as well. Rows finish in order, so that what is finished is told by one number.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::parallel;

use super::{Block, Cell, Grid, Scratch, Setup, evaluate_block};
use crate::radio::BadValue;
use crate::site::WorldTerrain;
use crate::terrain::Terrain;

/// Where a cell lies in the grid of its world.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Row, from the north.
    pub row: u32,
    /// Column, from the west.
    pub column: u32,
}

/// What was asked for.
#[derive(Resource)]
struct Asked {
    setup: Setup,
    grid: Grid,
}

/// How far the work is.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Rows whose cells are final, from the north.
    pub rows_done: u32,
    /// Rows in all.
    pub rows: u32,
}

impl Progress {
    /// True if every cell is final.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.rows_done == self.rows
    }
}

/// Rows to evaluate in the next step.
#[derive(Resource)]
struct Due(u32);

/// The entities of the cells, row by row from the north-west.
#[derive(Resource)]
struct Raster(Vec<Entity>);

/// A coverage in the making.
pub struct CoverageJob {
    world: World,
    schedule: Schedule,
}

impl CoverageJob {
    /// A job over `grid`, none of whose cells is evaluated yet.
    ///
    /// # Errors
    /// The first [`BadValue`] in `setup`.
    pub fn new(setup: Setup, grid: Grid, terrain: Arc<dyn Terrain>) -> Result<Self, BadValue> {
        setup.prepare(&*terrain)?;
        let mut world = World::new();
        let columns = grid.columns();
        let places =
            (0..grid.rows()).flat_map(|row| (0..columns).map(move |column| Place { row, column }));
        let raster = world
            .spawn_batch(places.map(|place| (place, Cell::default())))
            .collect();
        world.insert_resource(Raster(raster));
        world.insert_resource(Progress {
            rows_done: 0,
            rows: grid.rows(),
        });
        world.insert_resource(Due(0));
        world.insert_resource(WorldTerrain(terrain));
        world.insert_resource(Asked { setup, grid });
        let mut schedule = Schedule::default();
        schedule.add_systems(evaluate_due_rows);
        Ok(Self { world, schedule })
    }

    /// Evaluates the next rows, as many as hold `cells` cells but at least one, and returns how far
    /// the work is then. Does nothing once all is done.
    pub fn step(&mut self, cells: u32) -> Progress {
        let columns = self.grid().columns();
        self.world.resource_mut::<Due>().0 = (cells / columns).max(1);
        self.schedule.run(&mut self.world);
        self.progress()
    }

    /// How far the work is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        *self.world.resource::<Progress>()
    }

    /// The raster of the cells.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.world.resource::<Asked>().grid
    }

    /// What was asked for.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.world.resource::<Asked>().setup
    }

    /// The cells of a row from the west; none for a row beyond the grid. Cells of rows not done
    /// yet are [`Cell::default`].
    pub fn row(&self, row: u32) -> impl Iterator<Item = &Cell> {
        let columns = self.grid().columns() as usize;
        let start = row as usize * columns;
        let entities = self
            .world
            .resource::<Raster>()
            .0
            .get(start..start + columns);
        entities.unwrap_or_default().iter().map(|&cell| {
            self.world
                .get::<Cell>(cell)
                .expect("the cells of a job live as long as it")
        })
    }

    /// The world of the cells.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }
}

/// Evaluates the rows that are due, one task each, and marks them done.
fn evaluate_due_rows(
    asked: Res<Asked>,
    ground: Res<WorldTerrain>,
    due: Res<Due>,
    raster: Res<Raster>,
    mut progress: ResMut<Progress>,
    mut cells: Query<&mut Cell>,
) {
    let (grid, first) = (&asked.grid, progress.rows_done);
    let rows = due.0.min(progress.rows - first);
    if rows == 0 {
        return;
    }
    let terrain = &*ground.0;
    let site = asked
        .setup
        .prepare(terrain)
        .expect("checked when the job began");
    let columns = grid.columns();
    let mut work: Vec<(u32, Vec<Cell>)> = (first..first + rows)
        .map(|row| (row, vec![Cell::default(); columns as usize]))
        .collect();
    parallel::for_each(&mut work, 1, |(row, found)| {
        let block = Block {
            row: *row,
            column: 0,
            rows: 1,
            columns,
        };
        evaluate_block(&site, terrain, grid, block, found, &mut Scratch::default());
    });
    for (row, found) in work {
        let start = row as usize * columns as usize;
        let entities = &raster.0[start..start + columns as usize];
        for (&entity, found) in entities.iter().zip(found) {
            *cells
                .get_mut(entity)
                .expect("the cells of a job live as long as it") = found;
        }
    }
    progress.rows_done = first + rows;
}
