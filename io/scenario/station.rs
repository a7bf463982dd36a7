//! Radios, antennas and where they look: from names and settings to a [`Station`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use groundwave_model::radio::presets::{ANTENNA_DEFAULT, ANTENNAS, RADIOS, antenna_of_device};
use groundwave_model::radio::station::{Antenna, Pointing, Radio, Station};
use groundwave_propagation::polarization::Polarization;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use groundwave_toml_document::suggest;

use super::aim::Aim;
use super::check;
use super::file::{NodeFile, PointingFile, ScenarioFile};
use super::file_radio::{AntennaChoice, PatternChoice, RadioChoice};

/// The presets a scenario can name: built in and its own.
pub(super) struct Catalogue {
    radios: BTreeMap<String, Radio>,
    antennas: BTreeMap<String, Antenna>,
    /// Presets that radios of the file start from.
    bases: BTreeMap<String, String>,
    /// Folder that files of patterns are relative to; `None` where no file may be read.
    base_dir: Option<PathBuf>,
}

/// Keys that an antenna starts from: `preset` is named under `key`.
struct AntennaKeys<'f> {
    preset: Option<&'f str>,
    key: &'static str,
    pattern: Option<&'f PatternChoice>,
    gain_dbi: Option<f64>,
}

impl Catalogue {
    /// The built-in presets and those of the file, which may build on each other top down.
    pub(super) fn of(file: &ScenarioFile, base_dir: Option<&Path>, report: &mut Report) -> Self {
        let mut all = Self {
            radios: RADIOS.iter().map(|p| (p.id.to_owned(), p.radio.clone())).collect(),
            antennas: ANTENNAS.iter().map(|p| (p.id.to_owned(), p.antenna.clone())).collect(),
            bases: BTreeMap::new(),
            base_dir: base_dir.map(Path::to_owned),
        };
        for (index, preset) in file.radio.iter().enumerate() {
            let path = KeyPath::item("radio", index);
            let free = is_free(&preset.id, all.radios.contains_key(&preset.id), &path, report);
            let radio =
                all.radio_over(&preset.base, "base", |base| preset.over(base), &path, report);
            if let (true, Some(radio)) = (free, radio) {
                all.radios.insert(preset.id.clone(), radio);
                all.bases.extend(preset.base.clone().map(|base| (preset.id.clone(), base)));
            }
        }
        for (index, preset) in file.antenna.iter().enumerate() {
            let path = KeyPath::item("antenna", index);
            let free = is_free(&preset.id, all.antennas.contains_key(&preset.id), &path, report);
            let keys = AntennaKeys {
                preset: preset.base.as_deref(),
                key: "base",
                pattern: preset.pattern.as_ref(),
                gain_dbi: preset.gain_dbi,
            };
            let antenna = all.antenna_over(&keys, |base| preset.over(base), &path, report);
            if let (true, Some(antenna)) = (free, antenna) {
                all.antennas.insert(preset.id.clone(), antenna);
            }
        }
        all
    }

