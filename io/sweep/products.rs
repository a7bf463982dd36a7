//! Products of a sweep: rasters, maps, tables and a summary.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use groundwave_model::sweep::Variant;
use groundwave_model::terrain::{Terrain, TerrainSource};

use super::cells::cell_table;
use super::contact_sheet::Panels;
use super::drawing::Kept;
use super::evaluate::undecodable;
use super::facts::facts;
use super::figures::{points, summarise};
use super::maps::{Drawing, Spreads, ground};
use super::plan::Unit;
use super::product::{Job, product};
pub use super::product::{Product, Wanted};
use super::rasters::SiteRaster;
use super::sink::{Gathered, Sink};
use super::site_marks::marks;
use super::summary::{Summary, VariantSummary};
pub use super::work::Supply;
use super::work::{Sweep, SweepError};
use groundwave_raster::picture::Choice;
use groundwave_raster::{RasterWriter, write_whole};

/// Makes the products of a sweep out of its units, which come from the folder or are computed.
/// `step` hears what comes next and may end it there with an error.
///
/// # Errors
/// When a unit is missing and cannot be computed, when a product cannot be written, and what `step`
/// says.
pub fn write(
    sweep: &Sweep,
    terrain: &dyn Terrain,
    wanted: &Wanted,
    supply: Supply<'_>,
    mut step: impl FnMut(&str) -> Result<(), SweepError>,
) -> Result<Summary, SweepError> {
    let plan = &sweep.plan;
    wanted.check(sweep)?;
    let all = plan.units();
    let mut variants = Vec::new();
    let mut heights = None;
    let assumptions = plan.environment.assumptions_at(&plan.frequencies_mhz());
    let stations = plan.sites.iter().flat_map(|site| [&site.station, &site.receiver]);
    let assumptions = assumptions.between(stations).with_clutter(terrain.has_cover());
    let source = terrain.describe();
    let attribution = format!("{}. Assumed: {assumptions}", attribution(&source));
    let mut credits = credits(&source);
    let mut panels = Panels::new(plan, sweep.folder(), &attribution);
    credits.push(("ASSUMPTIONS".to_owned(), assumptions.to_string()));
    credits.push(("NOT_COMPUTED".to_owned(), plan.not_computed()));
    // A scale from the data is that of all variants: their maps wait for the last one.
    let waits = plan.variants.len() > 1 && wanted.maps.values().any(Choice::is_auto);
    let disk =
        |operation| move |err| SweepError::Disk { operation, path: sweep.folder().to_owned(), err };
    let mut kept =
        waits.then(|| Kept::new(sweep.folder())).transpose().map_err(disk("create a file in"))?;
    let mut spreads = Spreads::default();
    let labelled = |variant: &Variant| {
        let facts = facts(plan, variant, &source, wanted);
        (marks(plan, variant, &wanted.labels), facts)
    };
    for (i, variant) in plan.variants.iter().enumerate() {
        let folder = variant_folder(sweep, variant);
        create(&folder)?;
        if wanted.any(&Product::OF_SITES) {
            create(&folder.join("sites"))?;
        }
        step(&format!("units of {}", variant.name()))?;
        let index = u32::try_from(i).expect("the scenario bounds variants");
        let units: Vec<Unit> = all.iter().filter(|unit| unit.variant == index).copied().collect();
        // Heights of maps are read beside the first units.
        let known = heights.take();
        let ground = || known.unwrap_or_else(|| ground(plan, terrain, wanted));
        let feed = || {
            let sink = Sink::new(sweep, units.clone(), &folder, wanted)?;
            sink.feed(units, supply)?;
            Ok::<_, SweepError>(sink)
        };
        let (sink, ground) = rayon::join(feed, ground);
        let (sink, ground) = (sink?, &*heights.insert(ground));
        step(&format!("files of {}", variant.name()))?;
        let Gathered { network, grids, rasters, sites } = sink.finish();
        spreads.add(wanted, &grids);
        let (marks, facts) = labelled(variant);
        let drawing = Drawing {
            plan,
            variant,
            folder: &folder,
            wanted,
            marks: &marks,
            ground,
            spreads: &spreads,
            facts: &facts,
            credit: &attribution,
        };
        let points = points(sweep, index)?;
        let summary = summarise(plan, variant, network, points);
        let mut jobs = match &mut kept {
            None => drawing.jobs(&grids, &mut panels, caption(&summary)),
            Some(kept) => {
                kept.add(&grids).map_err(disk("write to a file in"))?;
                Vec::new()
            }
        };
        let credits = &credits;
        let finish = |(file, writer): (String, RasterWriter)| -> Job<'_> {
            Box::new(move || product(&file, writer.finish(credits)).map(drop))
        };
        let mut waiting: Vec<_> = rasters.into_iter().map(finish).collect();
        let beside = !sites.is_empty();
        let finish = |site: SiteRaster<'_>| match site.finish(credits)? {
            Some(margin) => drawing.site(&margin, terrain),
            None => Ok(()),
        };
        // Sites whose maps are wanted are mostly drawn.
        let draws = wanted.has(Product::SiteMaps);
        let of_sites = if draws { &mut jobs } else { &mut waiting };
        for site in sites {
            let finish = &finish;
            of_sites.push(Box::new(move || finish(site)));
        }
        together(jobs, waiting)?;
        drop(grids);
        if wanted.any(&Product::OF_SITES) && !beside {
            for (i, site) in plan.sites.iter().enumerate() {
                step(&format!("files of {}", site.name))?;
                let raster = SiteRaster::create(plan, i, &folder, wanted)?;
                raster.read(sweep, index)?;
                finish(raster)?;
            }
        }
        if wanted.has(Product::Cells) {
            step(&format!("cell table of {}", variant.name()))?;
            cell_table(sweep, index, &folder)?;
        }
        variants.push(summary);
    }
    if let (Some(kept), Some(ground)) = (kept, &heights) {
        kept.each(disk("read a file in"), |i, grids| {
            let variant = &plan.variants[i];
            step(&format!("maps of {}", variant.name()))?;
            let folder = variant_folder(sweep, variant);
            let (marks, facts) = labelled(variant);
            let drawing = Drawing {
                plan,
                variant,
                folder: &folder,
                wanted,
                marks: &marks,
                ground,
                spreads: &spreads,
                facts: &facts,
                credit: &attribution,
            };
            let jobs = drawing.jobs(&grids, &mut panels, caption(&variants[i]));
            together(jobs, Vec::new())
        })?;
    }
    let summary = Summary {
        title: plan.title.clone(),
        terrain: source.sources,
        assumptions,
        plan: sweep.digest.clone(),
        raster_cells: [plan.grid.cols, plan.grid.rows],
        cell_arcsec: plan.grid.cell_deg * 3600.0,
        radius_km: plan.radius_m / 1e3,
        not_computed: plan.not_computed(),
        margin_db: plan.margin_db,
        undecodable_sites: undecodable(plan),
        engine: supply.engine.and_then(|engine| engine()),
        variants,
    };
    let mut json = serde_json::to_vec_pretty(&summary).expect("a summary is plain data");
    json.push(b'\n');
    product("summary.json", write_whole(&sweep.folder().join("summary.json"), &json))?;
    Ok(summary)
}

