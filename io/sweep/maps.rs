//! Maps for people, overlays for a globe, outlines.

use std::path::Path;

use groundwave_systems::sweep::Variant;
use groundwave_systems::terrain::Terrain;

use super::fold::{Layer, Network};
use super::plan::Plan;
use super::product::product;
use super::work::SweepError;
use crate::picture::Bitmap;
use crate::raster::geojson::{Levels, write_contours, write_sites};
use crate::raster::kmz::{Overlay, write_kmz};
use crate::raster::picture::{Map, Sheet, Style, write_overlay, write_png};
use crate::raster::{Grid, RasterError, Resampling, Site, write_whole};

/// Longer side of a map's frame, px.
const MAP_SIDE_PX: u32 = 1400;

/// Sides of a panel of the contact sheet, px.
const PANEL_PX: [u32; 2] = [460, 460];

/// Panels a contact sheet shows; more would no longer be looked at.
pub(super) const PANELS_MAX: usize = 48;

/// Longer side of what maps are drawn from, cells.
const MAP_CELLS_MAX: u32 = 1400;

/// Heights under the raster, at the size of a map; `None` when there are none at all.
pub(super) fn elevation(plan: &Plan, terrain: &dyn Terrain) -> Option<Grid> {
    let whole = plan.grid.geometry();
    let factor = whole.cols.max(whole.rows).div_ceil(MAP_CELLS_MAX);
    let geometry = whole.reduced(factor);
    let lon_deg: Vec<f64> = (0..geometry.cols)
        .map(|col| geometry.lon_deg(col))
        .collect();
    let mut cells = Vec::with_capacity(geometry.cols as usize * geometry.rows as usize);
    let mut row_cells = vec![f64::NAN; lon_deg.len()];
    for row in 0..geometry.rows {
        let lat_deg = vec![geometry.lat_deg(row).clamp(-90.0, 90.0); lon_deg.len()];
        terrain.sample(&lat_deg, &lon_deg, &mut row_cells);
        cells.extend(row_cells.iter().map(|&height_m| height_m as f32));
    }
    let grid = Grid::new(geometry, cells).ok()?;
    grid.range().filter(|[low, high]| low < high)?;
    Some(grid)
}

/// Draws the maps of a variant and returns the panel that stands for it on the contact sheet.
pub(super) fn maps(
    plan: &Plan,
    variant: &Variant,
    folder: &Path,
    network: &mut Network,
    elevation: Option<&Grid>,
) -> Result<Bitmap, SweepError> {
    let marks: Vec<Site> = plan
        .sites
        .iter()
        .map(|site| Site::new(&site.name, site.position.lat_deg(), site.position.lon_deg()))
        .collect();
    let subtitle = subtitle(plan, variant);
    let beyond = format!("beyond {} km", plan.radius_m / 1e3);
    let names: Vec<&str> = plan.sites.iter().map(|site| site.name.as_str()).collect();
    let margin = Style::ramp(
        "Link margin of the best server",
        "dB",
        [-10.0, 40.0],
        Some(5.0),
    );
    let layers = [
        (
            Layer::Margin,
            "margin",
            "Link margin",
            margin,
            Resampling::Mean,
        ),
        (
            Layer::Best,
            "best_server",
            "Best server",
            Style::sites("Best server", names),
            Resampling::Mode,
        ),
        (
            Layer::Servers,
            "servers",
            "Number of servers",
            servers_style(plan),
            Resampling::Mode,
        ),
    ];
    let mut panel = None;
    for (layer, stem, title, style, resampling) in layers {
        let mut rows = |row: u32, out: &mut [f32]| network.read(layer, row, out);
        let reduced = Grid::reduce(
            plan.grid.geometry(),
            (1, 0),
            &mut rows,
            MAP_CELLS_MAX,
            resampling,
        );
        let grid = product(stem, reduced)?;
        let title = format!("{}: {}", plan.title, title.to_lowercase());
        let map = Map {
            title: &title,
            subtitle: &subtitle,
            layer: &grid,
            style: &style,
            no_data: if layer == Layer::Best {
                "not covered"
            } else {
                &beyond
            },
            elevation,
            sites: &marks,
            credit: "Groundwave; terrain: SRTM (NASA/USGS)",
        };
        let file = format!("{stem}.png");
        let drawn = product(&file, map.draw(MAP_SIDE_PX).map_err(RasterError::from))?;
        product(
            &file,
            write_png(&folder.join(&file), &drawn.bitmap, &drawn.world),
        )?;
        if layer == Layer::Margin {
            panel = Some(product(
                &file,
                map.panel(PANEL_PX).map_err(RasterError::from),
            )?);
            overlays(plan, folder, &grid, &style, &marks)?;
        }
    }
    Ok(panel.expect("the margin is among the layers"))
}

/// The margin for other programs: a bare picture with its place, an overlay for a globe, outlines.
fn overlays(
    plan: &Plan,
    folder: &Path,
    grid: &Grid,
    style: &Style,
    marks: &[Site],
) -> Result<(), SweepError> {
    product(
        "overlay.png",
        write_overlay(&folder.join("overlay.png"), grid, style),
    )?;
    let overlay = Overlay {
        title: &plan.title,
        layer: grid,
        style,
        sites: marks,
    };
    product(
        "coverage.kmz",
        write_kmz(&folder.join("coverage.kmz"), &overlay),
    )?;
    // Outlines where a verdict changes, and where a cell begins to count as covered.
    let mut at_least = vec![0.0, 3.0, 10.0, 20.0, plan.margin_db];
    at_least.sort_by(f64::total_cmp);
    at_least.dedup();
    let levels = Levels {
        layer: "link_margin",
        unit: "dB",
        levels: &at_least,
    };
    product(
        "contours.geojson",
        write_contours(&folder.join("contours.geojson"), grid, &levels),
    )?;
    product(
        "sites.geojson",
        write_sites(&folder.join("sites.geojson"), marks),
    )
}

fn servers_style(plan: &Plan) -> Style {
    let most = u32::try_from(plan.sites.len().min(8)).expect("at most eight");
    Style::counts("Number of servers", most)
}

fn subtitle(plan: &Plan, variant: &Variant) -> String {
    let mode = if plan.fast { "fast mode" } else { "exact mode" };
    let mut varied = variant.words();
    if !varied.is_empty() {
        varied.push_str("; ");
    }
    let sites = plan.sites.len();
    format!(
        "{varied}{sites} site{}, {} km radius, covered at {} dB margin, {mode}",
        if sites == 1 { "" } else { "s" },
        plan.radius_m / 1e3,
        plan.margin_db
    )
}

pub(super) fn contact_sheet(
    plan: &Plan,
    folder: &Path,
    panels: Vec<(String, Bitmap)>,
) -> Result<(), SweepError> {
    let all = plan.variants.len();
    let shown = if all > panels.len() {
        format!("; {} of {all} variants", panels.len())
    } else {
        String::new()
    };
    let subtitle = format!(
        "link margin of the best server, covered at {} dB{shown}",
        plan.margin_db
    );
    let sheet = Sheet {
        title: &plan.title,
        subtitle: &subtitle,
        columns: 4,
        panels,
    };
    let encoded = sheet.draw().and_then(|bitmap| bitmap.to_png());
    let bytes = product("contact_sheet.png", encoded.map_err(RasterError::from))?;
    product(
        "contact_sheet.png",
        write_whole(&folder.join("contact_sheet.png"), &bytes),
    )
}
