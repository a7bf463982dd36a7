//! What a sweep leaves behind: rasters for a GIS, maps for people, numbers for both.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use groundwave_systems::radio::Verdict;
use groundwave_systems::sweep::{Variant, choose};
use groundwave_systems::terrain::Terrain;

use super::fold::{Layer, Network, SiteRows, fold_variant};
use super::plan::Plan;
use super::summary::{
    Areas, ChoiceSummary, ChosenSite, METHOD, PointSummary, Summary, VariantSummary, sites,
};
use super::work::{Sweep, SweepError};
use crate::raster::cog::{Band, CogLayout, Samples, write_cog};
use crate::raster::picture::{Canvas, Map, Sheet, Style, encode_png, write_png};
use crate::raster::{Grid, GridGeometry, RasterError, Resampling, Site, write_whole};

/// Longer side of a map's frame, px.
const MAP_SIDE_PX: u32 = 1400;

/// Sides of a panel of the contact sheet, px.
const PANEL_PX: [u32; 2] = [460, 460];

/// Panels a contact sheet shows; more would no longer be looked at.
const PANELS_MAX: usize = 48;

/// Longer side of what maps are drawn from, cells.
const MAP_CELLS_MAX: u32 = 1400;

/// What to write besides the summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// A raster for each site.
    pub site_rasters: bool,
    /// Threads that compress rasters; bytes do not depend on it.
    pub threads: std::num::NonZeroUsize,
}

/// How sets of servers cover the land: the area, or the weight of the places, that each distinct
/// set serves. All a choice of sites needs to know, whatever the raster's size.
type Sets = BTreeMap<Vec<u16>, f64>;

/// Folds all variants of a finished sweep and writes its products. `step` hears what is being
/// written.
///
/// # Errors
/// When a unit is missing or a product cannot be written.
pub fn write(
    sweep: &Sweep,
    terrain: &dyn Terrain,
    wanted: Wanted,
    mut step: impl FnMut(&str),
) -> Result<Summary, SweepError> {
    let plan = &sweep.plan;
    let mut variants = Vec::new();
    let mut panels = Vec::new();
    let elevation = elevation(plan, terrain);
    for (i, variant) in plan.variants.iter().enumerate() {
        let folder = variant_folder(sweep, variant);
        fs::create_dir_all(&folder).map_err(|err| SweepError::Disk {
            operation: "create folder",
            path: folder.clone(),
            err,
        })?;
        step(&format!("fold {}", variant.name()));
        let mut sets = Sets::new();
        let index = u32::try_from(i).expect("the scenario bounds variants");
        let mut network = fold_variant(sweep, index, sweep.folder(), |_, area_m2, servers| {
            *sets.entry(servers.to_vec()).or_default() += area_m2 / 1e6;
        })?;
        step(&format!("rasters of {}", variant.name()));
        network_rasters(plan, &folder, &mut network, wanted)?;
        if wanted.site_rasters {
            site_rasters(sweep, index, &folder, wanted, &mut step)?;
        }
        step(&format!("maps of {}", variant.name()));
        let drawn = maps(plan, variant, &folder, &mut network, elevation.as_ref())?;
        panels.push((variant.name(), drawn));
        let points = points(sweep, index, &mut network)?;
        variants.push(summarise(plan, variant, &network, points, sets));
    }
    step("contact sheet");
    contact_sheet(plan, sweep.folder(), panels)?;
    let summary = Summary {
        title: plan.title.clone(),
        plan: sweep.digest.clone(),
        raster_cells: [plan.grid.cols, plan.grid.rows],
        cell_arcsec: plan.grid.cell_deg * 3600.0,
        radius_km: plan.radius_m / 1e3,
        margin_db: plan.margin_db,
        mode: if plan.fast { "fast" } else { "exact" },
        variants,
    };
    let mut json = serde_json::to_vec_pretty(&summary).expect("a summary is plain data");
    json.push(b'\n');
    product("summary.json", write_whole(&sweep.folder().join("summary.json"), &json))?;
    Ok(summary)
}

/// Names what could not be written.
fn product<T>(what: &str, outcome: Result<T, RasterError>) -> Result<T, SweepError> {
    outcome.map_err(|err| {
        let mut cause = err.to_string();
        let mut source = std::error::Error::source(&err);
        while let Some(deeper) = source {
            cause = format!("{cause}: {deeper}");
            source = deeper.source();
        }
        SweepError::Product { what: what.to_owned(), cause }
    })
}

