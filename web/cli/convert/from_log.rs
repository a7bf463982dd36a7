//! Logs as recordings in other formats.

use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;

use groundwave_engine::Next;
use groundwave_io::formats;
use groundwave_io::journal;
use groundwave_systems::{Snapshot, world};
use serde_json::json;

use crate::cli::output::Output;
use groundwave::serve::Failure;
use groundwave::serve::terrain::TerrainOptions;

/// Replays the log `from` and writes it to `to`, whole or not at all.
pub fn export(
    from: &Path,
    to: &Path,
    ground: &TerrainOptions,
    output: Output,
) -> Result<(), Failure> {
    let writes = |format: &formats::Format| format.write_recording.is_some();
    let format = formats::by_extension(to, writes).and_then(|format| format.write_recording);
    let write = format.ok_or_else(|| {
        let (file, allowed) = (to.display(), formats::extensions(writes));
        Failure::Input(format!(
            "{file}: invalid ending of a recording: allowed {allowed}"
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
    let mut writer = write(Box::new(BufWriter::new(file.as_file_mut())))?;
    let mut failed = None;
    let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
        match writer.write(&engine.view()) {
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
    let unit = writer.unit();
    let count = writer.finish(&engine.view())?;
    file.persist(to).map_err(|err| Failure::from(err.error))?;
    if output.json {
        let told = json!({ "file": to, "written": count, "ticks": replayed.ticks });
        return output.json(&told);
    }
    output.text(&format!(
        "{}: {count} {unit} of {} ticks\n",
        to.display(),
        replayed.ticks
    ))
}
