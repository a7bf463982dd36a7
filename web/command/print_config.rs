//! Options in force of a command, as a configuration file.

use std::any::TypeId;
use std::fmt::Write as _;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::settings::{Settings, files, is_configurable};

/// The options of the command that was given, with their values and sources, as a configuration file.
#[must_use]
pub fn config_file(command: &Command, matches: &ArgMatches, settings: &Settings) -> String {
    let (mut command, mut matches) = (command, matches);
    let mut path = Vec::new();
    while let Some((name, below)) = matches.subcommand() {
        let Some(subcommand) = command.find_subcommand(name) else { break };
        path.push(name.to_owned());
        (command, matches) = (subcommand, below);
    }
    let mut text = String::from("# Read from, the later one first:");
    for file in files(|name| std::env::var(name).ok()).iter().rev() {
        let absent = if file.exists() { "" } else { " (absent)" };
        let _ = write!(text, " {}{absent}", file.display());
    }
    text.push('\n');
    if !path.is_empty() {
        let _ = writeln!(text, "[{}]", path.join("."));
    }
    for arg in command.get_arguments().filter(|arg| is_configurable(arg)) {
        let Some(name) = arg.get_long() else { continue };
        let source = source(arg, matches, settings.place(&path, name));
        match value(arg, matches) {
            Some(value) => {
                let _ = writeln!(text, "{name} = {value}  # {source}");
            }
            None => {
                let _ = writeln!(text, "# {name} is not set");
            }
        }
    }
    text
}

/// Source of the value of an option.
fn source(arg: &Arg, matches: &ArgMatches, place: Option<&str>) -> String {
    let variable = || arg.get_env().map(|name| name.to_string_lossy().into_owned());
    match matches.value_source(arg.get_id().as_str()) {
        Some(ValueSource::CommandLine) => "command line".to_owned(),
        Some(ValueSource::EnvVariable) => variable().unwrap_or_default(),
        _ => place.unwrap_or("default").to_owned(),
    }
}

/// The value of an option in TOML; `None` where it has none.
fn value(arg: &Arg, matches: &ArgMatches) -> Option<String> {
    let id = arg.get_id().as_str();
    let quoted = |value: &std::ffi::OsStr| toml::Value::from(&*value.to_string_lossy()).to_string();
    match arg.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => {
            matches.try_get_one::<bool>(id).ok().flatten().map(ToString::to_string)
        }
        ArgAction::Count => matches.try_get_one::<u8>(id).ok().flatten().map(ToString::to_string),
        _ if arg.get_value_parser().type_id() == TypeId::of::<bool>() => {
            matches.try_get_one::<bool>(id).ok().flatten().map(ToString::to_string)
        }
        action => {
            let values: Vec<_> = matches.try_get_raw(id).ok().flatten()?.map(quoted).collect();
            let is_list = matches!(action, ArgAction::Append) || values.len() > 1;
            match is_list {
                true => Some(format!("[{}]", values.join(", "))),
                false => values.into_iter().next(),
            }
        }
    }
}
