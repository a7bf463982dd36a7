//! `groundwave testbed`: a scenario's world, mirrored onto a real network of this machine.

mod client;
mod controller;
mod down;
mod enter;
mod report;
mod show;
mod steer;
mod up;

use clap::{Args, Subcommand};
use groundwave_io::testbed::State;

use super::failure::Failure;
use super::output::Output;

/// Log filter where `RUST_LOG` says nothing.
pub const LOG_FILTER: &str = "warn";

const EXAMPLES: &str = "\
Examples:
  sudo groundwave testbed up scenarios/ridge.toml --detach
  sudo groundwave testbed shell west
  sudo groundwave testbed exec west -- ping -c 3 10.77.0.3
  sudo groundwave testbed fail relay
  sudo groundwave testbed report --ping --plot ridge.svg
  sudo groundwave testbed down

Needs root: network namespaces and their interfaces are made. Every command but up takes
--name where more than one testbed is up.";

/// Mirror a scenario onto a real network: a namespace a node, a wire a link
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Testbed {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Up(up::Up),
    Attach(up::Attach),
    Down(down::Down),
    Status(show::Status),
    Exec(enter::Exec),
    Shell(enter::Shell),
    Report(report::Report),
    Move(steer::Move),
    Fail(steer::Fail),
    Repair(steer::Repair),
    Radio(steer::Radio),
    Cut(steer::Cut),
    Mend(steer::Mend),
    Pause(steer::Pause),
    Resume(steer::Resume),
    Speed(steer::Speed),
    Step(steer::Step),
}

impl Testbed {
    /// Runs the subcommand.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self.command {
            Command::Up(args) => args.run(output),
            Command::Attach(args) => args.run(output),
            Command::Down(args) => args.run(output),
            Command::Status(args) => args.run(output),
            Command::Exec(args) => args.run(),
            Command::Shell(args) => args.run(),
            Command::Report(args) => args.run(output),
            Command::Move(args) => args.run(output),
            Command::Fail(args) => args.run(output),
            Command::Repair(args) => args.run(output),
            Command::Radio(args) => args.run(output),
            Command::Cut(args) => args.run(output),
            Command::Mend(args) => args.run(output),
            Command::Pause(args) => args.run(output),
            Command::Resume(args) => args.run(output),
            Command::Speed(args) => args.run(output),
            Command::Step(args) => args.run(output),
        }
    }
}

/// Which testbed.
#[derive(Args, Debug, Clone, Default)]
pub struct Which {
    /// The testbed [default: the only one]
    #[arg(long, value_name = "NAME", env = "GROUNDWAVE_TESTBED")]
    name: Option<String>,
}

impl Which {
    /// The testbed meant; it need not be there when it is named.
    pub fn state(&self) -> Result<State, Failure> {
        if let Some(name) = &self.name {
            return Ok(State::of(name));
        }
        let all = State::all().map_err(Failure::machine)?;
        match all.as_slice() {
            [only] => Ok(State::of(only)),
            [] => Err(Failure::Input(
                "no testbed is up; `groundwave testbed up SCENARIO` makes one".to_owned(),
            )),
            several => Err(Failure::Input(format!(
                "{} testbeds are up; say which: --name {}",
                several.len(),
                several.join(", --name ")
            ))),
        }
    }
}
