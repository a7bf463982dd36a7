//! `calibrate`: offsets of the model from the measurements of a recording.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use groundwave_engine::{Engine, Next};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_model::radio::budget::Workspace;
use groundwave_model::radio::{Area, FittedWith, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_scenario::{calibration_profile, formats};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use groundwave_simulation::evaluation;
use groundwave_simulation::history::{History, LevelHistory, PlaceLevels};
use groundwave_simulation::link::{Inputs, judge, trace};
use groundwave_simulation::measure::calibrate::{
    Fitted, LOSS_DB_MAX, Prior, Sample, below_sensitivity, fit, out_of_reach,
};
use groundwave_simulation::measure::{LinkDirection, Place};
use groundwave_simulation::site::NodeId;
use groundwave_text::{Align, Table, percent, signed};
use serde::Serialize;

use super::log;
use super::output::{self, Output};
use super::placeholders;

const EXAMPLES: &str = "\
Examples:
  groundwave convert examples/emane.eel emane.gwlog
  groundwave calibrate emane.gwlog -o profile.toml
  groundwave link 57.71,11.93 57.88,11.58 --calibration profile.toml

A scenario names a profile with [calibration] file = \"profile.toml\".";

/// Fit offsets of the model to what a recording measured, class by class of frequency and distance
///
/// Each pair of nodes counts once, by the median of its measurements in both directions; one is enough. Where an end
/// moves, each square of 100 m in which it was counts once. What was
/// too weak to be received and packets that were missed are counted in. Reported with the offset: the loss of the
/// next link, 90 %, and how often that held at nodes that were left out.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Calibrate {
    /// Log file with measured links
    log: PathBuf,

    /// The profile to write; `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write over an existing file
    #[arg(long)]
    force: bool,

    /// Name of the profile [default: the name of the log file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    ground: TerrainOptions,
}

#[derive(Serialize)]
struct Document<'a> {
    file: &'a PathBuf,
    name: &'a str,
    /// Model and environment of the predictions.
    fitted: FittedWith,
    /// Area of the measured links.
    area: Option<Area>,
    classes: &'a [Fitted],
    /// Measured directions over ground without terrain data: offsets rest on assumed ground there.
    directions_without_ground: usize,
    /// Measured directions with a level below the sensitivity of the stated radio.
    directions_below_sensitivity: usize,
}

