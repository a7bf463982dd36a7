//! Files of sensor templates: built-in ones (`templates/`), and those of a folder.

use std::path::Path;

use super::check::Check;
use super::template::SensorTemplate;
use crate::toml_document::{self, TomlDocument, TomlErrors};

/// Most templates of a folder.
const FILES_MAX: usize = 256;

/// Built-in templates.
const BUILT_IN: [(&str, &str); 4] = [
    ("bme280.toml", include_str!("templates/bme280.toml")),
    ("bmp280.toml", include_str!("templates/bmp280.toml")),
    ("ina219.toml", include_str!("templates/ina219.toml")),
    ("lm75.toml", include_str!("templates/lm75.toml")),
];

impl SensorTemplate {
    /// Parses a template; `name` is that of the file in errors.
    ///
    /// # Errors
    /// All errors, with line, key and allowed values.
    pub fn parse(text: &str, name: &str) -> Result<Self, TomlErrors> {
        let (template, mut document) = TomlDocument::read::<Self>(name, text)?;
        Check::new(&mut document).template(&template);
        document.finish()?;
        Ok(template)
    }
}

/// The built-in templates and those of the `*.toml` files of a folder, if there is one.
///
/// # Errors
/// The errors of a file, with its name.
pub fn load(folder: Option<&Path>) -> Result<Vec<SensorTemplate>, String> {
    let mut all: Vec<SensorTemplate> = Vec::new();
    for (name, text) in BUILT_IN {
        all.push(SensorTemplate::parse(text, name).map_err(|err| err.to_string())?);
    }
    let Some(folder) = folder else { return Ok(all) };
    let failed = |err: std::io::Error| format!("{}: {err}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == "toml")
        {
            paths.push(path);
        }
    }
    if paths.len() > FILES_MAX {
        let many = paths.len();
        return Err(format!(
            "{}: {many} files; allowed: {FILES_MAX}",
            folder.display()
        ));
    }
    paths.sort();
    for path in paths {
        let text = toml_document::text(&path).map_err(|err| err.to_string())?;
        let name = path.display().to_string();
        let template = SensorTemplate::parse(&text, &name).map_err(|err| err.to_string())?;
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
