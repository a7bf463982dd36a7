//! `log`: show, verify, compare and cut logs.

mod cat;
mod cut;
mod diff;
mod redact;
mod stat;
mod verify;

use std::fs::File;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use groundwave_engine::Engine;
use groundwave_engine::log::{Header, Reader};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_model::terrain::Flat;
use groundwave_scenario::formats;
use groundwave_store::journal_file;
use tempfile::TempPath;

use super::output::{Output, is_stdio};

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

/// Opens a log for reading: a file, also one that gzip or xz has packed, or standard input (`-`).
pub fn open(path: &Path) -> Result<LogFile, Failure> {
    // An open file outlives its name.
    journal_file::open(local(path)?.path()).map_err(Failure::input)
}

/// A log as a file that can be read more than once.
pub enum LocalLog {
    /// The file itself.
    File(PathBuf),
    /// Content of standard input or of a packed file.
    Unpacked(TempPath),
}

impl LocalLog {
    /// Path of the file.
    pub fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Unpacked(path) => path,
        }
    }
}

/// The log of a path, unpacked where gzip or xz has packed it; that of standard input for the path `-`.
pub fn local(path: &Path) -> Result<LocalLog, Failure> {
    let mut octets = Vec::new();
    if is_stdio(path) {
        std::io::stdin().lock().read_to_end(&mut octets)?;
    } else {
        require_file("log", path, "a log (.gwlog), as `run --record` writes it")?;
        let head = File::open(path).and_then(|file| {
            let mut head = Vec::new();
            file.take(HEAD_OCTETS).read_to_end(&mut head).map(|_| head)
        });
        // What cannot be read is reported by what opens it.
        if !head.is_ok_and(|head| formats::is_packed(&head)) {
            return Ok(LocalLog::File(path.to_owned()));
        }
        octets = std::fs::read(path)?;
    }
    let invalid = |what| Failure::Input(format!("{}: {what}", name(path)));
    let octets = formats::unpacked(octets).map_err(invalid)?;
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(&octets)?;
    Ok(LocalLog::Unpacked(file.into_temp_path()))
}

/// Octets by which a packed file is recognised.
const HEAD_OCTETS: u64 = 16;

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
