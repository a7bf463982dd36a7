//! Sections of a parsed scenario as a [`ScenarioFile`].

use groundwave_toml_document::decode::{item, single};
use groundwave_toml_document::error::{Finding, Report};
use groundwave_toml_document::key::KeyPath;
use groundwave_toml_document::suggest;
use groundwave_toml_document::tree::Value;
use serde::de::DeserializeOwned;
use toml::de::{DeTable, DeValue};

use super::file::{CommandFile, ScenarioFile, WeatherFile};
use super::json;

/// The sections written once, `[name]`.
pub(super) const TABLES: [&str; 10] = [
    "scenario",
    "terrain",
    "environment",
    "calibration",
    "mesh",
    "output",
    "coverage",
    "deployment",
    "testbed",
    "study",
];

/// The sections written any number of times, `[[name]]`.
pub(super) const LISTS: [&str; 9] =
    ["radio", "antenna", "node", "generate", "motion", "flow", "failure", "weather", "command"];

/// Reads every section. The result is meaningful only if the report stays empty.
pub(super) fn decode(root: &DeTable<'_>, report: &mut Report) -> ScenarioFile {
    for (key, _) in root {
        let name: &str = key.get_ref();
        if !TABLES.contains(&name) && !LISTS.contains(&name) {
            let sections = TABLES.iter().chain(&LISTS).copied();
            report.push(|| Finding {
                path: KeyPath::default().owned_key(name),
                span: Some(key.span()),
                what: format!("unknown section {name:?}"),
                allowed: suggest::one_of(name, sections),
                elsewhere: None,
            });
        }
    }
    if !root.contains_key("scenario") {
        let path = KeyPath::section("scenario");
        report.at(&path, "missing section", "[scenario] with at least title and duration_s");
    }
    ScenarioFile {
        scenario: table(root, "scenario", report).unwrap_or_default(),
        terrain: table(root, "terrain", report).unwrap_or_default(),
        environment: table(root, "environment", report),
        calibration: table(root, "calibration", report),
        mesh: table(root, "mesh", report),
        output: table(root, "output", report).unwrap_or_default(),
        coverage: table(root, "coverage", report),
        deployment: table(root, "deployment", report),
        testbed: table(root, "testbed", report),
        study: table(root, "study", report),
        radio: list(root, "radio", report, item),
        antenna: list(root, "antenna", report, item),
        node: list(root, "node", report, item),
        generate: list(root, "generate", report, item),
        motion: list(root, "motion", report, item),
        flow: list(root, "flow", report, item),
        failure: list(root, "failure", report, item),
        weather: list(root, "weather", report, weather),
        command: list(root, "command", report, command),
    }
}

/// A section written once.
fn table<T: DeserializeOwned>(
    root: &DeTable<'_>,
    name: &'static str,
    report: &mut Report,
) -> Option<T> {
    let value = root.get(name)?;
    let path = KeyPath::section(name);
    if !value.get_ref().is_table() {
        report.at(&path, format!("found {}", kind(value)), format!("one table, written [{name}]"));
        return None;
    }
    item(value, &path, report)
}

/// A section written any number of times.
fn list<T>(
    root: &DeTable<'_>,
    name: &'static str,
    report: &mut Report,
    read: fn(&Value<'_>, &KeyPath, &mut Report) -> Option<T>,
) -> Vec<T> {
    let Some(value) = root.get(name) else {
        return Vec::new();
    };
    let DeValue::Array(items) = value.get_ref() else {
        let path = KeyPath::section(name);
        report.at(
            &path,
            format!("found {}", kind(value)),
            format!("tables, each written [[{name}]]"),
        );
        return Vec::new();
    };
    let mut read_items = Vec::with_capacity(items.len());
    for (index, value) in items.iter().enumerate() {
        let path = KeyPath::item(name, index);
        if value.get_ref().is_table() {
            read_items.extend(read(value, &path, report));
        } else {
            report.at(
                &path,
                format!("found {}", kind(value)),
                format!("a table, written [[{name}]]"),
            );
        }
    }
    read_items
}

/// A change of the environment: the time, and which fields are named.
fn weather(value: &Value<'_>, path: &KeyPath, report: &mut Report) -> Option<WeatherFile> {
    let mut fields = value.clone();
    let at_s = take_time(&mut fields, path, report);
    let environment = item(&fields, path, report)?;
    let DeValue::Table(table) = fields.get_ref() else {
        return None;
    };
    let named = table.keys().map(|key| key.get_ref().to_string()).collect();
    Some(WeatherFile { at_s: at_s?, environment, named })
}

/// A command: the time, the name, and the rest as its body.
fn command(value: &Value<'_>, path: &KeyPath, report: &mut Report) -> Option<CommandFile> {
    let mut fields = value.clone();
    let at_s = take_time(&mut fields, path, report);
    let DeValue::Table(table) = fields.get_mut() else {
        return None;
    };
    let name = match table.remove("command") {
        Some(name) => single::<String>(&name, &path.key("command"), report),
        None => {
            report.at(
                &path.key("command"),
                "missing key",
                "the name of a command, such as \"node.fail\"",
            );
            None
        }
    };
    let mut body = std::collections::BTreeMap::new();
    for (key, value) in table.iter() {
        let json = json::from_toml(value, &path.owned_key(key.get_ref()), report)?;
        body.insert(key.get_ref().to_string(), json);
    }
    Some(CommandFile { at_s: at_s?, command: name?, body })
}

/// Takes `at_s` out of a table.
fn take_time(fields: &mut Value<'_>, path: &KeyPath, report: &mut Report) -> Option<f64> {
    let DeValue::Table(table) = fields.get_mut() else {
        return None;
    };
    let Some(value) = table.remove("at_s") else {
        report.at(&path.key("at_s"), "missing key", "seconds since the start");
        return None;
    };
    single(&value, &path.key("at_s"), report)
}

/// Type of a value, with its article.
fn kind(value: &Value<'_>) -> &'static str {
    match value.get_ref() {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}
