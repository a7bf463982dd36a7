//! `schema`: JSON Schema of the scenario format.

use clap::Args;
use groundwave_http::Failure;

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave schema > scenario.schema.json

For editors with taplo, the first line of a scenario names it:
  #:schema ./scenario.schema.json";

/// Print the JSON Schema of scenario files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Schema {}

impl Schema {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        output.json(&groundwave_scenario::json_schema())
    }
}
