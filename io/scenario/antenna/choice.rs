//! The pattern that an antenna of a scenario names.

use std::path::Path;

use groundwave_model::radio::Pattern;
use groundwave_propagation::polarization::Polarization;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;

use crate::file_radio::PatternChoice;

/// A pattern with what its file has beside it.
pub(crate) struct PatternOf {
    /// Losses in all directions.
    pub pattern: Pattern,
    /// Gain of the maximum, dBi.
    pub gain_dbi: Option<f64>,
    /// Polarization of the pattern.
    pub polarization: Option<Polarization>,
}

/// The pattern of the antenna at `path` with the gain and polarization of its file. Files are relative to `base_dir`; without one
/// none is read.
pub(crate) fn read(
    choice: &PatternChoice,
    base_dir: Option<&Path>,
    path: &KeyPath,
    report: &mut Report,
) -> Option<PatternOf> {
    let name = match choice {
        PatternChoice::File(name) => name,
        PatternChoice::Inline(cuts) => {
            let pattern = Pattern::new((**cuts).clone());
            let refuse = |bad: groundwave_model::radio::BadValue| {
                let what = format!("{} is out of range", bad.found);
                report.at(&path.dotted(&bad.key), what, bad.allowed);
            };
            let pattern = pattern.map_err(refuse).ok()?;
            return Some(PatternOf { pattern, gain_dbi: None, polarization: None });
        }
    };
    let path = path.key("pattern");
    let Some(base_dir) = base_dir else {
        let what = "names a file, and this scenario came without its folder";
        let allowed = "the losses themselves, as horizontal_loss_db and vertical_loss_db";
        report.at(&path, what, allowed);
        return None;
    };
    match super::load(&base_dir.join(name)) {
        Ok(file) => Some(PatternOf {
            pattern: file.pattern,
            gain_dbi: file.gain_dbi,
            polarization: file.polarization,
        }),
        Err(bad) => {
            let what = format!("{}: invalid {}: {}", bad.file, bad.what, bad.actual);
            report.at(&path, what, bad.allowed);
            None
        }
    }
}
