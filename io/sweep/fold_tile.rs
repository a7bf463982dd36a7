//! One tile of the network: its sites heard one after another.

use std::collections::BTreeMap;

use groundwave_model::sweep::interference::Disturbed;
use groundwave_model::sweep::{Network, SiteTally, Tally, cell_area_m2};

use super::interference::{Air, AirFold, AirPlan, AirTally, layer_value};
use super::plan::{Plan, TILE_CELLS};
use super::unit::{Answers, Level, SiteTile};

/// Area (m²) served by each distinct set of sites. All a choice of
/// sites needs to know.
pub type Sets = BTreeMap<Vec<u16>, f64>;

/// Layers of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layer {
    /// Number of the best server.
    Best,
    /// Number of the second best.
    Second,
    /// Number of sites that serve.
    Servers,
    /// Largest link margin, dB.
    Margin,
    /// A level of the site with the largest margin.
    Level(Level),
    /// A layer among interference.
    Air(Air),
}

/// Part of a tile in the numbers of a network.
pub struct Part {
    /// Areas, without those of sites.
    pub tally: Tally,
    /// Areas of the sites that have some here.
    pub sites: Vec<(u16, SiteTally)>,
    /// Area by the sites that serve it, where a choice of sites was asked for.
    pub sets: Sets,
    /// Areas among interference, where it was asked for.
    pub air: Option<AirTally>,
}

/// A tile being folded, site by site.
pub struct TileFold<'p> {
    cols: usize,
    cells: Vec<Network>,
    servers: Servers,
    /// Levels of the best server that are wanted.
    levels: Vec<(Level, Vec<f32>)>,
    required_db: f32,
    air: Option<AirFold<'p>>,
    /// Outcomes among interference, once all sites were added.
    disturbed: Vec<Option<Disturbed>>,
}

impl<'p> TileFold<'p> {
    /// A tile of so many columns and rows that these sites reach, with these levels of the best server, and
    /// interference where `air` is there.
    #[must_use]
    pub fn new(
        plan: &Plan,
        [cols, rows]: [u32; 2],
        sites: Vec<u16>,
        levels: &[Level],
        air: Option<&'p AirPlan>,
    ) -> Self {
        let count = (cols * rows) as usize;
        let blank = |level: &Level| (*level, vec![f32::NAN; count]);
        Self {
            cols: cols as usize,
            cells: vec![Network::default(); count],
            air: air.map(|plan| AirFold::new(plan, &sites, count)),
            disturbed: Vec::new(),
            servers: Servers::new(sites, count),
            levels: levels.iter().map(blank).collect(),
            required_db: plan.margin_db as f32,
        }
    }

    /// Adds the site at `place` among those of the tile; they come in their order.
    pub fn hear(&mut self, place: usize, answers: &Answers) {
        self.hear_each(place, answers, |_, _, _| {});
    }

    /// Adds the site at `place` with its levels.
    pub fn hear_tile(&mut self, place: usize, tile: &SiteTile) {
        if let Some(air) = &mut self.air {
            air.add(tile);
        }
        let wanted = self.levels.iter().map(|(level, _)| tile.level(*level));
        let wanted: Vec<&[f32]> = wanted.collect();
        if wanted.is_empty() {
            return self.hear(place, &tile.answers);
        }
        self.hear_each(place, &tile.answers, |levels, cell, is_better| {
            if is_better {
                for ((_, best), own) in levels.iter_mut().zip(&wanted) {
                    best[cell] = own[cell];
                }
            }
        });
    }

    /// Adds a site; `each` hears of every cell and whether the site has its largest margin so far.
    fn hear_each(
        &mut self,
        place: usize,
        answers: &Answers,
        mut each: impl FnMut(&mut [(Level, Vec<f32>)], usize, bool),
    ) {
        let site = self.servers.sites[place];
        for (cell, network) in self.cells.iter_mut().enumerate() {
            let before = network.margin_db;
            if network.hear(site, answers.answer(cell), self.required_db) {
                self.servers.set(cell, place);
            }
            each(&mut self.levels, cell, network.margin_db != before);
        }
    }

