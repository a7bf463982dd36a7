//! Lowering of `[coverage]` to the request of a sweep.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_model::radio::antenna::is_omnidirectional;
use groundwave_model::radio::presets::{ANTENNAS, RADIOS};
use groundwave_model::radio::station::{Pointing, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_raster::picture::{Choice, Scale};
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use groundwave_values::bounds::BadValue;
use serde::Deserialize;
use serde_json::Value as Json;

use super::check::{self, Names};
use super::coverage::{Coverage, Interference, MapLayer, Receiver, Vary, WeightedPoint};
use super::file_coverage::{
    CoverageFile, InterferenceFile, MapFile, MapsFile, PointFile, ReceiverFile, VaryFile,
};
use super::limits::{COMBINATIONS_MAX, POINTS_MAX, RADIUS_CELLS, RASTERS_MAX, VALUES_MAX};
use super::lowering::Lowering;

/// One arc-second along a meridian of the mean Earth (IUGG radius 6371008.8 m), m.
const ARCSEC_M: f64 = 30.887_458;

/// Coverage requested by the section, if present; meaningful only if the report stays empty. Must
/// run after all nodes have their names.
pub(super) fn coverage(lowering: &mut Lowering<'_>) -> Option<Coverage> {
    let file = lowering.file.coverage.as_ref()?;
    let path = KeyPath::section("coverage");
    check::ranges(file, &path, &mut lowering.report);
    let sites = sites(lowering, file.sites.as_deref(), &path);
    let receiver = receiver(lowering, &file.receiver, &path.key("receiver"));
    let report = &mut lowering.report;
    extent(file, &path, report);
    let choose = choice(file.choose, sites.len(), &path.key("choose"), report);
    let points = points(&file.point, &path.key("point"), report);
    let vary = vary(&file.vary, sites.len(), &path.key("vary"), report);
    let maps = maps(&file.maps, &path.key("maps"), report);
    let interference = interference(&file.interference, &sites, &path.key("interference"), report);
    tilts(lowering, &sites, &vary, &path.dotted("vary.tilt_deg"));
    Some(Coverage {
        radius_m: file.radius_km * 1e3,
        cell_arcsec: file.cell_arcsec,
        receiver,
        sites,
        margin_db: file.margin_db,
        vary,
        points,
        choose,
        samples: file.samples.map(|samples| samples as usize),
        maps,
        interference,
    })
}

/// Interference between the sites.
fn interference(
    file: &InterferenceFile,
    sites: &[String],
    path: &KeyPath,
    report: &mut Report,
) -> Interference {
    let path = path.key("sites");
    for (name, &duty_percent) in &file.sites {
        let at = path.owned_key(name);
        if !sites.contains(name) {
            let what = format!("{:?}", check::shortened(name));
            report.at(&at, what, "names of sites of the coverage");
        } else if !(0.0..=100.0).contains(&duty_percent) {
            report.at(&at, duty_percent.to_string(), "0 to 100");
        }
    }
    Interference {
        duty_percent: file.duty_percent,
        sites: file.sites.clone(),
        shadowing_correlation: file.shadowing_correlation,
    }
}

/// Drawing of the maps.
fn maps(file: &MapsFile, path: &KeyPath, report: &mut Report) -> BTreeMap<MapLayer, Choice> {
    let written = MapLayer::ALL.into_iter().zip([
        &file.margin,
        &file.power,
        &file.path_loss,
        &file.field_strength,
        &file.rate,
        &file.probability,
        &file.sinr,
        &file.carrier_to_interference,
        &file.sinr_probability,
    ]);
    let mut maps = BTreeMap::new();
    for ((name, layer), map) in written {
        if let Some(map) = map {
            maps.extend(drawing(map, &path.key(name), report).map(|choice| (layer, choice)));
        }
    }
    maps
}

/// Drawing of one map; `None` when it is wrong.
fn drawing(file: &MapFile, path: &KeyPath, report: &mut Report) -> Option<Choice> {
    let step = file.step;
    let (key, scale) = match (&file.range, file.auto, &file.thresholds) {
        (None, false, None) => ("step", None),
        (&Some([low, high]), false, None) => ("range", Some(Scale::Range { low, high, step })),
        (None, true, None) => ("step", Some(Scale::Auto { step })),
        (None, false, Some(borders)) => ("thresholds", Some(Scale::Thresholds(borders.clone()))),
        _ => {
            let allowed = "one of `range`, `auto` and `thresholds`";
            report.at(path, "more than one scale", allowed);
            return None;
        }
    };
    if step.is_some() && matches!(scale, None | Some(Scale::Thresholds(_))) {
        let what = "a step without a range";
        report.at(&path.key("step"), what, "with `range` or `auto`");
        return None;
    }
    let choice = Choice {
        scale,
        palette: file.palette.clone(),
        clear_below: file.clear_below,
        clear_above: file.clear_above,
    };
    if let Err((wrong, why)) = choice.check() {
        let key = if wrong == "scale" { key } else { wrong };
        let (what, allowed) = why.split_once("; allowed: ").unwrap_or((&why, "another"));
        report.at(&path.key(key), what, allowed);
        return None;
    }
    Some(choice)
}

/// The sites: those named, or all that are there at time 0, in the order of the file.
fn sites(lowering: &mut Lowering<'_>, named: Option<&[String]>, path: &KeyPath) -> Vec<String> {
    let Some(named) = named else {
        let at_once = |name: &&String| {
            let stay = lowering.nodes.get(name);
            stay.is_some_and(|stay| stay.since_ns == 0)
        };
        let all: Vec<String> = lowering.node_names.iter().filter(at_once).cloned().collect();
        // Nodes that are wrong in other ways are in the report already.
        if all.is_empty() && (lowering.file.node.is_empty() || lowering.report.count() == 0) {
            let what = "no node is there at 0 s";
            lowering.report.at(path, what, "at least one site");
        }
        return all;
    };
    let path = path.key("sites");
    if named.is_empty() {
        let allowed = "at least one node, or no key for all that are there at 0 s";
        lowering.report.at(&path, "no site", allowed);
    }
    let mut names = BTreeSet::new();
    for (index, name) in named.iter().enumerate() {
        let at = path.index(index);
        if !names.insert(name) {
            let what = format!("{:?} is listed twice", check::shortened(name));
            lowering.report.at(&at, what, "each site once");
            continue;
        }
        lowering.present(name, 0, &at);
    }
    named.to_vec()
}

/// Receiver in every cell.
fn receiver(lowering: &mut Lowering<'_>, file: &ReceiverFile, path: &KeyPath) -> Receiver {
    let (catalogue, report) = (&lowering.catalogue, &mut lowering.report);
    let radio = file.radio.as_ref();
    let antenna = file.antenna.as_ref();
    Receiver {
        height_agl_m: file.height_agl_m,
        radio: radio.and_then(|radio| catalogue.radio(radio, &path.key("radio"), report)),
        antenna: antenna
            .and_then(|antenna| catalogue.antenna(antenna, &path.key("antenna"), report)),
        surroundings: file.surroundings,
        indoor: file.indoor,
    }
}

/// Radius and cell together.
fn extent(file: &CoverageFile, path: &KeyPath, report: &mut Report) {
    let at = path.key("cell_arcsec");
    if report.names(&at) || report.names(&path.key("radius_km")) {
        return;
    }
    let cells = file.radius_km * 1e3 / (file.cell_arcsec * ARCSEC_M);
    let (min, max) = RADIUS_CELLS;
    if !(min..=max).contains(&cells) {
        // Three digits: the number is to be judged, not computed with.
        let count_text = if cells < min { format!("{cells:.3}") } else { format!("{cells:.0}") };
        let what = format!("{count_text} cells from a site to the rim");
        let allowed = format!("[{min}, {max}] (radius_km = {})", file.radius_km);
        report.at(&at, what, allowed);
    }
}

/// Number of `sites` to choose.
fn choice(count: Option<u32>, sites: usize, path: &KeyPath, report: &mut Report) -> Option<usize> {
    let count = count? as usize;
    // Without sites that is the error, which is in the report.
    if sites > 0 && !(1..=sites).contains(&count) {
        let allowed = format!("[1, {sites}] (the sites there are)");
        report.at(path, format!("{count} is out of range"), allowed);
    }
    Some(count)
}

/// The places that matter.
fn points(file: &[PointFile], path: &KeyPath, report: &mut Report) -> Vec<WeightedPoint> {
    if file.len() > POINTS_MAX {
        let actual = format!("{} points", file.len());
        report.at(path, actual, format!("at most {POINTS_MAX}"));
        return Vec::new();
    }
    let mut names = Names::default();
    let mut points = Vec::with_capacity(file.len());
    for (index, point) in file.iter().enumerate() {
        let path = path.index(index);
        if check::name(&point.name, &path.key("name"), report) {
            names.add(&point.name, 0, &path.key("name"), report);
        }
        points.extend(GeoPoint::new(point.lat_deg, point.lon_deg).ok().map(|position| {
            WeightedPoint { name: point.name.clone(), position, weight: point.weight }
        }));
    }
    points
}

/// The settings to try: each list, their product, and the rasters they make.
fn vary(file: &VaryFile, sites: usize, path: &KeyPath, report: &mut Report) -> Vary {
    let before = report.count();
    let vary = Vary {
        height_agl_m: values(
            file.height_agl_m.as_deref(),
            &path.key("height_agl_m"),
            report,
            |v, s| {
                s.height_agl_m = v;
            },
        ),
        tx_power_dbm: values(
            file.tx_power_dbm.as_deref(),
            &path.key("tx_power_dbm"),
            report,
            |v, s| {
                s.radio.tx_power_dbm = v;
            },
        ),
        frequency_mhz: values(
            file.frequency_mhz.as_deref(),
            &path.key("frequency_mhz"),
            report,
            |v, s| {
                s.radio.frequency_mhz = v;
            },
        ),
        tilt_deg: values(file.tilt_deg.as_deref(), &path.key("tilt_deg"), report, |v, s| {
            s.pointing = Some(Pointing { azimuth_deg: 0.0, elevation_deg: v });
        }),
    };
    // A list that is wrong makes no sound product.
    if report.count() > before {
        return vary;
    }
    let combinations = vary.combinations();
    if combinations > COMBINATIONS_MAX {
        let actual = format!("{combinations} combinations");
        report.at(path, actual, format!("at most {COMBINATIONS_MAX}"));
    } else if combinations.saturating_mul(sites) > RASTERS_MAX {
        let rasters = combinations.saturating_mul(sites);
        let actual = format!("{rasters} rasters ({sites} sites, {combinations} combinations each)");
        let section = KeyPath::section("coverage");
        report.at(&section, actual, format!("at most {RASTERS_MAX}"));
    }
    vary
}

/// One list of values. `set` puts a value where the model will see it: what the model accepts is
/// allowed.
fn values(
    written: Option<&[f64]>,
    path: &KeyPath,
    report: &mut Report,
    set: impl Fn(f64, &mut Station),
) -> Vec<f64> {
    let Some(values) = written else {
        return Vec::new();
    };
    if values.is_empty() || values.len() > VALUES_MAX {
        let actual = format!("{} values", values.len());
        let allowed = format!("1 to {VALUES_MAX} values, or no key");
        report.at(path, actual, allowed);
        return Vec::new();
    }
    for (index, value) in values.iter().enumerate() {
        let at = path.index(index);
        if values[..index].contains(value) {
            report.at(&at, format!("{value} is listed twice"), "each value once");
        } else if let Err(bad) = accepted(*value, &set) {
            let actual = format!("{value} is out of range");
            report.at(&at, actual, bad.allowed.to_string());
        }
    }
    values.to_vec()
}

/// `true` if a station that is otherwise valid may have a value.
fn accepted(value: f64, set: impl Fn(f64, &mut Station)) -> Result<(), BadValue> {
    let mut station = Station::new(1.0, RADIOS[0].radio.clone(), ANTENNAS[0].antenna.clone());
    set(value, &mut station);
    station.validate()
}

/// Accepts downtilts that every site can be given.
fn tilts(lowering: &mut Lowering<'_>, sites: &[String], vary: &Vary, path: &KeyPath) {
    if vary.tilt_deg.is_empty() {
        return;
    }
    let added: BTreeMap<&str, &Json> = lowering
        .records
        .iter()
        .map(|placed| &placed.record)
        .filter(|record| record.at_ns == 0 && record.name == "node.add")
        .filter_map(|record| {
            Some((record.body.get("node")?.as_str()?, record.body.get("station")?))
        })
        .collect();
    for site in sites {
        // A station written out in a command that is no station is refused where it is applied.
        let Some(station) =
            added.get(site.as_str()).and_then(|station| Station::deserialize(*station).ok())
        else {
            continue;
        };
        let level_deg = match station.pointing {
            Some(pointing) => pointing.elevation_deg,
            None if is_omnidirectional(&station.antenna) => 0.0,
            None => {
                let what = format!("{site:?} is directive and looks nowhere to tilt from");
                lowering.report.at(path, what, "a pointing for that node");
                continue;
            }
        };
        for (index, tilt_deg) in vary.tilt_deg.iter().enumerate() {
            let elevation_deg = level_deg - tilt_deg;
            // Beyond [-90, 90] alone it was refused before.
            if elevation_deg.abs() > 90.0 && tilt_deg.abs() <= 90.0 {
                let what = format!("{tilt_deg} tilts {site:?} to {elevation_deg} deg elevation");
                let allowed = "elevation_deg - tilt_deg in [-90, 90]";
                lowering.report.at(&path.index(index), what, allowed);
            }
        }
    }
}
