//! Best server and served sites of each cell of a grid, of many sites at once.
//!
//! Budgets and choice are made on the device; the pairs of a cell and a site that f32 cannot decide come back as a
//! list, are evaluated exactly, and the choice is made again with them. So best servers and served cells are those
//! of the exact evaluation.

use groundwave_model::coverage::placement::ServedCells;
use groundwave_model::coverage::{
    Block, Cell, CoverageRequest, CoverageSite, Evaluation, Flags, Grid, KNOWN_ERROR_DB,
    KnownCounts, Scratch, ServingPower, SiteTerms, evaluate_cells,
};
use groundwave_model::radio::BadValue;
use groundwave_model::terrain::{PostWindow, Terrain};
use rayon::prelude::*;

use super::engine::{Engine, NoLosses};
use super::server_tables::{ServerBlock, ServerTables};
use super::tables::Tables;

/// Cells of a block times sites: 128 MB of losses, which stay on the device.
const BLOCK_PAIRS: u64 = 1 << 23;

/// Cells from one point of the lattice of undulations to the next: below a hundredth of the spacing of a geoid's
/// own posts.
const LATTICE_SPACING: u32 = 16;

/// Cells of a site that one task evaluates.
const TASK_CELLS: usize = 512;

/// Request for the servers of all cells of a grid.
#[derive(Clone, Copy)]
pub struct ServersRequest<'a> {
    /// Sites, 1 to 65,535.
    pub sites: &'a [CoverageSite<'a>],
    /// Link margin from which each of them serves a cell, dB.
    pub thresholds_db: &'a [f64],
    /// Cells.
    pub grid: &'a Grid,
    /// Terrain of the paths.
    pub terrain: &'a dyn Terrain,
    /// True for a cell that a site serves, by the exact evaluation; the number of the site comes first.
    pub serves: &'a (dyn Fn(usize, &Cell) -> bool + Sync),
}

/// Servers of all cells of a grid, row by row from the north-west.
#[derive(Debug, Clone, PartialEq)]
pub struct Servers {
    /// Site with the largest link margin, of equals the first; `u16::MAX` where no site has an answer.
    pub best: Vec<u16>,
    /// That margin, dB, within [`KNOWN_ERROR_DB`]; minus infinity without one.
    pub margin_db: Vec<f32>,
    /// Cells that each site serves, ascending.
    pub served: Vec<Vec<u32>>,
    /// Pairs of a site and a cell within its radius, and those evaluated exactly, as far as they were counted.
    pub counts: KnownCounts,
}

/// Budgets of the sites and undulations of a block.
fn server_tables(
    request: &ServersRequest<'_>,
    terms: &[&SiteTerms],
    block: Block,
) -> Result<ServerTables, NoLosses> {
    let mut site_words = Vec::new();
    for (site, threshold_db) in terms.iter().zip(request.thresholds_db) {
        let margin = site.margin.as_ref().ok_or(NoLosses::Margins)?;
        let [tx, rx] = margin.lobes.map(|[beamwidth, tilt, cap]| [beamwidth, tilt, cap, 0.0]);
        let numbers = [
            margin.base_db,
            margin.wavenumber,
            margin.gas_db_m,
            margin.undulation_m,
            site.ground_msl_m,
            margin.antenna_agl_m[0],
            margin.antenna_agl_m[1],
            margin.radius_m,
        ];
        let last = [*threshold_db, 0.0, 0.0, 0.0];
        let all = numbers.into_iter().chain(tx).chain(rx).chain(last);
        site_words.extend(all.map(|number| (number as f32).to_bits()));
    }
    let points = |cells: u32| cells.div_ceil(LATTICE_SPACING) + 1;
    let [rows, columns] = [points(block.rows), points(block.columns)];
    let grid = request.grid;
    let place = |first: u32, number: u32, count: u32| {
        // The last points may lie beyond the grid.
        (first + number * LATTICE_SPACING).min(count - 1)
    };
    let mut lattice_words = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let at = grid.centre(
                place(block.row, row, grid.rows()),
                place(block.column, column, grid.columns()),
            );
            lattice_words.push((request.terrain.undulation_m(at) as f32).to_bits());
        }
    }
    let (lattice_columns, lattice_spacing) = (columns, LATTICE_SPACING);
    Ok(ServerTables { site_words, lattice_words, lattice_columns, lattice_spacing })
}

