//! Configuration files: values of options that are given neither on the command line nor by an environment
//! variable.
//!
//! A file is TOML. A key at the top is the long name of an option, for every command that has one of that
//! name; a table is named like a command, and its keys are options of that command alone. A value counts as
//! the default of its option, so `--help` shows it.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command};
use groundwave_http::option_value::require_file;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::negative_values::alone;
use crate::usage;

/// Variable that names the one file to read.
pub const FILE_VARIABLE: &str = "GROUNDWAVE_CONFIG";

/// File of the machine.
const MACHINE_FILE: &str = "/etc/groundwave/config.toml";

/// File of a user, in the folder of configurations.
const USER_FILE: &str = "groundwave/config.toml";

/// Options that no file sets.
const COMMAND_LINE_ONLY: [&str; 3] = ["help", "version", "print_config"];

/// Beginning of the names of programs with one command, which is the rest.
const PROGRAM_PREFIX: &str = "groundwave-";

/// A value of a file, as its option takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Setting {
    /// Values, in the form of the command line.
    values: Vec<String>,
    /// File and line, `FILE:LINE`.
    place: String,
}

/// Settings by the names of the commands and of the option.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    of: BTreeMap<(Vec<String>, String), Setting>,
}

/// Files that are read, the weakest first, from the environment.
#[must_use]
pub fn files(variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let variable = |name: &str| variable(name).filter(|value| !value.is_empty());
    if let Some(file) = variable(FILE_VARIABLE) {
        return vec![file.into()];
    }
    let home = || variable("HOME").map(|home| Path::new(&home).join(".config"));
    let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from).or_else(home);
    let user = folder.map(|folder| folder.join(USER_FILE));
    [Some(PathBuf::from(MACHINE_FILE)), user].into_iter().flatten().collect()
}

impl Settings {
    /// Reads the files of the environment that exist; later ones replace values of earlier ones.
    ///
    /// # Errors
    /// With file, line and what is allowed, for a file that cannot be read, for a key that no command has,
    /// and for a value that its option refuses. A file that [`FILE_VARIABLE`] names must exist.
    pub fn load(
        command: &Command,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let is_named = variable(FILE_VARIABLE).is_some_and(|file| !file.is_empty());
        let mut settings = Self::default();
        let name = if is_named { FILE_VARIABLE } else { "configuration" };
        for file in files(variable) {
            if is_named || file.exists() {
                require_file(name, &file, "a configuration file (TOML)")
                    .map_err(|failure| failure.message().to_owned())?;
            }
            match std::fs::read_to_string(&file) {
                Ok(text) => settings.add(command, &file, &text)?,
                Err(err) if err.kind() == std::io::ErrorKind::NotFound && !is_named => {}
                Err(err) => return Err(format!("configuration {}: {err}", file.display())),
            }
        }
        Ok(settings)
    }

    /// Adds the values of a file.
    ///
    /// # Errors
    /// As [`Self::load`].
    fn add(&mut self, command: &Command, file: &Path, text: &str) -> Result<(), String> {
        let root = DeTable::parse(text).map_err(|err| {
            let line = line_of(text, err.span().map_or(0, |span| span.start));
            format!("configuration {}:{line}: {}", file.display(), err.message())
        })?;
        let text = Text { file, text };
        if command.has_subcommands() {
            return self.add_table(command, &mut Vec::new(), root.get_ref(), &text);
        }
        // A program with one command shares the file of all: its table counts, and what it has an option for.
        let own = command.get_name().trim_start_matches(PROGRAM_PREFIX);
        for (key, value) in root.get_ref() {
            let is_table = matches!(value.get_ref(), DeValue::Table(_));
            if !is_table && !options(command, &option_name(key)).is_empty() {
                self.add_value(command, &[], (key, value), &text)?;
            }
        }
        if let Some(DeValue::Table(table)) = root.get_ref().get(own).map(Spanned::get_ref) {
            self.add_table(command, &mut Vec::new(), table, &text)?;
        }
        Ok(())
    }

    fn add_table(
        &mut self,
        command: &Command,
        path: &mut Vec<String>,
        table: &DeTable<'_>,
        text: &Text<'_>,
    ) -> Result<(), String> {
        for (key, value) in table {
            let DeValue::Table(inner) = value.get_ref() else {
                self.add_value(command, path, (key, value), text)?;
                continue;
            };
            let name = option_name(key);
            let Some(subcommand) = command.find_subcommand(name.as_str()) else {
                let allowed = subcommands(command).map(Command::get_name);
                let place = text.place(key.span().start);
                return Err(refused(&place, "command", &name, allowed));
            };
            path.push(name);
            self.add_table(subcommand, path, inner, text)?;
            path.pop();
        }
        Ok(())
    }

    fn add_value(
        &mut self,
        command: &Command,
        path: &[String],
        (key, value): (&Key<'_>, &Spanned<DeValue<'_>>),
        text: &Text<'_>,
    ) -> Result<(), String> {
        let (place, name) = (text.place(key.span().start), option_name(key));
        let options = options(command, &name);
        if options.is_empty() {
            return Err(refused(&place, "option", &name, names(command).into_iter()));
        }
        let values = values(value).ok_or_else(|| {
            format!("{place}: invalid {name}: allowed text, numbers, true, false, arrays of them")
        })?;
        for (of, arg) in options {
            check(arg, &values).map_err(|why| format!("{place}: {why} ({of})"))?;
        }
        self.of.insert((path.to_vec(), name), Setting { values, place });
        Ok(())
    }

