//! `groundwave impair`: client of the impairment daemon, over its HTTP API only.

mod client;
mod import;
mod leases;
mod options;
mod play;
mod presets;
mod rules;
mod set;
mod show;
mod stats;

use std::path::PathBuf;
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, Subcommand, ValueEnum};
use groundwave_http::Failure;
use groundwave_impair::Direction;

use super::output::Output;
use client::Client;

/// Impair the traffic of ports through a running impairment daemon
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Impair {
    /// Socket of the daemon
    #[arg(
        long,
        env = "IMPAIR_SOCKET",
        value_name = "PATH",
        default_value = "/run/impair/impair.sock",
        global = true
    )]
    socket: PathBuf,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  groundwave impair system
  groundwave impair set port1 --delay 50ms --jitter 5ms --loss 1% --rate 10mbit
  groundwave impair set both --preset geo-satellite
  groundwave impair set port3 --rate 2mbit
  groundwave impair set port1 --match \"proto udp dport 5000-5100\" --delay 80ms --loss 2%
  groundwave impair show
  groundwave impair watch port1
  groundwave impair play examples/timeline.toml --loop --speed 10x
  groundwave impair set port1 --keep --loss 100% --for 60s
  groundwave impair leases
  groundwave impair import eth1
  groundwave impair clear

Quantities in the notation of tc: 250us 50ms 1.5s; 64kbit 10mbit 1gbit (not mbps, by which tc counts
bytes); 1600b 32kb; 1%; 100packets. The daemon is `groundwave impaird`.";

#[derive(Subcommand)]
enum Command {
    Show(show::Show),
    Set(set::Set),
    Clear(set::Clear),
    Stats(stats::Stats),
    Watch(stats::Watch),
    System(show::System),
    Play(play::Play),
    Leases(leases::Leases),
    Presets(presets::Presets),
    Import(import::Import),
}

/// A port or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    One(Direction),
    /// The two of a link.
    Both,
    /// All of the daemon.
    All,
}

/// All sides, in the order of completions.
static SIDES: LazyLock<Vec<Side>> = LazyLock::new(|| {
    let ports = Direction::first(Direction::COUNT_MAX).map(Side::One);
    ports.chain([Side::Both, Side::All]).collect()
});

impl ValueEnum for Side {
    fn value_variants<'a>() -> &'a [Self] {
        &SIDES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::One(direction) => direction.name(),
            Self::Both => "both",
            Self::All => "all",
        }))
    }
}

impl Side {
    /// Directions; `None` are all of the daemon.
    fn fixed(self) -> Option<Vec<Direction>> {
        match self {
            Self::One(direction) => Some(vec![direction]),
            Self::Both => Some(Direction::BOTH.to_vec()),
            Self::All => None,
        }
    }

    async fn directions(self, client: &mut Client) -> Result<Vec<Direction>, Failure> {
        match self.fixed() {
            Some(directions) => Ok(directions),
            None => {
                let system = client.system().await?;
                Ok(system.ports.iter().map(|port| port.direction).collect())
            }
        }
    }
}

impl Impair {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let command = match self.command {
            Command::Presets(args) => return args.run(output),
            Command::Import(args) => return args.run(output),
            Command::Play(args) if args.is_dry_run() => return args.plan(output),
            command => command,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let mut client = Client::connect(&self.socket).await?;
            match command {
                Command::Show(args) => args.run(&mut client, output).await,
                Command::Set(args) => args.run(&mut client, output).await,
                Command::Clear(args) => args.run(&mut client, output).await,
                Command::Stats(args) => args.run(&mut client, output).await,
                Command::Watch(args) => args.run(&mut client, output).await,
                Command::System(args) => args.run(&mut client, output).await,
                Command::Leases(args) => args.run(&mut client, output).await,
                Command::Play(args) => args.run(client, output).await,
                Command::Presets(_) | Command::Import(_) => {
                    unreachable!("handled above, without a daemon")
                }
            }
        })
    }
}
