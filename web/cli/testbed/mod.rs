//! `groundwave testbed`: a scenario emulated by network namespaces of this machine.

mod client;
mod compare;
mod down;
mod enter;
mod link;
mod nodes;
mod report;
mod show;
mod steer;
mod up;

use clap::{Args, Subcommand};
use groundwave_http::Failure;
use groundwave_testbed::State;

use super::output::Output;

/// Default log filter, unless `RUST_LOG` is set.
pub const LOG_FILTER: &str = "warn";

const EXAMPLES: &str = "\
Examples:
  sudo groundwave testbed up scenarios/failover.toml --detach
  sudo groundwave testbed exec west -- ping -c 3 east
  sudo groundwave testbed shell west
  sudo groundwave testbed fail north
  sudo groundwave testbed add spare --lat 57.71 --lon 11.94 --like west
  sudo groundwave testbed remove spare
  sudo groundwave testbed set west north --loss 10% --delay 20ms
  sudo groundwave testbed report --ping --plot testbed.svg
  sudo groundwave testbed down

Needs root, for network namespaces and interfaces. With several testbeds, every command but up needs
--name.";

/// Emulate a scenario in network namespaces: one per node, a veth pair per link
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
    Compare(compare::Compare),
    Add(nodes::Add),
    Remove(nodes::Remove),
    Move(steer::Move),
    Fail(steer::Fail),
    Repair(steer::Repair),
    Radio(steer::Radio),
    Cut(steer::Cut),
    Mend(steer::Mend),
    Set(link::Set),
    Release(link::Release),
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
            Command::Compare(args) => args.run(output),
            Command::Add(args) => args.run(output),
            Command::Remove(args) => args.run(output),
            Command::Move(args) => args.run(output),
            Command::Fail(args) => args.run(output),
            Command::Repair(args) => args.run(output),
            Command::Radio(args) => args.run(output),
            Command::Cut(args) => args.run(output),
            Command::Mend(args) => args.run(output),
            Command::Set(args) => args.run(output),
            Command::Release(args) => args.run(output),
            Command::Pause(args) => args.run(output),
            Command::Resume(args) => args.run(output),
            Command::Speed(args) => args.run(output),
            Command::Step(args) => args.run(output),
        }
    }
}

/// Selection of a testbed.
#[derive(Args, Debug, Clone, Default)]
pub struct Selection {
    /// Name of the testbed [default: the only one]
    #[arg(long, value_name = "NAME", env = "GROUNDWAVE_TESTBED")]
    name: Option<String>,
}

impl Selection {
    /// The selected testbed; a named one may not exist.
    pub fn state(&self) -> Result<State, Failure> {
        if let Some(name) = &self.name {
            return State::of(name).map_err(Failure::input);
        }
        let all = State::all().map_err(Failure::machine)?;
        match all.as_slice() {
            [only] => State::of(only).map_err(Failure::input),
            [] => Err(Failure::Input(
                "no testbed is up; `groundwave testbed up SCENARIO` starts one".to_owned(),
            )),
            several => Err(Failure::Input(format!(
                "{} testbeds are up; select one: --name {}",
                several.len(),
                several.join(", --name ")
            ))),
        }
    }
}
