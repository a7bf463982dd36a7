//! Logs as recordings in other formats.

use std::io::BufWriter;
use std::sync::Arc;

use groundwave_engine::Next;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_scenario::formats;
use groundwave_scenario::formats::Format;
use groundwave_simulation::evaluation;
use serde_json::json;

use super::{Convert, output_format};
use crate::cli::log;
use crate::cli::output::{self, Output};

impl Convert {
    /// Replays a log and writes it in another format, whole or not at all.
    pub(super) fn export(&self, output: Output) -> Result<(), Failure> {
        let writes = |format: &Format| format.write_recording.is_some();
        let format = match &self.output_format {
            Some(name) => Some(output_format(name, writes)?),
            None => formats::by_extension(&self.to, writes),
        };
        let write = format.and_then(|format| format.write_recording);
        let write = write.ok_or_else(|| {
            let (file, allowed) = (self.to.display(), formats::extensions(writes));
            Failure::Input(format!("{file}: invalid ending of a recording: allowed {allowed}"))
        })?;
        let mut log = log::open(&self.from)?;
        evaluation::compare(&mut log);
        let header = log.header().clone();
        let ground = self.ground.for_log(&header.inputs)?;
        let mut engine = world(Arc::clone(&ground.terrain))
            .build::<Snapshot>(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let mut file = output::file_for(&self.to)?;
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
        let replayed = replayed
            .map_err(|error| self.ground.replay_failure(error).within(&log::name(&self.from)))?;
        ground.check_tiles()?;
        let unit = writer.unit();
        let last = engine.view();
        let count = writer.finish(&last)?;
        output::replace(file, &self.to)?;
        let ticks = replayed.ticks;
        // Here too, because tables have no place for it.
        let assumptions = last.environment.assumptions(None);
        let summary = json!({
            "file": self.to, "written": count, "ticks": ticks, "assumptions": assumptions,
        });
        let mut text = format!("{}: {count} {unit} of {ticks} ticks\n", self.to.display());
        text += &output::assumed(&assumptions, output::profile_name(&assumptions));
        self.report(output, &summary, &text)
    }
}
