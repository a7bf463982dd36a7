//! One tile of the network: its sites heard one after another.

use std::collections::BTreeMap;
use std::ops::Range;

use groundwave_systems::sweep::{Network, Tally, cell_area_m2};

use super::plan::{TILE_CELLS, Unit};
use super::work::{Sweep, SweepError};

/// Area (m²) served by each distinct set of sites. All a choice of
/// sites needs to know.
pub type Sets = BTreeMap<Vec<u16>, f64>;

/// A folded tile.
pub struct Folded {
    /// Cells from west to east.
    cols: usize,
    /// Combined coverage of the cells, row-major.
    pub cells: Vec<Network>,
    /// Areas.
    pub tally: Tally,
    /// Area by the sites that serve it, where a choice of sites was asked for.
    pub sets: Sets,
}

impl Folded {
    /// Indices of the cells of a row.
    pub fn row(&self, row: usize) -> Range<usize> {
        row * self.cols..(row + 1) * self.cols
    }
}

/// Sites of a tile that serve each cell: one bit per site and cell.
struct Servers {
    sites: Vec<u16>,
    words: usize,
    bits: Vec<u64>,
}

impl Servers {
    fn new(sites: Vec<u16>, cells: usize) -> Self {
        let words = sites.len().div_ceil(64);
        Self {
            sites,
            words,
            bits: vec![0; words * cells],
        }
    }

    fn set(&mut self, cell: usize, place: usize) {
        self.bits[cell * self.words + place / 64] |= 1 << (place % 64);
    }

    fn of(&self, cell: usize) -> &[u64] {
        &self.bits[cell * self.words..][..self.words]
    }

    /// The sites of these bits, in their order.
    fn numbers(&self, bits: &[u64], out: &mut Vec<u16>) {
        out.clear();
        for (word, &bits) in bits.iter().enumerate() {
            let mut left = bits;
            while left != 0 {
                out.push(self.sites[word * 64 + left.trailing_zeros() as usize]);
                left &= left - 1;
            }
        }
    }
}

/// Folds a tile.
///
/// # Errors
/// When its unit is missing or the disk fails.
pub fn fold_tile(sweep: &Sweep, unit: Unit) -> Result<Folded, SweepError> {
    let plan = &sweep.plan;
    let rows = TILE_CELLS.min(plan.grid.rows - unit.row * TILE_CELLS) as usize;
    let cols = TILE_CELLS.min(plan.grid.cols - unit.col * TILE_CELLS) as usize;
    let mut folded = Folded {
        cols,
        cells: vec![Network::default(); rows * cols],
        tally: Tally::new(plan.sites.len()),
        sets: Sets::new(),
    };
    let sites = plan.reaching(unit.row, unit.col);
    if sites.is_empty() {
        return Ok(folded);
    }
    let required_db = plan.margin_db as f32;
    let mut servers = Servers::new(sites, rows * cols);
    let packed = sweep.read(unit)?;
    for (place, site) in packed.sites().enumerate() {
        let answers = site.answers().map_err(|err| sweep.unreadable(unit, err))?;
        for (cell, network) in folded.cells.iter_mut().enumerate() {
            if network.hear(site.site, answers.answer(cell), required_db) {
                servers.set(cell, place);
            }
        }
    }
    folded.count(sweep, unit.row, &servers);
    Ok(folded)
}

impl Folded {
    /// Areas and sets of the cells, row by row.
    fn count(&mut self, sweep: &Sweep, tile_row: u32, servers: &Servers) {
        let grid = &sweep.plan.grid;
        let wanted = sweep.plan.choose.is_some();
        let mut numbers = Vec::new();
        for row in 0..self.cells.len() / self.cols {
            let from_north = f64::from(tile_row * TILE_CELLS) + row as f64;
            let north_deg = grid.north_deg - from_north * grid.cell_deg;
            let area_m2 = cell_area_m2(north_deg - grid.cell_deg, north_deg, grid.cell_deg);
            // Neighbours mostly have the same servers: a set is looked up once for a run of them.
            let (mut run, mut run_cells): (&[u64], f64) = (&[], 0.0);
            for cell in self.row(row) {
                let bits = servers.of(cell);
                if bits != run {
                    self.add_set(wanted, &numbers, run_cells * area_m2);
                    servers.numbers(bits, &mut numbers);
                    (run, run_cells) = (bits, 0.0);
                }
                run_cells += 1.0;
                self.tally.add(area_m2, &self.cells[cell], &numbers);
            }
            self.add_set(wanted, &numbers, run_cells * area_m2);
            numbers.clear();
        }
    }

    fn add_set(&mut self, wanted: bool, servers: &[u16], area_m2: f64) {
        if servers.is_empty() || !wanted {
            return;
        }
        match self.sets.get_mut(servers) {
            Some(sum) => *sum += area_m2,
            None => drop(self.sets.insert(servers.to_vec(), area_m2)),
        }
    }
}
