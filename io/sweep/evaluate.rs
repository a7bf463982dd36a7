//! The cells of a unit, by the function that evaluates coverage in the plan's mode.

use groundwave_systems::coverage::fast::evaluate_block_fast;
use groundwave_systems::coverage::{
    Block, Cell, Flags, Grid, Sampling, Scratch, Setup, evaluate_block,
};
use groundwave_systems::terrain::Terrain;

use super::plan::{Plan, TILE_CELLS, Unit};
use super::unit::{Answers, SiteTile, flag};

/// The evaluation of units of `plan` over `terrain`, a site at a time.
///
/// # Errors
/// The first site that cannot be evaluated, and why.
pub fn evaluator<'a>(
    plan: &'a Plan,
    terrain: &'a dyn Terrain,
) -> Result<impl Fn(Unit, u16) -> Result<SiteTile, String> + Sync + 'a, String> {
    let grid = &plan.grid;
    let corner = [grid.north_deg, grid.west_deg];
    let grid = Grid::new(corner, [grid.cell_deg; 2], [grid.rows, grid.cols])
        .map_err(|bad| bad.to_string())?;
    let setups = setups(plan);
    // Every site is made ready once before the work begins, so that a wrong one is told at once.
    for (i, setup) in setups.iter().enumerate() {
        let name = &plan.sites[i % plan.sites.len()].name;
        setup
            .prepare(terrain)
            .map_err(|bad| format!("site {name}: {bad}"))?;
    }
    Ok(move |unit: Unit, site: u16| {
        let variant = unit.variant as usize * plan.sites.len();
        let setup = &setups[variant + usize::from(site)];
        tile(setup, terrain, &grid, unit, site, plan.fast)
    })
}

/// Setups by variant, then by site.
fn setups(plan: &Plan) -> Vec<Setup> {
    let sampling = match (plan.samples, plan.sample_spacing_m) {
        (Some(samples), _) => Sampling::Count(u32::try_from(samples).unwrap_or(u32::MAX)),
        (None, Some(spacing_m)) => Sampling::Spacing(spacing_m),
        (None, None) => Sampling::Posts,
    };
    let mut setups = Vec::with_capacity(plan.variants.len() * plan.sites.len());
    for variant in &plan.variants {
        for site in &plan.sites {
            let mut receiver = site.receiver.clone();
            let frequency_mhz = variant
                .frequency_mhz
                .unwrap_or(receiver.radio.frequency_mhz);
            receiver.radio.frequency_mhz = frequency_mhz;
            setups.push(Setup {
                position: site.position,
                transmitter: variant.apply(&site.station),
                receiver,
                environment: plan.environment.clone(),
                packet_octets: plan.packet_bytes,
                sampling,
                radius_m: plan.radius_m,
            });
        }
    }
    setups
}

fn tile(
    setup: &Setup,
    terrain: &dyn Terrain,
    grid: &Grid,
    unit: Unit,
    site: u16,
    fast: bool,
) -> Result<SiteTile, String> {
    let (row, column) = (unit.row * TILE_CELLS, unit.col * TILE_CELLS);
    let rows = TILE_CELLS.min(grid.rows() - row);
    let columns = TILE_CELLS.min(grid.columns() - column);
    let block = Block {
        row,
        column,
        rows,
        columns,
    };
    let mut cells = vec![Cell::default(); block.len()];
    let ready = setup.prepare(terrain).map_err(|bad| bad.to_string())?;
    let evaluate = if fast {
        evaluate_block_fast
    } else {
        evaluate_block
    };
    let mut scratch = Scratch::default();
    evaluate(&ready, terrain, grid, block, &mut cells, &mut scratch);
    Ok(store(site, &cells))
}

/// Cells as the unit keeps them.
fn store(site: u16, cells: &[Cell]) -> SiteTile {
    let layer = |value: &dyn Fn(&Cell) -> f32| cells.iter().map(value).collect();
    SiteTile {
        site,
        rx_power_dbm: layer(&|cell| cell.rx_power_dbm as f32),
        // The power that 90 % of times and places keep is the low quantile.
        p10_dbm: layer(&|cell| cell.rx_power_quantiles_dbm[2]),
        p90_dbm: layer(&|cell| cell.rx_power_quantiles_dbm[0]),
        answers: Answers {
            margin_db: layer(&|cell| cell.link_margin_db as f32),
            flags: cells.iter().map(flags).collect(),
        },
    }
}

fn flags(cell: &Cell) -> u8 {
    let bits = [
        (Flags::OUTSIDE, flag::OUTSIDE),
        (Flags::NO_DATA | Flags::FAILED, flag::NO_DATA),
        (Flags::PATH_MISSING | Flags::PATH_VOID, flag::PATH_UNKNOWN),
        (Flags::CLEAR, flag::LINE_OF_SIGHT),
    ];
    let set = bits
        .iter()
        .filter(|(flags, _)| cell.flags.intersects(*flags));
    set.map(|(_, bit)| bit).sum()
}