    /// Computes the outcomes among interference: all sites were added.
    pub fn settle(&mut self) {
        if let Some(air) = self.air.take() {
            self.disturbed = air.outcomes(self.cells.len());
        }
    }

    /// Values of a layer, row-major; NaN where it has none.
    #[must_use]
    pub fn layer(&self, layer: Layer) -> Vec<f32> {
        let values = |value: fn(&Network) -> Option<f32>| {
            let cells = self.cells.iter();
            cells.map(|cell| value(cell).unwrap_or(f32::NAN)).collect()
        };
        match layer {
            Layer::Best => values(|cell| cell.best.map(f32::from)),
            Layer::Second => values(|cell| cell.second.map(f32::from)),
            Layer::Servers => values(|cell| cell.margin_db.map(|_| f32::from(cell.servers))),
            // A receiver that decodes none of the sites has no margin.
            Layer::Margin => {
                values(|cell| cell.margin_db.filter(|margin_db| margin_db.is_finite()))
            }
            Layer::Level(wanted) => {
                let mut levels = self.levels.iter();
                let found = levels.find(|(level, _)| *level == wanted);
                found.map(|(_, values)| values.clone()).unwrap_or_default()
            }
            Layer::Air(air) => {
                let required_db = f64::from(self.required_db);
                let value = |outcome: &Option<Disturbed>| {
                    let value = outcome.as_ref().and_then(|it| layer_value(air, it, required_db));
                    value.unwrap_or(f32::NAN)
                };
                self.disturbed.iter().map(value).collect()
            }
        }
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
        Self { sites, words, bits: vec![0; words * cells] }
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

impl TileFold<'_> {
    /// Areas and sets of the cells, row by row.
    #[must_use]
    pub fn count(&self, plan: &Plan, tile_row: u32) -> Part {
        let grid = &plan.grid;
        let wanted = plan.choose.is_some();
        let servers = &self.servers;
        let mut tally = Tally::new(plan.sites.len());
        let mut sets = Sets::new();
        let mut numbers = Vec::new();
        let mut air = (!self.disturbed.is_empty()).then(AirTally::default);
        for row in 0..self.cells.len() / self.cols {
            let from_north = f64::from(tile_row * TILE_CELLS) + row as f64;
            let north_deg = grid.north_deg - from_north * grid.cell_deg;
            let area_m2 = cell_area_m2(north_deg - grid.cell_deg, north_deg, grid.cell_deg);
            // Neighbours mostly have the same servers: a set is looked up once for a run of them.
            let (mut run, mut run_cells): (&[u64], f64) = (&[], 0.0);
            for cell in row * self.cols..(row + 1) * self.cols {
                let bits = servers.of(cell);
                if bits != run {
                    add_set(&mut sets, wanted, &numbers, run_cells * area_m2);
                    servers.numbers(bits, &mut numbers);
                    (run, run_cells) = (bits, 0.0);
                }
                run_cells += 1.0;
                tally.add(area_m2, &self.cells[cell], &numbers);
                if let (Some(air), Some(Some(outcome))) = (&mut air, self.disturbed.get(cell)) {
                    air.add(area_m2, outcome, f64::from(self.required_db));
                }
            }
            add_set(&mut sets, wanted, &numbers, run_cells * area_m2);
            numbers.clear();
        }
        // Of many sites few have a part here.
        let sites = std::mem::take(&mut tally.sites).into_iter();
        let sites = (0..).zip(sites).filter(|(_, site)| *site != SiteTally::default());
        Part { tally, sites: sites.collect(), sets, air }
    }
}

fn add_set(sets: &mut Sets, wanted: bool, servers: &[u16], area_m2: f64) {
    if servers.is_empty() || !wanted {
        return;
    }
    match sets.get_mut(servers) {
        Some(sum) => *sum += area_m2,
        None => drop(sets.insert(servers.to_vec(), area_m2)),
    }
}
