//! Recordings of other programs as logs: read, run through a world, recorded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use groundwave_engine::Engine;
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_planning::wire::radio::default_station;
use groundwave_scenario::formats;
use groundwave_scenario::formats::{Dataset, Format, ReadOptions, Script, Source};
use groundwave_store::journal_file::WholeJournal;
use serde_json::json;
use tempfile::TempPath;

use super::{Convert, dropped, tell};
use crate::cli::output::{self, Output, warning};
use crate::cli::run::interrupts;

impl Convert {
    /// Writes the log of a recording.
    pub(super) fn write_log(
        &self,
        format: &Format,
        mut dataset: Dataset,
        output: Output,
    ) -> Result<(), Failure> {
        dataset.note_stations();
        let script = dataset.script(format, &self.station()?).map_err(|err| self.invalid(err))?;
        tell(&dataset.report);
        if script.unplaced > 0 {
            let count = script.unplaced;
            let line = format!("{count} x no position: on a ring around 0 N 0 E; see --places");
            anstream::eprintln!("{}", warning(&line));
        }
        let digest = self.record(&dataset, &script)?;
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
    fn record(&self, dataset: &Dataset, script: &Script) -> Result<String, Failure> {
        let ground = self.ground.open()?;
        let step_ns = dataset.step_ns();
        let mut engine: Engine<Snapshot> =
            world(ground.terrain.clone()).build(0, step_ns).map_err(Failure::input)?;
        for (tick, name, body) in &script.commands {
            let command = engine.registry().from_bytes(name, body).map_err(Failure::Machine)?;
            engine.script(*tick, command);
        }
        let mut inputs: BTreeMap<String, String> = ground.inputs.clone();
        inputs.insert("title".to_owned(), dataset.title.clone().unwrap_or_default());
        inputs.insert("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        if let Some(begin) = dataset.begin_unix_s {
            inputs.insert("begin_unix_s".to_owned(), begin.to_string());
        }
        let header = Header { format: FORMAT, seed: 0, step_ns, inputs };
        output::refuse_existing_log(&self.to, self.force)?;
        // The log is there when it is whole, whatever ends this before.
        let mut part = self.to.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let _ = std::fs::remove_file(&part);
        let stop = interrupts()?;
        let journal = WholeJournal::create(&part, &header).map_err(Failure::input)?;
        let part = TempPath::try_from_path(part)?;
        engine.record(journal).checkpoint_every(CHECKPOINT_TICKS);
        let progress =
            output::progress(script.last_tick, "{bar:30} {pos}/{len} ticks  {per_sec}  {eta} left");
        let mut refused = 0_usize;
        let mut first = None;
        for tick in 1..=script.last_tick {
            if stop.load(Ordering::Relaxed) {
                return Err(Failure::stopped());
            }
            let ticked = engine.tick(None).map_err(Failure::machine)?;
            refused += ticked.refused.len();
            first = first.or_else(|| ticked.refused.into_iter().next());
            progress.set_position(tick);
        }
        progress.finish_and_clear();
        if let Some((name, refusal)) = first {
            let line = format!("{refused} x refused by the world (first: {name}: {refusal})");
            anstream::eprintln!("{}", warning(&line));
        }
        ground.check_tiles()?;
        let digest = engine.mark()?;
        engine.stop();
        drop(engine);
        let failed = |error| Failure::Machine(format!("write {}: {error}", self.to.display()));
        WholeJournal::sync(&part).map_err(failed)?;
        part.persist(&self.to).map_err(|error| failed(error.error))?;
        Ok(digest)
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