    /// The setting of an option of a command: of its own table, else of those above it.
    fn get(&self, path: &[String], name: &str) -> Option<&Setting> {
        (0..=path.len())
            .rev()
            .find_map(|length| self.of.get(&(path[..length].to_vec(), name.to_owned())))
    }

    /// File and line of the setting of an option.
    #[must_use]
    pub fn place(&self, path: &[String], name: &str) -> Option<&str> {
        self.get(path, name).map(|setting| setting.place.as_str())
    }

    /// `true` where a switch of all commands is set.
    #[must_use]
    pub fn is_true(&self, name: &str) -> bool {
        self.get(&[], name).is_some_and(|setting| setting.values == ["true"])
    }

    /// The command with these settings as defaults.
    #[must_use]
    pub fn applied(&self, command: Command) -> Command {
        if self.of.is_empty() { command } else { self.applied_at(command, &mut Vec::new()) }
    }

    fn applied_at(&self, command: Command, path: &mut Vec<String>) -> Command {
        let command = command.mut_args(|arg| {
            let setting = arg.get_long().and_then(|name| self.get(path, name));
            match setting.filter(|_| is_configurable(&arg)) {
                Some(setting) => with_default(arg, setting),
                None => arg,
            }
        });
        command.mut_subcommands(|subcommand| {
            path.push(subcommand.get_name().to_owned());
            let subcommand = self.applied_at(subcommand, path);
            path.pop();
            subcommand
        })
    }
}

/// The option with a setting as its default.
fn with_default(arg: Arg, setting: &Setting) -> Arg {
    arg.required(false).default_values(setting.values.clone())
}

type Key<'t> = Spanned<Cow<'t, str>>;

/// The name of an option or a command that a key stands for.
fn option_name(key: &Key<'_>) -> String {
    key.get_ref().replace('_', "-")
}

struct Text<'t> {
    file: &'t Path,
    text: &'t str,
}

impl Text<'_> {
    fn place(&self, offset: usize) -> String {
        format!("{}:{}", self.file.display(), line_of(self.text, offset))
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|byte| *byte == b'\n').count()
}

fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help")
}

/// True for an option that a file may set.
#[must_use]
pub fn is_configurable(arg: &Arg) -> bool {
    arg.get_long().is_some() && !COMMAND_LINE_ONLY.contains(&arg.get_id().as_str())
}

/// Options of a name of a command and of those below it, each with the name of its command.
fn options<'c>(command: &'c Command, name: &str) -> Vec<(&'c str, &'c Arg)> {
    let is_it = |arg: &&Arg| is_configurable(arg) && arg.get_long() == Some(name);
    let own = command.get_arguments().filter(is_it).map(|arg| (command.get_name(), arg));
    own.chain(subcommands(command).flat_map(|below| options(below, name))).collect()
}

/// Names of the options of a command and of those below it.
fn names(command: &Command) -> Vec<&str> {
    let own = command.get_arguments().filter(|arg| is_configurable(arg)).filter_map(Arg::get_long);
    let mut all: Vec<_> = own.chain(subcommands(command).flat_map(names)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn refused<'n>(
    place: &str,
    kind: &str,
    name: &str,
    allowed: impl Iterator<Item = &'n str>,
) -> String {
    let allowed: Vec<_> = allowed.collect();
    format!("{place}: invalid {kind}: found {name:?}, allowed {}", allowed.join(", "))
}

/// A value as an option takes it; `None` for a table in an array or a date.
fn values(value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
    let one = |value: &DeValue<'_>| match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    };
    match value.get_ref() {
        DeValue::Array(items) => items.iter().map(|item| one(item.get_ref())).collect(),
        value => one(value).map(|value| vec![value]),
    }
}

/// Checks values as the command line would.
fn check(arg: &Arg, values: &[String]) -> Result<(), String> {
    let name = arg.get_long().unwrap_or_default();
    match arg.get_action() {
        ArgAction::SetTrue | ArgAction::SetFalse => {
            return match values {
                [value] if value == "true" || value == "false" => Ok(()),
                _ => Err(format!("invalid {name}: found {values:?}, allowed true or false")),
            };
        }
        ArgAction::Count => {
            return match values {
                [value] if value.parse::<u8>().is_ok() => Ok(()),
                _ => Err(format!("invalid {name}: found {values:?}, allowed 0 to 255")),
            };
        }
        _ => {}
    }
    // A command with this option alone refuses what the option refuses, whatever else is required.
    let command = alone(arg);
    for value in values {
        let parsed = command.clone().try_get_matches_from([format!("--{name}={value}")]);
        if let Err(error) = parsed {
            let message = usage::value_message(&error).unwrap_or_else(|| error.to_string());
            return Err(message.replacen("invalid --", "invalid ", 1));
        }
    }
    Ok(())
}
