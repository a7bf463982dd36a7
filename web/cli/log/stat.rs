//! `log stat`: summary of a log.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use groundwave_engine::log::Entry;
use groundwave_http::Failure;
use groundwave_text::{Align, Table};
use serde::Serialize;

use super::open;
use crate::cli::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave log stat run.gwlog
  groundwave log stat run.gwlog --json | jq .commands";

/// Show title, duration, size and number of commands of a log
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Stat {
    /// Log file made by `run --record`
    log: PathBuf,
}

#[derive(Serialize)]
struct Document {
    format: u32,
    seed: u64,
    step_ns: u64,
    inputs: BTreeMap<String, String>,
    first_tick: u64,
    last_tick: u64,
    duration_s: f64,
    commands: BTreeMap<String, u64>,
    marks: u64,
    checkpoints: u64,
    checkpoint_bytes: u64,
    file_bytes: u64,
    entry_bytes: u64,
    closed: bool,
    torn_bytes: u64,
}

impl Stat {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut log = open(&self.log)?;
        let header = log.header().clone();
        let mut document = Document {
            format: header.format,
            seed: header.seed,
            step_ns: header.step_ns,
            inputs: header.inputs,
            first_tick: 0,
            last_tick: 0,
            duration_s: 0.0,
            commands: BTreeMap::new(),
            marks: 0,
            checkpoints: 0,
            checkpoint_bytes: 0,
            file_bytes: std::fs::metadata(&self.log)?.len(),
            entry_bytes: 0,
            closed: false,
            torn_bytes: 0,
        };
        let mut first = true;
        let damaged = |err| Failure::input(err).within(&super::name(&self.log));
        while let Some(entry) = log.next_entry().map_err(damaged)? {
            if std::mem::take(&mut first) {
                document.first_tick = entry.tick();
            }
            document.last_tick = entry.tick();
            match entry {
                Entry::Command(record) => {
                    document.entry_bytes += record.body.len() as u64;
                    *document.commands.entry(record.name).or_default() += 1;
                }
                Entry::Mark(_) => document.marks += 1,
                Entry::Checkpoint(part) => {
                    document.checkpoints += u64::from(part.last);
                    document.checkpoint_bytes += part.body.len() as u64;
                }
            }
        }
        // The first tick begins at 0.
        let steps = document.last_tick.saturating_sub(1);
        document.duration_s = steps as f64 * document.step_ns as f64 / 1e9;
        document.closed = log.is_closed();
        document.torn_bytes = log.torn_bytes();
        if output.json {
            return output.json(&document);
        }
        output.text(&text(&document))
    }
}

fn text(document: &Document) -> String {
    let title = document.inputs.get("title").map_or("log without a title", String::as_str);
    let Document {
        first_tick,
        last_tick,
        duration_s,
        marks,
        checkpoints,
        file_bytes,
        entry_bytes,
        format,
        ..
    } = document;
    let mut out = format!("{}\n", output::heading(title));
    out += &format!(
        "ticks {first_tick} to {last_tick}, {duration_s} s; {marks} digests, {checkpoints} checkpoints; \
         {file_bytes} bytes in format {format}, bodies of {entry_bytes}\n"
    );
    if document.torn_bytes > 0 {
        let bytes = document.torn_bytes;
        let line = format!("{bytes} bytes of an incomplete last entry dropped");
        out += &format!("{}\n", output::warning(&line));
    } else if !document.closed && *format > 1 {
        let line = "not closed: its writer was killed or is still running";
        out += &format!("{}\n", output::warning(line));
    }
    for (key, value) in document.inputs.iter().filter(|(key, _)| *key != "title") {
        out += &format!("{}\n", output::faint(&format!("{key}: {value}")));
    }
    let mut table = Table::new(&[("command", Align::Left), ("count", Align::Right)]);
    for (name, count) in &document.commands {
        table.row([name.clone(), count.to_string()]);
    }
    if !table.is_empty() {
        out += &format!("\n{}", output::table(&table, None));
    }
    out
}
