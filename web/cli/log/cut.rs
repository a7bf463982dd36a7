//! `log cut`: the beginning of a log as a new log.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use groundwave_engine::log::{Entry, FORMAT, Header, Journal, Mark};
use groundwave_http::Failure;
use groundwave_store::journal_file::FileJournal;
use serde::Serialize;

use super::{open, tick_at};
use crate::cli::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave log cut run.gwlog -o first-minute.gwlog --to 60";

/// Write the beginning of a log, or the intact part of a damaged one, to a new file
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Cut {
    /// Log file of any format
    log: PathBuf,

    /// New log file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write over an existing file
    #[arg(long)]
    force: bool,

    /// Last simulated time, s [default: the end or the first damage]
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,
}

#[derive(Serialize)]
struct Document {
    entries: u64,
    last_tick: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<String>,
}

impl Cut {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut log = open(&self.log)?;
        let to =
            self.to.map(|to| tick_at(log.header(), "--to", to)).transpose()?.unwrap_or(u64::MAX);
        let header = Header { format: FORMAT, ..log.header().clone() };
        output::refuse_shared(&[("--output", &self.output)], &[("the log", &self.log)])?;
        let target = output::make_way(&self.output, self.force)?;
        let mut new = FileJournal::create(&target, &header).map_err(Failure::input)?;
        let (mut entries, mut last_tick) = (0, 0);
        let mut has_more = false;
        let damage = loop {
            let entry = match log.next_entry() {
                Ok(Some(entry)) if entry.tick() <= to => entry,
                Ok(entry) => {
                    has_more = entry.is_some();
                    break None;
                }
                Err(err) => break Some(err.to_string()),
            };
            new.append(&entry)?;
            (entries, last_tick) = (entries + 1, entry.tick());
        };
        // The end of the part, which its last entry need not be.
        if has_more && last_tick < to {
            let mark =
                Mark { tick: to, digest: String::new(), parts: Vec::new(), files: BTreeMap::new() };
            new.append(&Entry::Mark(mark))?;
            (entries, last_tick) = (entries + 1, to);
        }
        new.commit()?;
        if output.json {
            return output.json(&Document { entries, last_tick, damage });
        }
        let file = self.output.display();
        let mut text = format!("{file}: {entries} entries up to tick {last_tick}\n");
        if let Some(damage) = damage {
            let line = format!("the rest is lost: {damage}");
            text += &format!("{}\n", output::warning(&line));
        }
        output.text(&text)
    }
}
