//! Values that begin with a minus, apart from options.

use std::any::TypeId;

use clap::builder::ValueParser;
use clap::{Arg, ArgAction, Command};

/// The command line whose options take negative numbers, those of quantities also with a unit and in lists (`-3dBd`,
/// `-90,45`), and whose arguments that are numbers take negative ones: without it `-3` is an unknown option, and the
/// range of a value that cannot be negative is never stated.
pub(crate) fn with_negative_values(command: Command) -> Command {
    let command = command.mut_args(|arg| {
        let is_option = arg.get_long().is_some() || arg.get_short().is_some();
        match arg.get_action().takes_values() {
            false => arg,
            true if is_quantity(arg.get_value_parser()) => arg.allow_hyphen_values(true),
            true if is_option || is_number(arg.get_value_parser()) => {
                arg.allow_negative_numbers(true)
            }
            true => arg,
        }
    });
    command.mut_subcommands(with_negative_values)
}

/// `true` for an option or argument that is read as a number.
#[must_use]
pub fn is_numeric(arg: &Arg) -> bool {
    let parser = arg.get_value_parser();
    arg.get_action().takes_values() && (is_quantity(parser) || is_number(parser))
}

/// `true` for values of a quantity, which are read from a number, a unit behind it, or a list of both.
fn is_quantity(parser: &ValueParser) -> bool {
    parser.type_id() == TypeId::of::<f64>()
}

/// `true` for whole numbers.
fn is_number(parser: &ValueParser) -> bool {
    let types = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
        TypeId::of::<i32>(),
        TypeId::of::<i64>(),
    ];
    types.iter().any(|kind| parser.type_id() == *kind)
}

/// An option or argument as it stands alone in a command line.
#[must_use]
pub fn alone(arg: &Arg) -> Command {
    let action = match arg.get_long() {
        Some(_) => ArgAction::Append,
        None => ArgAction::Set,
    };
    let mut alone = Arg::new("value")
        .value_parser(arg.get_value_parser().clone())
        .action(action)
        .value_delimiter(arg.get_value_delimiter())
        .allow_hyphen_values(arg.is_allow_hyphen_values_set())
        .allow_negative_numbers(arg.is_allow_negative_numbers_set());
    if let Some(name) = arg.get_long() {
        alone = alone.long(name.to_owned());
    }
    Command::new("alone").no_binary_name(true).arg(alone)
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;
    use clap::value_parser;

    use super::*;

    #[test]
    fn values_with_a_minus_are_no_options() {
        let own = Command::new("p")
            .no_binary_name(true)
            .arg(
                Arg::new("gain").long("gain").value_parser(value_parser!(f64)).value_delimiter(','),
            )
            .arg(Arg::new("count").long("count").value_parser(value_parser!(u16)))
            .arg(Arg::new("name").long("name"))
            .arg(Arg::new("dark").long("dark").action(ArgAction::SetTrue))
            .arg(Arg::new("steps").value_parser(value_parser!(u64)));
        let kind = |command: &Command, words: &[&str]| {
            command.clone().try_get_matches_from(words).err().map(|error| error.kind())
        };
        for words in [&["--gain", "-3,-4"][..], &["--gain", "-3dBd"], &["--count", "-1"], &["-1"]] {
            assert_eq!(kind(&own, words), Some(ErrorKind::UnknownArgument), "{words:?}");
        }
        let own = with_negative_values(own);
        for (words, expected) in [
            (&["--gain", "-3"][..], None),
            (&["--gain", "-3e-1,-4"], None),
            (&["--gain", "-3dBd"], Some(ErrorKind::ValueValidation)),
            (&["--count", "-1"], Some(ErrorKind::ValueValidation)),
            (&["--name", "-1"], None),
            (&["-1"], Some(ErrorKind::ValueValidation)),
            // Options after those values stay options.
            (&["--gain", "-3", "--dark"], None),
            (&["--name", "--dark"], Some(ErrorKind::InvalidValue)),
            (&["-x"], Some(ErrorKind::UnknownArgument)),
        ] {
            assert_eq!(kind(&own, words), expected, "{words:?}");
        }
    }
}
