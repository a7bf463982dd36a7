//! `link`: link budget of one link in both directions, term by term.

use std::fmt::Write;

use clap::Args;
use groundwave_http::Failure;
use groundwave_model::link::LinkPercentile;
use groundwave_model::radio::budget::Workspace;
use groundwave_model::radio::{Assumptions, Expectation, LinkResult, Surroundings};
use groundwave_model::terrain::{CoverSource, HeightSource, Posts, Profile, TileSet};
use groundwave_simulation::link::{judge, percentiles, trace};
use groundwave_text::{bits_per_second, distance};
use serde::Serialize;

use super::ends::{Assumed, EndArgs, Path};
use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave link 57.7142,11.9367,30 57.8868,11.5880,20 --radio ptp_5g8 --antenna dish_30
  groundwave link --scenario scenarios/failover.toml west east --at 30
  groundwave link 57.714,11.937 57.730,11.950 --radio lora_868_eu --modem LongFast --height 30ft,2 --gain-dbi 3dBd
  groundwave link 57.714,11.937,30 57.730,11.950,1.5 --radio lora_868_eu --surroundings open,suburban --indoor outdoors,traditional
  groundwave link 57.7142,11.9367,30 57.8868,11.9880,2 --radio lora_868_eu --land-cover examples/land-cover
  groundwave link 51.5,-0.12 51.6,-0.2 --radio lora_868_eu --antenna omni_2_15 --flat-earth --json | jq .forward.margin";

/// Compute the link budget between two endpoints in both directions, with every loss term
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Link {
    #[command(flatten)]
    endpoints: EndArgs,
}

#[derive(Serialize)]
struct Document<'a> {
    from: &'a str,
    to: &'a str,
    terrain: String,
    /// Data sets of the terrain: ground, vertical datum, licence, attribution.
    terrain_sources: Vec<HeightSource>,
    /// Data sets of land cover; absent without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    land_cover: Vec<CoverSource>,
    /// Surroundings of both ends by land cover; absent without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    land_cover_ends: Option<[Surroundings; 2]>,
    /// Height between posts.
    posts: Posts,
    /// Tiles that supplied samples of the profile.
    tiles_used: &'a TileSet,
    samples: usize,
    /// `no_terrain_data` where samples are missing, else the worse of both directions.
    verdict: String,
    /// Shares of time, locations and situations, effects left out, calibration.
    assumptions: &'a Assumptions,
    /// Antenna presets of the ends that were assumed; null where one is named.
    assumed_antennas: [Option<&'a str>; 2],
    /// Radio presets, antenna presets, heights and gains of the ends that were assumed; null where one is named.
    assumed_stations: [Assumed; 2],
    /// Name of the calibration profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    calibration: Option<&'a str>,
    forward: &'a LinkResult,
    backward: &'a LinkResult,
    /// Both directions at 10, 50 and 90 % of links like this one.
    percentiles: Vec<LinkPercentile>,
}

/// Samples the terrain profile and evaluates both directions.
pub fn analyse(path: &Path) -> Result<(Profile, LinkResult, LinkResult), Failure> {
    let inputs = path.inputs();
    let [from, to] = &path.endpoints;
    let profile = trace(&inputs, from.position, to.position, path.samples);
    path.ground.check_tiles()?;
    let (a, b) = ((from.position, &from.station), (to.position, &to.station));
    let (mut forward, mut backward) =
        judge(&inputs, &profile, a, b, &mut Workspace::default()).map_err(Failure::input)?;
    for (result, tx, rx) in [(&mut forward, from, to), (&mut backward, to, from)] {
        result.tx_node_id = Some(tx.name.clone());
        result.rx_node_id = Some(rx.name.clone());
    }
    Ok((profile, forward, backward))
}

