//! Page of the keys of configuration files, from the options of all commands.

use std::collections::BTreeMap;
use std::fmt::Write;

use clap::{Arg, ArgAction, Command};
use groundwave_command::is_configurable;

use super::http::cell;

/// Key of a configuration file: meaning, values and default, with the commands that have it so.
type Keys = BTreeMap<(String, String), Vec<String>>;

/// Page of all keys.
pub(super) fn page(command: &Command) -> String {
    let mut keys = Keys::new();
    gather(&mut keys, command, "");
    let mut page = "# Keys of the configuration file\n\n\
        A key at the top of the [file](configuration.md) counts for all commands that have it, in a table for that \
        command alone: `[sweep.merge]` for `sweep merge`.\n\n\
        | key | meaning | values | default | commands |\n| --- | --- | --- | --- | --- |\n"
        .to_owned();
    let common = commands_of(command);
    for ((name, rest), commands) in keys {
        let commands = match commands.len() {
            count if count == common => "all".to_owned(),
            _ => commands.join(", "),
        };
        let _ = writeln!(page, "| `{name}` {rest} {commands} |");
    }
    page
}

/// Commands that are shown and do something.
fn commands_of(command: &Command) -> usize {
    let below: Vec<_> = shown(command).collect();
    if below.is_empty() { 1 } else { below.into_iter().map(commands_of).sum() }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set() && below.get_name() != "help")
}

fn gather(keys: &mut Keys, command: &Command, path: &str) {
    if shown(command).next().is_none() {
        for arg in command.get_arguments().filter(|arg| is_configurable(arg) && !arg.is_hide_set())
        {
            let Some(name) = arg.get_long() else { continue };
            let key = (
                name.to_owned(),
                format!("| {} | {} | {} |", help(arg), values(arg), default(arg)),
            );
            keys.entry(key).or_default().push(path.to_owned());
        }
    }
    for below in shown(command) {
        let path = format!("{path} {}", below.get_name());
        gather(keys, below, path.trim_start());
    }
}

/// Values of an option: `true`, `false`, those of a list, or the name of the value.
fn values(arg: &Arg) -> String {
    if matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse) {
        return "true, false".to_owned();
    }
    let listed = arg.get_possible_values();
    let listed: Vec<_> =
        listed.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name()).collect();
    let names = arg.get_value_names().unwrap_or_default().iter().map(|name| name.as_str());
    let values =
        if listed.is_empty() { names.collect::<Vec<_>>().join(" ") } else { listed.join(", ") };
    let is_list = matches!(arg.get_action(), ArgAction::Append);
    cell(&if is_list { format!("array of {values}") } else { values })
}

fn default(arg: &Arg) -> String {
    let defaults = arg.get_default_values().iter().map(|value| value.to_string_lossy());
    cell(&defaults.map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", "))
}

fn help(arg: &Arg) -> String {
    cell(&arg.get_help().map(ToString::to_string).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::super::super::command;

    #[test]
    fn keys_have_values_defaults_and_their_commands() {
        let mut command = command();
        command.build();
        let page = super::page(&command);
        let row =
            |key: &str| page.lines().find(|line| line.starts_with(&format!("| `{key}` "))).unwrap();
        assert!(row("public-map").contains("| true, false |"), "{}", row("public-map"));
        assert!(row("public-map").ends_with("| serve |"), "{}", row("public-map"));
        assert!(row("quiet").ends_with("| all |"), "{}", row("quiet"));
        for other in ["`help`", "`version`", "`print-config`"] {
            assert!(!page.contains(&format!("| {other}")), "{other}");
        }
        let columns = |line: &str| line.replace("\\|", "").matches('|').count();
        assert!(page.lines().filter(|line| line.starts_with('|')).all(|line| columns(line) == 6));
        assert!(page.lines().count() > 100, "{}", page.lines().count());
    }
}
