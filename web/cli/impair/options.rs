//! Options of an impairment, made from the table of its knobs.

use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches};
use groundwave_io_impair::impairment_spec::{ImpairmentSpec, KNOBS};

/// Names of the options, in the order of the knobs.
static NAMES: LazyLock<Vec<String>> =
    LazyLock::new(|| KNOBS.iter().map(|knob| knob.key.replace('_', "-")).collect());

/// Options of an impairment; with `--keep`, `none` removes one.
#[derive(Debug, Clone, Default)]
pub struct ImpairmentOptions(pub ImpairmentSpec);

impl Args for ImpairmentOptions {
    fn augment_args(command: Command) -> Command {
        let options = KNOBS.iter().zip(NAMES.iter()).map(|(knob, name)| {
            let option = Arg::new(knob.key).long(name.as_str()).value_name(knob.value_name);
            // A value with a unit that is negative is refused as one.
            option.help(knob.help).allow_hyphen_values(true)
        });
        command.next_help_heading("Impairment").args(options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ImpairmentOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut options = Self::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        for (knob, text) in KNOBS.iter().zip(self.0.texts_mut()) {
            if let Some(value) = matches.get_one::<String>(knob.key) {
                *text = Some(value.clone());
            }
        }
        Ok(())
    }
}