/// Where a variant's products lie: the sweep's folder itself where nothing varies.
#[must_use]
pub fn variant_folder(sweep: &Sweep, variant: &Variant) -> PathBuf {
    if sweep.plan.variants.len() == 1 {
        return sweep.folder().to_owned();
    }
    sweep.folder().join(variant.name())
}

fn network_rasters(
    plan: &Plan,
    folder: &Path,
    network: &mut Network,
    wanted: Wanted,
) -> Result<(), SweepError> {
    let remarks: Vec<_> =
        plan.sites.iter().enumerate().map(|(i, site)| (format!("SITE_{i}"), site.name.clone())).collect();
    let layers = [
        (Layer::Best, "best_server", Samples::U16, "", Resampling::Mode),
        (Layer::Second, "second_server", Samples::U16, "", Resampling::Mode),
        (Layer::Margin, "margin_db", Samples::F32, "dB", Resampling::Mean),
        (Layer::Servers, "servers", Samples::U16, "", Resampling::Mode),
    ];
    for (layer, name, samples, unit, resampling) in layers {
        let mut layout = CogLayout::single(samples, name, unit, resampling);
        layout.threads = wanted.threads;
        layout.remarks.clone_from(&remarks);
        let file = format!("{name}.tif");
        let mut rows = |row: u32, out: &mut [f32]| network.read(layer, row, out);
        product(&file, write_cog(&folder.join(&file), plan.grid.geometry(), &layout, &mut rows))?;
    }
    Ok(())
}

fn site_rasters(
    sweep: &Sweep,
    variant: u32,
    folder: &Path,
    wanted: Wanted,
    step: &mut impl FnMut(&str),
) -> Result<(), SweepError> {
    let plan = &sweep.plan;
    let folder = folder.join("sites");
    fs::create_dir_all(&folder)
        .map_err(|err| SweepError::Disk { operation: "create folder", path: folder.clone(), err })?;
    for (i, site) in plan.sites.iter().enumerate() {
        step(&format!("raster of {}", site.name));
        let (window, geometry) = window(plan, i)?;
        let band = |name: &str, unit: &str| Band {
            name: name.to_owned(),
            unit: unit.to_owned(),
            resampling: Resampling::Mean,
        };
        let bands = ["rx_power", "rx_power_p10", "rx_power_p90"].map(|name| band(name, "dBm"));
        let mut layout = CogLayout::single(Samples::F32, "", "", Resampling::Mean);
        layout.bands = bands.into_iter().chain([band("link_margin", "dB")]).collect();
        layout.threads = wanted.threads;
        layout.remarks = vec![("SITE".to_owned(), site.name.clone())];
        let mut rows = SiteRows::new(sweep, variant, i as u16, window);
        let file = format!("{i:03}_{}.tif", file_name(&site.name));
        product(&file, write_cog(&folder.join(&file), geometry, &layout, &mut rows))?;
    }
    Ok(())
}

/// A name as a part of a file name.
fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.chars().map(safe).collect()
}

/// The part of the raster that a site's circle touches.
fn window(plan: &Plan, site: usize) -> Result<([u32; 4], GridGeometry), SweepError> {
    let place = plan.sites[site].position;
    let arcsec = plan.grid.cell_deg * 3600.0;
    let own = super::plan::PlanGrid::around(&[place], plan.radius_m, arcsec).map_err(|err| {
        SweepError::Product { what: plan.sites[site].name.clone(), cause: err.to_string() }
    })?;
    let whole = plan.grid.geometry();
    let middle = |deg: f64, from: f64| ((deg - from) / plan.grid.cell_deg).round().max(0.0) as u32;
    let turn = |lon_deg: f64| if lon_deg < whole.west_deg - 1e-9 { lon_deg + 360.0 } else { lon_deg };
    let first_col = middle(turn(own.west_deg), whole.west_deg).min(whole.cols - 1);
    let first_row = middle(whole.north_deg, own.north_deg).min(whole.rows - 1);
    let cols = own.cols.min(whole.cols - first_col);
    let rows = own.rows.min(whole.rows - first_row);
    let west_deg = whole.west_deg + f64::from(first_col) * plan.grid.cell_deg;
    let geometry = GridGeometry {
        west_deg: if west_deg >= 180.0 { west_deg - 360.0 } else { west_deg },
        north_deg: whole.north_deg - f64::from(first_row) * plan.grid.cell_deg,
        cols,
        rows,
        ..whole
    };
    Ok(([first_col, first_row, cols, rows], geometry))
}

