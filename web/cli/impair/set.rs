//! `impair set` and `impair clear`.

use clap::Args;
use groundwave_io::impair::timeline::meaning;
use groundwave_io::impair::words::Words;

use super::Side;
use super::client::Client;
use super::show::tell;
use super::words::WordArgs;
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// Replace the state of a direction
#[derive(Args)]
#[command(after_help = SET_EXAMPLES)]
pub struct Set {
    /// Which direction
    direction: Side,

    /// Start from a preset; options replace what it says. Of `both`, port1 becomes its downlink
    /// and port2 its uplink; `lte:up` and `lte:down` name a side
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,

    /// Start from what is in force: what is not said stays. Without it, what is not said is not
    /// impaired
    #[arg(long, conflicts_with = "preset")]
    keep: bool,

    #[command(flatten)]
    words: WordArgs,
}

const SET_EXAMPLES: &str = "\
Examples:
  groundwave impair set port1 --delay 50ms --loss 1%
  groundwave impair set port1 --keep --rate 10mbit
  groundwave impair set port1 --keep --loss none
  groundwave impair set both --preset lte --loss 0.5%

The state is replaced as a whole: `set port1 --loss 1%` alone ends a delay that was there. With
--keep, options are laid over what is in force.";

/// Clear directions: nothing is impaired
#[derive(Args)]
#[command(after_help = CLEAR_EXAMPLES)]
pub struct Clear {
    /// Which direction
    #[arg(default_value = "both")]
    direction: Side,
}

const CLEAR_EXAMPLES: &str = "\
Examples:
  groundwave impair clear
  groundwave impair clear port2

What somebody else put at the root of an interface stays there, and is told.";

impl Set {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let words = self.words.words();
        if words.is_empty() && self.preset.is_none() {
            let what = "nothing to set; allowed: --preset, or options such as --delay 50ms; \
                        `impair clear` ends all impairments";
            return Err(Failure::Input(what.to_owned()));
        }
        let mut wishes = Vec::new();
        for direction in self.direction.directions() {
            let over = if self.keep {
                Words::of(&client.fetch(direction).await?.impairment).with(&words)
            } else {
                words.clone()
            };
            let meant = meaning(self.preset.as_deref(), &over, direction);
            let meant = meant.map_err(|(key, what)| {
                let option = key.strip_prefix("set.").unwrap_or(&key).replace('_', "-");
                Failure::Input(format!("--{option}: {what}"))
            })?;
            wishes.push((direction, meant));
        }
        // All are understood before the first is applied.
        let mut states = Vec::new();
        for (direction, wish) in wishes {
            states.push(client.replace(direction, &wish).await?);
        }
        tell(&states, output)
    }
}

impl Clear {
    pub async fn run(self, client: &mut Client, output: Output) -> Result<(), Failure> {
        let mut states = Vec::new();
        for direction in self.direction.directions() {
            states.push(client.clear(direction).await?);
        }
        tell(&states, output)
    }
}
