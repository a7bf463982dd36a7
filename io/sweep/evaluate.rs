//! The cells of a unit, by the function that evaluates coverage.

use std::sync::{Mutex, PoisonError};

use groundwave_model::coverage::{KnownCounts, KnownLoss, evaluate_known};
use groundwave_model::radio::prepare::understand;
use groundwave_model::sweep::Variant;
use groundwave_model::terrain::Terrain;
use groundwave_simulation::coverage::{
    Cell, CoverageRequest, Evaluation, Grid, Sampling, Scratch, evaluate,
};
use ndarray::{Array2, ArrayView2, s};
use rayon::prelude::*;

use super::plan::{Plan, PlanSite, TILE_CELLS, Unit};
use super::unit::{Column, SiteTile};

/// Refuses a plan with a site that cannot be evaluated, before the work begins.
///
/// # Errors
/// The first such site, and why.
pub fn check_sites(plan: &Plan, terrain: &dyn Terrain) -> Result<(), String> {
    for variant in &plan.variants {
        let outcomes: Vec<_> = (plan.sites.par_iter())
            .map(|site| setup(plan, variant, site).prepare(terrain).map(drop))
            .collect();
        for (site, outcome) in plan.sites.iter().zip(outcomes) {
            outcome.map_err(|bad| format!("site {}: {bad}", site.name))?;
        }
    }
    Ok(())
}

/// Names of the sites that their receivers cannot decode in some variant.
pub(super) fn undecodable(plan: &Plan) -> Vec<String> {
    let is_deaf = |site: &&PlanSite| {
        plan.variants.iter().any(|variant| {
            let request = setup(plan, variant, site);
            !understand(&request.transmitter.radio, &request.receiver.radio)
        })
    };
    plan.sites.iter().filter(is_deaf).map(|site| site.name.clone()).collect()
}

/// The evaluation of units of `plan` over `terrain`, a site at a time.
///
/// # Errors
/// When the raster is none.
pub fn evaluator<'a>(
    plan: &'a Plan,
    terrain: &'a dyn Terrain,
) -> Result<impl Fn(Unit, u16) -> Result<SiteTile, String> + Sync + 'a, String> {
    let grid = grid_of(plan)?;
    let pool = ScratchPool::default();
    Ok(move |unit: Unit, site: u16| {
        let variant = &plan.variants[unit.variant as usize];
        // Made when needed: an executor asks for one unit of thousands of sites.
        let setup = setup(plan, variant, &plan.sites[usize::from(site)]);
        let ready = setup.prepare(terrain).map_err(|bad| bad.to_string())?;
        let evaluation = Evaluation { site: &ready, terrain, grid: &grid };
        Ok(tile(plan, &evaluation, (unit, site), None, &pool).0)
    })
}

/// The raster of a plan.
pub(super) fn grid_of(plan: &Plan) -> Result<Grid, String> {
    let grid = &plan.grid;
    let corner = [grid.north_deg, grid.west_deg];
    Grid::new(corner, [grid.cell_deg; 2], [grid.rows, grid.cols]).map_err(|bad| bad.to_string())
}

pub(super) fn setup(plan: &Plan, variant: &Variant, site: &PlanSite) -> CoverageRequest {
    let sampling = match (plan.samples, plan.sample_spacing_m) {
        (Some(samples), _) => Sampling::Count(u32::try_from(samples).unwrap_or(u32::MAX)),
        (None, Some(spacing_m)) => Sampling::Spacing(spacing_m),
        (None, None) => Sampling::Posts,
    };
    let mut receiver = site.receiver.clone();
    let frequency_mhz = variant.frequency_mhz.unwrap_or(receiver.radio.frequency_mhz);
    receiver.radio.frequency_mhz = frequency_mhz;
    CoverageRequest {
        position: site.position,
        transmitter: variant.apply(&site.station),
        receiver,
        environment: plan.environment.clone(),
        packet_octets: plan.packet_bytes,
        sampling,
        radius_m: plan.radius_m,
    }
}

/// Data rates of the radios of the sites, bit/s, as units hold them: unsorted, with repeats. Variants
/// do not change them.
pub fn rates(plan: &Plan) -> Vec<f32> {
    let steps = plan.sites.iter().flat_map(|site| {
        let setup = setup(plan, &Variant::default(), site);
        // A site that cannot be evaluated was refused before.
        setup.rate_steps().unwrap_or_default()
    });
    steps.map(|(_, rate_bps)| rate_bps as f32).collect()
}

/// Rows of a unit that are evaluated and stored in one go: few enough for their cells to stay at
/// hand, and for threads that run out of units to help with the last ones.
const BAND_ROWS: u32 = 8;

/// Working memory of a thread.
#[derive(Default)]
pub(super) struct Buffers {
    pub scratch: Scratch,
    cells: Array2<Cell>,
}

/// Working memory that no thread is using.
#[derive(Default)]
pub(super) struct ScratchPool(Mutex<Vec<Buffers>>);

impl ScratchPool {
    pub fn take(&self) -> ScratchGuard<'_> {
        let free = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        ScratchGuard { buffers: free.unwrap_or_default(), pool: self }
    }
}

/// Working memory in use, given back when dropped.
pub(super) struct ScratchGuard<'a> {
    pub buffers: Buffers,
    pool: &'a ScratchPool,
}

impl Drop for ScratchGuard<'_> {
    fn drop(&mut self) {
        let buffers = std::mem::take(&mut self.buffers);
        let mut free = self.pool.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.push(buffers);
    }
}

