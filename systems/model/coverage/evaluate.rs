//! The evaluator of cells, for interactive jobs and sweeps.

mod cover;
mod known;
mod trace;

pub use known::{evaluate_known, evaluate_run_known};

use groundwave_propagation::itm::SIDE_BY_SIDE;
use groundwave_propagation::profile::{PathClutter, PathProfile};
use ndarray::{Array2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use super::aligned_buffer::AlignedBuffer;
use super::cell::{Cell, Flags};
use super::grid::Grid;
use super::known::{Known, KnownCounts};
use super::site::CoverageSite;
use crate::radio::Verdict;
use crate::radio::path_loss::{Attenuation, BATCH, PathBatch, ProfileRows, QUANTILES};
use crate::radio::transmitter::{Budgets, PreparedTransmitter, Receivers};
use crate::terrain::short;
use crate::terrain::short::{Geodesics, Parallel};
use crate::terrain::{Cover, Curve, GeoPoint, Path, Terrain};

/// Ground that links refuse to stand on, m.
const GROUND_MAX_M: f64 = 20_000.0;

/// Undulations that links refuse, m.
const UNDULATION_MAX_M: f64 = 1_000.0;

/// Working memory of the evaluator; one per thread avoids allocations.
#[derive(Debug)]
pub struct Scratch {
    path: Path,
    lat_deg: Vec<f64>,
    lon_deg: Vec<f64>,
    /// Heights along the paths that are judged together, m.
    elevation_msl_m: [AlignedBuffer; SIDE_BY_SIDE],
    /// The ways over which these are taken.
    curves: [Curve; SIDE_BY_SIDE],
    /// Distances between their samples, m.
    step_m: [f64; SIDE_BY_SIDE],
    /// True if their heights are known to be such as ITM takes.
    credible: [bool; SIDE_BY_SIDE],
    centres_deg: [f64; BATCH],
    /// Land cover at the centres; unknown without a source of it.
    cover: [Cover; BATCH],
    /// Heights of clutter along the paths that are judged together, m above ground; empty where the model reads
    /// none.
    clutter_agl_m: [Vec<f64>; SIDE_BY_SIDE],
    geodesics: Geodesics,
    paths: PathBatch,
    receivers: Receivers,
    extra_db: [[f64; BATCH]; QUANTILES],
    /// `true` where 0.6 of the first Fresnel zone is clear, where predictions depend on it.
    clear: [bool; BATCH],
    budgets: Budgets,
    flags: [Flags; BATCH],
    /// True where an end of the path stands on a fine surface.
    fine_surface: [bool; BATCH],
    /// Places in which the models meet, with the attenuation of the fallback model.
    blends: Vec<(usize, Attenuation)>,
    /// Heights of the ground at the centres, m, where losses are known.
    centres_msl_m: [f64; BATCH],
    /// `true` if cells have the power of the model and the verdict of its margin alone.
    is_without_intervals: bool,
    pub(super) known_counts: KnownCounts,
}

impl Default for Scratch {
    fn default() -> Self {
        let origin = GeoPoint::new(0.0, 0.0).expect("a point on Earth");
        Self {
            path: Path::between(origin, origin),
            lat_deg: Vec::new(),
            lon_deg: Vec::new(),
            elevation_msl_m: Default::default(),
            curves: Default::default(),
            step_m: [0.0; SIDE_BY_SIDE],
            credible: [false; SIDE_BY_SIDE],
            centres_deg: [0.0; BATCH],
            cover: [Cover::default(); BATCH],
            clutter_agl_m: Default::default(),
            geodesics: Geodesics::default(),
            paths: PathBatch::default(),
            receivers: Receivers::default(),
            extra_db: [[0.0; BATCH]; QUANTILES],
            clear: [false; BATCH],
            budgets: Budgets::default(),
            flags: [Flags::NONE; BATCH],
            fine_surface: [false; BATCH],
            blends: Vec::new(),
            centres_msl_m: [0.0; BATCH],
            is_without_intervals: false,
            known_counts: KnownCounts::default(),
        }
    }
}

/// Inputs that all cells of a coverage share.
#[derive(Clone, Copy)]
pub struct Evaluation<'a> {
    /// The prepared site.
    pub site: &'a CoverageSite<'a>,
    /// Terrain of the paths.
    pub terrain: &'a dyn Terrain,
    /// Raster of the cells.
    pub grid: &'a Grid,
}

