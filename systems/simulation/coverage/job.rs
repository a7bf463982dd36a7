//! Interactive coverage job: a world of its own whose cells are entities.
//!
//! The cells are spawned in bulk in row-major order and never despawned, so that the rows of their
//! table are the cells of the grid; a system evaluates the due ones in place, in the columns of
//! that table. They live in a world of their own rather than among nodes and links, because a tick
//! of the main world must stay short and its log small: 65,536 cells that come and go with every
//! request are no history to replay. The world holds a copy of the request, so that no later
//! change mixes into it, and dropping it cancels it.
//!
//! Every step evaluates some rows on all threads of the compute pool, through [`evaluate`], as
//! sweeps do. Rows finish in order, so that one number tells the progress.
//!
//! [`evaluate`]: super::evaluate()

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bevy_ecs::batching::BatchingStrategy;
use bevy_ecs::prelude::*;
use groundwave_engine::parallel;
use groundwave_model::coverage::{
    Block, KNOWN_ERROR_DB, KnownCounts, KnownLoss, LossSource, evaluate_cells, evaluate_run_known,
};
use groundwave_model::radio::BadValue;
use groundwave_model::terrain::Terrain;

use super::losses::{self, EngineUse, Losses};
use super::{Cell, CoverageRequest, Evaluation, Grid, Scratch, evaluate_run};
use crate::site::WorldTerrain;

/// Index of a cell in row-major order from the north-west.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellIndex(pub u32);

/// Site of the largest link margin in a cell, by its place among those of the job. Written with the cell;
/// 0 where no site has an answer.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Server(pub u8);

/// Most sites of a job.
pub const SITES_MAX: usize = 16;

/// Inputs of the job.
#[derive(Resource)]
struct Request {
    setups: Vec<CoverageRequest>,
    grid: Grid,
}

/// Progress of a job.
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

/// A coverage in the making.
pub struct CoverageJob {
    world: World,
    schedule: Schedule,
}

impl CoverageJob {
    /// A job of one site over `grid`, none of whose cells is evaluated yet.
    ///
    /// # Errors
    /// The first [`BadValue`] in `setup`.
    pub fn new(
        setup: CoverageRequest,
        grid: Grid,
        terrain: Arc<dyn Terrain>,
    ) -> Result<Self, BadValue> {
        Self::of_sites(vec![setup], grid, terrain)
    }

    /// A job of 1 to [`SITES_MAX`] sites over `grid`: each cell is the link to the site with the largest
    /// margin, of equals to the first.
    ///
    /// # Errors
    /// The first [`BadValue`] in `setups`.
    pub fn of_sites(
        setups: Vec<CoverageRequest>,
        grid: Grid,
        terrain: Arc<dyn Terrain>,
    ) -> Result<Self, BadValue> {
        if !(1..=SITES_MAX).contains(&setups.len()) {
            let allowed = format_args!("[1, {SITES_MAX}]");
            return Err(BadValue::new("sites", setups.len(), allowed));
        }
        for setup in &setups {
            setup.prepare(&*terrain)?;
        }
        let mut world = World::new();
        let count = u32::try_from(grid.len()).map_err(|_| too_many(&grid))?;
        let cell = |index| (CellIndex(index), Cell::default(), Server::default());
        world.spawn_batch((0..count).map(cell));
        world.insert_resource(Progress { rows_done: 0, rows: grid.rows() });
        world.insert_resource(Due(0));
        world.insert_resource(WorldTerrain(terrain));
        world.insert_resource(Request { setups, grid });
        let mut schedule = Schedule::default();
        schedule.add_systems(evaluate_due_rows);
        Ok(Self { world, schedule })
    }

    /// The same with losses of another processor: verdicts, modulations, servers and covered cells are those of the exact
    /// evaluation, and powers lie within [`KNOWN_ERROR_DB`] of it.
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

    /// Evaluates the next rows, as many as hold `cells` cells but at least one, and returns how far
    /// the work is then. Does nothing once all is done.
    pub fn step(&mut self, cells: u32) -> Progress {
        let columns = self.grid().columns();
        self.world.resource_mut::<Due>().0 = (cells / columns).max(1);
        self.schedule.run(&mut self.world);
        self.progress()
    }

