//! Products of a sweep: rasters, maps, tables and a summary.

use std::fs;
use std::path::PathBuf;

use groundwave_systems::coverage::fast::ERROR_P99_DB;
use groundwave_systems::sweep::Variant;
use groundwave_systems::terrain::{Terrain, TerrainSource};

use super::figures::{points, summarise};
use super::fold::fold_variant;
use super::maps::{PANELS_MAX, contact_sheet, elevation, maps};
use super::plan::Plan;
pub use super::product::Wanted;
use super::product::product;
use super::rasters::{cell_table, network_rasters, site_rasters};
use super::summary::{Summary, VariantSummary};
use super::work::{Sweep, SweepError};
use crate::raster::write_whole;

/// Number of steps that [`write()`] reports.
#[must_use]
pub fn steps(plan: &Plan, wanted: Wanted) -> usize {
    let sites = if wanted.site_rasters {
        plan.sites.len()
    } else {
        0
    };
    plan.variants.len() * (3 + sites + usize::from(wanted.cell_table)) + 1
}

/// Folds all variants of a finished sweep and writes its products. `step` hears what comes next
/// and may end it there with an error.
///
/// # Errors
/// When a unit is missing or a product cannot be written, and what `step` says.
pub fn write(
    sweep: &Sweep,
    terrain: &dyn Terrain,
    wanted: Wanted,
    mut step: impl FnMut(&str) -> Result<(), SweepError>,
) -> Result<Summary, SweepError> {
    let plan = &sweep.plan;
    let mut variants = Vec::new();
    let mut panels = Vec::new();
    let elevation = elevation(plan, terrain);
    let source = terrain.describe();
    let assumptions = plan.environment.assumptions(None);
    let mut credits = credits(&source);
    credits.push(("ASSUMPTIONS".to_owned(), assumptions.to_string()));
    for (i, variant) in plan.variants.iter().enumerate() {
        let folder = variant_folder(sweep, variant);
        fs::create_dir_all(&folder).map_err(|err| SweepError::Disk {
            operation: "create folder",
            path: folder.clone(),
            err,
        })?;
        step(&format!("fold {}", variant.name()))?;
        let index = u32::try_from(i).expect("the scenario bounds variants");
        let mut network = fold_variant(sweep, index, sweep.folder())?;
        step(&format!("rasters of {}", variant.name()))?;
        network_rasters(plan, &folder, &mut network, wanted, &credits)?;
        if wanted.site_rasters {
            site_rasters(sweep, index, &folder, wanted, &credits, &mut step)?;
        }
        step(&format!("maps of {}", variant.name()))?;
        let drawn = maps(plan, variant, &folder, &mut network, elevation.as_ref())?;
        if wanted.cell_table {
            step(&format!("cell table of {}", variant.name()))?;
            cell_table(plan, &folder, &mut network)?;
        }
        let points = points(sweep, index, &mut network)?;
        let summary = summarise(plan, variant, network, points);
        if panels.len() < PANELS_MAX {
            panels.push((caption(&summary), drawn));
        }
        variants.push(summary);
    }
    step("contact sheet")?;
    contact_sheet(plan, sweep.folder(), panels)?;
    let summary = Summary {
        title: plan.title.clone(),
        terrain: source.sources,
        assumptions,
        plan: sweep.digest.clone(),
        raster_cells: [plan.grid.cols, plan.grid.rows],
        cell_arcsec: plan.grid.cell_deg * 3600.0,
        radius_km: plan.radius_m / 1e3,
        margin_db: plan.margin_db,
        mode: if plan.fast { "fast" } else { "exact" },
        error_p99_db: plan.fast.then_some(ERROR_P99_DB),
        variants,
    };
    let mut json = serde_json::to_vec_pretty(&summary).expect("a summary is plain data");
    json.push(b'\n');
    product(
        "summary.json",
        write_whole(&sweep.folder().join("summary.json"), &json),
    )?;
    Ok(summary)
}

/// Attributions of the terrain as remarks of rasters.
fn credits(source: &TerrainSource) -> Vec<(String, String)> {
    let texts = source.attributions().into_iter().enumerate();
    texts
        .map(|(index, text)| (format!("TERRAIN_ATTRIBUTION_{index}"), text.to_owned()))
        .collect()
}

/// Caption of a panel of the contact sheet: varied values and covered share.
fn caption(summary: &VariantSummary) -> String {
    let words = summary.values.words();
    let gap = if words.is_empty() { "" } else { ": " };
    format!("{words}{gap}{:.1} % covered", summary.covered_percent)
}

/// Folder of a variant's products: the sweep's folder itself where nothing varies.
#[must_use]
pub fn variant_folder(sweep: &Sweep, variant: &Variant) -> PathBuf {
    if sweep.plan.variants.len() == 1 {
        return sweep.folder().to_owned();
    }
    sweep.folder().join(variant.name())
}
