//! The program `groundwave-agent`: the node agent alone, for routers.

use std::process::ExitCode;

use clap::{ColorChoice, Parser};
use groundwave_agent::command::{Agent, LOG_FILTER};

/// Enrol this node at a mesh gateway and report its state
#[derive(Parser)]
#[command(name = "groundwave-agent", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    agent: Agent,

    /// Print one JSON document instead of text
    #[arg(long)]
    json: bool,

    /// Colour of output: `never` writes no escape sequences
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorChoice,
}

fn main() -> ExitCode {
    groundwave_command::single(
        LOG_FILTER,
        |arguments: &Arguments| (arguments.json, arguments.color),
        |arguments, output| arguments.agent.run(output),
    )
}