/// Evaluates the rectangle of cells whose north-western one is in row and column `first`; each row
/// of `cells` is contiguous. Pure: what `scratch` held before makes no difference, nor does the
/// partition of a grid into rectangles.
///
/// # Panics
/// If the rows of `cells` are not contiguous.
pub fn evaluate(
    evaluation: &Evaluation<'_>,
    first: [u32; 2],
    cells: ArrayViewMut2<'_, Cell>,
    scratch: &mut Scratch,
) {
    evaluate_rows(evaluation, first, cells, None, scratch);
}

/// [`evaluate`], with losses that are known.
pub(super) fn evaluate_rows(
    evaluation: &Evaluation<'_>,
    first: [u32; 2],
    mut cells: ArrayViewMut2<'_, Cell>,
    known: Option<&Known<'_>>,
    scratch: &mut Scratch,
) {
    let Evaluation { site, terrain, grid } = *evaluation;
    let [first_row, first_column] = first;
    for (number, cells) in cells.outer_iter_mut().enumerate() {
        let row = first_row + number as u32;
        let parallel = Parallel::new(grid.row_lat_deg(row));
        let cells = cells.into_slice().expect("rows are contiguous");
        for (run, cells) in (0_u32..).zip(cells.chunks_mut(BATCH)) {
            let column = first_column + run * BATCH as u32;
            for (place, lon_deg) in (0_u32..).zip(&mut scratch.centres_deg) {
                // Places beyond the run repeat its last cell.
                let place = place.min(cells.len() as u32 - 1);
                *lon_deg = grid.column_lon_deg(column + place);
            }
            match known {
                None => scratch.run(site, terrain, &parallel, cells),
                Some(known) => {
                    let start = run as usize * BATCH;
                    let end = start + cells.len();
                    let losses = known.losses.slice(ndarray::s![number, start..end]);
                    let losses = losses.as_slice().expect("rows are contiguous");
                    scratch.run_known(site, terrain, &parallel, cells, losses, known.thresholds_db);
                }
            }
        }
    }
}

/// Evaluates consecutive cells in row-major order, of which `first` is the index of the first.
pub fn evaluate_run(
    evaluation: &Evaluation<'_>,
    mut first: u32,
    mut cells: &mut [Cell],
    scratch: &mut Scratch,
) {
    let columns = evaluation.grid.columns();
    while !cells.is_empty() {
        let column = first % columns;
        let (row, rest) = cells.split_at_mut(cells.len().min((columns - column) as usize));
        let count = row.len();
        let view = ArrayViewMut2::from_shape([1, count], row).expect("one row of its length");
        evaluate(evaluation, [first / columns, column], view, scratch);
        (first, cells) = (first + count as u32, rest);
    }
}

/// Evaluates single cells, given by their ascending index in row-major order.
///
/// # Panics
/// If `cells` has another length.
pub fn evaluate_cells(
    evaluation: &Evaluation<'_>,
    numbers: &[u32],
    cells: &mut [Cell],
    scratch: &mut Scratch,
) {
    assert_eq!(numbers.len(), cells.len(), "a cell for each number");
    let Evaluation { site, terrain, grid } = *evaluation;
    let columns = grid.columns();
    let mut first = 0;
    while first < numbers.len() {
        let row = numbers[first] / columns;
        let rest = numbers[first..].iter().take(BATCH);
        let count = rest.take_while(|number| **number / columns == row).count();
        let own = &numbers[first..first + count];
        for (place, lon_deg) in scratch.centres_deg.iter_mut().enumerate() {
            // Places beyond repeat the last cell.
            *lon_deg = grid.column_lon_deg(own[place.min(count - 1)] % columns);
        }
        let parallel = Parallel::new(grid.row_lat_deg(row));
        scratch.run(site, terrain, &parallel, &mut cells[first..first + count]);
        first += count;
    }
}

/// Rows of cells one task evaluates.
const ROWS_PER_TASK: u32 = 4;

/// Evaluates all cells of the grid, row by row from the north-west, on all threads of rayon's pool.
/// Neither their number nor the order of their work changes a bit of the result.
#[must_use]
pub fn evaluate_grid(evaluation: &Evaluation<'_>) -> Array2<Cell> {
    evaluate_with(evaluation, Scratch::default)
}

/// [`evaluate_grid`] without what links alike differ by: each quantile of power is that of the model, and the verdict
/// is that of its margin. The base that `benches/coverage.rs` compares the cost of intervals with.
#[must_use]
pub fn evaluate_without_intervals(evaluation: &Evaluation<'_>) -> Array2<Cell> {
    evaluate_with(evaluation, || Scratch { is_without_intervals: true, ..Scratch::default() })
}