impl Link {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let path = self.endpoints.resolve()?;
        let (profile, forward, backward) = analyse(&path)?;
        let percentiles = percentiles(&forward, &backward).map(Into::into).to_vec();
        let assumptions = path.assumptions(&profile);
        let [from, to] = &path.endpoints;
        let samples = profile.elevation_msl_m.len();
        let has_data = path.ground.require_data(&profile);
        if output.json {
            let worse = forward.verdict.min(backward.verdict);
            let source = path.ground.terrain.describe();
            let document = Document {
                from: &from.name,
                to: &to.name,
                terrain: source.name,
                terrain_sources: source.sources,
                land_cover_ends: covers(&path, &profile),
                land_cover: source.land_cover,
                posts: source.posts,
                tiles_used: &profile.terrain.tiles,
                samples,
                verdict: output::verdict_over(profile.ground, worse).replace(' ', "_"),
                assumptions: &assumptions,
                assumed_antennas: [from.assumed.antenna, to.assumed.antenna],
                assumed_stations: [from.assumed, to.assumed],
                calibration: assumptions.calibration.as_ref().map(|one| &*one.name),
                forward: &forward,
                backward: &backward,
                percentiles,
            };
            output.json(&document)?;
            return has_data;
        }
        let mut out = format!("{}\n", output::heading(&format!("{} → {}", from.name, to.name)));
        let samples = format!("terrain: {}, {samples} samples", sources(&path, &profile));
        let _ = writeln!(out, "{}", output::faint(&samples));
        if let Some(covers) = covers(&path, &profile) {
            let [from, to] = covers.map(Surroundings::name);
            let source = path.ground.terrain.describe();
            let names: Vec<_> = source.land_cover.iter().map(|source| &*source.name).collect();
            let line = format!("land cover: {from} to {to} ({})", names.join(", "));
            let _ = writeln!(out, "{}", output::faint(&line));
        }
        if let Some(line) = heights(&path) {
            let _ = writeln!(out, "{}", output::faint(&line));
        }
        let profile = assumptions.calibration.as_ref().map(ToString::to_string);
        out += &output::assumed(&assumptions, profile);
        if let Some(line) = assumed_stations([from.assumed, to.assumed]) {
            let _ = writeln!(out, "{}", output::faint(&line));
        }
        geometry(&mut out, &forward);
        budgets(&mut out, &forward, &backward);
        alike(&mut out, &forward, &backward);
        warnings(&mut out, &forward, &backward);
        output.text(&out)?;
        has_data
    }
}

/// Data sets of the terrain with ground and datum, and their attributions; none without files.
pub fn heights(path: &Path) -> Option<String> {
    let source = path.ground.terrain.describe();
    let kinds: Vec<_> = source.sources.iter().map(HeightSource::summary).collect();
    let terms: Vec<_> = std::iter::once(kinds.join(", "))
        .chain(source.attributions().into_iter().map(str::to_owned))
        .collect();
    (!kinds.is_empty()).then(|| format!("heights: {}", terms.join("; ")))
}

/// Surroundings of both ends by land cover; `None` without it.
fn covers(path: &Path, profile: &Profile) -> Option<[Surroundings; 2]> {
    path.ground.terrain.has_cover().then(|| profile.cover.map(Surroundings::from))
}

/// Source of a profile, with the tiles that supplied its samples.
pub fn sources(path: &Path, profile: &Profile) -> String {
    let source = path.ground.terrain.describe();
    let used: Vec<_> = profile.terrain.tiles.as_slice().iter().map(ToString::to_string).collect();
    match (source.tiles_used, used.as_slice()) {
        (None, _) => source.name,
        (Some(_), []) => format!("none of {} used", source.name),
        (Some(_), names) => format!("{} of {}", names.join(", "), source.name),
    }
}

/// Values of the stations that no option names; `None` where all are named.
fn assumed_stations(ends: [Assumed; 2]) -> Option<String> {
    let [radio, antenna, height, gain] = [
        both(ends.map(|end| end.radio.map(str::to_owned))).map(|text| format!("radio {text}")),
        both(ends.map(|end| end.antenna.map(str::to_owned))).map(|text| format!("antenna {text}")),
        both(ends.map(|end| end.height_agl_m.map(|height_m| height_m.to_string())))
            .map(|text| format!("{text} m above ground")),
        both(ends.map(|end| end.gain_dbi.map(|dbi| dbi.to_string())))
            .map(|text| format!("gain of {text} dBi, as the file of the pattern has none")),
    ];
    let values: Vec<_> = [radio, antenna, height, gain].into_iter().flatten().collect();
    (!values.is_empty()).then(|| format!("not named, assumed: {}", values.join(", ")))
}

