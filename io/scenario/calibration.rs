//! `[calibration]`: the profile that a scenario names becomes part of its environment.

use std::path::Path;

use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;

use super::file::ScenarioFile;

/// Reads the profile and puts it into the environment; `base_dir` is `None` where no file may be
/// read.
pub(super) fn apply(file: &mut ScenarioFile, base_dir: Option<&Path>, report: &mut Report) {
    let Some(calibration) = &file.calibration else {
        return;
    };
    let path = KeyPath::section("calibration").key("file");
    let Some(base_dir) = base_dir else {
        let what = "names a file, and this scenario came without its folder";
        report.at(&path, what, "the profile itself, as [environment.calibration]");
        return;
    };
    match crate::calibration_profile::load(&base_dir.join(&calibration.file)) {
        Err(errors) => {
            let text = errors.to_string();
            let first = text.lines().next().unwrap_or_default().to_owned();
            report.at(&path, first, "a profile as `groundwave calibrate` writes it");
        }
        Ok(profile) => {
            let environment = file.environment.get_or_insert_default();
            if environment.calibration.is_some() {
                let what = "the environment has a calibration of its own";
                report.at(&path, what, "one of both");
                return;
            }
            environment.calibration = Some(profile);
        }
    }
}