fn evaluate_with(
    evaluation: &Evaluation<'_>,
    scratch: impl Fn() -> Scratch + Send + Sync,
) -> Array2<Cell> {
    let grid = evaluation.grid;
    let [rows, columns] = [ROWS_PER_TASK, grid.columns()];
    let shape = [grid.rows() as usize, grid.columns() as usize];
    let mut cells = Array2::from_elem(shape, Cell::default());
    let views = blocks_mut(cells.view_mut(), [rows as usize, columns as usize]);
    let blocks: Vec<_> = grid.blocks(rows, columns).zip(views).collect();
    let blocks = blocks.into_par_iter();
    blocks.for_each_init(scratch, |scratch, (block, cells)| {
        evaluate(evaluation, [block.row, block.column], cells, scratch);
    });
    cells
}

/// The cells of each of [`Grid::blocks`], in their order.
fn blocks_mut(
    mut cells: ArrayViewMut2<'_, Cell>,
    [rows, columns]: [usize; 2],
) -> Vec<ArrayViewMut2<'_, Cell>> {
    let mut blocks = Vec::new();
    while cells.nrows() > 0 {
        let high = rows.min(cells.nrows());
        let (mut band, below) = cells.split_at(Axis(0), high);
        while band.ncols() > 0 {
            let wide = columns.min(band.ncols());
            let (block, right) = band.split_at(Axis(1), wide);
            blocks.push(block);
            band = right;
        }
        cells = below;
    }
    blocks
}