impl Calibrate {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let stem = self.log.file_stem().unwrap_or_default().to_string_lossy();
        let name = self.name.clone().unwrap_or_else(|| stem.into_owned());
        output.refuse_stdout("--output", &self.output)?;
        output::refuse_shared(&[("--output", &self.output)], &[("the log", &self.log)])?;
        output::refuse_existing(&self.output, self.force)?;
        let (engine, history, ground) = self.replay()?;
        let view = engine.view();
        if let Some(before) = &view.environment.calibration {
            let what = format!("the recording was calibrated already, with {:?}", before.name);
            return Err(Failure::Input(what));
        }
        placeholders::refuse(&history.levels, &view)?;
        let inputs = Inputs {
            terrain: &*ground.terrain,
            environment: &view.environment,
            packet_bytes: view.limits.packet_bytes,
            spacing_m: view.limits.sample_spacing_m,
        };
        // What the prediction has beyond the model: surroundings that nobody described, walls.
        let mut workspace = Workspace::default();
        let mut expected = |stations: [&Station; 2], [from, to]: [GeoPoint; 2]| {
            let profile = trace(&inputs, from, to, None);
            let ends = [(from, stations[0]), (to, stations[1])];
            let (result, _) = judge(&inputs, &profile, ends[0], ends[1], &mut workspace).ok()?;
            let prediction = &result.prediction;
            let prior = Prior {
                mean_db: (prediction.path_loss_db - result.losses.total_path_loss_db).max(0.0),
                place_sigma_db: prediction.place_sigma_db,
                link_sigma_db: prediction.link_sigma_db,
            };
            Some((prior, result.margin.sensitivity_dbm))
        };
        let (mut without_ground, mut positions, mut stations) = (0, Vec::new(), Vec::new());
        let mut directions = 0_usize;
        let mut samples_of = |(way, past): (&LinkDirection, &LevelHistory)| {
            let station = |id: NodeId| history.levels.stations.get(&id);
            let Some((from, to)) = station(way.0).zip(station(way.1)) else { return Vec::new() };
            let has_ground = past.places.values().any(|place| place.has_ground);
            let is_one = past.places.len() == 1;
            let sample = |((place, _), levels): (&(Place, usize), &PlaceLevels)| {
                // Of a link that stands still, the median of all of its levels.
                let excess_db = if is_one { past.excess.median_db() } else { levels.excess_db() };
                let excess_at_most_db = levels.excess_at_most_db();
                let delivery_prob = levels.delivery_prob();
                // Neither a level nor a packet that was missed says nothing, nor does an invented position.
                let has_level = excess_db.or(excess_at_most_db).is_some();
                let is_placed = !levels.positions.iter().any(|at| formats::is_placeholder(*at));
                if !is_placed || (!has_level && delivery_prob != Some(0.0)) {
                    return None;
                }
                let [one, other] = *place;
                let (prior, sensitivity_dbm) = expected([from, to], levels.positions)?;
                positions.extend(levels.positions);
                stations.extend([from, to]);
                Some(Sample {
                    way: *way,
                    place: if way.0 <= way.1 { [one, other] } else { [other, one] },
                    frequency_mhz: levels.frequency_mhz,
                    distance_m: levels.distance_m,
                    excess_db,
                    excess_at_most_db,
                    prior,
                    limit_db: levels.link_margin_db,
                    sensitivity_dbm,
                    delivery_prob,
                })
            };
            let samples: Vec<Sample> = past.places.iter().filter_map(sample).collect();
            directions += usize::from(!samples.is_empty());
            without_ground += usize::from(!samples.is_empty() && !has_ground);
            samples
        };
        let progress = output::progress(
            history.levels.ways.len() as u64,
            "{bar:30} {pos}/{len} directions  {per_sec}  {eta} left",
        );
        let ways = history.levels.ways.iter().inspect(|_| progress.inc(1));
        let samples: Vec<Sample> = ways.flat_map(&mut samples_of).collect();
        progress.finish_and_clear();
        let fitted = fit(&samples);
        let below = below_sensitivity(&samples);
        if fitted.is_empty() {
            let count = history.levels.ways.len();
            return Err(Failure::Input(format!(
                "no link to fit: found {count} measured directions, none with a level beside the model"
            )));
        }
        refuse_unusable(&samples, &fitted)?;
        let with = view.environment.fitted_with(ground.terrain.has_cover());
        let with = with.with_stations(stations);
        let source = self.log.display().to_string();
        let area = Area::around(&positions);
        let text = calibration_profile::write(&name, &source, &with, area.as_ref(), &fitted);
        output::write_whole(&self.output, text.as_bytes())?;
        let has_ground = match without_ground == directions {
            true => Err(Failure::no_terrain(format!(
                "no terrain data under any of {without_ground} measured directions: the offsets rest on assumed \
                 ground; the ground is that of the log: convert or record it again with --srtm-dir or --flat-earth"
            ))),
            false => Ok(()),
        };
        if output::is_stdio(&self.output) {
            return has_ground;
        }
        if output.json {
            output.json(&Document {
                file: &self.output,
                name: &name,
                fitted: with,
                area,
                classes: &fitted,
                directions_without_ground: without_ground,
                directions_below_sensitivity: below.iter().map(|kind| kind.directions).sum(),
            })?;
            return has_ground;
        }
        let mut out = format!("{}\n", output::heading(&name));
        out += &output::table(&table(&fitted), None);
        if without_ground > 0 {
            let what = format!(
                "{without_ground} of {directions} directions over ground without terrain data: their offsets rest \
                 on ground at sea level"
            );
            out += &format!("{}\n", output::warning(&what));
        }
        for kind in &below {
            let what = format!(
                "{} directions were received below the stated sensitivity of {:.0} dBm, by up to {:.1} dB: the \
                 spreading factor or data rate in use differs from that of the radio",
                kind.directions, kind.sensitivity_dbm, kind.below_db
            );
            out += &format!("{}\n", output::warning(&what));
        }
        for one in fitted.iter().filter(|one| one.inside_held_out_prob == Some(0.0)) {
            let [low_km, high_km] = one.offset.distance_km;
            let what = format!(
                "no link of {low_km} to {high_km} km lies within the interval of the fit to the others: its \
                 offset is of no use"
            );
            out += &format!("{}\n", output::warning(&what));
        }
        output.text(&out)?;
        has_ground
    }

    fn replay(&self) -> Result<(Engine<Snapshot>, History, OpenTerrain), Failure> {
        let mut log = log::open(&self.log)?;
        evaluation::compare(&mut log);
        let header = log.header().clone();
        let ground = self.ground.for_log(&header.inputs)?;
        let mut engine = world(Arc::clone(&ground.terrain))
            .build::<Snapshot>(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let mut history = History::default();
        let progress = output::progress(0, "{spinner} {msg}  {elapsed} elapsed");
        let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
            let view = engine.view();
            history.note(&view, false);
            progress.set_message(format!("tick {}", view.tick));
            Next::Go
        });
        progress.finish_and_clear();
        let failed = |error| self.ground.replay_failure(error).within(&log::name(&self.log));
        replayed.map_err(failed)?;
        ground.check_tiles()?;
        Ok((engine, history, ground))
    }
}

