//! `impair presets`: presets of real links.

use clap::Args;
use groundwave_http::Failure;
use groundwave_io_impair::presets::{DirectionPreset, PRESETS};
use groundwave_text::{Align, Table};

use crate::cli::output::{self, Output};

/// List presets of real links with their sources
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Presets {}

const EXAMPLES: &str = "\
Examples:
  groundwave impair presets
  groundwave impair presets --json | jq '.[] | {id, source}'";

impl Presets {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if output.json {
            return output.json(&PRESETS);
        }
        let mut table = Table::new(&[
            ("preset", Align::Left),
            ("down", Align::Left),
            ("up", Align::Left),
            ("source", Align::Left),
        ]);
        for preset in &PRESETS {
            let side = |side: &DirectionPreset| {
                let entries = side.spec().entries().into_iter();
                let words = entries.filter(|(key, _)| *key != "distribution");
                words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
            };
            table.row([
                preset.id.to_owned(),
                side(&preset.down),
                side(&preset.up),
                preset.source.to_owned(),
            ]);
        }
        output.text(&output::table(&table, None))
    }
}