    /// A station from a section of the file; each error at its own key.
    pub(super) fn station(
        &self,
        height_agl_m: f64,
        radio: &RadioChoice,
        antenna: &AntennaChoice,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<Station> {
        let device = self.device_antenna(radio);
        let radio = self.radio(radio, &path.key("radio"), report);
        let antenna = match device.filter(|_| antenna.is_default()) {
            Some(device) => Some(device.clone()),
            None => self.antenna(antenna, &path.key("antenna"), report),
        };
        Some(Station::new(height_agl_m, radio?, antenna?))
    }

    /// Antenna of the device that a radio starts from.
    fn device_antenna(&self, radio: &RadioChoice) -> Option<&Antenna> {
        let mut id = match radio {
            RadioChoice::Preset(id) => Some(id),
            RadioChoice::Inline(settings) => settings.preset.as_ref(),
        };
        // Presets of the file build on those above them.
        while let Some(base) = id.and_then(|id| self.bases.get(id)) {
            id = Some(base);
        }
        antenna_of_device(id?).map(|preset| &preset.antenna)
    }

    /// The radio written at `path`.
    pub(super) fn radio(
        &self,
        choice: &RadioChoice,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<Radio> {
        match choice {
            RadioChoice::Preset(id) => find(&self.radios, "radio", id, path, report).cloned(),
            RadioChoice::Inline(settings) => {
                let over = |base: Option<&Radio>| settings.over(base);
                self.radio_over(&settings.preset, "preset", over, path, report)
            }
        }
    }

    /// The antenna written at `path`.
    pub(super) fn antenna(
        &self,
        choice: &AntennaChoice,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<Antenna> {
        match choice {
            AntennaChoice::Preset(id) => find(&self.antennas, "antenna", id, path, report).cloned(),
            AntennaChoice::Default => self.antennas.get(ANTENNA_DEFAULT).cloned(),
            AntennaChoice::Inline(settings) => {
                let keys = AntennaKeys {
                    preset: settings.preset.as_deref(),
                    key: "preset",
                    pattern: settings.pattern.as_ref(),
                    gain_dbi: settings.gain_dbi,
                };
                self.antenna_over(&keys, |base| settings.over(base), path, report)
            }
        }
    }

    /// Settings over the `preset` that they name under `key`.
    fn radio_over(
        &self,
        preset: &Option<String>,
        key: &'static str,
        over: impl FnOnce(Option<&Radio>) -> Result<Radio, &'static str>,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<Radio> {
        let base = match preset {
            Some(id) => Some(find(&self.radios, "radio", id, &path.key(key), report)?),
            None => None,
        };
        match over(base) {
            Ok(radio) => check::ranges(&radio, path, report).then_some(radio),
            Err(missing) => refuse_missing(missing, key, path, report),
        }
    }

    /// Settings over the preset that they name and over what their pattern gives.
    fn antenna_over(
        &self,
        keys: &AntennaKeys<'_>,
        over: impl FnOnce(Option<&Antenna>) -> Result<Antenna, &'static str>,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<Antenna> {
        let preset = match keys.preset {
            Some(id) => {
                Some(find(&self.antennas, "antenna", id, &path.key(keys.key), report)?.clone())
            }
            None => None,
        };
        let base = match keys.pattern {
            Some(pattern) => Some(self.patterned(preset, pattern, keys, path, report)?),
            None => preset,
        };
        match over(base.as_ref()) {
            Ok(antenna) => check::ranges(&antenna, path, report).then_some(antenna),
            Err(missing) => refuse_missing(missing, keys.key, path, report),
        }
    }

    /// An antenna with gain, polarization and beamwidths of a pattern; what its file does not have stays as in the
    /// preset.
    fn patterned(
        &self,
        preset: Option<Antenna>,
        pattern: &PatternChoice,
        keys: &AntennaKeys<'_>,
        path: &KeyPath,
        report: &mut Report,
    ) -> Option<Antenna> {
        let base_dir = self.base_dir.as_deref();
        let own = crate::antenna::choice::read(pattern, base_dir, path, report)?;
        let gain_dbi =
            keys.gain_dbi.or(own.gain_dbi).or(preset.as_ref().map(|preset| preset.gain_dbi));
        let Some(gain_dbi) = gain_dbi else {
            return refuse_missing("gain_dbi", keys.key, path, report);
        };
        let preset = preset.map(|preset| preset.polarization);
        let polarization = own.polarization.or(preset).unwrap_or(Polarization::Vertical);
        Some(Antenna::of_pattern(gain_dbi, polarization, own.pattern))
    }
}

/// Accepts the id of a new preset.
fn is_free(id: &str, is_used: bool, path: &KeyPath, report: &mut Report) -> bool {
    let path = path.key("id");
    if is_used {
        report.at(&path, format!("preset {id:?} is taken"), "an id no other preset has");
    }
    check::name(id, &path, report) && !is_used
}

/// A preset by its id.
fn find<'p, P>(
    presets: &'p BTreeMap<String, P>,
    kind: &str,
    id: &str,
    path: &KeyPath,
    report: &mut Report,
) -> Option<&'p P> {
    let preset = presets.get(id);
    if preset.is_none() {
        let allowed = suggest::one_of(id, presets.keys().map(String::as_str));
        report.at(path, format!("unknown {kind} preset {:?}", check::shortened(id)), allowed);
    }
    preset
}

fn refuse_missing<T>(
    missing: &'static str,
    key: &str,
    path: &KeyPath,
    report: &mut Report,
) -> Option<T> {
    report.at(
        &path.key(missing),
        "missing key",
        format!("a value here, or a preset to start from ({key})"),
    );
    None
}

/// Direction of the antenna of `node`, over level ground where the file does not state it. `others` are the
/// nodes it may point at.
pub(super) fn pointing(
    node: &NodeFile,
    file: &PointingFile,
    others: &BTreeMap<&str, &NodeFile>,
    k_factor: f64,
    path: &KeyPath,
    report: &mut Report,
) -> Option<Pointing> {
    match (file.azimuth_deg, &file.at) {
        (Some(azimuth_deg), None) => {
            Some(Pointing::new(azimuth_deg, file.elevation_deg.unwrap_or(0.0)))
        }
        (None, Some(name)) => {
            let path = path.key("at");
            let Some(target) = others.get(name.as_str()) else {
                let allowed = suggest::one_of(name, others.keys().copied());
                report.at(&path, format!("unknown node {:?}", check::shortened(name)), allowed);
                return None;
            };
            let Some(mut pointing) = Aim::new(node, target, k_factor)?.pointing(|_| None) else {
                let what = format!("{:?} stands in the same place", target.name);
                report.at(&path, what, "a node somewhere else");
                return None;
            };
            pointing.elevation_deg = file.elevation_deg.unwrap_or(pointing.elevation_deg);
            Some(pointing)
        }
        _ => {
            report.at(path, "does not say where", "azimuth_deg, or at = \"name of a node\"");
            None
        }
    }
}
