//! The cells of units by a GPU: losses of all sites of a unit in one batch, cells by the one evaluator, and cells
//! with two sites of nearly equal margins evaluated as a whole.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use groundwave_gpu::{Engine, NoLosses};
use groundwave_model::coverage::{
    Block, CoverageRequest, CoverageSite, Evaluation, Grid, KNOWN_ERROR_DB, KnownCounts, SiteTerms,
    evaluate_run,
};
use groundwave_model::terrain::{PostWindow, Terrain};

use super::engine::{EngineSummary, SweepEngine};
use super::evaluate::{ScratchPool, band_at, evaluator, grid_of, setup, tile};
use super::plan::{Plan, TILE_CELLS, Unit};
use super::unit::SiteTile;

/// Sites of a batch: their losses are in memory together.
const SITES: usize = 32;

/// Margins of two sites nearer than this may change places, dB.
const CONTEST_DB: f32 = 2.0 * KNOWN_ERROR_DB as f32;

/// The evaluation of units by a GPU.
pub struct Accelerated<'a> {
    plan: &'a Plan,
    terrain: &'a dyn Terrain,
    grid: Grid,
    engine: &'a Engine,
    /// Posts around all sites, where they fit on the device.
    window: Option<PostWindow>,
    pool: ScratchPool,
    /// Tiles of units begun, by site, until they are fetched.
    units: Mutex<BTreeMap<Unit, BTreeMap<u16, SiteTile>>>,
    counts: Mutex<KnownCounts>,
    /// First reason for evaluating sites on the processor.
    fallback: Mutex<Option<String>>,
}

/// The evaluation of units by the engine of a sweep.
pub struct UnitEvaluator<'a> {
    kind: Kind<'a>,
    /// Reason for the processor where a GPU was asked for.
    fallback: Option<&'a str>,
}

