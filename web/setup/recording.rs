//! Recordings as scenarios: the commands of a log, played again in a world that something else takes part in.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use groundwave_engine::log::{Entry, Reader};
use groundwave_engine::{Clock, Engine};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_model::terrain::Flat;
use groundwave_scenario::{Scenario, Scheduled};

use super::simulation::load;
use super::terrain::{OpenTerrain, TerrainOptions};

/// First octets of logs of all versions.
const LOG_MAGIC: &[u8] = b"GWAVELO";
/// Beginning of the names of commands that only the testbed of the recording understands.
const TESTBED: &str = "testbed.";

/// A scenario, or a log as one.
pub struct Source {
    /// Commands with their times.
    pub scenario: Scenario,
    /// Inputs of the log, which name its ground; `None` for a scenario.
    inputs: Option<BTreeMap<String, String>>,
}

impl Source {
    /// Reads a scenario or a log, by the first octets of the file; `-` is a scenario on standard input.
    ///
    /// # Errors
    /// An invalid scenario or log, and a log of a world that was not empty at its beginning.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let mut head = Vec::new();
        if path != Path::new("-")
            && !path.is_dir()
            && let Ok(file) = File::open(path)
        {
            file.take(LOG_MAGIC.len() as u64).read_to_end(&mut head)?;
        }
        if head != LOG_MAGIC {
            return Ok(Self { scenario: load(path)?, inputs: None });
        }
        let reader = Reader::open(BufReader::new(File::open(path)?)).map_err(Failure::input)?;
        Self::of_log(path, reader)
    }

    fn of_log(path: &Path, mut log: Reader<BufReader<File>>) -> Result<Self, Failure> {
        let header = log.header().clone();
        let invalid = |what: String| Failure::Input(format!("{}: {what}", path.display()));
        let engine: Engine<Snapshot> = world(Arc::new(Flat::default()))
            .build(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let clock = Clock::new(header.step_ns);
        let (mut records, mut last_ns) = (Vec::new(), 0);
        let damaged = |err| Failure::input(err).within(&format!("log {}", path.display()));
        while let Some(entry) = log.next_entry().map_err(damaged)? {
            let begins_late = records.is_empty() && matches!(entry, Entry::Checkpoint(_));
            if begins_late {
                let what = "found a log of a world that was not empty at its beginning, allowed one that \
                            holds all of its commands";
                return Err(invalid(what.to_owned()));
            }
            // The tick begins at this time.
            let at_ns = entry.tick().saturating_sub(1).saturating_mul(header.step_ns);
            last_ns = at_ns;
            let Entry::Command(record) = entry else { continue };
            if record.name.starts_with(TESTBED) {
                continue;
            }
            debug_assert_eq!(clock.tick_at(at_ns), record.tick);
            let body = engine
                .registry()
                .to_json(&record.name, &record.body)
                .map_err(|what| invalid(format!("tick {}: {what}", record.tick)))?;
            records.push(Scheduled { at_ns, name: record.name, body });
        }
        if records.is_empty() {
            return Err(invalid("found no command, allowed one or more".to_owned()));
        }
        let text = "[scenario]\ntitle = \"recording\"\nstep_s = 1\nduration_s = 1\n";
        let empty = groundwave_scenario::parse_with(text, "recording", Path::new(""), &[]);
        let title = header.inputs.get("title").cloned();
        let begin = header.inputs.get("begin_unix_s");
        let scenario = Scenario {
            title: title.unwrap_or_else(|| "recording".to_owned()),
            begin_unix_s: begin.and_then(|begin_s| begin_s.parse().ok()),
            seed: header.seed,
            step_ns: header.step_ns,
            duration_ns: last_ns.max(1),
            // Of the recorded commands, which name everything.
            names_model: true,
            lines: (1..).take(records.len()).collect(),
            records,
            ..empty.map_err(Failure::input)?
        };
        Ok(Self { scenario, inputs: Some(header.inputs) })
    }

    /// The ground of the scenario, or that of the log.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn ground(&self, options: &TerrainOptions) -> Result<OpenTerrain, Failure> {
        match &self.inputs {
            Some(inputs) => options.for_log(inputs),
            None => options.for_scenario(&self.scenario),
        }
    }
}
