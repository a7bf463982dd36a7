//! Sites to build next: those that cover most of what is not covered yet.

use super::layer::{Detail, Layer, ServingPower, evaluate_layer};
use super::{CoverageRequest, Grid};
use crate::radio::BadValue;
use crate::sweep::{Choice, cell_area_m2, choose};
use crate::terrain::{GeoPoint, Terrain};

/// Maximum number of candidates.
pub const CANDIDATES_MAX: usize = 256;

/// Samples along each side of a block that looks for its highest point.
const SAMPLES: u32 = 16;

/// Request for sites.
#[derive(Debug, Clone, Copy)]
pub struct PlacementRequest<'a> {
    /// Cells to be covered.
    pub grid: &'a Grid,
    /// Sites that are there.
    pub existing: &'a [CoverageRequest],
    /// Sites to choose from, up to [`CANDIDATES_MAX`].
    pub candidates: &'a [CoverageRequest],
    /// Maximum number of sites to choose.
    pub count: usize,
    /// Link margin from which a cell counts as covered, dB.
    pub margin_db: f64,
}

/// Source of the cells that sites serve.
pub trait ServedCells: Send + Sync + std::fmt::Debug {
    /// Cells of `grid`, by ascending index, in which each of `requests` has a margin of `margin_db`: those of the
    /// exact evaluation.
    ///
    /// # Errors
    /// The reason for having none; then [`Exact`] counts.
    fn served(
        &self,
        requests: &[CoverageRequest],
        grid: &Grid,
        terrain: &dyn Terrain,
        margin_db: f64,
    ) -> Result<Vec<Vec<u32>>, String>;
}

/// The exact evaluation, site by site.
#[derive(Debug, Clone, Copy, Default)]
pub struct Exact;

impl ServedCells for Exact {
    fn served(
        &self,
        requests: &[CoverageRequest],
        grid: &Grid,
        terrain: &dyn Terrain,
        margin_db: f64,
    ) -> Result<Vec<Vec<u32>>, String> {
        let cells = |request: &CoverageRequest| -> Result<Vec<u32>, BadValue> {
            let power = ServingPower::of(request, margin_db)?;
            let layer = evaluate_layer(request, grid, terrain, Detail::Power);
            let reached = cells(&layer, grid).filter(|(_, cdbm)| power.is_reached(*cdbm));
            Ok(reached.map(|(cell, _)| cell as u32).collect())
        };
        // A site without a valid request has no cell.
        Ok(requests.iter().map(|request| cells(request).unwrap_or_default()).collect())
    }
}

/// Chosen sites, weights in km².
#[derive(Debug, Clone, PartialEq)]
pub struct PlacementChoice {
    /// Reason for the exact evaluation where another source had no answer.
    pub fallback: Option<String>,
    /// Area of the cells whose ground is known, km².
    pub known_km2: f64,
    /// Area covered by the sites that are there, km².
    pub covered_km2: f64,
    /// Sites by their place among the candidates, in the order they were chosen.
    pub choice: Choice,
}

/// Chooses sites by greedy choice ([`choose`]), each by the area it adds.
#[must_use]
pub fn place(
    request: &PlacementRequest<'_>,
    terrain: &dyn Terrain,
    source: &dyn ServedCells,
) -> PlacementChoice {
    let PlacementRequest { grid, .. } = *request;
    let areas_km2: Vec<f64> = (0..grid.rows()).map(|row| cell_km2(grid, row)).collect();
    let area = |cell: usize| areas_km2[cell / grid.columns() as usize];
    let mut covered = vec![false; grid.len() as usize];
    let has_ground = known_cells(terrain, grid);
    let candidates = &request.candidates[..request.candidates.len().min(CANDIDATES_MAX)];
    let mut fallback = None;
    let mut served = |requests: &[CoverageRequest]| {
        let margin_db = request.margin_db;
        source.served(requests, grid, terrain, margin_db).unwrap_or_else(|reason| {
            fallback = Some(reason);
            Exact.served(requests, grid, terrain, margin_db).unwrap_or_default()
        })
    };
    for cell in served(request.existing).into_iter().flatten() {
        covered[cell as usize] = true;
    }
    let served_by = served(candidates);
    let sum = |includes: &dyn Fn(usize) -> bool| {
        let cells = (0..covered.len()).filter(|cell| includes(*cell));
        // The sum of no numbers is -0.
        cells.map(area).sum::<f64>() + 0.0
    };
    let known_km2 = sum(&|cell| has_ground[cell]);
    let covered_km2 = sum(&|cell| covered[cell]);
    let choice = choose(
        served_by.len() as u16,
        request.count,
        &mut covered,
        |covered, site| {
            let own = served_by[usize::from(site)].iter();
            let new = own.filter(|cell| !covered[**cell as usize]);
            [new.map(|cell| area(*cell as usize)).sum::<f64>() + 0.0, 0.0]
        },
        |covered, site| {
            for cell in &served_by[usize::from(site)] {
                covered[*cell as usize] = true;
            }
        },
    );
    PlacementChoice { fallback, known_km2, covered_km2, choice }
}