/// Refuses measured losses and offsets at the limit of a profile: levels that mean "no value", or powers and gains of
/// other radios.
fn refuse_unusable(samples: &[Sample], fitted: &[Fitted]) -> Result<(), Failure> {
    let invalid = |what: &str, links: usize, [low_km, high_km]: [f64; 2], level: String| {
        Err(Failure::Input(format!(
            "invalid {what} of the {links} links of {low_km} to {high_km} km: found {level}, allowed less than \
             {LOSS_DB_MAX} dB either way; check levels, transmit powers and gains of the recording"
        )))
    };
    if let Some(out) = out_of_reach(samples, fitted) {
        let level = format!("{} dB at the median", signed(out.excess_db));
        return invalid("loss beyond the model", out.links, out.distance_km, level);
    }
    let is_at_limit = |one: &&Fitted| one.offset.loss_db.abs() >= LOSS_DB_MAX;
    match fitted.iter().find(is_at_limit) {
        Some(one) => {
            let level = format!("{:+} dB or more", one.offset.loss_db);
            invalid("offset", one.links, one.offset.distance_km, level)
        }
        None => Ok(()),
    }
}

fn table(fitted: &[Fitted]) -> Table {
    let mut table = Table::new(&[
        ("MHz", Align::Right),
        ("km", Align::Right),
        ("links", Align::Right),
        ("loss beyond the model dB", Align::Right),
        ("next link, 90 %", Align::Right),
        ("error before dB", Align::Right),
        ("held out dB", Align::Right),
        ("inside, held out", Align::Right),
    ]);
    for one in fitted {
        let [low_mhz, high_mhz] = one.offset.frequency_mhz;
        let [low_km, high_km] = one.offset.distance_km;
        let [low_db, high_db] = one.next_link_db;
        let none = || "–".to_owned();
        table.row([
            format!("{low_mhz}–{high_mhz}"),
            format!("{low_km}–{high_km}"),
            one.links.to_string(),
            signed(one.offset.loss_db),
            format!("{} to {}", signed(low_db), signed(high_db)),
            format!("{:.1}", one.error_before_db),
            one.error_held_out_db.map_or_else(none, |db| format!("{db:.1}")),
            one.inside_held_out_prob.map_or_else(none, percent),
        ]);
    }
    table
}
