//! `sweep --dry-run`: extent of a sweep and its terrain.

use groundwave_http::Failure;
use groundwave_setup::terrain::OpenTerrain;
use groundwave_sweep::{Extent, Plan};
use serde::Serialize;

use super::output::{self, Output};

/// Extent and terrain.
#[derive(Serialize)]
struct Report<'p> {
    title: &'p str,
    #[serde(flatten)]
    extent: Extent,
    /// Files of terrain near the sites, of those that are there.
    terrain_files: usize,
    terrain_files_found: usize,
    /// Length of those near the sites.
    terrain_bytes: u64,
}

/// Shows what a sweep would compute, and computes nothing.
///
/// # Errors
/// When a file of terrain or the output fails.
pub fn show(plan: &Plan, ground: &OpenTerrain, output: Output) -> Result<(), Failure> {
    let files = ground.supplying();
    let terrain_files_found = files.len();
    let near = plan.files_near(files);
    let mut terrain_bytes = 0;
    for file in &near {
        terrain_bytes += std::fs::metadata(&file.path)?.len();
    }
    let units = plan.units();
    let report = Report {
        title: &plan.title,
        extent: plan.extent(&units),
        terrain_files: near.len(),
        terrain_files_found,
        terrain_bytes,
    };
    if output.json {
        return output.json(&report);
    }
    let Extent { sites, variants, raster_cells: [cols, rows], cells, units, evaluations } =
        report.extent;
    output.text(&format!(
        "{}\n\
         raster of {cols} x {rows} cells of {}″, {sites} sites, {variants} variants\n\
         {cells} cells near sites in {units} units, at most {evaluations} evaluations of a cell for a site\n\
         {} of {} files of terrain near sites, {:.1} MB\n",
        output::heading(&plan.title),
        plan.grid.cell_deg * 3600.0,
        report.terrain_files,
        report.terrain_files_found,
        terrain_bytes as f64 / 1e6,
    ))
}
