//! Options in force of a command, as a configuration file or as JSON.

use std::any::TypeId;
use std::fmt::Write as _;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Serialize;
use serde_json::Value;

use crate::settings::{Settings, files, is_configurable};

/// Options in force of a command.
#[derive(Debug, Serialize)]
pub struct Configuration {
    /// Configuration files, the later one first.
    files: Vec<ConfigurationFile>,
    /// Names of the command and of those above it, without the program.
    command: Vec<String>,
    /// The options that a file may set.
    options: Vec<OptionInForce>,
}

#[derive(Debug, Serialize)]
struct ConfigurationFile {
    path: String,
    is_present: bool,
}

#[derive(Debug, Serialize)]
struct OptionInForce {
    name: String,
    /// `None` where it is not set.
    value: Option<Value>,
    /// Command line, environment variable, `FILE:LINE` or default; `None` where it is not set.
    source: Option<String>,
}

impl Configuration {
    /// The options of the command that was given, with their values and sources.
    #[must_use]
    pub fn new(command: &Command, matches: &ArgMatches, settings: &Settings) -> Self {
        let (mut command, mut matches) = (command, matches);
        let mut path = Vec::new();
        while let Some((name, below)) = matches.subcommand() {
            let Some(subcommand) = command.find_subcommand(name) else { break };
            path.push(name.to_owned());
            (command, matches) = (subcommand, below);
        }
        let files = files(|name| std::env::var(name).ok()).into_iter().rev();
        let files = files.map(|file| ConfigurationFile {
            path: file.display().to_string(),
            is_present: file.exists(),
        });
        let options =
            command.get_arguments().filter(|arg| is_configurable(arg)).filter_map(|arg| {
                let name = arg.get_long()?;
                let value = value(arg, matches);
                let place = settings.place(&path, name);
                let source = value.is_some().then(|| source(arg, matches, place));
                Some(OptionInForce { name: name.to_owned(), value, source })
            });
        let (files, options) = (files.collect(), options.collect());
        Self { files, command: path, options }
    }

    /// The configuration file that sets these options.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = String::from("# Read from, the later one first:");
        for file in &self.files {
            let absent = if file.is_present { "" } else { " (absent)" };
            let _ = write!(text, " {}{absent}", file.path);
        }
        text.push('\n');
        if !self.command.is_empty() {
            let _ = writeln!(text, "[{}]", self.command.join("."));
        }
        for OptionInForce { name, value, source } in &self.options {
            let _ = match value {
                Some(value) => {
                    let source = source.as_deref().unwrap_or_default();
                    writeln!(text, "{name} = {}  # {source}", toml_of(value))
                }
                None => writeln!(text, "# {name} is not set"),
            };
        }
        text
    }
}

/// A value in TOML.
fn toml_of(value: &Value) -> String {
    match value {
        Value::String(text) => toml::Value::from(text.as_str()).to_string(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(toml_of).collect();
            format!("[{}]", items.join(", "))
        }
        value => value.to_string(),
    }
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

/// The value of an option; `None` where it has none.
fn value(arg: &Arg, matches: &ArgMatches) -> Option<Value> {
    let id = arg.get_id().as_str();
    let text = |value: &std::ffi::OsStr| Value::from(value.to_string_lossy());
    let truth = || matches.try_get_one::<bool>(id).ok().flatten().map(|truth| Value::from(*truth));
    match arg.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => truth(),
        ArgAction::Count => {
            matches.try_get_one::<u8>(id).ok().flatten().map(|count| Value::from(*count))
        }
        _ if arg.get_value_parser().type_id() == TypeId::of::<bool>() => truth(),
        action => {
            let values: Vec<_> = matches.try_get_raw(id).ok().flatten()?.map(text).collect();
            let is_list = matches!(action, ArgAction::Append) || values.len() > 1;
            match is_list {
                true => Some(Value::Array(values)),
                false => values.into_iter().next(),
            }
        }
    }
}