/// Coverage of all cells of `grid`; see [`evaluate_grid`].
#[must_use]
pub fn coverage(site: &CoverageSite<'_>, terrain: &dyn Terrain, grid: &Grid) -> Vec<Cell> {
    let evaluation = Evaluation { site, terrain, grid };
    evaluate_grid(&evaluation).into_raw_vec_and_offset().0
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
    /// Evaluates up to [`BATCH`] cells of one parallel, whose longitudes are in `centres_deg`.
    fn run(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        cells: &mut [Cell],
    ) {
        if self.is_beyond(site, parallel) {
            cells.fill(Cell::void(Flags::OUTSIDE));
            return;
        }
        self.begin(site, parallel);
        if site.has_cover() {
            return self.run_covered(site, terrain, parallel, cells);
        }
        let all = std::array::from_fn(|place| place < cells.len());
        if self.losses(site, terrain, parallel, &all) {
            self.budgets(&site.transmitter, cells.len());
        }
        for (place, cell) in cells.iter_mut().enumerate() {
            *cell = self.cell(site, place);
        }
    }

    /// Solves the geodesics to `centres_deg` and forgets the cells before.
    fn begin(&mut self, site: &CoverageSite<'_>, parallel: &Parallel) {
        let lon_deg = site.position.lon_deg();
        self.geodesics.solve(&site.parallel, lon_deg, parallel, &self.centres_deg);
        self.flags.fill(Flags::NONE);
        self.paths.clear();
        self.blends.clear();
    }

    /// Computes the attenuation of the paths to the places of `mask`. False where there is none.
    fn losses(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        mask: &[bool; BATCH],
    ) -> bool {
        let mut any = false;
        for first in (0..BATCH).step_by(SIDE_BY_SIDE) {
            let mask = std::array::from_fn(|row| mask[first + row]);
            if !mask.contains(&true) {
                continue;
            }
            let traced = self.trace(site, terrain, parallel, first, mask);
            if traced.contains(&true) {
                self.trace_cover(site, terrain, parallel, first, traced);
                self.measure(site, first, traced);
                any = true;
            }
        }
        if self.paths.measured.0.contains(&true) {
            self.attenuate(site, terrain, parallel, BATCH);
        }
        any
    }

    fn budgets(&mut self, transmitter: &PreparedTransmitter<'_>, count: usize) {
        transmitter.extra_db(&self.receivers, &self.fine_surface[..count], &mut self.extra_db);
        transmitter.budgets(&self.receivers, &self.paths, &self.extra_db, &mut self.budgets);
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

    /// Measures the profiles traced to places from `first` on by the model of the environment, or
    /// evaluates them by the fallback model where that one is not valid.
    fn measure(&mut self, site: &CoverageSite<'_>, first: usize, traced: [bool; SIDE_BY_SIDE]) {
        let has_intervals = !self.is_without_intervals;
        let Self { paths, flags, elevation_msl_m, clutter_agl_m, step_m, clear, blends, .. } = self;
        // The places of a run have one kind of land cover.
        let of_run = (first..).zip(traced).find(|(_, traced)| *traced).map_or(first, |(at, _)| at);
        let transmitter = site.transmitter(self.cover[of_run].kind);
        let clutter: [_; SIDE_BY_SIDE] = std::array::from_fn(|row| {
            let heights_agl_m = Some(&clutter_agl_m[row][..]).filter(|heights| heights.len() > 1);
            heights_agl_m.map(|heights| PathClutter { height_agl_m: Some(heights), cover: None })
        });
        let profile = |row: usize| {
            let bare = PathProfile::bare(step_m[row], &elevation_msl_m[row]);
            PathProfile { clutter: clutter[row].as_ref(), ..bare }
        };
        let rows = ProfileRows {
            first,
            profiles: std::array::from_fn(|row| {
                let place = first + row;
                let distance_m = self.receivers.distance_m[place];
                let valid =
                    traced[row] && transmitter.is_valid(distance_m, self.fine_surface[place]);
                valid.then(|| transmitter.limited(profile(row)))
            }),
            credible: self.credible,
        };
        transmitter.measure(&rows, paths);
        for row in (0..SIDE_BY_SIDE).filter(|row| traced[*row]) {
            let place = first + row;
            clear[place] = has_intervals
                && transmitter.asks_for_clearance()
                && transmitter.is_clear(&profile(row));
            if paths.measured.0[place] {
                flags[place].note(paths.clear.0[place], Flags::CLEAR);
                let distance_m = self.receivers.distance_m[place];
                if transmitter.share(distance_m) < 1.0 {
                    blends.push((place, transmitter.fallback(&profile(row))));
                }
                flags[place].note(transmitter.is_beyond(distance_m), Flags::FALLBACK_MODEL);
            } else {
                paths.set_fallback(place, &transmitter.fallback(&profile(row)));
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
        let of_run = self.paths.measured.0.iter().position(|measured| *measured);
        let transmitter = site.transmitter(self.cover[of_run.unwrap_or(0)].kind);
        transmitter.attenuate(&mut self.paths);
        for (place, fallback) in &self.blends {
            let (place, paths) = (*place, &mut self.paths);
            if paths.attenuation_db.0[0][place].is_finite() {
                let is_fine_surface = self.fine_surface[place];
                transmitter.blend(place, fallback, &self.receivers, is_fine_surface, paths);
            }
        }
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
                let profile = PathProfile::bare(self.step_m[row], &self.elevation_msl_m[row]);
                let attenuation = transmitter.fallback(&profile);
                self.paths.set_fallback(place, &attenuation);
                self.flags[place].note(true, Flags::FALLBACK_MODEL);
            }
            self.flags[place] = self.flags[place] | flags;
        }
    }

    /// The finished cell in a place.
    fn cell(&self, site: &CoverageSite<'_>, place: usize) -> Cell {
        let mut flags = self.flags[place];
        let transmitter = site.transmitter(self.cover[place].kind);
        flags.note(!transmitter.is_compatible(), Flags::UNDECODABLE);
        if flags.intersects(Flags::OUTSIDE) || flags.contains(Flags::FAILED) {
            return Cell::void(flags);
        }
        let rx_power_dbm = self.budgets.rx_power_dbm[place];
        let path_loss_db = self.budgets.path_loss_db[place];
        let sinr_db = transmitter.sinr_db(rx_power_dbm);
        let link_margin_db = transmitter.link_margin_db(sinr_db);
        let modulation = transmitter.modulation(sinr_db);
        let (quantiles_dbm, verdict) = if self.is_without_intervals {
            ([rx_power_dbm; 3], Verdict::of_margin(link_margin_db))
        } else {
            let computed = (&self.receivers, &self.paths, &self.budgets);
            let alike = transmitter.alike(
                place,
                self.fine_surface[place],
                flags.ground(),
                self.clear[place],
                computed,
            );
            let quantiles_dbm = alike.quantiles_dbm(path_loss_db, rx_power_dbm);
            (quantiles_dbm, transmitter.verdict(&alike, path_loss_db, link_margin_db))
        };
        Cell {
            rx_power_dbm,
            path_loss_db,
            field_strength_dbuv_m: self.budgets.field_strength_dbuv_m[place],
            sinr_db,
            link_margin_db,
            data_rate_bps: modulation.map_or(0.0, |m| m.data_rate_bps),
            rx_power_quantiles_dbm: quantiles_dbm.map(|dbm| dbm as f32),
            modulation_id: modulation.map(|m| m.id),
            verdict,
            flags,
        }
    }
}
