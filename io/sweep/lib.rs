//! Batch coverage: a plan, its units, and what they fold to.
//!
//! 1. [`Plan`]: everything the result depends on; its digest names the units.
//! 2. [`Sweep::work`]: the missing units of a share, side by side, each a file of its own.
//! 3. [`products`]: rasters, maps, outlines, tables and a summary, made of units while others are
//!    still computed, or of those in the folder.
//!
//! [`Sweep::join`] lets processes that share nothing but the folder carry out a sweep together: they
//! claim units by lease files.
//!
//! Worker loss, a kill and a restart are one case: whatever units are missing are computed. One
//! process and any number of shards leave the same bytes, because a unit's bytes depend on the
//! plan and its place alone, and products do not depend on the order of units.

mod accelerated;
mod cells;
mod contact_sheet;
mod difference;
mod drawing;
mod engine;
mod evaluate;
mod extent;
mod facts;
mod figures;
#[cfg(test)]
mod fixtures;
mod fold;
mod fold_tile;
mod interference;
mod join;
mod lease;
mod map_styles;
mod maps;
mod memory;
mod near;
mod overview;
mod plan;
mod product;
pub mod products;
mod rasters;
mod remote;
mod shared_file;
mod sink;
mod site_marks;
mod summary;
mod terrain_files;
mod unit;
mod unit_file;
mod work;

pub use accelerated::{Accelerated, UnitEvaluator};
pub use drawing::Choices;
pub use engine::{EngineChoice, EngineSummary, SweepEngine};
pub use evaluate::{check_sites, evaluator};
pub use extent::Extent;
pub use join::Joined;
pub use lease::{Claim, Held, Leases, Watch, Worker, clear as clear_leases};
pub use memory::keep_freed_memory;
pub use near::Area;
pub use plan::{Plan, PlanError, PlanGrid, PlanPoint, PlanSite, Unit};
pub use site_marks::Labels;
pub use summary::{NoAnswer, Summary, VariantSummary};
pub use terrain_files::TerrainFiles;
pub use unit::{Answers, Column, Level, SiteTile};
pub use unit_file::{PackedSite, UnitReader, UnitWriter};
pub use work::{Evaluate, Shard, Supply, Sweep, SweepError, Worked};

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::radio::{Station, presets};
use groundwave_model::sweep::{Vary, variants};
use groundwave_scenario::Coverage;
use groundwave_simulation::WorldView;

/// The node that a scenario calls `name`.
fn find<'a>(view: &'a WorldView, name: &str) -> Option<&'a groundwave_simulation::site::NodeView> {
    view.node(groundwave_simulation::site::NodeId::named(name)).or_else(|| view.named(name))
}

/// Labels of the sites of a coverage, where they differ from the names.
#[must_use]
pub fn labels(coverage: &Coverage, view: &WorldView) -> Labels {
    let label = |name: &String| Some((name.clone(), find(view, name)?.name.clone()));
    coverage.sites.iter().filter_map(label).filter(|(name, label)| name != label).collect()
}

/// The plan of a scenario's coverage, over the nodes in `view`, whose units hold these columns, with no
/// digests of terrain yet: finding them takes as long as all else, so callers find them meanwhile.
///
/// # Errors
/// See [`PlanError`].
pub fn plan(
    title: &str,
    coverage: &Coverage,
    view: &WorldView,
    columns: BTreeSet<Column>,
) -> Result<Plan, PlanError> {
    let antenna = || presets::antenna(presets::ANTENNA_DEFAULT).expect("a preset").antenna.clone();
    let site = |(name, node): (&String, &groundwave_simulation::site::NodeView)| {
        let receiver = &coverage.receiver;
        PlanSite {
            name: name.clone(),
            position: node.position,
            station: node.station.clone(),
            receiver: Station {
                surroundings: receiver.surroundings,
                indoor: receiver.indoor,
                ..Station::new(
                    receiver.height_agl_m,
                    receiver.radio.clone().unwrap_or_else(|| node.station.radio.clone()),
                    receiver.antenna.clone().unwrap_or_else(antenna),
                )
            },
        }
    };
    let sites: Vec<PlanSite> = coverage
        .sites
        .iter()
        .filter_map(|name| Some((name, find(view, name)?)))
        .map(site)
        .collect();
    let vary = &coverage.vary;
    let vary = Vary {
        height_agl_m: vary.height_agl_m.clone(),
        tx_power_dbm: vary.tx_power_dbm.clone(),
        frequency_mhz: vary.frequency_mhz.clone(),
        tilt_deg: vary.tilt_deg.clone(),
    };
    let point = |point: &groundwave_scenario::coverage::WeightedPoint| PlanPoint {
        name: point.name.clone(),
        position: point.position,
        weight: point.weight,
    };
    let plan = Plan {
        evaluation: plan::EVALUATION,
        title: title.to_owned(),
        grid: PlanGrid::around_sites(&sites, coverage.radius_m, coverage.cell_arcsec)?,
        variants: variants(&vary),
        sites,
        radius_m: coverage.radius_m,
        margin_db: coverage.margin_db,
        environment: view.environment.as_ref().clone(),
        packet_bytes: view.limits.packet_bytes,
        samples: coverage.samples,
        sample_spacing_m: view.limits.sample_spacing_m,
        points: coverage.points.iter().map(point).collect(),
        choose: coverage.choose,
        terrain: BTreeMap::new(),
        columns,
        engine: None,
    };
    plan.check()?;
    Ok(plan)
}
