//! Received power of one transmitter in the cells within its reach.

use groundwave_values::parallel;
use ndarray::{Array2, s};

use super::window::Window;
use super::{
    Block, Cell, CoverageRequest, Evaluation, Flags, Grid, KnownCounts, KnownLoss, LossSource,
    Scratch, evaluate, evaluate_cells, evaluate_known,
};
use crate::terrain::Terrain;

/// Received power of a cell whose ground is not known.
pub const NO_DATA: i16 = i16::MIN;

/// Received power of a cell that has none, or less than 16 bits hold.
pub const NO_POWER: i16 = i16::MIN + 1;

/// Rows and columns that one task evaluates.
const BLOCK_SIDE: u32 = 128;

/// Received power in hundredths of dBm; minus infinity is [`NO_POWER`].
#[must_use]
pub fn hundredths(rx_power_dbm: f64) -> i16 {
    // Saturates.
    ((rx_power_dbm * 100.0).round() as i16).max(NO_POWER)
}

/// Received power of a transmitter. Written by the systems of a live coverage.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "bevy", derive(bevy_ecs::component::Component))]
pub struct Layer {
    /// Cells within its reach.
    pub window: Window,
    /// Received power at which the link margin is 0 dB, hundredths of dBm.
    pub sensitivity_cdbm: i32,
    cells: Vec<LayerCell>,
    /// Of each cell, where [`Detail::Deciles`] was asked for.
    deciles_cdbm: Vec<[i16; 2]>,
}

/// Figures of each cell in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// Received power and the probability that the link works.
    Power,
    /// The received power exceeded in 10 and in 90 % of links alike as well.
    Deciles,
}

/// A cell of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerCell {
    /// Received power, hundredths of dBm; [`NO_DATA`] or [`NO_POWER`].
    pub power_cdbm: i16,
    /// Probability that the link works, whole percent, [0, 100].
    pub link_percent: u8,
}

impl LayerCell {
    const VOID: Self = Self { power_cdbm: NO_POWER, link_percent: 0 };

    fn of(cell: &Cell) -> Self {
        Self { power_cdbm: power_cdbm(cell), link_percent: cell.link_percent() }
    }
}

impl Layer {
    /// Received power in a cell, hundredths of dBm; `None` beyond the window.
    #[must_use]
    pub fn power_cdbm(&self, row: u32, column: u32) -> Option<i16> {
        Some(self.cell(row, column)?.power_cdbm)
    }

    /// A cell; `None` beyond the window.
    #[must_use]
    pub fn cell(&self, row: u32, column: u32) -> Option<LayerCell> {
        self.cells.get(self.place(row, column)?).copied()
    }

    /// Received power of a cell over the sensitivity, hundredths of dB; `None` beyond the window and without power.
    #[must_use]
    pub fn margin_cdb(&self, row: u32, column: u32) -> Option<i32> {
        let power_cdbm = self.power_cdbm(row, column).filter(|power| *power > NO_POWER)?;
        Some(i32::from(power_cdbm) - self.sensitivity_cdbm)
    }

    /// Evaluates cells of the layer of a site exactly, given by their ascending index in the grid.
    pub fn settle(
        &mut self,
        setup: &CoverageRequest,
        grid: &Grid,
        terrain: &dyn Terrain,
        numbers: &[u32],
    ) {
        let Ok(site) = setup.prepare(terrain) else { return };
        let evaluation = Evaluation { site: &site, terrain, grid };
        let mut cells = vec![Cell::default(); numbers.len()];
        evaluate_cells(&evaluation, numbers, &mut cells, &mut Scratch::default());
        for (number, cell) in numbers.iter().zip(&cells) {
            let place = self.place(number / grid.columns(), number % grid.columns());
            if let Some(own) = place.and_then(|place| self.cells.get_mut(place)) {
                *own = LayerCell::of(cell);
            }
        }
    }

    /// Received power exceeded in 10 and in 90 % of links like that of a cell, hundredths of dBm; `None` beyond
    /// the window and in a layer of [`Detail::Power`].
    #[must_use]
    pub fn deciles_cdbm(&self, row: u32, column: u32) -> Option<[i16; 2]> {
        self.deciles_cdbm.get(self.place(row, column)?).copied()
    }

    /// Place of a cell in the window, row by row; `None` beyond it.
    fn place(&self, row: u32, column: u32) -> Option<usize> {
        let [down, right] =
            [row.checked_sub(self.window.row)?, column.checked_sub(self.window.column)?];
        let is_within = down < self.window.rows && right < self.window.columns;
        is_within.then_some(down as usize * self.window.columns as usize + right as usize)
    }
}