/// Losses of the cells of a tile that are known, and link margins that decide something of them, dB.
pub(super) type KnownLosses<'a> = (ArrayView2<'a, KnownLoss>, &'a [f64]);

/// Evaluates bands of rows side by side.
pub(super) fn tile(
    plan: &Plan,
    evaluation: &Evaluation<'_>,
    (unit, site): (Unit, u16),
    known: Option<KnownLosses<'_>>,
    pool: &ScratchPool,
) -> (SiteTile, KnownCounts) {
    let grid = evaluation.grid;
    let (row, column) = (unit.row * TILE_CELLS, unit.col * TILE_CELLS);
    let all_rows = TILE_CELLS.min(grid.rows() - row);
    let columns = TILE_CELLS.min(grid.columns() - column) as usize;
    let mut tile = SiteTile::blank(site, all_rows as usize * columns, &plan.columns);
    let bands = bands(&mut tile, BAND_ROWS as usize * columns);
    let counts = bands.into_par_iter().zip(0..all_rows).map_init(
        || pool.take(),
        |guard, (band, number)| {
            let Buffers { scratch, cells } = &mut guard.buffers;
            let rows = band.flags.len() / columns;
            if cells.dim() != (BAND_ROWS as usize, columns) {
                *cells = Array2::from_elem([BAND_ROWS as usize, columns], Cell::default());
            }
            let first_row = number * BAND_ROWS;
            let first = [row + first_row, column];
            let mut cells = cells.slice_mut(s![..rows, ..]);
            let counts = match &known {
                None => {
                    evaluate(evaluation, first, cells.view_mut(), scratch);
                    KnownCounts::default()
                }
                Some((losses, thresholds_db)) => {
                    let start = first_row as usize;
                    let losses = losses.slice(s![start..start + rows, ..]);
                    evaluate_known(
                        evaluation,
                        first,
                        cells.view_mut(),
                        &losses,
                        thresholds_db,
                        scratch,
                    )
                }
            };
            band.store(cells.as_slice().expect("leading rows are contiguous"));
            counts
        },
    );
    let counts = counts.reduce(KnownCounts::default, |mut one, other| {
        one.add(other);
        one
    });
    (tile, counts)
}

/// Some rows of each layer of a [`SiteTile`].
pub(super) struct Band<'a> {
    rx_power_dbm: &'a mut [f32],
    p10_dbm: &'a mut [f32],
    p90_dbm: &'a mut [f32],
    margin_db: &'a mut [f32],
    flags: &'a mut [u8],
    columns: Vec<(Column, &'a mut [f32])>,
}

/// The layers of a tile in bands of so many cells.
fn bands(tile: &mut SiteTile, cells: usize) -> Vec<Band<'_>> {
    let mut powers = (tile.rx_power_dbm.chunks_mut(cells))
        .zip(tile.p10_dbm.chunks_mut(cells))
        .zip(tile.p90_dbm.chunks_mut(cells));
    let answers = &mut tile.answers;
    let margins = answers.margin_db.chunks_mut(cells);
    let mut bands = Vec::new();
    let mut columns: Vec<_> = (tile.columns.iter_mut())
        .map(|(column, layer)| (*column, layer.chunks_mut(cells)))
        .collect();
    for (margin_db, flags) in margins.zip(answers.flags.chunks_mut(cells)) {
        let ((rx_power_dbm, p10_dbm), p90_dbm) = powers.next().expect("layers have one length");
        bands.push(Band {
            rx_power_dbm,
            p10_dbm,
            p90_dbm,
            margin_db,
            flags,
            columns: (columns.iter_mut())
                .map(|(column, layer)| (*column, layer.next().expect("layers have one length")))
                .collect(),
        });
    }
    bands
}

/// One cell of each layer of a tile.
pub(super) fn band_at(tile: &mut SiteTile, cell: usize) -> Band<'_> {
    let columns = tile.columns.iter_mut();
    Band {
        rx_power_dbm: &mut tile.rx_power_dbm[cell..=cell],
        p10_dbm: &mut tile.p10_dbm[cell..=cell],
        p90_dbm: &mut tile.p90_dbm[cell..=cell],
        margin_db: &mut tile.answers.margin_db[cell..=cell],
        flags: &mut tile.answers.flags[cell..=cell],
        columns: columns.map(|(column, layer)| (*column, &mut layer[cell..=cell])).collect(),
    }
}

impl Band<'_> {
    /// Keeps cells as the unit does.
    pub fn store(self, cells: &[Cell]) {
        for (place, cell) in cells.iter().enumerate() {
            self.rx_power_dbm[place] = cell.rx_power_dbm as f32;
            // Falling: the power that 90 % of links alike exceed is the last one.
            self.p10_dbm[place] = cell.rx_power_quantiles_dbm[0];
            self.p90_dbm[place] = cell.rx_power_quantiles_dbm[2];
            self.margin_db[place] = cell.link_margin_db as f32;
            self.flags[place] = cell.flags.stored(cell.verdict);
        }
        for (column, layer) in self.columns {
            let value = match column {
                Column::PathLoss => |cell: &Cell| cell.path_loss_db,
                Column::FieldStrength => |cell: &Cell| cell.field_strength_dbuv_m,
                Column::Rate => |cell: &Cell| cell.data_rate_bps,
                Column::Probability => |cell: &Cell| cell.link_prob() * 100.0,
            };
            for (out, cell) in layer.iter_mut().zip(cells) {
                *out = value(cell) as f32;
            }
        }
    }
}
