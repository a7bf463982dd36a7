//! The one function that evaluates cells.

mod trace;

use rayon::prelude::*;

use super::cell::{Cell, Flags};
use super::fast::{Shared, Sharing};
use super::grid::{Block, Grid};
use super::row::Row;
use super::site::CoverageSite;
use crate::propagation::itm::{self, SIDE_BY_SIDE};
use crate::radio::Verdict;
use crate::radio::cells::{BATCH, Budgets, Receivers};
use crate::terrain::short::{self, Geodesics, Parallel};
use crate::terrain::{GeoPoint, Path, Terrain};

/// Ground that links refuse to stand on, m.
const GROUND_MAX_M: f64 = 20_000.0;

/// Undulations that links refuse, m.
const UNDULATION_MAX_M: f64 = 1_000.0;

/// Room for the work on cells; keep one per thread to allocate nothing.
#[derive(Debug)]
pub struct Scratch {
    path: Path,
    lat_deg: Vec<f64>,
    lon_deg: Vec<f64>,
    /// Heights along the paths that are judged together, m.
    elevation_msl_m: [Row; SIDE_BY_SIDE],
    /// Distances between their samples, m.
    step_m: [f64; SIDE_BY_SIDE],
    /// True if their heights are known to be such as ITM takes.
    credible: [bool; SIDE_BY_SIDE],
    buffers: itm::SampleBuffers,
    centres_deg: [f64; BATCH],
    geodesics: Geodesics,
    measured: itm::Batch,
    losses: itm::Losses,
    receivers: Receivers,
    extra_db: [f64; BATCH],
    budgets: Budgets,
    flags: [Flags; BATCH],
    /// True if ITM judges the cell.
    by_itm: [bool; BATCH],
    sharing: Sharing,
}

impl Default for Scratch {
    fn default() -> Self {
        let origin = GeoPoint::new(0.0, 0.0).expect("a point on Earth");
        Self {
            path: Path::between(origin, origin),
            lat_deg: Vec::new(),
            lon_deg: Vec::new(),
            elevation_msl_m: Default::default(),
            step_m: [0.0; SIDE_BY_SIDE],
            credible: [false; SIDE_BY_SIDE],
            buffers: itm::SampleBuffers::default(),
            centres_deg: [0.0; BATCH],
            geodesics: Geodesics::default(),
            measured: itm::Batch::default(),
            losses: itm::Losses::default(),
            receivers: Receivers::default(),
            extra_db: [0.0; BATCH],
            budgets: Budgets::default(),
            flags: [Flags::NONE; BATCH],
            by_itm: [false; BATCH],
            sharing: Sharing::default(),
        }
    }
}

/// Evaluates the cells of `block` of `grid` into `cells`, row by row; `cells` has
/// [`Block::len`] places, and where it is shorter the rest is left out. Pure: depends on nothing
/// but its arguments, and what `scratch` held before makes no difference.
pub fn evaluate_block(
    site: &CoverageSite<'_>,
    terrain: &dyn Terrain,
    grid: &Grid,
    block: Block,
    cells: &mut [Cell],
    scratch: &mut Scratch,
) {
    scratch.block(site, terrain, grid, block, cells, false);
}

/// Rows of cells one task evaluates.
pub(super) const ROWS_PER_TASK: u32 = 4;

/// Evaluates all cells of `grid`, row by row from the north-west, on all threads of rayon's pool.
/// Neither their number nor the order of their work changes a bit of the result.
#[must_use]
pub fn coverage(site: &CoverageSite<'_>, terrain: &dyn Terrain, grid: &Grid) -> Vec<Cell> {
    let columns = grid.columns() as usize;
    let mut cells = vec![Cell::default(); grid.rows() as usize * columns];
    let bands = cells
        .par_chunks_mut(columns * ROWS_PER_TASK as usize)
        .zip(0_u32..u32::MAX);
    bands.for_each_init(Scratch::default, |scratch, (cells, band)| {
        let row = band * ROWS_PER_TASK;
        let rows = ROWS_PER_TASK.min(grid.rows() - row);
        let block = Block {
            row,
            column: 0,
            rows,
            columns: grid.columns(),
        };
        evaluate_block(site, terrain, grid, block, cells, scratch);
    });
    cells
}

/// True if there is ground at both ends that links stand on.
fn grounded(ends_m: [f64; 2], undulation_m: f64) -> bool {
    ends_m.iter().all(|m| m.abs() <= GROUND_MAX_M) && undulation_m.abs() <= UNDULATION_MAX_M
}

/// Beyond this there is no need to know how far, m; the margin is generous.
fn far_m(site: &CoverageSite<'_>) -> f64 {
    1.02 * site.radius_m + 1e3
}