/// Cells of a window that one task evaluates.
struct Part {
    window: Window,
    cells: Vec<LayerCell>,
    deciles_cdbm: Vec<[i16; 2]>,
    counts: KnownCounts,
}

/// Evaluates the cells of `grid` within the radius of a site on the compute pool.
/// The layer depends on the arguments alone; it has no cell without a valid setup.
#[must_use]
pub fn evaluate_layer(
    setup: &CoverageRequest,
    grid: &Grid,
    terrain: &dyn Terrain,
    detail: Detail,
) -> Layer {
    let (Ok(site), Ok(sensitivity_dbm)) = (setup.prepare(terrain), setup.sensitivity_dbm()) else {
        return Layer::default();
    };
    let window = Window::around(grid, setup.position, setup.radius_m);
    let evaluation = Evaluation { site: &site, terrain, grid };
    let mut parts = parts(window);
    parallel::for_each(&mut parts, 1, |part| part.evaluate(&evaluation, detail));
    layer_of(window, sensitivity_dbm, &parts, detail)
}

/// [`evaluate_layer`] of [`Detail::Power`] with losses of another processor: received powers lie within
/// [`KNOWN_ERROR_DB`](super::KNOWN_ERROR_DB) of it before they are rounded, and the same cells reach the sensitivity.
///
/// # Errors
/// The reason for having no losses.
pub fn evaluate_layer_by(
    source: &dyn LossSource,
    setup: &CoverageRequest,
    grid: &Grid,
    terrain: &dyn Terrain,
) -> Result<(Layer, KnownCounts), String> {
    let (Ok(site), Ok(sensitivity_dbm)) = (setup.prepare(terrain), setup.sensitivity_dbm()) else {
        return Ok(<(Layer, KnownCounts)>::default());
    };
    let window = Window::around(grid, setup.position, setup.radius_m);
    if window.is_empty() {
        return Ok((layer_of(window, sensitivity_dbm, &[], Detail::Power), KnownCounts::default()));
    }
    let terms = site.terms_over(grid).map_err(|reason| reason.to_string())?;
    let Window { row, column, rows, columns } = window;
    let block = Block { row, column, rows, columns };
    let losses = source.losses(terrain, &[&terms], grid, block)?;
    let losses = losses.first().ok_or("the engine has no losses of the site")?;
    let serving = ServingPower::of(setup, 0.0).map_err(|bad| bad.to_string())?;
    let evaluation = Evaluation { site: &site, terrain, grid };
    let mut parts = parts(window);
    parallel::for_each(&mut parts, 1, |part| {
        part.evaluate_known(&evaluation, window, losses, &[serving.threshold_db]);
    });
    let mut counts = KnownCounts::default();
    parts.iter().for_each(|part| counts.add(part.counts));
    Ok((layer_of(window, sensitivity_dbm, &parts, Detail::Power), counts))
}

/// The layer of a window from its parts.
fn layer_of(window: Window, sensitivity_dbm: f64, parts: &[Part], detail: Detail) -> Layer {
    let cells = joined(window, parts, LayerCell::VOID, |part| &part.cells);
    let deciles_cdbm = match detail {
        Detail::Power => Vec::new(),
        Detail::Deciles => joined(window, parts, [NO_POWER; 2], |part| &part.deciles_cdbm),
    };
    Layer { window, sensitivity_cdbm: sensitivity_cdbm(sensitivity_dbm), cells, deciles_cdbm }
}

/// One figure of each cell of a window, row by row, from its parts.
fn joined<T: Copy>(window: Window, parts: &[Part], void: T, own: impl Fn(&Part) -> &[T]) -> Vec<T> {
    let mut all = vec![void; window.len() as usize];
    for part in parts {
        let Window { row, column, columns, .. } = part.window;
        for (row, row_cells) in (row..).zip(own(part).chunks(columns as usize)) {
            let [down, right] = [row - window.row, column - window.column];
            let start = down as usize * window.columns as usize + right as usize;
            all[start..start + row_cells.len()].copy_from_slice(row_cells);
        }
    }
    all
}

/// Sensitivity in hundredths of dBm. A receiver that cannot decode the transmitter has no margin at any power.
fn sensitivity_cdbm(sensitivity_dbm: f64) -> i32 {
    match sensitivity_dbm.is_finite() {
        true => (sensitivity_dbm * 100.0).round() as i32,
        false => i32::from(i16::MAX),
    }
}

