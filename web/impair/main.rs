//! The program `groundwave-impaird`: the impairment daemon alone.

use std::process::ExitCode;

use clap::{ColorChoice, Parser};
use groundwave_impaird::command::{Impaird, LOG_FILTER};

/// Serve the impairment API on a Unix socket
#[derive(Parser)]
#[command(name = "groundwave-impaird", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    impaird: Impaird,

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
        |arguments, output| arguments.impaird.run(output),
    )
}
