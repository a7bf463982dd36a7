//! `log verify`: integrity check of a log.

use std::path::PathBuf;

use clap::Args;
use groundwave_engine::log::{Checkpoint, Entry};
use groundwave_http::Failure;
use serde::Serialize;

use super::{decoder, open};
use crate::cli::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave log verify run.gwlog";

/// Verify every checksum and command of a log; the error names the position of damage
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Verify {
    /// Log file made by `run --record`
    log: PathBuf,
}

#[derive(Serialize)]
struct Document {
    commands: u64,
    marks: u64,
    checkpoints: u64,
    last_tick: u64,
    closed: bool,
    torn_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
}

impl Verify {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut log = open(&self.log)?;
        let engine = decoder(log.header())?;
        let mut report = Document {
            commands: 0,
            marks: 0,
            checkpoints: 0,
            last_tick: 0,
            closed: false,
            torn_bytes: 0,
            damage: None,
        };
        let mut parts = Vec::new();
        loop {
            let entry = match log.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                Err(err) => {
                    report.damage = Some(err.to_string());
                    break;
                }
            };
            if entry.tick() < report.last_tick {
                let (from, to) = (report.last_tick, entry.tick());
                report.damage = Some(format!("tick order: {to} after {from}"));
                break;
            }
            report.last_tick = entry.tick();
            match entry {
                Entry::Command(record) => {
                    report.commands += 1;
                    let read = engine.registry().from_bytes(&record.name, &record.body);
                    if let Err(what) = read {
                        report.damage = Some(format!("tick {}: {what}", record.tick));
                        break;
                    }
                }
                Entry::Mark(_) => report.marks += 1,
                Entry::Checkpoint(part) => {
                    let (tick, last) = (part.tick, part.last);
                    parts.push(part);
                    if last {
                        let whole = Checkpoint::join(std::mem::take(&mut parts));
                        if let Err(what) = whole {
                            report.damage = Some(format!("tick {tick}: checkpoint: {what}"));
                            break;
                        }
                        report.checkpoints += 1;
                    }
                }
            }
        }
        report.closed = log.is_closed();
        report.torn_bytes = log.torn_bytes();
        let Document { commands, marks, last_tick, torn_bytes, .. } = report;
        let intact = format!("{commands} commands and {marks} digests up to tick {last_tick}");
        if output.json {
            output.json(&report)?;
        } else if report.damage.is_none() {
            let tail = match torn_bytes {
                0 => String::new(),
                bytes => format!("; {bytes} bytes of an incomplete last entry dropped"),
            };
            output.text(&format!("intact: {intact}{tail}\n"))?;
        }
        match report.damage {
            None => Ok(()),
            Some(damage) => {
                let file = self.log.display();
                Err(Failure::Input(format!(
                    "log {file}: {damage}; {intact} before it are intact: `groundwave log cut {file} \
                     -o NEW` keeps them"
                )))
            }
        }
    }
}