fn parts(window: Window) -> Vec<Part> {
    let firsts = |from: u32, count: u32| (from..from + count).step_by(BLOCK_SIDE as usize);
    let part = |row, column| Part {
        window: Window {
            row,
            column,
            rows: BLOCK_SIDE.min(window.row + window.rows - row),
            columns: BLOCK_SIDE.min(window.column + window.columns - column),
        },
        cells: Vec::new(),
        deciles_cdbm: Vec::new(),
        counts: KnownCounts::default(),
    };
    let rows = firsts(window.row, window.rows);
    rows.flat_map(|row| firsts(window.column, window.columns).map(move |column| part(row, column)))
        .collect()
}

impl Part {
    fn evaluate(&mut self, evaluation: &Evaluation<'_>, detail: Detail) {
        let Window { row, column, rows, columns } = self.window;
        let mut cells = Array2::from_elem([rows as usize, columns as usize], Cell::default());
        evaluate(evaluation, [row, column], cells.view_mut(), &mut Scratch::default());
        self.cells = cells.iter().map(LayerCell::of).collect();
        if detail == Detail::Deciles {
            let deciles = |cell: &Cell| {
                let [high_dbm, _, low_dbm] = cell.rx_power_quantiles_dbm;
                [high_dbm, low_dbm].map(|dbm| hundredths(f64::from(dbm)))
            };
            self.deciles_cdbm = cells.iter().map(deciles).collect();
        }
    }

    /// With losses of all cells of a layer.
    fn evaluate_known(
        &mut self,
        evaluation: &Evaluation<'_>,
        layer: Window,
        losses: &Array2<KnownLoss>,
        thresholds_db: &[f64],
    ) {
        let Window { row, column, rows, columns } = self.window;
        let [down, right] = [row - layer.row, column - layer.column].map(|count| count as usize);
        let [rows, columns] = [rows, columns].map(|count| count as usize);
        let losses = losses.slice(s![down..down + rows, right..right + columns]);
        let mut cells = Array2::from_elem([rows, columns], Cell::default());
        let (scratch, view) = (&mut Scratch::default(), cells.view_mut());
        self.counts =
            evaluate_known(evaluation, [row, column], view, &losses, thresholds_db, scratch);
        self.cells = cells.iter().map(LayerCell::of).collect();
    }
}

/// Received power of a cell in a layer, hundredths of dBm.
fn power_cdbm(cell: &Cell) -> i16 {
    match cell.flags {
        flags if flags.contains(Flags::OUTSIDE) => NO_POWER,
        flags if flags.contains(Flags::NO_DATA) => NO_DATA,
        _ => hundredths(cell.rx_power_dbm),
    }
}

/// Power from which a transmitter serves a cell of its layer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ServingPower {
    needed_cdbm: f64,
    /// Link margin at which the received power reaches it but for rounding, dB.
    pub threshold_db: f64,
}

impl ServingPower {
    /// The power at which a request has so much margin, dB.
    ///
    /// # Errors
    /// The first [`BadValue`](crate::radio::BadValue) in the request.
    pub fn of(request: &CoverageRequest, margin_db: f64) -> Result<Self, crate::radio::BadValue> {
        let sensitivity_dbm = request.sensitivity_dbm()?;
        let needed_cdbm = f64::from(sensitivity_cdbm(sensitivity_dbm)) + margin_db * 100.0;
        // Powers are rounded to whole hundredths.
        let threshold_db = match sensitivity_dbm.is_finite() {
            true => (needed_cdbm.ceil() - 0.5) / 100.0 - sensitivity_dbm,
            false => f64::INFINITY,
        };
        Ok(Self { needed_cdbm, threshold_db })
    }

    /// True if a received power of a layer is enough.
    #[must_use]
    pub fn is_reached(&self, power_cdbm: i16) -> bool {
        f64::from(power_cdbm) >= self.needed_cdbm
    }

    /// True if the received power of a cell is enough.
    #[must_use]
    pub fn serves(&self, cell: &Cell) -> bool {
        self.is_reached(power_cdbm(cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_fit_sixteen_bits() {
        for (dbm, code) in
            [(-87.654, -8_765), (12.3, 1_230), (f64::NEG_INFINITY, NO_POWER), (-1e9, NO_POWER)]
        {
            assert_eq!(hundredths(dbm), code, "{dbm}");
        }
    }
}