/// True for each cell with known ground at its centre.
fn known_cells(terrain: &dyn Terrain, grid: &Grid) -> Vec<bool> {
    let lon_deg: Vec<f64> = (0..grid.columns()).map(|column| grid.column_lon_deg(column)).collect();
    let mut heights_m = vec![f64::NAN; lon_deg.len()];
    let row = |row: u32| {
        let lat_deg = vec![grid.row_lat_deg(row); lon_deg.len()];
        let used = terrain.sample(&lat_deg, &lon_deg, &mut heights_m);
        // Heights are assumed where all are missing.
        let assumed = used.missing_samples >= grid.columns();
        let has_ground = heights_m.iter().map(|height_m| height_m.is_finite() && !assumed);
        has_ground.collect::<Vec<_>>()
    };
    (0..grid.rows()).flat_map(row).collect()
}

/// Area of a cell of a row, km².
fn cell_km2(grid: &Grid, row: u32) -> f64 {
    let [height_deg, width_deg] = grid.cell_size_deg();
    let middle_deg = grid.row_lat_deg(row);
    let edges_deg = [middle_deg - height_deg / 2.0, middle_deg + height_deg / 2.0];
    cell_area_m2(edges_deg[0], edges_deg[1], width_deg) * 1e-6
}

/// Cells of a layer by their index in the grid, with their received power, hundredths of dBm.
fn cells<'a>(layer: &'a Layer, grid: &'a Grid) -> impl Iterator<Item = (usize, i16)> + 'a {
    let window = layer.window;
    let rows = window.row..window.row + window.rows;
    let places = rows.flat_map(move |row| {
        (window.column..window.column + window.columns).map(move |column| (row, column))
    });
    places.filter_map(move |(row, column)| {
        let power_cdbm = layer.power_cdbm(row, column)?;
        Some(((row * grid.columns() + column) as usize, power_cdbm))
    })
}

/// The highest known point of each of `blocks` by `blocks` blocks of a grid, highest first.
#[must_use]
pub fn high_ground(terrain: &dyn Terrain, grid: &Grid, blocks: u32) -> Vec<(GeoPoint, f64)> {
    let side = blocks.max(1) * SAMPLES;
    let [height_deg, width_deg] = grid.cell_size_deg();
    let sizes = [
        height_deg * f64::from(grid.rows()) / f64::from(side),
        width_deg * f64::from(grid.columns()) / f64::from(side),
    ];
    let Ok(fine) = Grid::new([grid.north_deg(), grid.west_deg()], sizes, [side; 2]) else {
        return Vec::new();
    };
    let mut highest: Vec<Option<(GeoPoint, f64)>> = vec![None; (blocks * blocks) as usize];
    let lon_deg: Vec<f64> = (0..side).map(|column| fine.column_lon_deg(column)).collect();
    let mut heights_m = vec![f64::NAN; side as usize];
    for row in 0..side {
        let used =
            terrain.sample(&vec![fine.row_lat_deg(row); side as usize], &lon_deg, &mut heights_m);
        if used.missing_samples >= side {
            continue;
        }
        for (column, height_m) in (0_u32..).zip(&heights_m) {
            let block = &mut highest[(row / SAMPLES * blocks + column / SAMPLES) as usize];
            if height_m.is_finite() && block.is_none_or(|(_, before)| *height_m > before) {
                *block = Some((fine.centre(row, column), *height_m));
            }
        }
    }
    let mut points: Vec<_> = highest.into_iter().flatten().collect();
    points.sort_by(|a, b| b.1.total_cmp(&a.1));
    points
}
