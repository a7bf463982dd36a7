//! Options of one service named while the other one is served alone: refused, as they would have no effect.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use groundwave_web_gateway::serve::gateway::GatewayConfig;

/// Identifiers and names of options that have an effect on the planning service alone; `--offline` is true of the other
/// one.
const OF_PLANNING: [(&str, &str); 9] = [
    ("bind", "bind"),
    ("frontend", "frontend"),
    ("basemap", "basemap"),
    ("terrain_source", "terrain-source"),
    ("terrain_url", "terrain-url"),
    ("land_cover_url", "land-cover-url"),
    ("engine", "engine"),
    ("replays", "replay"),
    ("open", "open"),
];

/// Options on the command line that have an effect on one service alone. Those of the environment or of a
/// configuration file are for all ways to start.
#[derive(Debug, Clone, Default)]
pub struct ServiceOptions {
    planning: Option<String>,
    gateway: Option<String>,
}

impl ServiceOptions {
    /// The refusal of the first option of the planning service, as the gateway is served alone.
    pub(super) fn refusal_of_planning(&self) -> Option<String> {
        let option = self.planning.as_ref()?;
        Some(format!(
            "invalid --{option}: found the gateway alone, allowed with the planning service"
        ))
    }

    /// The refusal of the first option of the gateway, as the planning service is served alone.
    pub(super) fn refusal_of_gateway(&self) -> Option<String> {
        let option = self.gateway.as_ref()?;
        Some(format!(
            "invalid --{option}: found the planning service alone, allowed with the gateway"
        ))
    }
}

impl FromArgMatches for ServiceOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        // Another command may have some of the options only.
        let is_named = |id: &str| {
            matches.try_contains_id(id).is_ok()
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let planning = OF_PLANNING.into_iter().find(|(id, _)| is_named(id));
        let gateway = GatewayConfig::augment_args(Command::new(""));
        let mut gateway = gateway.get_arguments().filter(|arg| is_named(arg.get_id().as_str()));
        Ok(Self {
            planning: planning.map(|(_, name)| name.to_owned()),
            gateway: gateway.find_map(|arg| arg.get_long().map(str::to_owned)),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// No options of its own.
impl Args for ServiceOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}