/// Heights under the raster, at the size of a map; `None` when there are none at all.
fn elevation(plan: &Plan, terrain: &dyn Terrain) -> Option<Grid> {
    let whole = plan.grid.geometry();
    let factor = whole.cols.max(whole.rows).div_ceil(MAP_CELLS_MAX);
    let geometry = whole.reduced(factor);
    let lon_deg: Vec<f64> = (0..geometry.cols).map(|col| geometry.lon_deg(col)).collect();
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
fn maps(
    plan: &Plan,
    variant: &Variant,
    folder: &Path,
    network: &mut Network,
    elevation: Option<&Grid>,
) -> Result<Canvas, SweepError> {
    let marks: Vec<Site> = plan
        .sites
        .iter()
        .map(|site| Site::new(&site.name, site.position.lat_deg(), site.position.lon_deg()))
        .collect();
    let subtitle = subtitle(plan, variant);
    let beyond = format!("beyond {} km, or no terrain", plan.radius_m / 1e3);
    let names: Vec<&str> = plan.sites.iter().map(|site| site.name.as_str()).collect();
    let margin = Style::ramp("Link margin of the best server", "dB", [-10.0, 40.0], Some(5.0));
    let layers = [
        (Layer::Margin, "margin", "Link margin", margin, Resampling::Mean),
        (Layer::Best, "best_server", "Best server", Style::sites("Best server", names), Resampling::Mode),
        (Layer::Servers, "servers", "Number of servers", servers_style(plan), Resampling::Mode),
    ];
    let mut panel = None;
    for (layer, stem, title, style, resampling) in layers {
        let mut rows = |row: u32, out: &mut [f32]| network.read(layer, row, out);
        let reduced = Grid::reduce(plan.grid.geometry(), (1, 0), &mut rows, MAP_CELLS_MAX, resampling);
        let grid = product(stem, reduced)?;
        let title = format!("{}: {}", plan.title, title.to_lowercase());
        let map = Map {
            title: &title,
            subtitle: &subtitle,
            layer: &grid,
            style: &style,
            no_data: &beyond,
            elevation,
            sites: &marks,
            credit: "Groundwave; terrain: SRTM (NASA/USGS)",
        };
        let drawn = map.draw(MAP_SIDE_PX);
        let file = format!("{stem}.png");
        product(&file, write_png(&folder.join(&file), &drawn.canvas, &drawn.world))?;
        if layer == Layer::Margin {
            panel = Some(map.panel(PANEL_PX));
        }
    }
    Ok(panel.expect("the margin is among the layers"))
}

fn servers_style(plan: &Plan) -> Style {
    let most = u32::try_from(plan.sites.len().min(8)).expect("at most eight");
    Style::counts("Number of servers", most)
}

fn subtitle(plan: &Plan, variant: &Variant) -> String {
    let mode = if plan.fast { "fast mode" } else { "exact mode" };
    let name = variant.name();
    let varied = if name == "plain" { String::new() } else { format!("{name}, ") };
    format!(
        "{varied}{} site(s), {} km radius, covered at {} dB margin, {mode}",
        plan.sites.len(),
        plan.radius_m / 1e3,
        plan.margin_db
    )
}

fn contact_sheet(
    plan: &Plan,
    folder: &Path,
    mut panels: Vec<(String, Canvas)>,
) -> Result<(), SweepError> {
    let all = panels.len();
    panels.truncate(PANELS_MAX);
    let subtitle = if all > panels.len() {
        format!("link margin of the best server; {} of {all} variants", panels.len())
    } else {
        "link margin of the best server".to_owned()
    };
    let sheet = Sheet { title: &plan.title, subtitle: &subtitle, columns: 4, panels };
    let bytes = product("contact_sheet.png", encode_png(&sheet.draw()))?;
    product("contact_sheet.png", write_whole(&folder.join("contact_sheet.png"), &bytes))
}

/// What a place's cell offers.
struct Offer {
    margin_db: Option<f32>,
    best: Option<u16>,
    servers: Vec<u16>,
}

fn points(sweep: &Sweep, variant: u32, network: &mut Network) -> Result<Vec<Offer>, SweepError> {
    let plan = &sweep.plan;
    let mut offers = Vec::new();
    let mut row_cells = vec![f32::NAN; plan.grid.cols as usize];
    for point in &plan.points {
        let [col, row] = plan.grid.geometry().at(point.position.lat_deg(), point.position.lon_deg());
        let inside = col >= 0.0 && row >= 0.0 && col < f64::from(plan.grid.cols) && row < f64::from(plan.grid.rows);
        if !inside {
            offers.push(Offer { margin_db: None, best: None, servers: Vec::new() });
            continue;
        }
        let (row, col) = (row as u32, col as u32);
        let mut layer = |layer| -> Result<Option<f32>, SweepError> {
            let path = sweep.folder().to_owned();
            network
                .read(layer, row, &mut row_cells)
                .map_err(|err| SweepError::Disk { operation: "read back", path, err })?;
            Ok(Some(row_cells[col as usize]).filter(|value| !value.is_nan()))
        };
        let (margin_db, best) = (layer(Layer::Margin)?, layer(Layer::Best)?);
        let tile = super::plan::TILE_CELLS;
        let unit = super::plan::Unit { variant, row: row / tile, col: col / tile };
        let reached = !plan.reaching(unit.row, unit.col).is_empty();
        let sites = if reached { sweep.read(unit)? } else { Vec::new() };
        let cell = super::fold::tile_cell(plan.grid.cols, row, col);
        let required_db = plan.margin_db as f32;
        let serves = |site: &&super::SiteTile| site.answer(cell).is_some_and(|m| m >= required_db);
        let servers = sites.iter().filter(serves).map(|site| site.site).collect();
        offers.push(Offer { margin_db, best: best.map(|best| best as u16), servers });
    }
    Ok(offers)
}

fn summarise(
    plan: &Plan,
    variant: &Variant,
    network: &Network,
    offers: Vec<Offer>,
    mut sets: Sets,
) -> VariantSummary {
    let area_km2 = Areas::of(&network.tally);
    let name = |site: u16| plan.sites[usize::from(site)].name.clone();
    let points: Vec<_> = plan
        .points
        .iter()
        .zip(&offers)
        .map(|(point, offer)| PointSummary {
            name: point.name.clone(),
            weight: point.weight,
            verdict: offer.margin_db.map(|margin| Verdict::of(f64::from(margin))),
            margin_db: offer.margin_db,
            best_server: offer.best.map(name),
        })
        .collect();
    let weight = |covered: bool| -> f64 {
        let counted = points.iter().filter(|point| !covered || point.best_server.is_some());
        counted.map(|point| point.weight).sum()
    };
    let of = if plan.points.is_empty() { "km2" } else { "weight" };
    if !plan.points.is_empty() {
        sets.clear();
        for (point, offer) in plan.points.iter().zip(&offers) {
            if !offer.servers.is_empty() {
                *sets.entry(offer.servers.clone()).or_default() += point.weight;
            }
        }
    }
    let choice = plan.choose.map(|count| chosen(plan, count, of, &sets));
    VariantSummary {
        name: variant.name(),
        values: *variant,
        covered_percent: if area_km2.answered > 0.0 { 100.0 * area_km2.covered / area_km2.answered } else { 0.0 },
        area_km2,
        sites: sites(plan, &network.tally),
        points_covered_weight: weight(true),
        points_weight: weight(false),
        points,
        choice,
    }
}

fn chosen(plan: &Plan, count: usize, of: &'static str, sets: &Sets) -> ChoiceSummary {
    let sets: Vec<(&Vec<u16>, f64)> = sets.iter().map(|(set, weight)| (set, *weight)).collect();
    let mut taken = vec![false; sets.len()];
    let gain = |taken: &Vec<bool>, site: u16| {
        let open = sets.iter().zip(taken).filter(|(_, taken)| !**taken);
        open.filter(|((set, _), _)| set.binary_search(&site).is_ok()).map(|((_, weight), _)| weight).sum()
    };
    let take = |taken: &mut Vec<bool>, site: u16| {
        for (taken, (set, _)) in taken.iter_mut().zip(&sets) {
            *taken |= set.binary_search(&site).is_ok();
        }
    };
    let sites = u16::try_from(plan.sites.len()).expect("a plan bounds its sites");
    let choice = choose(sites, count, &mut taken, gain, take);
    let all_sites: f64 = sets.iter().map(|(_, weight)| weight).sum();
    let step = |step: &groundwave_systems::sweep::Step| ChosenSite {
        name: plan.sites[usize::from(step.site)].name.clone(),
        gain: step.gain,
        covered: step.covered,
    };
    ChoiceSummary {
        of,
        sites: choice.steps.iter().map(step).collect(),
        upper_bound: choice.upper_bound.min(all_sites),
        all_sites,
        method: METHOD,
    }
}
