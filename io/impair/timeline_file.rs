//! Timelines from files of any of their formats.

use std::path::Path;

use super::timeline::{
    Timeline, TimelineError, TimelineOptions, from_rate_table, from_toml, from_trace,
};
use super::{mahimahi, rate_table, timeline_csv};

/// Reads a file: by its ending `.toml` or `.csv`, else by its first line.
///
/// # Errors
/// The first invalid part, with its line.
pub fn load(path: &Path, options: &TimelineOptions) -> Result<Timeline, TimelineError> {
    let text = groundwave_toml_document::text(path)?;
    parse(&text, &path.display().to_string(), options)
}

/// Reads the text of a file with this name, as [`load`] does.
///
/// # Errors
/// The first invalid part, with its line.
pub fn parse(text: &str, name: &str, options: &TimelineOptions) -> Result<Timeline, TimelineError> {
    let ending = Path::new(name).extension();
    let ending = ending.and_then(|ending| ending.to_str());
    match ending.map(str::to_lowercase).as_deref() {
        Some("toml") => from_toml(text, name, options),
        Some("csv") if rate_table::is_table(text) => from_rate_table(text, name, options),
        Some("csv") => timeline_csv::read(text, name, options),
        _ if mahimahi::is_trace(text) => from_trace(text, name, options),
        _ if rate_table::is_table(text) => from_rate_table(text, name, options),
        _ if text.trim_start().starts_with("at,") => timeline_csv::read(text, name, options),
        _ => from_toml(text, name, options),
    }
}