/// Values of the ends that have one, once where they are equal.
fn both(ends: [Option<String>; 2]) -> Option<String> {
    match ends {
        [Some(one), Some(other)] if one != other => Some(format!("{one} and {other}")),
        [one, other] => one.or(other),
    }
}

fn geometry(out: &mut String, result: &LinkResult) {
    let geometry = &result.geometry;
    let clear = &result.clearance;
    let _ = writeln!(
        out,
        "\n  {} at {:.1}° (back {:.1}°), {} MHz, {} (model {})",
        distance(geometry.distance_m),
        geometry.azimuth_deg,
        geometry.back_azimuth_deg,
        result.frequency_mhz,
        if clear.line_of_sight { "line of sight" } else { "no line of sight" },
        result.model_version,
    );
    let _ = writeln!(
        out,
        "  antennas {:.1} m and {:.1} m MSL over ground {:.1} m and {:.1} m; Earth bulge {:.1} m",
        geometry.tx_antenna_msl_m,
        geometry.rx_antenna_msl_m,
        geometry.tx_ground_msl_m,
        geometry.rx_ground_msl_m,
        clear.max_earth_bulge_m,
    );
    if let Some(ratio) = clear.fresnel_clearance_ratio {
        let worst = clear.obstruction.map_or(String::new(), |o| {
            format!(
                ", worst {} from {} at {:.0} m MSL",
                distance(o.distance_m),
                result.tx_node_id.as_deref().unwrap_or("tx"),
                o.height_msl_m
            )
        });
        let _ = writeln!(out, "  clearance {ratio:.2} of the first Fresnel zone{worst}");
    }
}

