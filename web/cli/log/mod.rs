//! `log`: show, verify, compare and cut logs.

mod cat;
mod cut;
mod diff;
mod redact;
mod stat;
mod verify;

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use groundwave_engine::Engine;
use groundwave_engine::log::{Header, Reader};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_model::terrain::Flat;
use groundwave_store::journal_file;

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave log cat run.gwlog --from 60 --to 90
  groundwave log stat run.gwlog
  groundwave log verify run.gwlog
  groundwave log cut run.gwlog -o first-minute.gwlog --to 60
  groundwave log diff run.gwlog first-minute.gwlog";

/// Show, check, compare and cut logs
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Log {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(after_help = "Examples:\n  groundwave log cat run.gwlog --from 60 --to 90")]
    Cat(cat::Cat),
    #[command(after_help = "Examples:\n  groundwave log stat run.gwlog --json")]
    Stat(stat::Stat),
    #[command(after_help = "Examples:\n  groundwave log diff run.gwlog first-minute.gwlog")]
    Diff(diff::Diff),
    #[command(after_help = "Examples:\n  groundwave log verify run.gwlog")]
    Verify(verify::Verify),
    #[command(
        after_help = "Examples:\n  groundwave log cut run.gwlog -o half-minute.gwlog --to 30"
    )]
    Cut(cut::Cut),
}

impl Log {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self.command {
            Command::Cat(args) => args.run(output),
            Command::Stat(args) => args.run(output),
            Command::Diff(args) => args.run(output),
            Command::Verify(args) => args.run(output),
            Command::Cut(args) => args.run(output),
        }
    }
}

pub type LogFile = Reader<BufReader<File>>;

fn open(path: &Path) -> Result<LogFile, Failure> {
    journal_file::open(path).map_err(Failure::input)
}

/// A log in messages.
pub fn name(path: &Path) -> String {
    format!("log {}", path.display())
}

/// An engine on flat ground, for its command registry.
fn decoder(header: &Header) -> Result<Engine<Snapshot>, Failure> {
    let flat = Arc::new(Flat::default());
    let built = world(flat).build::<Snapshot>(header.seed, header.step_ns);
    built.map_err(Failure::input)
}

/// First and last tick between `--from` and `--to`.
pub fn span(header: &Header, from_s: f64, to_s: Option<f64>) -> Result<(u64, u64), Failure> {
    let from = tick_at(header, "--from", from_s)?;
    let to = to_s.map(|to_s| tick_at(header, "--to", to_s)).transpose()?;
    match to_s.filter(|to_s| *to_s < from_s) {
        None => Ok((from, to.unwrap_or(u64::MAX))),
        Some(to_s) => Err(Failure::Input(format!(
            "invalid --to: found {to_s} s, allowed {from_s} s (--from) or more"
        ))),
    }
}

/// The first tick that ends at or after `at_s`; tick 1 ends at 0 s.
pub fn tick_at(header: &Header, key: &str, at_s: f64) -> Result<u64, Failure> {
    if !(0.0..=1e15).contains(&at_s) {
        let message = format!("invalid {key}: found {at_s} s, allowed 0 or more");
        return Err(Failure::Input(message));
    }
    let at_ns = (at_s * 1e9).round() as u128;
    let tick = at_ns.div_ceil(u128::from(header.step_ns.max(1)));
    Ok(u64::try_from(tick + 1).unwrap_or(u64::MAX))
}