impl Engine {
    /// Best server and served sites of all cells.
    ///
    /// # Errors
    /// The reason for having none: then the exact evaluation has the answer.
    pub fn servers(&self, request: &ServersRequest<'_>) -> Result<Servers, NoLosses> {
        let ServersRequest { sites, grid, terrain, .. } = *request;
        let terms = sites.iter().map(CoverageSite::terms);
        let terms = terms.collect::<Result<Vec<_>, _>>().map_err(NoLosses::Terms)?;
        let terms: Vec<&SiteTerms> = terms.iter().collect();
        let circles = terms.iter().map(|site| (site.position, site.radius_m));
        let window = PostWindow::covering(terrain, circles).ok_or(NoLosses::Posts)?;
        let (scene, uploaded) = self.scene(terrain, window)?;
        let cells = grid.len() as usize;
        let mut servers = Servers {
            best: vec![u16::MAX; cells],
            margin_db: vec![f32::NEG_INFINITY; cells],
            served: vec![Vec::new(); sites.len()],
            counts: KnownCounts::default(),
        };
        let columns = grid.columns();
        let high = BLOCK_PAIRS / (u64::from(columns) * sites.len().max(1) as u64);
        let high = high.clamp(1, u64::from(grid.rows())) as u32;
        for block in grid.blocks(high, columns) {
            let budgets = server_tables(request, &terms, block)?;
            let tables = Tables::new(&terms, grid, block, &scene.window);
            let answer = self.device().run_servers(&uploaded, &tables, &budgets)?;
            settle(request, block, answer, &mut servers);
        }
        Ok(servers)
    }
}

impl ServedCells for Engine {
    fn served(
        &self,
        requests: &[CoverageRequest],
        grid: &Grid,
        terrain: &dyn Terrain,
        margin_db: f64,
    ) -> Result<Vec<Vec<u32>>, String> {
        if requests.is_empty() {
            return Ok(Vec::new());
        }
        let text = |bad: BadValue| bad.to_string();
        let powers = requests.iter().map(|request| ServingPower::of(request, margin_db));
        let powers = powers.collect::<Result<Vec<_>, _>>().map_err(text)?;
        let sites = requests.iter().map(|request| request.prepare(terrain));
        let sites = sites.collect::<Result<Vec<_>, _>>().map_err(text)?;
        let thresholds_db: Vec<f64> = powers.iter().map(|power| power.threshold_db).collect();
        let request = ServersRequest {
            sites: &sites,
            thresholds_db: &thresholds_db,
            grid,
            terrain,
            serves: &|site, cell| powers[site].serves(cell),
        };
        self.servers(&request).map(|servers| servers.served).map_err(|reason| reason.to_string())
    }
}

