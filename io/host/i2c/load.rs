//! Files of sensor templates and boards: built-in ones (`templates/`, `boards/`), and templates of a
//! folder.

use std::path::Path;

use groundwave_sensor::{Board, SensorTemplate};
use groundwave_toml_document::{TomlDocument, TomlErrors};
use groundwave_values::bounds::BadValue;
use serde::de::DeserializeOwned;

/// Most templates of a folder.
const FILES_MAX: usize = 256;

/// Built-in templates.
const TEMPLATES: [(&str, &str); 7] = [
    ("ads1115.toml", include_str!("templates/ads1115.toml")),
    ("bme280.toml", include_str!("templates/bme280.toml")),
    ("bmp280.toml", include_str!("templates/bmp280.toml")),
    ("ds3231.toml", include_str!("templates/ds3231.toml")),
    ("ina219.toml", include_str!("templates/ina219.toml")),
    ("lm75.toml", include_str!("templates/lm75.toml")),
    ("sht3x.toml", include_str!("templates/sht3x.toml")),
];

/// Built-in boards.
const BOARDS: [(&str, &str); 4] = [
    ("generic.toml", include_str!("boards/generic.toml")),
    ("raspberry_pi_3.toml", include_str!("boards/raspberry_pi_3.toml")),
    ("raspberry_pi_4.toml", include_str!("boards/raspberry_pi_4.toml")),
    ("raspberry_pi_5.toml", include_str!("boards/raspberry_pi_5.toml")),
];

/// Parses a template; `name` is that of the file in errors.
///
/// # Errors
/// All errors, with line, key and allowed values.
pub fn template(text: &str, name: &str) -> Result<SensorTemplate, TomlErrors> {
    read(text, name, SensorTemplate::problems)
}

/// Parses the definition of a board; `name` is that of the file in errors.
///
/// # Errors
/// All errors, with line, key and allowed values.
pub fn board(text: &str, name: &str) -> Result<Board, TomlErrors> {
    read(text, name, Board::problems)
}

fn read<T: DeserializeOwned>(
    text: &str,
    name: &str,
    problems: fn(&T) -> Vec<BadValue>,
) -> Result<T, TomlErrors> {
    let (found, mut document) = TomlDocument::read::<T>(name, text)?;
    for bad in problems(&found) {
        document.invalid(&bad.key, bad.found, bad.allowed);
    }
    document.finish()?;
    Ok(found)
}

/// The built-in templates, in the order of their names.
///
/// # Panics
/// Never: tests read them.
#[must_use]
pub fn built_in_templates() -> Vec<SensorTemplate> {
    let read = |(name, text)| template(text, name).unwrap_or_else(|err| panic!("{err}"));
    TEMPLATES.into_iter().map(read).collect()
}

/// The built-in boards, in the order of their names.
///
/// # Panics
/// Never: tests read them.
#[must_use]
pub fn built_in_boards() -> Vec<Board> {
    let read = |(name, text)| board(text, name).unwrap_or_else(|err| panic!("{err}"));
    BOARDS.into_iter().map(read).collect()
}

/// The built-in templates and those of the `*.toml` files of a folder, if there is one.
///
/// # Errors
/// The errors of a file, with its name.
pub fn load(folder: Option<&Path>) -> Result<Vec<SensorTemplate>, String> {
    let mut all = built_in_templates();
    let Some(folder) = folder else { return Ok(all) };
    let failed = |err: std::io::Error| format!("{}: {err}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    if paths.len() > FILES_MAX {
        let many = paths.len();
        return Err(format!("{}: {many} files; allowed: {FILES_MAX}", folder.display()));
    }
    paths.sort();
    for path in paths {
        let text = groundwave_toml_document::text(&path).map_err(|err| err.to_string())?;
        let name = path.display().to_string();
        let template = template(&text, &name).map_err(|err| err.to_string())?;
        let id = &template.template_id;
        if all.iter().any(|one| one.template_id == *id) {
            return Err(format!(
                "{name}: template_id: there is a template {id:?} already; allowed: another name"
            ));
        }
        all.push(template);
    }
    Ok(all)
}