    /// Progress of the job.
    #[must_use]
    pub fn progress(&self) -> Progress {
        *self.world.resource::<Progress>()
    }

    /// The raster of the cells.
    #[must_use]
    pub fn grid(&self) -> &Grid {
        &self.world.resource::<Request>().grid
    }

    /// Inputs of the sites.
    #[must_use]
    pub fn setups(&self) -> &[CoverageRequest] {
        &self.world.resource::<Request>().setups
    }

    /// The cells of a row from the west; none for a row beyond the grid. Cells of rows not done
    /// yet are [`Cell::default`].
    #[must_use]
    pub fn row(&self, row: u32) -> &[Cell] {
        row_of(&self.world, self.grid(), row)
    }

    /// The servers of the cells of a row, in the same order.
    #[must_use]
    pub fn servers(&self, row: u32) -> &[Server] {
        row_of(&self.world, self.grid(), row)
    }

    /// The world of the cells.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }
}

/// The components `C` of the cells of a row of `grid`, from the west; none for a row beyond it.
pub(super) fn row_of<'w, C: Component>(world: &'w World, grid: &Grid, row: u32) -> &'w [C] {
    let columns = grid.columns() as usize;
    let start = row as usize * columns;
    let cells = world.try_query::<&C>().and_then(|mut cells| {
        let chunks = cells.contiguous_iter(world).ok()?;
        chunks.into_iter().next()
    });
    cells.unwrap_or_default().get(start..start + columns).unwrap_or_default()
}

fn too_many(grid: &Grid) -> BadValue {
    BadValue::new("grid.cells", grid.len(), format_args!("[1, {}]", u32::MAX))
}

