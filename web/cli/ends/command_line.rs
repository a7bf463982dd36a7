//! Options of stations on the command line that would have no effect there: refused.

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use groundwave_http::Failure;

/// Identifiers and names of options that have an effect on positions alone.
const OF_POSITIONS: [(&str, &str); 6] = [
    ("radio", "radio"),
    ("antenna", "antenna"),
    ("modem", "modem"),
    ("height", "height"),
    ("frequency_mhz", "frequency-mhz"),
    ("tx_power_dbm", "tx-power-dbm"),
];

/// Options of stations on the command line; those of a configuration file are for all paths.
#[derive(Debug, Clone, Default)]
pub struct CommandLine {
    /// Name and value of the first option that has an effect on positions alone.
    position: Option<(&'static str, String)>,
    /// `true` where the tilt stands there.
    pub has_tilt: bool,
}

impl CommandLine {
    /// Refuses an option of positions, as both ends are nodes of a scenario.
    ///
    /// # Errors
    /// With the option and its value.
    pub fn refuse_beside_nodes(&self, scenario: &Path) -> Result<(), Failure> {
        let Some((option, value)) = &self.position else { return Ok(()) };
        let scenario = scenario.display();
        Err(Failure::Input(format!(
            "invalid --{option}: found {value} beside nodes of {scenario}, allowed for positions only"
        )))
    }
}

impl FromArgMatches for CommandLine {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_there = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
        let position = OF_POSITIONS.into_iter().find(|(id, _)| is_there(id)).map(|(id, name)| {
            let values = matches.get_raw(id).into_iter().flatten();
            let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
            (name, values.join(","))
        });
        Ok(Self { position, has_tilt: is_there("tilt") })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// No options of its own.
impl Args for CommandLine {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
