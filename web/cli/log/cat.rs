//! `log cat`: entries of a log, one a line.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use groundwave_engine::log::Entry;
use groundwave_http::Failure;
use serde::Serialize;

use super::redact::redact;
use super::{decoder, open, span};
use crate::cli::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave log cat run.gwlog --from 60 --to 90
  groundwave log cat run.gwlog --json | jq 'select(.command == \"node.fail\")'";

/// Show the entries of a log; with --json one document a line
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Cat {
    /// Log file made by `run --record`
    log: PathBuf,

    /// First simulated time shown, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    from: f64,

    /// Last simulated time shown, s [default: the end of the log]
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'a> {
    Command { tick: u64, wall_ns: u64, command: &'a str, body: serde_json::Value },
    Mark { tick: u64, digest: &'a str },
    Checkpoint { tick: u64, checkpoint_part: u32, bytes: usize },
    End { torn_bytes: u64 },
}

impl Cat {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut log = open(&self.log)?;
        let header = log.header().clone();
        let (from, to) = span(&header, self.from, self.to)?;
        let engine = decoder(&header)?;
        log.jump(from).map_err(Failure::input)?;
        let mut out = std::io::BufWriter::new(std::io::stdout().lock());
        let damaged = |err| Failure::input(err).within(&super::name(&self.log));
        while let Some(entry) = log.next_entry().map_err(damaged)? {
            if entry.tick() > to {
                break;
            }
            if entry.tick() < from {
                continue;
            }
            match &entry {
                Entry::Command(record) => {
                    let body = engine
                        .registry()
                        .to_json(&record.name, &record.body)
                        .map_err(|what| Failure::Input(format!("tick {}: {what}", record.tick)))?;
                    let body = redact(&record.name, body);
                    let (tick, wall_ns, command) =
                        (record.tick, record.wall_ns, record.name.as_str());
                    let line = Line::Command { tick, wall_ns, command, body };
                    put(&mut out, output, &line)?;
                }
                Entry::Checkpoint(part) => {
                    let (tick, checkpoint_part) = (part.tick, part.number);
                    let bytes = part.body.len();
                    let line = Line::Checkpoint { tick, checkpoint_part, bytes };
                    put(&mut out, output, &line)?;
                }
                Entry::Mark(mark) => {
                    let (tick, digest) = (mark.tick, mark.digest.as_str());
                    put(&mut out, output, &Line::Mark { tick, digest })?;
                }
            }
        }
        let torn_bytes = log.torn_bytes();
        put(&mut out, output, &Line::End { torn_bytes })?;
        out.flush()?;
        Ok(())
    }
}

fn put(out: &mut impl Write, output: Output, line: &Line<'_>) -> Result<(), Failure> {
    if output.json {
        serde_json::to_writer(&mut *out, line).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    match line {
        Line::Command { tick, command, body, .. } => writeln!(out, "{tick:>8}  {command}  {body}")?,
        Line::Mark { tick, digest } => writeln!(out, "{tick:>8}  digest  {digest}")?,
        Line::Checkpoint { tick, bytes, .. } => {
            writeln!(out, "{tick:>8}  checkpoint  {bytes} bytes")?;
        }
        Line::End { torn_bytes: 0 } => {}
        Line::End { torn_bytes } => {
            writeln!(out, "{torn_bytes} bytes of an incomplete last entry dropped")?
        }
    }
    Ok(())
}