/// Evaluates the rows that are due in the columns of the table of cells, and marks them done.
fn evaluate_due_rows(
    request: Res<Request>,
    ground: Res<WorldTerrain>,
    due: Res<Due>,
    source: Option<Res<Losses>>,
    mut engine_use: Option<ResMut<EngineUse>>,
    mut progress: ResMut<Progress>,
    // The index is only read. A chunk of `&T` trips a debug assertion of bevy_ecs 0.20.1, which
    // compares its length with that of the whole table.
    mut cells: Query<(&mut CellIndex, &mut Cell, &mut Server)>,
) {
    let (grid, first) = (&request.grid, progress.rows_done);
    let rows = due.0.min(progress.rows - first);
    if rows == 0 {
        return;
    }
    let terrain = &*ground.0;
    let prepared = request.setups.iter().map(|setup| setup.prepare(terrain));
    let sites: Result<Vec<_>, _> = prepared.collect();
    let sites = sites.expect("checked when the job began");
    let evaluation = |site| Evaluation { site, terrain, grid };
    let evaluations: Vec<_> = sites.iter().map(evaluation).collect();
    let columns = grid.columns();
    let losses = match (&source, &mut engine_use) {
        (Some(source), Some(engine_use)) => {
            let block = Block { row: first, column: 0, rows, columns };
            let of_block = losses_of(&*source.0, &evaluations, block);
            of_block.map_err(|reason| engine_use.note(reason)).ok()
        }
        _ => None,
    };
    let counts = Mutex::new(KnownCounts::default());
    let due = first * columns..(first + rows) * columns;
    let rows_per_task = (rows as usize).div_ceil(2 * parallel::threads());
    let strategy = BatchingStrategy::fixed(rows_per_task * columns as usize);
    let chunks = cells.contiguous_par_iter_mut().expect("both components lie in tables");
    // Chunks are consecutive rows of the table, in any order and of any length.
    chunks.batching_strategy(strategy).for_each(|(index, mut cells, mut servers)| {
        let Some(CellIndex(start)) = index.first().copied() else {
            return;
        };
        let end = start + index.len() as u32;
        let wanted = due.start.max(start)..due.end.min(end);
        if wanted.is_empty() {
            return;
        }
        let places = (wanted.start - start) as usize..(wanted.end - start) as usize;
        let (cells, servers) = (&mut cells[places.clone()], &mut servers[places]);
        match &losses {
            None => best_of(&evaluations, wanted.start, cells, servers),
            Some(losses) => {
                let places = (wanted.start - due.start) as usize..(wanted.end - due.start) as usize;
                let own = best_of_known(&evaluations, losses, places, wanted.start, cells, servers);
                counts.lock().unwrap_or_else(PoisonError::into_inner).add(own);
            }
        }
    });
    if let Some(engine_use) = &mut engine_use {
        engine_use.counts.add(counts.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    progress.rows_done = first + rows;
}

/// Evaluates consecutive cells, of which `first` is the index of the first, for every site and keeps the
/// one with the largest margin.
fn best_of(evaluations: &[Evaluation<'_>], first: u32, cells: &mut [Cell], servers: &mut [Server]) {
    let scratch = &mut Scratch::default();
    let mut others = match evaluations.len() {
        1 => Vec::new(),
        _ => vec![Cell::default(); cells.len()],
    };
    for (number, evaluation) in (0..).zip(evaluations) {
        if number == 0 {
            evaluate_run(evaluation, first, cells, scratch);
            continue;
        }
        evaluate_run(evaluation, first, &mut others, scratch);
        for ((cell, server), other) in cells.iter_mut().zip(&mut *servers).zip(&others) {
            if is_better(other, cell) {
                (*cell, *server) = (*other, Server(number));
            }
        }
    }
}

/// Losses of each site to the cells of a block of whole rows.
fn losses_of(
    source: &dyn LossSource,
    evaluations: &[Evaluation<'_>],
    block: Block,
) -> Result<Vec<Vec<KnownLoss>>, String> {
    let Some(Evaluation { terrain, grid, .. }) = evaluations.first().copied() else {
        return Ok(Vec::new());
    };
    let terms = evaluations.iter().map(|own| own.site.terms_over(grid));
    let terms = terms.collect::<Result<Vec<_>, _>>().map_err(|reason| reason.to_string())?;
    let losses = source.losses(terrain, &terms.iter().collect::<Vec<_>>(), grid, block)?;
    Ok(losses.into_iter().map(|losses| losses.into_iter().collect()).collect())
}

/// [`best_of`] with losses of all sites, of which `places` are those of the cells.
fn best_of_known(
    evaluations: &[Evaluation<'_>],
    losses: &[Vec<KnownLoss>],
    places: Range<usize>,
    first: u32,
    cells: &mut [Cell],
    servers: &mut [Server],
) -> KnownCounts {
    let scratch = &mut Scratch::default();
    let mut counts = KnownCounts::default();
    let mut of_sites = vec![vec![Cell::default(); cells.len()]; evaluations.len()];
    for ((evaluation, losses), own) in evaluations.iter().zip(losses).zip(&mut of_sites) {
        let losses = &losses[places.clone()];
        counts.add(evaluate_run_known(evaluation, first, own, losses, &[], scratch));
    }
    for (place, (cell, server)) in cells.iter_mut().zip(servers).enumerate() {
        let margins_db = of_sites.iter().map(|own| margin_db(&own[place]));
        let largest_db = margins_db.clone().fold(f64::NEG_INFINITY, f64::max);
        let near = margins_db.map(|own_db| largest_db - own_db <= 2.0 * KNOWN_ERROR_DB);
        let near: Vec<bool> = near.collect();
        if near.iter().filter(|is_near| **is_near).count() > 1 {
            counts.decisions += 1;
            let number = [first + place as u32];
            let contested = evaluations.iter().zip(&mut of_sites).zip(&near);
            for ((evaluation, own), _) in contested.filter(|(_, is_near)| **is_near) {
                evaluate_cells(evaluation, &number, &mut own[place..=place], scratch);
            }
        }
        (*cell, *server) = (of_sites[0][place], Server(0));
        for (number, own) in (1..).zip(&of_sites[1..]) {
            if is_better(&own[place], cell) {
                (*cell, *server) = (own[place], Server(number));
            }
        }
    }
    counts
}

/// Link margin of a cell, dB; minus infinity without an answer.
fn margin_db(cell: &Cell) -> f64 {
    if cell.has_data() { cell.link_margin_db } else { f64::NEG_INFINITY }
}

/// True if a cell takes the place of another, of a site before it: a cell without an answer is below all others, and a
/// margin of NaN never counts.
fn is_better(cell: &Cell, before: &Cell) -> bool {
    cell.has_data() && (!before.has_data() || cell.link_margin_db > before.link_margin_db)
}
