//! `schema`: JSON Schemas of scenarios and mapping files.

use clap::{Args, ValueEnum};
use groundwave_http::Failure;

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave schema > scenario.schema.json
  groundwave schema mapping > mapping.schema.json

For editors with taplo, the first line of a scenario names it:
  #:schema ./scenario.schema.json";

/// Print the JSON Schema of scenario files, or of mapping files of tables
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Schema {
    /// Files that it describes
    #[arg(value_name = "FILES", default_value = "scenario")]
    files: Files,
}

/// Kinds of files with a schema.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Files {
    /// Scenarios
    Scenario,
    /// Mappings of the columns of a table, for `convert --mapping`
    Mapping,
}

impl Schema {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        output.json(&match self.files {
            Files::Scenario => groundwave_scenario::json_schema(),
            Files::Mapping => groundwave_scenario::mapping_schema(),
        })
    }
}
