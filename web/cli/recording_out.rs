//! Recordings in the formats of others.

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use groundwave_engine::Next;
use groundwave_io::export::{Exporter, KINDS, Kind};
use groundwave_io::journal;
use groundwave_systems::{Snapshot, world};
use serde_json::json;

use super::failure::Failure;
use super::ground::GroundArgs;
use super::output::Output;

/// Replays the log `from` and writes it to `to`, whole or not at all.
pub fn export(from: &Path, to: &Path, ground: &GroundArgs, output: Output) -> Result<(), Failure> {
    let extension = to.extension().unwrap_or_default().to_string_lossy();
    let kind = Kind::from_extension(&extension).ok_or_else(|| {
        let file = to.display();
        Failure::Input(format!(
            "{file} is no kind a recording is written as; allowed: {KINDS}"
        ))
    })?;
    let mut log = journal::open(from).map_err(Failure::input)?;
    let header = log.header().clone();
    let ground = ground.for_log(&header.inputs)?;
    let mut engine = world(Arc::clone(&ground.terrain))
        .build::<Snapshot>(header.seed, header.step_ns)
        .map_err(Failure::input)?;
    let folder = to.parent().filter(|parent| *parent != Path::new(""));
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let mut exporter = Exporter::begin(kind, BufWriter::new(file.as_file_mut()))?;
    let mut failed = None;
    let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
        match exporter.note(&engine.view()) {
            Ok(()) => Next::Go,
            Err(err) => {
                failed = Some(err);
                Next::Stop
            }
        }
    });
    if let Some(err) = failed {
        return Err(err.into());
    }
    let replayed = replayed.map_err(Failure::input)?;
    ground.check_tiles()?;
    let count = exporter.finish(&engine.view())?;
    file.persist(to).map_err(|err| Failure::from(err.error))?;
    if output.json {
        let told = json!({ "file": to, "written": count, "ticks": replayed.ticks });
        return output.json(&told);
    }
    let what = match kind {
        Kind::Eel => "events",
        Kind::Csv | Kind::Parquet => "rows",
        Kind::NetJson | Kind::Core => "nodes and links",
    };
    output.text(&format!(
        "{}: {count} {what} of {} ticks\n",
        to.display(),
        replayed.ticks
    ))
}
