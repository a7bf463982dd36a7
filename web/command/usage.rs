//! Errors of the command line: `invalid OPTION: found VALUE, allowed VALUES`, whatever reads the value.

use std::error::Error as _;
use std::io::Write as _;
use std::net::AddrParseError;
use std::num::{ParseFloatError, ParseIntError};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, ValueEnum};

/// Values that a switch of the environment has.
const SWITCH_VALUES: &str = "true, false, yes, no, on, off, 1, 0";

/// The message of an invalid value, in the form of all messages; `None` for other errors.
pub fn value_message(error: &clap::Error) -> Option<String> {
    let name = name(text(error, ContextKind::InvalidArg)?);
    let value = text(error, ContextKind::InvalidValue)?;
    match error.kind() {
        ErrorKind::InvalidValue => {
            let values = match error.get(ContextKind::ValidValue) {
                Some(ContextValue::Strings(values)) => values.join(", "),
                _ => String::new(),
            };
            Some(match (value, values.as_str()) {
                ("", "") => format!("invalid {name}: found no value, allowed one"),
                ("", values) => format!("invalid {name}: found no value, allowed {values}"),
                (value, values) => {
                    let similar = text(error, ContextKind::SuggestedValue);
                    let similar = similar.map(|similar| format!("; did you mean {similar}?"));
                    let similar = similar.unwrap_or_default();
                    format!("invalid {name}: found {value:?}, allowed {values}{similar}")
                }
            })
        }
        ErrorKind::TooManyValues => {
            Some(format!("invalid {name}: found {value:?}, allowed no value"))
        }
        ErrorKind::ValueValidation => Some(format!("invalid {name}: {}", reason(error, value)?)),
        _ => None,
    }
}

/// The message of an error on one line, without usage and hints at the help.
pub fn line(error: &clap::Error) -> String {
    let subcommands = match error.get(ContextKind::ValidSubcommand) {
        Some(ContextValue::Strings(names)) => names.join(", "),
        _ => String::new(),
    };
    let is_missing =
        [ErrorKind::MissingSubcommand, ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand]
            .contains(&error.kind());
    if is_missing {
        return match subcommands.as_str() {
            "" => "missing subcommand or argument: allowed those of --help".to_owned(),
            names => format!("missing subcommand: allowed {names}"),
        };
    }
    let text = error.render().to_string();
    let head = text.split("\n\nUsage:").next().unwrap_or_default();
    let head = head.split("\n\nFor more information").next().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let line = words.join(" ");
    line.strip_prefix("error: ").unwrap_or(&line).to_owned()
}

/// The option or argument that an error is about; the first of several.
pub fn field(error: &clap::Error) -> Option<String> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(text) => Some(name(text).to_owned()),
        ContextValue::Strings(texts) => texts.first().map(|text| name(text).to_owned()),
        _ => None,
    }
}

/// Value found and values allowed, by the parser that refused it.
fn reason(error: &clap::Error, value: &str) -> Option<String> {
    let cause = error.source()?;
    let text = cause.to_string();
    let standard = if cause.is::<ParseFloatError>() {
        Some("a number")
    } else if cause.is::<ParseIntError>() {
        Some("a whole number")
    } else if cause.is::<AddrParseError>() {
        Some(if text.contains("socket") { "ADDRESS:PORT" } else { "an IP address" })
    } else if text == "value was not a boolean" {
        Some(SWITCH_VALUES)
    } else {
        None
    };
    if let Some(allowed) = standard {
        return Some(format!("found {value:?}, allowed {allowed}"));
    }
    if let Some((_, range)) = text.split_once(" is not in ") {
        return Some(format!("found {value}, allowed {}", bounds(range)));
    }
    let Some(at) = text.find("allowed") else {
        return Some(format!("found {value:?}: {text}"));
    };
    let (head, allowed) = text.split_at(at);
    let allowed = allowed["allowed".len()..].trim_start_matches([':', ' ']);
    let head = head.trim_end_matches([' ', ',', ';', ':', '.']);
    let is_value = head.is_empty()
        || ["found", "invalid"].iter().any(|word| head.starts_with(word))
        || head == format!("{value:?}");
    let why = if is_value { String::new() } else { format!(" ({head})") };
    Some(format!("found {value:?}{why}, allowed {allowed}"))
}

/// A range of whole numbers in words.
fn bounds(range: &str) -> String {
    let unbounded = [i64::MAX.to_string(), u64::MAX.to_string()];
    let Some((minimum, maximum)) = range.split_once("..") else { return range.to_owned() };
    let maximum = maximum.trim_start_matches('=');
    match unbounded.iter().any(|none| none == maximum) {
        true => format!("{minimum} or more"),
        false => format!("{minimum} to {maximum}"),
    }
}