fn create(folder: &Path) -> Result<(), SweepError> {
    fs::create_dir_all(folder).map_err(|err| SweepError::Disk {
        operation: "create folder",
        path: folder.to_owned(),
        err,
    })
}

/// Runs jobs side by side, begun in their order; of several failures the first in that order is told.
/// `waiting` are those that mostly wait for the disk: they have threads of their own, lest processors
/// stand idle.
fn together(jobs: Vec<Job<'_>>, waiting: Vec<Job<'_>>) -> Result<(), SweepError> {
    let mut outcomes: Vec<_> = jobs.iter().chain(&waiting).map(|_| Ok(())).collect();
    let (of_jobs, of_waiting) = outcomes.split_at_mut(jobs.len());
    thread::scope(|threads| {
        for (job, outcome) in waiting.into_iter().zip(of_waiting) {
            threads.spawn(|| *outcome = job());
        }
        rayon::in_place_scope_fifo(|scope| {
            for (job, outcome) in jobs.into_iter().zip(of_jobs) {
                scope.spawn_fifo(|_| *outcome = job());
            }
        });
    });
    outcomes.into_iter().collect()
}

/// Attributions of the terrain as remarks of rasters.
fn credits(source: &TerrainSource) -> Vec<(String, String)> {
    let texts = source.attributions().into_iter().enumerate();
    texts.map(|(index, text)| (format!("TERRAIN_ATTRIBUTION_{index}"), text.to_owned())).collect()
}

/// The line of a map on its sources: data sets of the terrain, then their attributions.
fn attribution(source: &TerrainSource) -> String {
    let mut names: Vec<&str> = Vec::new();
    for source in &source.sources {
        if !names.contains(&source.name.as_str()) {
            names.push(&source.name);
        }
    }
    let terrain = if names.is_empty() { source.name.clone() } else { names.join(", ") };
    let mut parts = vec!["Groundwave".to_owned(), format!("terrain: {terrain}")];
    parts.extend(source.attributions().into_iter().map(str::to_owned));
    parts.join("; ")
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
