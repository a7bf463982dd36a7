//! The cells of a unit, by the one function that evaluates coverage.

use groundwave_systems::link::{Inputs, judge, trace};
use groundwave_systems::radio::budget::Workspace;
use groundwave_systems::terrain::{Terrain, geodesic};

use super::plan::{Plan, TILE_CELLS, Unit};
use super::unit::{SiteTile, flag};

/// The evaluation of units of `plan` over `terrain`.
///
/// # Errors
/// The first site that cannot be evaluated, and why.
pub fn evaluator<'a>(
    plan: &'a Plan,
    terrain: &'a dyn Terrain,
) -> Result<impl Fn(Unit) -> Result<Vec<SiteTile>, String> + Sync + 'a, String> {
    Ok(move |unit: Unit| {
        let sites = plan.reaching(unit.row, unit.col);
        sites
            .into_iter()
            .map(|site| tile(plan, terrain, unit, site))
            .collect()
    })
}

fn tile(plan: &Plan, terrain: &dyn Terrain, unit: Unit, site: u16) -> Result<SiteTile, String> {
    let variant = &plan.variants[unit.variant as usize];
    let planned = &plan.sites[usize::from(site)];
    let station = variant.apply(&planned.station);
    let mut receiver = planned.receiver.clone();
    receiver.radio.frequency_mhz = variant
        .frequency_mhz
        .unwrap_or(receiver.radio.frequency_mhz);
    let inputs = Inputs {
        terrain,
        environment: &plan.environment,
        packet_bytes: plan.packet_bytes,
        spacing_m: plan.sample_spacing_m,
    };
    let mut out = SiteTile {
        site,
        ..SiteTile::default()
    };
    let mut workspace = Workspace::default();
    let grid = &plan.grid;
    let (first_row, first_col) = (unit.row * TILE_CELLS, unit.col * TILE_CELLS);
    for row in first_row..(first_row + TILE_CELLS).min(grid.rows) {
        for col in first_col..(first_col + TILE_CELLS).min(grid.cols) {
            let cell = grid.centre(row, col).filter(|cell| {
                geodesic::inverse(planned.position, *cell).distance_m <= plan.radius_m
            });
            let Some(cell) = cell else {
                push(&mut out, [f32::NAN; 4], flag::OUTSIDE);
                continue;
            };
            if terrain.elevation_msl_m(cell).is_none() {
                push(&mut out, [f32::NAN; 4], flag::NO_DATA);
                continue;
            }
            let profile = trace(&inputs, planned.position, cell, plan.samples);
            let ends = ((planned.position, &station), (cell, &receiver));
            let (forward, _) = judge(&inputs, &profile, ends.0, ends.1, &mut workspace)
                .map_err(|bad| bad.to_string())?;
            let rx = forward.receiver.rx_power_dbm as f32;
            let unknown = !profile.terrain.is_clean();
            let mut flags = if unknown { flag::PATH_UNKNOWN } else { 0 };
            flags |= if forward.clearance.line_of_sight {
                flag::LINE_OF_SIGHT
            } else {
                0
            };
            push(
                &mut out,
                [rx, rx, rx, forward.margin.link_margin_db as f32],
                flags,
            );
        }
    }
    Ok(out)
}

fn push(out: &mut SiteTile, [rx, p10, p90, margin]: [f32; 4], flags: u8) {
    out.rx_power_dbm.push(rx);
    out.p10_dbm.push(p10);
    out.p90_dbm.push(p90);
    out.margin_db.push(margin);
    out.flags.push(flags);
}
