//! `log`: what a log holds, line by line.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use groundwave_engine::log::Entry;
use groundwave_io::journal;
use groundwave_systems::terrain::Flat;
use groundwave_systems::{Snapshot, world};
use serde::Serialize;

use super::failure::Failure;
use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave log manet.gwlog | head
  groundwave log manet.gwlog --json | jq 'select(.command == \"node.fail\")'";

/// Show the commands of a log; with --json one document a line
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Log {
    /// Log file made by `run --record`
    log: PathBuf,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Command {
        tick: u64,
        wall_ns: u64,
        command: &'a str,
        body: serde_json::Value,
    },
    Mark {
        tick: u64,
        digest: &'a str,
    },
    End {
        torn_bytes: u64,
    },
}

impl Log {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut log = journal::open(&self.log).map_err(Failure::input)?;
        // A world without terrain, for its registry: the log's own words decode alike everywhere.
        let flat = std::sync::Arc::new(Flat::default());
        let header = log.header().clone();
        let engine = world(flat)
            .build::<Snapshot>(header.seed, header.step_ns)
            .map_err(Failure::input)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let mut line = |line: &Line<'_>| -> Result<(), Failure> {
            if output.json {
                serde_json::to_writer(&mut out, line).map_err(std::io::Error::from)?;
                writeln!(out)?;
                return Ok(());
            }
            match line {
                Line::Command {
                    tick,
                    command,
                    body,
                    ..
                } => writeln!(out, "{tick:>8}  {command}  {body}")?,
                Line::Mark { tick, digest } => writeln!(out, "{tick:>8}  digest  {digest}")?,
                Line::End { torn_bytes: 0 } => {}
                Line::End { torn_bytes } => {
                    writeln!(out, "a torn tail of {torn_bytes} bytes was dropped")?
                }
            }
            Ok(())
        };
        while let Some(entry) = log.next_entry().map_err(Failure::input)? {
            match &entry {
                Entry::Command(record) => {
                    let body = engine.registry().to_json(&record.name, &record.body);
                    let body = body
                        .map_err(|what| Failure::Input(format!("tick {}: {what}", record.tick)))?;
                    let (tick, wall_ns, command) =
                        (record.tick, record.wall_ns, record.name.as_str());
                    line(&Line::Command {
                        tick,
                        wall_ns,
                        command,
                        body,
                    })?;
                }
                Entry::Mark(mark) => line(&Line::Mark {
                    tick: mark.tick,
                    digest: &mark.digest,
                })?,
            }
        }
        line(&Line::End {
            torn_bytes: log.torn_bytes(),
        })?;
        out.flush()?;
        Ok(())
    }
}