/// A term of the link budget: its name and its value in one direction.
type Term = (&'static str, fn(&LinkResult) -> Option<f64>);

const TERMS: [Term; 20] = [
    ("transmitter power, dBm", |r| Some(r.budget.tx_power_dbm)),
    ("transmitter feeder, dB", |r| loss(r.budget.tx_feeder_loss_db)),
    ("transmitter antenna, dBi", |r| Some(r.budget.tx_gain_dbi)),
    ("transmitter pointing, dB", |r| loss(r.budget.tx_pointing_loss_db)),
    ("free space, dB", |r| Some(-r.losses.free_space_loss_db)),
    ("terrain, reference, dB", |r| r.losses.reference_attenuation_db.map(|loss| -loss)),
    ("terrain, variability, dB", |r| r.losses.variability_db.map(|loss| -loss)),
    ("terrain, diffraction, dB", |r| r.losses.diffraction_loss_db.map(|loss| -loss)),
    ("oxygen and vapour, dB", |r| Some(-r.losses.gas_oxygen_db - r.losses.gas_water_vapour_db)),
    ("rain, dB", |r| loss(r.losses.rain_loss_db)),
    ("clutter, dB", |r| loss(r.losses.clutter_tx_db + r.losses.clutter_rx_db)),
    ("walls, dB", |r| {
        loss(r.losses.building_tx_db.unwrap_or(0.0) + r.losses.building_rx_db.unwrap_or(0.0))
    }),
    ("woodland, dB", |r| loss(r.losses.vegetation_db)),
    ("other, dB", |r| loss(r.losses.other_loss_db)),
    ("calibration, dB", |r| r.losses.calibration_db.map(|db| -db)),
    ("receiver antenna, dBi", |r| Some(r.budget.rx_gain_dbi)),
    ("receiver pointing, dB", |r| loss(r.budget.rx_pointing_loss_db)),
    ("receiver feeder, dB", |r| loss(r.budget.rx_feeder_loss_db)),
    ("polarisation, dB", |r| loss(r.budget.polarization_loss_db)),
    ("received power, dBm", |r| Some(r.receiver.rx_power_dbm)),
];

/// A loss as a negative gain; none below the shown precision.
fn loss(loss_db: f64) -> Option<f64> {
    (loss_db.abs() >= 0.005).then_some(-loss_db)
}

/// Two decimals, without a minus before zero.
fn hundredths(value: f64) -> String {
    let text = format!("{value:.2}");
    if text == "-0.00" { "0.00".to_owned() } else { text }
}

fn budgets(out: &mut String, forward: &LinkResult, backward: &LinkResult) {
    let _ = writeln!(out, "\n  {:<30}{:>14}{:>14}", "", "forward", "backward");
    let mut line = |name: &str, there: String, back: String| {
        // Words that are longer than a number need the place of the name.
        let longest = there.chars().count().max(back.chars().count());
        let width = if longest < 14 { 14 } else { 18.max(longest + 2) };
        let name_width = 58_usize.saturating_sub(2 * width);
        let _ = writeln!(out, "  {name:<name_width$}{there:>width$}{back:>width$}");
    };
    let number = |value: Option<f64>| value.map_or("–".to_owned(), hundredths);
    for (name, term) in TERMS {
        let (there, back) = (term(forward), term(backward));
        if there.is_some() || back.is_some() {
            line(name, number(there), number(back));
        }
    }
    let mut both = |name: &str, show: &dyn Fn(&LinkResult) -> String| {
        line(name, show(forward), show(backward))
    };
    both("noise floor, dBm", &|r| format!("{:.2}", r.receiver.noise_floor_dbm));
    both("SNR, dB", &|r| format!("{:.2}", r.receiver.sinr_db));
    both("link margin, dB", &|r| format!("{:.2}", r.margin.link_margin_db));
    both("modulation", &|r| r.rate.modulation_id.map_or("–".to_owned(), |id| output::word(&id)));
    both("rate", &|r| bits_per_second(r.rate.data_rate_bps));
    both("packet loss, %", &|r| format!("{:.2}", r.rate.per * 100.0));
    both("ETX", &|r| number(r.rate.etx));
    if forward.availability.availability_percent.is_some() {
        both("availability, %", &|r| {
            r.availability
                .availability_percent
                .map_or("–".to_owned(), |percent| format!("{percent:.4}"))
        });
    }
    both("verdict", &|r| output::verdict_over(r.terrain.ground, r.verdict).to_owned());
}

/// Distribution of links like this one in both directions, and what it rests on.
fn alike(out: &mut String, forward: &LinkResult, backward: &LinkResult) {
    let [there, back] = [forward, backward].map(Expectation::of);
    let _ = writeln!(out);
    let mut line = |name: &str, show: &dyn Fn(&Expectation) -> String| {
        let _ = writeln!(out, "  {name:<26}{:>18}{:>18}", show(&there), show(&back));
    };
    line(Expectation::INTERVAL, &Expectation::interval);
    line(Expectation::CHANCE, &Expectation::chance);
    let _ = writeln!(out, "  {}", output::faint(there.basis.text()));
}

fn warnings(out: &mut String, forward: &LinkResult, backward: &LinkResult) {
    let warnings = forward.warnings.union(backward.warnings);
    if warnings.is_empty() {
        return;
    }
    if !forward.terrain.ground.is_enough() {
        let what = "no terrain data: the figures above rest on assumed ground";
        let _ = writeln!(out, "\n  {}", output::warning(what));
    }
    let names: Vec<_> = warnings.iter().map(|warning| output::word(&warning)).collect();
    let _ = writeln!(out, "\n  {}", output::warning(&format!("warnings: {}", names.join(", "))));
    let terrain = &forward.terrain;
    if terrain.void_samples + terrain.missing_samples > 0 {
        let _ = writeln!(
            out,
            "  {} samples in voids interpolated, {} outside the tiles taken as sea level",
            terrain.void_samples, terrain.missing_samples
        );
    }
}
