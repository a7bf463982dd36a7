//! Recordings of other programs as logs: read, run through a world, recorded.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use groundwave_command::waiting::with_spinner;
use groundwave_http::Failure;
use groundwave_planning::wire::radio::default_station;
use groundwave_scenario::formats::csv::tracks;
use groundwave_scenario::formats::{Dataset, Format, ReadOptions, Script, Source};
use groundwave_scenario::{MOVING_NODES_MIN, formats};
use groundwave_setup::terrain::OpenTerrain;
use groundwave_store::journal_file::WholeJournal;
use serde_json::json;
use tempfile::TempPath;

use super::{Convert, dropped, tell};
use crate::cli::output::{self, Output, warning};
use crate::cli::run::interrupts;
use crate::serve::foreign_log;

/// The refusal of a plan where a recording is asked for, with the reason why a table is not one of tracks.
pub(super) fn refusal_of_plan(file: &Path, source: &Source) -> Failure {
    let what = "a plan holds no recording; a table of levels needs --mapping FILE";
    let of_tracks = tracks::invalid_time(source)
        .map(|time| format!("; as a table of tracks: {time}, allowed {}", tracks::TIMES_ALLOWED));
    Failure::Input(format!("{}: {what}{}", file.display(), of_tracks.unwrap_or_default()))
}

impl Convert {
    /// Writes the log of a recording.
    pub(super) fn write_log(
        &self,
        format: &Format,
        mut dataset: Dataset,
        output: Output,
    ) -> Result<(), Failure> {
        dataset.note_stations();
        let ground = self.ground.open()?;
        dataset.note_ground(&*ground.terrain);
        let station = self.station()?;
        let making = format!("making {}", self.to.display());
        let script = with_spinner(&making, || dataset.script(format, &station));
        let script = script.map_err(|err| self.invalid(err))?;
        tell(&dataset.report);
        if script.unplaced > 0 {
            let count = script.unplaced;
            let line = format!(
                "{count} x no position: on a ring around 0 N 0 E, without links but the measured ones; see --places"
            );
            output::note(&warning(&line));
        }
        let moving = dataset.moving_nodes();
        if moving >= MOVING_NODES_MIN && dataset.update_distance_m == 0.0 && !output.json {
            let hint = format!(
                "{moving} nodes move: with --update-distance 10 their links are computed every 10 m instead of \
                 in every step"
            );
            output::note(&output::faint(&hint));
        }
        let digest = self.record(&dataset, &script, &ground)?;
        let step_s = dataset.step_s.unwrap_or(1.0);
        if output.json {
            return output.json(&json!({
                "file": self.to,
                "title": dataset.title,
                "nodes": script.nodes,
                "unplaced": script.unplaced,
                "measurements": dataset.measurements(),
                "ticks": script.last_tick,
                "step_s": step_s,
                "begin_unix_s": dataset.begin_unix_s,
                "dropped": dropped(&dataset.report),
                "digest": digest,
            }));
        }
        output.text(&format!(
            "{}: {} nodes, {} measurements, {} ticks of {step_s} s\n",
            self.to.display(),
            script.nodes,
            dataset.measurements(),
            script.last_tick,
        ))
    }

    /// Runs the commands through a world and records it.
    fn record(
        &self,
        dataset: &Dataset,
        script: &Script,
        ground: &OpenTerrain,
    ) -> Result<String, Failure> {
        let header = foreign_log::header(dataset, ground);
        output::refuse_existing_log(&self.to, self.force)?;
        // The log is there when it is whole, whatever ends this before.
        let target = output::behind_links(&self.to);
        let mut part = target.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let _ = std::fs::remove_file(&part);
        let stop = interrupts()?;
        let journal = WholeJournal::create(&part, &header).map_err(Failure::input)?;
        let part = TempPath::try_from_path(part)?;
        let progress =
            output::progress(script.last_tick, "{bar:30} {pos}/{len} ticks  {per_sec}  {eta} left");
        let ticked = |tick| match stop.load(Ordering::Relaxed) {
            true => Err(Failure::stopped()),
            false => {
                progress.set_position(tick);
                Ok(())
            }
        };
        let recorded = foreign_log::record(ground, script, dataset.step_ns(), journal, ticked)?;
        progress.finish_and_clear();
        if let Some((refused, (name, refusal))) = recorded.refused {
            let line = format!("{refused} x refused by the world (first: {name}: {refusal})");
            output::note(&warning(&line));
        }
        let failed = |error| Failure::Machine(format!("write {}: {error}", self.to.display()));
        WholeJournal::sync(&part).map_err(failed)?;
        part.persist(&target).map_err(|error| failed(error.error))?;
        Ok(recorded.digest)
    }
}

/// Takes positions and stations from a document, by names and ids.
pub(super) fn place(dataset: &mut Dataset, path: &Path) -> Result<(), Failure> {
    let invalid =
        |error: formats::FormatError| Failure::Input(format!("{}: {error}", path.display()));
    let source = Source::open(path).map_err(Failure::Input)?;
    let format = formats::identify(&source).map_err(invalid)?;
    let places = format.read(&source, &ReadOptions::new(default_station())).map_err(invalid)?;
    dataset.place(places, format).map_err(invalid)
}