/// An option without its values, an argument without its brackets.
fn name(argument: &str) -> &str {
    let name = argument.split([' ', '=']).next().unwrap_or(argument);
    name.trim_end_matches("...").trim_matches(['<', '>', '[', ']'])
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Writes an error to standard error as clap lays it out, in the colour of the output.
pub fn show(error: &clap::Error) {
    let _ = write!(anstream::stderr(), "{}", error.render().ansi());
}

/// Choice of `--color` among arguments that may be invalid.
pub fn colour(arguments: impl Iterator<Item = String>) -> ColorChoice {
    let mut arguments = arguments.take_while(|argument| argument != "--");
    while let Some(argument) = arguments.next() {
        let value = match argument.strip_prefix("--color") {
            Some("") => arguments.next(),
            Some(value) => value.strip_prefix('=').map(str::to_owned),
            None => None,
        };
        if let Some(choice) = value.and_then(|value| ColorChoice::from_str(&value, false).ok()) {
            return choice;
        }
    }
    ColorChoice::Auto
}

#[cfg(test)]
mod tests {
    use clap::builder::BoolishValueParser;
    use clap::{Arg, Command};

    use super::*;

    fn message(arg: Arg, value: &str) -> String {
        let command = Command::new("p").no_binary_name(true).arg(arg.long("x").value_name("X"));
        let error = command.try_get_matches_from([format!("--x={value}")]).unwrap_err();
        value_message(&error).unwrap()
    }

    #[test]
    fn values_of_all_parsers_give_errors_of_one_form() {
        let arg = || Arg::new("x");
        let custom = |text: &'static str| {
            arg().value_parser(move |_: &str| Err::<u8, String>(text.to_owned()))
        };
        for (arg, value, expected) in [
            (arg().value_parser(clap::value_parser!(f64)), "a", "\"a\", allowed a number"),
            (arg().value_parser(clap::value_parser!(u64)), "-", "\"-\", allowed a whole number"),
            (arg().value_parser(clap::value_parser!(u16).range(8..=40)), "3", "3, allowed 8 to 40"),
            (arg().value_parser(clap::value_parser!(u16).range(1..)), "0", "0, allowed 1 to 65535"),
            (
                arg().value_parser(clap::value_parser!(std::net::SocketAddr)),
                "h",
                "\"h\", allowed ADDRESS:PORT",
            ),
            (
                arg().value_parser(clap::value_parser!(std::net::IpAddr)),
                "h",
                "\"h\", allowed an IP address",
            ),
            (arg().value_parser(["one", "two"]), "six", "\"six\", allowed one, two"),
            (
                arg().value_parser(BoolishValueParser::new()),
                "maybe",
                "\"maybe\", allowed true, false, yes, no, on, off, 1, 0",
            ),
            (custom("found 1, allowed 64 on"), "1", "\"1\", allowed 64 on"),
            (custom("invalid speed, allowed max"), "s", "\"s\", allowed max"),
            (custom("\"v\"; allowed: CHIP:LINE"), "v", "\"v\", allowed CHIP:LINE"),
            (custom("no such host; allowed A:P"), "h", "\"h\" (no such host), allowed A:P"),
            (custom("it is broken"), "h", "\"h\": it is broken"),
        ] {
            assert_eq!(message(arg, value), format!("invalid --x: found {expected}"));
        }
    }

    #[test]
    fn a_similar_value_is_proposed_and_a_missing_one_named() {
        let arg = Arg::new("x").value_parser(["free-space", "itm"]);
        let error = message(arg.clone(), "free-spaces");
        assert!(error.ends_with("did you mean free-space?"), "{error}");
        let command = Command::new("p").no_binary_name(true).arg(arg.long("x"));
        let error = command.try_get_matches_from(["--x"]).unwrap_err();
        let error = value_message(&error).unwrap();
        assert_eq!(error, "invalid --x: found no value, allowed free-space, itm");
    }

    #[test]
    fn errors_of_usage_are_one_line_with_the_argument() {
        let command = Command::new("p").no_binary_name(true);
        let command = command.arg(Arg::new("a").required(true).value_name("FILE"));
        let error = command.clone().try_get_matches_from([""; 0]).unwrap_err();
        assert_eq!(line(&error), "the following required arguments were not provided: <FILE>");
        assert_eq!(field(&error).as_deref(), Some("FILE"));
        let error = command.try_get_matches_from(["a", "--bogus"]).unwrap_err();
        assert!(line(&error).starts_with("unexpected argument '--bogus' found"), "{error}");
        assert!(!line(&error).contains("Usage"), "{error}");
        assert_eq!(field(&error).as_deref(), Some("--bogus"));
        let parent = Command::new("p").no_binary_name(true).subcommand_required(true);
        let parent = parent.subcommand(Command::new("list")).arg_required_else_help(true);
        let error = parent.try_get_matches_from([""; 0]).unwrap_err();
        assert!(line(&error).starts_with("missing subcommand"), "{error}");
    }

    #[test]
    fn the_colour_of_invalid_command_lines_is_that_of_the_option() {
        let choice = |line: &str| colour(line.split(' ').map(str::to_owned));
        assert_eq!(choice("run --color never x --bad"), ColorChoice::Never);
        assert_eq!(choice("--color=always"), ColorChoice::Always);
        assert_eq!(choice("run --colour never"), ColorChoice::Auto);
        assert_eq!(choice("run -- --color never"), ColorChoice::Auto);
        assert_eq!(choice("--color nothing"), ColorChoice::Auto);
    }
}
