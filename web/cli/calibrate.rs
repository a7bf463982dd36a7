//! `calibrate`: offsets of the model from the measurements of a recording.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use groundwave_engine::{Engine, Next};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_scenario::calibration_profile;
use groundwave_setup::terrain::{TerrainOptions, replay_failure};
use groundwave_simulation::evaluation;
use groundwave_simulation::history::{History, LevelHistory};
use groundwave_simulation::measure::LinkDirection;
use groundwave_simulation::measure::calibrate::{Fitted, LINKS_MIN, Sample, fit};
use groundwave_store::journal_file;
use groundwave_text::{Align, Table};
use serde::Serialize;

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
/// The offset of a class is a robust mean over its links, each of which counts once, by the median
/// of its measurements. Reported with it: the interval of the median, the error of the model alone,
/// and the remaining error on links that were held out.
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
    classes: &'a [Fitted],
    links_left_out: usize,
}

impl Calibrate {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let stem = self.log.file_stem().unwrap_or_default().to_string_lossy();
        let name = self.name.clone().unwrap_or_else(|| stem.into_owned());
        output::refuse_existing(&self.output, self.force)?;
        let (engine, history) = self.replay()?;
        let view = engine.view();
        if let Some(before) = &view.environment.calibration {
            let what = format!("the recording was calibrated already, with {:?}", before.name);
            return Err(Failure::Input(what));
        }
        placeholders::refuse(&history.levels, &view)?;
        let sample = |(way, past): (&LinkDirection, &LevelHistory)| {
            let (from, to) = (view.node(way.0)?, view.node(way.1)?);
            let way = groundwave_model::terrain::geodesic::inverse(from.position, to.position);
            Some(Sample {
                frequency_mhz: from.station.radio.frequency_mhz,
                distance_m: way.distance_m,
                excess_db: past.excess.median_db()?,
            })
        };
        let samples: Vec<Sample> = history.levels.ways.iter().filter_map(sample).collect();
        let (fitted, left_out) = fit(&samples);
        if fitted.is_empty() {
            let count = samples.len();
            return Err(Failure::Input(format!(
                "{count} directions were measured beside the model, no class of them has \
                 {LINKS_MIN}: nothing to fit"
            )));
        }
        let text = calibration_profile::write(&name, &self.log.display().to_string(), &fitted);
        output::write_whole(&self.output, text.as_bytes())?;
        if output::is_stdio(&self.output) {
            return Ok(());
        }
        if output.json {
            return output.json(&Document {
                file: &self.output,
                name: &name,
                classes: &fitted,
                links_left_out: left_out,
            });
        }
        let mut out = format!("{}\n", output::heading(&name));
        out += &output::table(&table(&fitted), None);
        if left_out > 0 {
            let what =
                format!("{left_out} directions in classes of fewer than {LINKS_MIN}: left out");
            out += &format!("{}\n", output::warning(&what));
        }
        output.text(&out)
    }

    fn replay(&self) -> Result<(Engine<Snapshot>, History), Failure> {
        let mut log = journal_file::open(&self.log).map_err(Failure::input)?;
        evaluation::compare(&mut log);
        let header = log.header().clone();
        let ground = self.ground.for_log(&header.inputs)?;
        let mut engine = world(Arc::clone(&ground.terrain))
            .build::<Snapshot>(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let mut history = History::default();
        let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
            history.note(&engine.view(), false);
            Next::Go
        });
        replayed.map_err(replay_failure)?;
        ground.check_tiles()?;
        Ok((engine, history))
    }
}

fn table(fitted: &[Fitted]) -> Table {
    let mut table = Table::new(&[
        ("MHz", Align::Right),
        ("km", Align::Right),
        ("loss beyond the model dB", Align::Right),
        ("95 % interval", Align::Right),
        ("spread dB", Align::Right),
        ("links", Align::Right),
        ("error before dB", Align::Right),
        ("held out dB", Align::Right),
    ]);
    for one in fitted {
        let [low_mhz, high_mhz] = one.offset.frequency_mhz;
        let [low_km, high_km] = one.offset.distance_km;
        let [low_db, high_db] = one.interval_db;
        table.row([
            format!("{low_mhz}–{high_mhz}"),
            format!("{low_km}–{high_km}"),
            format!("{:+.1}", one.offset.loss_db),
            format!("{low_db:+.1} to {high_db:+.1}"),
            format!("{:.1}", one.spread_db),
            one.links.to_string(),
            format!("{:.1}", one.error_before_db),
            format!("{:.1}", one.error_held_out_db),
        ]);
    }
    table
}