impl Scratch {
    /// Evaluates the cells of a block, in the fast mode or exactly.
    pub(super) fn block(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        grid: &Grid,
        block: Block,
        cells: &mut [Cell],
        fast: bool,
    ) {
        if fast {
            self.sharing.open(site, terrain);
        }
        let rows = cells.chunks_mut(block.columns.max(1) as usize);
        for (row, cells) in (block.row..block.row + block.rows).zip(rows) {
            let parallel = Parallel::new(grid.row_lat_deg(row));
            for (run, cells) in (0_u32..).zip(cells.chunks_mut(BATCH)) {
                let column = block.column + run * BATCH as u32;
                for (place, lon_deg) in (0_u32..).zip(&mut self.centres_deg) {
                    // Places beyond the run repeat its last cell.
                    let place = place.min(cells.len() as u32 - 1);
                    *lon_deg = grid.column_lon_deg(column + place);
                }
                self.run(site, terrain, &parallel, cells, fast);
            }
        }
    }

    /// Evaluates up to [`BATCH`] cells of one parallel, whose longitudes are in `centres_deg`.
    fn run(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        cells: &mut [Cell],
        fast: bool,
    ) {
        if self.is_beyond(site, parallel) {
            cells.fill(Cell::void(Flags::OUTSIDE));
            return;
        }
        let lon_deg = site.position.lon_deg();
        self.geodesics
            .solve(&site.parallel, lon_deg, parallel, &self.centres_deg);
        let (mut any, mut any_itm) = (false, false);
        self.flags.fill(Flags::NONE);
        self.by_itm.fill(false);
        let shared = if fast {
            self.share(site, terrain, parallel, cells.len())
        } else {
            [false; BATCH]
        };
        for first in (0..cells.len()).step_by(SIDE_BY_SIDE) {
            let rest = first..cells.len();
            let wanted =
                std::array::from_fn(|row| rest.contains(&(first + row)) && !shared[first + row]);
            let traced = self.trace(site, terrain, parallel, first, wanted);
            if traced.contains(&true) {
                self.judge(site, first, traced);
                any = true;
            }
        }
        any |= shared.contains(&true);
        any_itm |= self.by_itm.contains(&true);
        if any_itm {
            self.apply_itm(site, terrain, parallel, cells.len());
        }
        if any {
            site.transmitter
                .extra_db(&self.receivers, cells.len(), &mut self.extra_db);
            site.transmitter
                .budgets(&self.receivers, &self.extra_db, &mut self.budgets);
        }
        for (place, cell) in cells.iter_mut().enumerate() {
            *cell = self.cell(site, place);
        }
    }

    /// True if all centres lie far beyond the radius. Along a parallel the distance grows with the
    /// difference in longitude.
    fn is_beyond(&self, site: &CoverageSite<'_>, parallel: &Parallel) -> bool {
        let lon_deg = site.position.lon_deg();
        let [first, last] = [self.centres_deg[0], self.centres_deg[BATCH - 1]];
        let ends = [first, last].map(|centre_deg| short::east_deg(lon_deg, centre_deg));
        if ends[0] * ends[1] <= 0.0 || ends[0] > ends[1] {
            return false;
        }
        let nearest_deg = if ends[0] > 0.0 { first } else { last };
        let nearest_m = short::distance_m(&site.parallel, lon_deg, parallel, nearest_deg);
        nearest_m > far_m(site)
    }

    /// Measures the paths to the cells of a run that share what rays know of the ground, and marks
    /// them in `shared`.
    fn share(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        count: usize,
    ) -> [bool; BATCH] {
        let mut shared = [false; BATCH];
        let Self {
            sharing,
            geodesics,
            centres_deg,
            receivers,
            measured,
            flags,
            by_itm,
            ..
        } = self;
        sharing.measure(site, terrain, geodesics, count, |place, found| {
            let Shared {
                measured: path,
                ground_msl_m,
            } = found;
            let Ok(centre) = GeoPoint::wrapping(parallel.lat_deg, centres_deg[place]) else {
                return;
            };
            let undulation_m = terrain.undulation_m(centre);
            if !grounded(ground_msl_m, undulation_m) {
                return;
            }
            let (_, azimuth_rad, _) = geodesics.head(place);
            receivers.distance_m[place] = path.distance_m;
            receivers.azimuth_deg[0][place] = azimuth_rad[0].to_degrees();
            receivers.azimuth_deg[1][place] = azimuth_rad[1].to_degrees() + 180.0;
            receivers.ground_msl_m[0][place] = ground_msl_m[0];
            receivers.ground_msl_m[1][place] = ground_msl_m[1];
            receivers.undulation_m[place] = undulation_m;
            let [near, far] = path.horizon_distance_m;
            let clear = near >= path.distance_m && far >= path.distance_m;
            flags[place].note(clear, Flags::CLEAR);
            flags[place].note(true, Flags::FAST);
            measured.set(place, &path);
            by_itm[place] = true;
            shared[place] = true;
        });
        shared
    }

