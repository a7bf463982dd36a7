//! `log`: what a log holds, whether it is sound, and parts of it.

mod cat;
mod cut;
mod diff;
mod stat;
mod verify;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use groundwave_engine::Engine;
use groundwave_engine::log::{Header, Reader};
use groundwave_io::journal;
use groundwave_systems::terrain::Flat;
use groundwave_systems::{Snapshot, world};

use super::failure::Failure;
use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave log cat manet.gwlog --from 60 --to 90
  groundwave log cat manet.gwlog --json | jq 'select(.command == \"node.fail\")'
  groundwave log stat manet.gwlog
  groundwave log diff monday.gwlog tuesday.gwlog
  groundwave log verify manet.gwlog
  groundwave log cut damaged.gwlog -o sound.gwlog";

/// Show, check, compare and cut logs
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Log {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Cat(cat::Cat),
    Stat(stat::Stat),
    Diff(diff::Diff),
    Verify(verify::Verify),
    Cut(cut::Cut),
}

impl Log {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self.verb {
            Verb::Cat(args) => args.run(output),
            Verb::Stat(args) => args.run(output),
            Verb::Diff(args) => args.run(output),
            Verb::Verify(args) => args.run(output),
            Verb::Cut(args) => args.run(output),
        }
    }
}

pub type LogFile = Reader<BufReader<File>>;

fn open(path: &Path) -> Result<LogFile, Failure> {
    journal::open(path).map_err(Failure::input)
}

/// A world without terrain, for its registry: the log's own words decode alike everywhere.
fn words(header: &Header) -> Result<Engine<Snapshot>, Failure> {
    let flat = Arc::new(Flat::default());
    let built = world(flat).build::<Snapshot>(header.seed, header.step_ns);
    built.map_err(Failure::input)
}

/// The first tick at whose end so much simulated time has passed: the first one ends at 0 s.
pub fn tick_at(header: &Header, key: &str, at_s: f64) -> Result<u64, Failure> {
    if !(0.0..=1e15).contains(&at_s) {
        let what = format!("{key} is {at_s}; allowed: 0 or more seconds");
        return Err(Failure::Input(what));
    }
    let at_ns = (at_s * 1e9).round() as u128;
    let tick = at_ns.div_ceil(u128::from(header.step_ns.max(1)));
    Ok(u64::try_from(tick + 1).unwrap_or(u64::MAX))
}