/// Evaluates the pairs of a block that are not decided, and takes the rest as it is.
fn settle(
    request: &ServersRequest<'_>,
    block: Block,
    mut answer: ServerBlock,
    servers: &mut Servers,
) {
    let ServersRequest { sites, grid, .. } = *request;
    let first = block.row * grid.columns();
    let words = sites.len().div_ceil(32);
    let mut pairs: Vec<[u32; 2]> = std::mem::take(&mut answer.pairs);
    pairs.iter_mut().for_each(|pair| pair.swap(0, 1));
    pairs.par_sort_unstable();
    pairs.dedup();
    let mut exact = evaluated(request, first, &pairs);
    // A site that is best without being listed may come so near to a flagged one that it must be known better.
    let contest = |answers: &[Answer<'_>]| {
        let cell = answers[0].cell;
        let [site, bits] = answer.best[cell as usize];
        let margin_db = f64::from(f32::from_bits(bits));
        let is_near = |own: &Answer<'_>| {
            let apart_db = (own.exact.link_margin_db - margin_db).abs();
            own.exact.has_data() && apart_db <= KNOWN_ERROR_DB
        };
        let is_listed = answers.iter().any(|own| own.site == site);
        let is_contest = site != u32::MAX && !is_listed && answers.iter().any(is_near);
        is_contest.then_some([site, cell])
    };
    let answers = by_cell(&pairs, &exact);
    let near = answers.chunk_by(|one, other| one.cell == other.cell).filter_map(contest);
    let mut near: Vec<[u32; 2]> = near.collect();
    near.sort_unstable();
    exact.extend(evaluated(request, first, &near));
    let decided = near.len() as u64;
    pairs.extend(near);
    for answers in by_cell(&pairs, &exact).chunk_by(|one, other| one.cell == other.cell) {
        let place = answers[0].cell as usize;
        let [mut best, bits] = answer.best[place];
        let mut margin_db = f64::from(f32::from_bits(bits));
        // The one that the device chose counts by its exact margin where it was evaluated.
        if let Some(own) = answers.iter().find(|own| own.site == best) {
            margin_db = own.exact.link_margin_db;
        }
        for Answer { site, exact, .. } in answers {
            let word = &mut answer.served[place * words + (*site as usize >> 5)];
            let bit = 1 << (site & 31);
            let serves = (request.serves)(*site as usize, exact);
            *word = if serves { *word | bit } else { *word & !bit };
            let is_larger = exact.link_margin_db > margin_db;
            let is_equal = exact.link_margin_db == margin_db && *site < best;
            if exact.has_data() && (best == u32::MAX || is_larger || is_equal) {
                (best, margin_db) = (*site, exact.link_margin_db);
            }
        }
        answer.best[place] = [best, (margin_db as f32).to_bits()];
    }
    let is_inside = |cell: &Cell| !cell.flags.intersects(Flags::OUTSIDE);
    servers.counts.decisions += decided;
    servers.counts.flagged += exact.iter().filter(|cell| is_inside(cell)).count() as u64 - decided;
    for (place, [site, bits]) in answer.best.iter().enumerate() {
        let place_all = first as usize + place;
        if *site != u32::MAX {
            servers.best[place_all] = *site as u16;
            servers.margin_db[place_all] = f32::from_bits(*bits);
        }
        let own = &answer.served[place * words..(place + 1) * words];
        for (word, bits) in own.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let site = 32 * word + bits.trailing_zeros() as usize;
                servers.served[site].push(place_all as u32);
                bits &= bits - 1;
            }
        }
    }
}

/// Exact answer of a site for a cell of a block.
#[derive(Clone, Copy)]
struct Answer<'a> {
    cell: u32,
    site: u32,
    exact: &'a Cell,
}

/// Exact answers by cell, then by site.
fn by_cell<'a>(pairs: &[[u32; 2]], exact: &'a [Cell]) -> Vec<Answer<'a>> {
    let both = pairs.iter().zip(exact);
    let mut answers: Vec<_> =
        both.map(|([site, cell], exact)| Answer { cell: *cell, site: *site, exact }).collect();
    answers.par_sort_unstable_by_key(|answer| (answer.cell, answer.site));
    answers
}

/// Cells of pairs of a site and a cell of a block, ascending, by the exact evaluation.
fn evaluated(request: &ServersRequest<'_>, first: u32, pairs: &[[u32; 2]]) -> Vec<Cell> {
    let ServersRequest { sites, grid, terrain, .. } = *request;
    let of_sites = pairs.chunk_by(|one, other| one[0] == other[0]);
    let tasks: Vec<&[[u32; 2]]> = of_sites.flat_map(|own| own.chunks(TASK_CELLS)).collect();
    let cells = tasks.par_iter().map_init(Scratch::default, |scratch, task| {
        let site = &sites[task[0][0] as usize];
        let evaluation = Evaluation { site, terrain, grid };
        let numbers: Vec<u32> = task.iter().map(|[_, cell]| first + cell).collect();
        let mut cells = vec![Cell::default(); task.len()];
        evaluate_cells(&evaluation, &numbers, &mut cells, scratch);
        cells
    });
    cells.collect::<Vec<_>>().concat()
}