enum Kind<'a> {
    Exact(Box<dyn Fn(Unit, u16) -> Result<SiteTile, String> + Sync + 'a>),
    Accelerated(Box<Accelerated<'a>>),
}

impl<'a> UnitEvaluator<'a> {
    /// The evaluation of units of `plan` over `terrain` by `engine`.
    ///
    /// # Errors
    /// When the raster is none.
    pub fn new(
        plan: &'a Plan,
        terrain: &'a dyn Terrain,
        engine: &'a SweepEngine,
    ) -> Result<Self, String> {
        let kind = match engine {
            SweepEngine::Cpu(_) => Kind::Exact(Box::new(evaluator(plan, terrain)?)),
            SweepEngine::Gpu(engine) => {
                Kind::Accelerated(Box::new(Accelerated::new(plan, terrain, engine)?))
            }
        };
        Ok(Self { kind, fallback: engine.fallback() })
    }

    /// A site in the tile of a unit.
    ///
    /// # Errors
    /// When the site cannot be evaluated.
    pub fn evaluate(&self, unit: Unit, site: u16) -> Result<SiteTile, String> {
        match &self.kind {
            Kind::Exact(evaluate) => evaluate(unit, site),
            Kind::Accelerated(accelerated) => accelerated.evaluate(unit, site),
        }
    }

    /// The engine and the cells so far; absent where no GPU was asked for.
    #[must_use]
    pub fn summary(&self) -> Option<EngineSummary> {
        match (&self.kind, self.fallback) {
            (Kind::Accelerated(accelerated), _) => Some(accelerated.summary()),
            (Kind::Exact(_), Some(reason)) => Some(EngineSummary {
                engine: "cpu",
                adapter: None,
                cells: None,
                fallback: Some(reason.to_owned()),
            }),
            (Kind::Exact(_), None) => None,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Accelerated<'a> {
    /// The evaluation of units of `plan` over `terrain` by `engine`.
    ///
    /// # Errors
    /// When the raster is none.
    pub fn new(
        plan: &'a Plan,
        terrain: &'a dyn Terrain,
        engine: &'a Engine,
    ) -> Result<Self, String> {
        let all = (0..plan.sites.len()).map(|site| site as u16).collect::<Vec<_>>();
        let window = window(plan, terrain, &all);
        Ok(Self {
            plan,
            terrain,
            grid: grid_of(plan)?,
            engine,
            window: window.filter(|window| window.len() <= engine.posts_max()),
            pool: ScratchPool::default(),
            units: Mutex::default(),
            counts: Mutex::default(),
            fallback: Mutex::default(),
        })
    }

    /// A site in the tile of a unit.
    ///
    /// # Errors
    /// When the site cannot be evaluated.
    pub fn evaluate(&self, unit: Unit, site: u16) -> Result<SiteTile, String> {
        if let Some(tile) = self.take(unit, site) {
            return Ok(tile);
        }
        let mut tiles = self.compute(unit)?;
        let tile = tiles.remove(&site);
        if !tiles.is_empty() {
            locked(&self.units).insert(unit, tiles);
        }
        tile.ok_or_else(|| format!("site {site} does not reach the unit"))
    }

    fn take(&self, unit: Unit, site: u16) -> Option<SiteTile> {
        let mut units = locked(&self.units);
        let tiles = units.get_mut(&unit)?;
        let tile = tiles.remove(&site);
        if tiles.is_empty() {
            units.remove(&unit);
        }
        tile
    }

    /// The engine and the cells so far.
    #[must_use]
    pub fn summary(&self) -> EngineSummary {
        EngineSummary {
            engine: "gpu",
            adapter: Some(self.engine.adapter().clone()),
            cells: Some(*locked(&self.counts)),
            fallback: locked(&self.fallback).clone(),
        }
    }

    fn note(&self, reason: &dyn std::fmt::Display) {
        locked(&self.fallback).get_or_insert_with(|| reason.to_string());
    }

    /// Tiles of all sites that may reach a unit.
    fn compute(&self, unit: Unit) -> Result<BTreeMap<u16, SiteTile>, String> {
        let variant = &self.plan.variants[unit.variant as usize];
        let sites = self.plan.reaching(unit.row, unit.col);
        let requests: Vec<CoverageRequest> = sites
            .iter()
            .map(|site| setup(self.plan, variant, &self.plan.sites[usize::from(*site)]))
            .collect();
        let ready = requests.iter().map(|request| request.prepare(self.terrain));
        let ready: Vec<CoverageSite<'_>> =
            ready.collect::<Result<_, _>>().map_err(|bad| bad.to_string())?;
        let terms: Vec<Option<SiteTerms>> = ready
            .iter()
            .map(|site| site.terms().map_err(|reason| self.note(&reason)).ok())
            .collect();
        let (row, column) = (unit.row * TILE_CELLS, unit.col * TILE_CELLS);
        let block = Block {
            row,
            column,
            rows: TILE_CELLS.min(self.grid.rows() - row),
            columns: TILE_CELLS.min(self.grid.columns() - column),
        };
        let window = self.window.or_else(|| window(self.plan, self.terrain, &sites));
        if window.is_none() {
            self.note(&NoLosses::Posts);
        }
        let thresholds_db = [self.plan.margin_db];
        let mut tiles = BTreeMap::new();
        for first in (0..sites.len()).step_by(SITES) {
            let end = sites.len().min(first + SITES);
            let of_batch: Vec<&SiteTerms> = terms[first..end].iter().flatten().collect();
            let losses = window.filter(|_| !of_batch.is_empty()).and_then(|window| {
                let losses = self.engine.losses(self.terrain, window, &of_batch, &self.grid, block);
                losses.map_err(|reason| self.note(&reason)).ok()
            });
            let mut losses = losses.unwrap_or_default().into_iter();
            for place in first..end {
                let own_losses = terms[place].as_ref().and_then(|_| losses.next());
                let inputs = own_losses.as_ref().map(|losses| (losses.view(), &thresholds_db[..]));
                let evaluation =
                    Evaluation { site: &ready[place], terrain: self.terrain, grid: &self.grid };
                let place_of = (unit, sites[place]);
                let (tile, counts) = tile(self.plan, &evaluation, place_of, inputs, &self.pool);
                locked(&self.counts).add(counts);
                tiles.insert(sites[place], tile);
            }
        }
        self.settle(&ready, &sites, block, &mut tiles);
        Ok(tiles)
    }

    /// Evaluates cells as a whole in which sites with the two largest margins could change places.
    fn settle(
        &self,
        ready: &[CoverageSite<'_>],
        sites: &[u16],
        block: Block,
        tiles: &mut BTreeMap<u16, SiteTile>,
    ) {
        let cells = block.rows as usize * block.columns as usize;
        let mut contested = 0;
        for cell in 0..cells {
            let mut largest_db = [f32::NEG_INFINITY; 3];
            for tile in tiles.values() {
                if let Some(margin_db) = tile.answers.margin_db(cell) {
                    let below = largest_db.iter().position(|largest| margin_db > *largest);
                    if let Some(place) = below {
                        largest_db[place..].rotate_right(1);
                        largest_db[place] = margin_db;
                    }
                }
            }
            let [first, second, third] = largest_db;
            let is_near = |one: f32, other: f32| one - other <= CONTEST_DB;
            if !(is_near(first, second) || is_near(second, third)) {
                continue;
            }
            contested += 1;
            let columns = block.columns as usize;
            let (row, column) = ((cell / columns) as u32, (cell % columns) as u32);
            let number = (block.row + row) * self.grid.columns() + block.column + column;
            for (place, site) in sites.iter().enumerate() {
                let Some(tile) = tiles.get_mut(site) else { continue };
                let margin_db = tile.answers.margin_db(cell);
                if !margin_db.is_some_and(|margin_db| is_near(second, margin_db)) {
                    continue;
                }
                let evaluation =
                    Evaluation { site: &ready[place], terrain: self.terrain, grid: &self.grid };
                let mut guard = self.pool.take();
                let mut exact = [groundwave_model::coverage::Cell::default()];
                evaluate_run(&evaluation, number, &mut exact, &mut guard.buffers.scratch);
                band_at(tile, cell).store(&exact);
            }
        }
        locked(&self.counts).decisions += contested;
    }
}

/// Posts around sites of a plan, in the spacing of the first; `None` where the terrain has none there.
fn window(plan: &Plan, terrain: &dyn Terrain, sites: &[u16]) -> Option<PostWindow> {
    let circle = |site: &u16| (plan.sites[usize::from(*site)].position, plan.radius_m);
    PostWindow::covering(terrain, sites.iter().map(circle))
}

#[cfg(test)]
#[cfg(feature = "gpu")]
#[path = "accelerated_tests.rs"]
mod tests;