    /// What the ground traced to places from `first` on costs, or, where ITM judges, what it says.
    fn judge(&mut self, site: &CoverageSite<'_>, first: usize, traced: [bool; SIDE_BY_SIDE]) {
        let mut profiles = [None; SIDE_BY_SIDE];
        for row in 0..SIDE_BY_SIDE {
            let distance_m = || self.receivers.distance_m[first + row];
            if traced[row] && site.transmitter.itm(distance_m()).is_some() {
                profiles[row] = Some(itm::PathProfile {
                    step_m: self.step_m[row],
                    elevation_msl_m: &self.elevation_msl_m[row],
                });
            }
        }
        let measured = match site.transmitter.itm(f64::INFINITY) {
            Some(itm) => itm.measure(profiles, self.credible, &mut self.buffers),
            None => [None; SIDE_BY_SIDE],
        };
        for row in (0..SIDE_BY_SIDE).filter(|row| traced[*row]) {
            let place = first + row;
            let Some(measured) = measured[row] else {
                self.apply_fallback(site, place);
                continue;
            };
            let [near, far] = measured.horizon_distance_m;
            let all = measured.distance_m;
            self.flags[place].note(near >= all && far >= all, Flags::CLEAR);
            self.measured.set(place, &measured);
            self.by_itm[place] = true;
        }
    }

    /// Delta-Bullington over the ground traced to a place.
    fn apply_fallback(&mut self, site: &CoverageSite<'_>, place: usize) {
        let row = place % SIDE_BY_SIDE;
        let loss_db = if site.transmitter.uses_terrain() {
            site.transmitter
                .diffraction_db(self.step_m[row], &self.elevation_msl_m[row])
        } else {
            0.0
        };
        self.flags[place].note(site.transmitter.asks_itm(), Flags::FALLBACK_MODEL);
        for terrain_db in &mut self.receivers.terrain_db {
            terrain_db[place] = loss_db;
        }
    }

    /// Turns what ITM measured into losses, or what stands in where it has none.
    fn apply_itm(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        count: usize,
    ) {
        let Some(itm) = site.transmitter.itm(f64::INFINITY) else {
            return;
        };
        let quantiles = site.transmitter.quantiles();
        itm.batch(&self.measured, quantiles, &self.by_itm, &mut self.losses);
        for place in 0..count {
            if !self.by_itm[place] {
                continue;
            }
            let own_db = self.losses.attenuation_db[0][place];
            if self.losses.a_ref_db[place].is_finite() && own_db.is_finite() {
                for quantile in 0..4 {
                    let loss_db = self.losses.attenuation_db[quantile][place];
                    self.receivers.terrain_db[quantile][place] = loss_db.max(0.0);
                }
                continue;
            }
            // Rare: the ground is sampled once more.
            let flags = self.flags[place];
            let row = place % SIDE_BY_SIDE;
            let only = std::array::from_fn(|each| each == row);
            if self.trace(site, terrain, parallel, place - row, only)[row] {
                self.apply_fallback(site, place);
            }
            self.flags[place] = self.flags[place] | flags;
        }
    }

    /// The finished cell in a place.
    fn cell(&self, site: &CoverageSite<'_>, place: usize) -> Cell {
        let flags = self.flags[place];
        if flags.intersects(Flags::OUTSIDE | Flags::FAILED) {
            return Cell::void(flags);
        }
        let [own, p10, p50, p90] = &self.budgets.rx_power_dbm;
        let snr_db = site.transmitter.snr_db(own[place]);
        let link_margin_db = site.transmitter.link_margin_db(snr_db);
        let modulation = site.transmitter.modulation(snr_db);
        let compatible = site.transmitter.compatible();
        Cell {
            rx_power_dbm: own[place],
            path_loss_db: self.budgets.path_loss_db[place],
            snr_db,
            link_margin_db,
            data_rate_bps: modulation.map_or(0.0, |m| m.data_rate_bps),
            rx_power_quantiles_dbm: [p10[place] as f32, p50[place] as f32, p90[place] as f32],
            modulation_id: modulation.map(|m| m.id),
            verdict: if compatible {
                Verdict::of(link_margin_db)
            } else {
                Verdict::NoLink
            },
            flags,
        }
    }
}
