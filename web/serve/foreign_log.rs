//! Recordings of other programs as logs: their commands run through a world and are recorded.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Engine, Refusal};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::{Failure, Problem};
use groundwave_planning::format_problem;
use groundwave_planning::recorder::{RecordDocument, RecordedDocument};
use groundwave_planning::wire::radio::default_station;
use groundwave_scenario::formats::{
    Dataset, ReadOptions, Script, Source, identify, without_options,
};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use groundwave_store::journal_file::WholeJournal;
use tempfile::{Builder, NamedTempFile};

use super::config::ServerConfig;
use super::ground::log_terrain;

/// Maximum number of ticks of a document that a server records, and of those of all its nodes together: some seconds of
/// work.
const TICKS_MAX: u64 = 100_000;
const NODE_TICKS_MAX: u64 = 2_000_000;

/// Header of the log of a dataset over terrain.
#[must_use]
pub fn header(dataset: &Dataset, ground: &OpenTerrain) -> Header {
    let mut inputs: BTreeMap<String, String> = ground.inputs.clone();
    inputs.insert("title".to_owned(), dataset.title.clone().unwrap_or_default());
    inputs.insert("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    if let Some(begin) = dataset.begin_unix_s {
        inputs.insert("begin_unix_s".to_owned(), begin.to_string());
    }
    Header { format: FORMAT, seed: 0, step_ns: dataset.step_ns(), inputs }
}

/// Outcome of a recording.
pub struct Recorded {
    /// Digest of the last state.
    pub digest: String,
    /// Number of commands that the world refused, and the first of them.
    pub refused: Option<(usize, (&'static str, Refusal))>,
}

/// Runs the commands through a world over `ground` and records it; `ticked` is called after each tick and may end it.
///
/// # Errors
/// When a command cannot be read, the log cannot be written, or a tile changed meanwhile; those of `ticked`.
pub fn record(
    ground: &OpenTerrain,
    script: &Script,
    step_ns: u64,
    journal: WholeJournal,
    mut ticked: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<Recorded, Failure> {
    let mut engine: Engine<Snapshot> =
        world(ground.terrain.clone()).build(0, step_ns).map_err(Failure::input)?;
    for (tick, name, body) in &script.commands {
        let command = engine.registry().from_bytes(name, body).map_err(Failure::Machine)?;
        engine.script(*tick, command);
    }
    engine.record(journal).checkpoint_every(CHECKPOINT_TICKS);
    let (mut count, mut first) = (0_usize, None);
    for tick in 1..=script.last_tick {
        let outcome = engine.tick(None).map_err(Failure::machine)?;
        count += outcome.refused.len();
        first = first.or_else(|| outcome.refused.into_iter().next());
        ticked(tick)?;
    }
    ground.check_tiles()?;
    let digest = engine.mark()?;
    engine.stop();
    Ok(Recorded { digest, refused: first.map(|first| (count, first)) })
}

/// Recorder of the documents that a server is sent, over its ground.
pub(super) fn recorder(config: &ServerConfig) -> RecordDocument {
    let config = config.clone();
    Box::new(move |name, content| {
        let source = Source { path: PathBuf::from(name), ..Source::of(content) };
        let format = identify(&source).map_err(format_problem)?;
        let station = default_station();
        let read = format.read(&source, &ReadOptions::new(station.clone()));
        let mut dataset = read.map_err(format_problem)?;
        dataset.name_after(&source.stem());
        dataset.note_stations();
        let terrain = TerrainOptions {
            flat_earth: config.flat_earth,
            posts: config.posts,
            ..log_terrain(&config)
        };
        let failed = |failure: Failure| Problem::bad_request(without_options(failure.message()));
        let ground = terrain.open().map_err(failed)?;
        dataset.heights_over_geoid(&*ground.terrain);
        dataset.note_ground(&*ground.terrain);
        let script = dataset.script(format, &station).map_err(format_problem)?;
        let node_ticks = script.last_tick.saturating_mul(script.nodes as u64);
        if script.last_tick > TICKS_MAX || node_ticks > NODE_TICKS_MAX {
            return Err(Problem::bad_request(format!(
                "invalid recording: found {} ticks of {} nodes, allowed {TICKS_MAX} ticks and {NODE_TICKS_MAX} of \
                 all nodes; logs (.gwlog) have no such limit",
                script.last_tick, script.nodes
            )));
        }
        let (file, refused) = record_into_file(&ground, &dataset, &script).map_err(failed)?;
        let mut report = dataset.report;
        if let Some((count, (command, refusal))) = refused {
            let what = format!("refused by the world: {command}: {refusal}");
            report.add_many(&what, count, Default::default);
        }
        if script.unplaced > 0 {
            report.add_many(
                "no position: on a ring around 0 N 0 E, without links but the measured ones",
                script.unplaced,
                Default::default,
            );
        }
        Ok(RecordedDocument { log: file, report })
    })
}

fn record_into_file(
    ground: &OpenTerrain,
    dataset: &Dataset,
    script: &Script,
) -> Result<(NamedTempFile, Option<(usize, (&'static str, Refusal))>), Failure> {
    let header = header(dataset, ground);
    let create = |path: &Path| WholeJournal::create(path, &header).map_err(io::Error::other);
    let (journal, path) = Builder::new().make(create)?.into_parts();
    let recorded = record(ground, script, dataset.step_ns(), journal, |_| Ok(()))?;
    let file = NamedTempFile::from_parts(File::open(&path)?, path);
    Ok((file, recorded.refused))
}
