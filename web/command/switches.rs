//! Switches that something else than the command line can turn on.

use clap::{Arg, ArgAction, Command};

/// The command line whose switches with an environment variable take a value behind `=`: `--flat-earth=false` is in
/// force over the variable and the configuration file, which could turn a switch on and nothing off.
#[must_use]
pub fn with_switch_values(command: Command) -> Command {
    let command = command.mut_args(|arg| match is_switch(&arg) {
        true => arg
            .action(ArgAction::Set)
            .num_args(0..=1)
            .require_equals(true)
            .value_name("BOOL")
            .default_missing_value("true")
            .default_value("false")
            .hide_default_value(true)
            .hide_possible_values(true),
        false => arg,
    });
    command.mut_subcommands(with_switch_values)
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue) && arg.get_env().is_some()
}

#[cfg(test)]
mod tests {
    use clap::builder::BoolishValueParser;

    use super::*;
    use crate::usage;

    fn command() -> Command {
        let flat = Arg::new("flat").long("flat").action(ArgAction::SetTrue);
        let flat = flat.env("GROUNDWAVE_TEST_FLAT").value_parser(BoolishValueParser::new());
        let dark = Arg::new("dark").long("dark").action(ArgAction::SetTrue);
        let path = Arg::new("path");
        with_switch_values(Command::new("p").no_binary_name(true).args([flat, dark, path]))
    }

    #[test]
    fn switches_with_a_variable_take_a_value_behind_an_equals_sign() {
        let flat = |words: &[&str]| {
            let matches = command().try_get_matches_from(words).unwrap();
            (matches.get_one::<bool>("flat").copied(), matches.get_one::<String>("path").cloned())
        };
        assert_eq!(flat(&[]), (Some(false), None));
        assert_eq!(flat(&["--flat"]), (Some(true), None));
        assert_eq!(flat(&["--flat", "no"]), (Some(true), Some("no".to_owned())));
        assert_eq!(flat(&["--flat=false"]), (Some(false), None));
        assert_eq!(flat(&["--flat=on"]), (Some(true), None));
        let error = command().try_get_matches_from(["--flat=maybe"]).unwrap_err();
        let message = usage::value_message(&error).unwrap();
        assert!(message.starts_with("invalid --flat: found \"maybe\", allowed true"), "{message}");
        // Others stay as they are.
        let error = command().try_get_matches_from(["--dark=false"]).unwrap_err();
        let message = usage::value_message(&error).unwrap();
        assert_eq!(message, "invalid --dark: found \"false\", allowed no value");
    }

    #[test]
    fn configuration_turns_a_switch_on_and_the_command_line_off() {
        let command = command().mut_arg("flat", |arg| arg.default_values(["true"]));
        let of = |words: &[&str]| {
            let matches = command.clone().try_get_matches_from(words).unwrap();
            matches.get_one::<bool>("flat").copied()
        };
        assert_eq!((of(&[]), of(&["--flat=false"])), (Some(true), Some(false)));
    }
}
