//! The one function that evaluates cells.

mod trace;

use rayon::prelude::*;

use super::cell::{Cell, Flags};
use super::fast::{Shared, Sharing};
use super::grid::{Block, Grid};
use super::row::Row;
use super::site::CoverageSite;
use crate::propagation::itm::{self, SIDE_BY_SIDE};
use crate::radio::path_loss::{BATCH, PathBatch, ProfileRows, set_measured};
use crate::radio::transmitter::{Budgets, Receivers};
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
    centres_deg: [f64; BATCH],
    geodesics: Geodesics,
    paths: PathBatch,
    receivers: Receivers,
    extra_db: [f64; BATCH],
    budgets: Budgets,
    flags: [Flags; BATCH],
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
            centres_deg: [0.0; BATCH],
            geodesics: Geodesics::default(),
            paths: PathBatch::default(),
            receivers: Receivers::default(),
            extra_db: [0.0; BATCH],
            budgets: Budgets::default(),
            flags: [Flags::NONE; BATCH],
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
        self.flags.fill(Flags::NONE);
        self.paths.clear();
        let shared = if fast {
            self.share(site, terrain, parallel, cells.len())
        } else {
            [false; BATCH]
        };
        let mut any = shared.contains(&true);
        for first in (0..cells.len()).step_by(SIDE_BY_SIDE) {
            let rest = first..cells.len();
            let wanted =
                std::array::from_fn(|row| rest.contains(&(first + row)) && !shared[first + row]);
            let traced = self.trace(site, terrain, parallel, first, wanted);
            if traced.contains(&true) {
                self.measure(site, first, traced);
                any = true;
            }
        }
        if self.paths.measured.0.contains(&true) {
            self.attenuate(site, terrain, parallel, cells.len());
        }
        if any {
            let transmitter = &site.transmitter;
            transmitter.extra_db(&self.receivers, cells.len(), &mut self.extra_db);
            transmitter.budgets(
                &self.receivers,
                &self.paths,
                &self.extra_db,
                &mut self.budgets,
            );
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
            paths,
            flags,
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
            set_measured(paths, place, &path);
            flags[place].note(paths.clear.0[place], Flags::CLEAR);
            flags[place].note(true, Flags::FAST);
            shared[place] = true;
        });
        shared
    }

    /// Measures the profiles traced to places from `first` on by the model of the environment, or
    /// evaluates them by the fallback model where that one is not valid.
    fn measure(&mut self, site: &CoverageSite<'_>, first: usize, traced: [bool; SIDE_BY_SIDE]) {
        let Self {
            paths,
            flags,
            elevation_msl_m,
            step_m,
            ..
        } = self;
        let transmitter = &site.transmitter;
        let profile = |row: usize| itm::PathProfile {
            step_m: step_m[row],
            elevation_msl_m: &elevation_msl_m[row],
        };
        let rows = ProfileRows {
            first,
            profiles: std::array::from_fn(|row| {
                let valid =
                    traced[row] && transmitter.is_valid(self.receivers.distance_m[first + row]);
                valid.then(|| profile(row))
            }),
            credible: self.credible,
        };
        transmitter.measure(&rows, paths);
        for row in (0..SIDE_BY_SIDE).filter(|row| traced[*row]) {
            let place = first + row;
            if paths.measured.0[place] {
                flags[place].note(paths.clear.0[place], Flags::CLEAR);
            } else {
                paths.set_fallback(place, transmitter.fallback_db(&profile(row)));
                flags[place].note(true, Flags::FALLBACK_MODEL);
            }
        }
    }

    /// Computes the attenuation of the measured paths, by the fallback model where the one of the
    /// environment has no value.
    fn attenuate(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        count: usize,
    ) {
        site.transmitter.attenuate(&mut self.paths);
        for place in 0..count {
            let paths = &self.paths;
            if !paths.measured.0[place] || paths.attenuation_db.0[0][place].is_finite() {
                continue;
            }
            // Rare: the ground is sampled once more.
            let flags = self.flags[place];
            let row = place % SIDE_BY_SIDE;
            let only = std::array::from_fn(|each| each == row);
            if self.trace(site, terrain, parallel, place - row, only)[row] {
                let attenuation_db = site.transmitter.fallback_db(&itm::PathProfile {
                    step_m: self.step_m[row],
                    elevation_msl_m: &self.elevation_msl_m[row],
                });
                self.paths.set_fallback(place, attenuation_db);
                self.flags[place].note(true, Flags::FALLBACK_MODEL);
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
        let sinr_db = site.transmitter.sinr_db(own[place]);
        let link_margin_db = site.transmitter.link_margin_db(sinr_db);
        let modulation = site.transmitter.modulation(sinr_db);
        Cell {
            rx_power_dbm: own[place],
            path_loss_db: self.budgets.path_loss_db[place],
            sinr_db,
            link_margin_db,
            data_rate_bps: modulation.map_or(0.0, |m| m.data_rate_bps),
            rx_power_quantiles_dbm: [p10[place] as f32, p50[place] as f32, p90[place] as f32],
            modulation_id: modulation.map(|m| m.id),
            verdict: site.transmitter.verdict(link_margin_db),
            flags,
        }
    }
}
