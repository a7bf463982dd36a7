//! The radio and the antenna of a node: presets, settings over them, and the default station for
//! what is missing.

use groundwave_model::radio::presets;
use groundwave_model::radio::presets::{ANTENNAS, RADIOS};
use groundwave_model::radio::{Antenna, Pattern, Radio, Waveform};
use groundwave_propagation::polarization::Polarization;
use groundwave_toml_document::suggest;
use serde_json::json;

use super::super::error::{Fault, quoted};
use super::draft::{Draft, Tell};
use super::field::Field;
use crate::file_radio::PatternChoice;

impl Draft {
    /// The radio, completed from `default`.
    pub(crate) fn radio(&mut self, default: &Radio, tell: Tell<'_>) -> Result<Radio, Fault> {
        let table = self.radio.take();
        let silent = table.is_none();
        let mut settings = table.unwrap_or_default();
        let mut is_set = false;
        for (field, setting) in [
            (Field::Frequency, &mut settings.frequency_mhz),
            (Field::Bandwidth, &mut settings.bandwidth_hz),
            (Field::TxPower, &mut settings.tx_power_dbm),
            (Field::NoiseFigure, &mut settings.noise_figure_db),
            (Field::FeederLoss, &mut settings.feeder_loss_db),
        ] {
            if let Some(value) = self.number(field)? {
                (*setting, is_set) = (Some(value), true);
            }
        }
        if let Some(id) = self.get(Field::Radio) {
            settings.preset = Some(id.trim().to_owned());
        }
        let base = match &settings.preset {
            None => default,
            Some(id) => match presets::radio(id) {
                Some(preset) => &preset.radio,
                None => {
                    let ids = RADIOS.iter().map(|preset| preset.id);
                    return Err(unknown_preset("radio", id, suggest::one_of(id, ids)));
                }
            },
        };
        let carrier = settings.waveform.as_ref().unwrap_or(&base.waveform);
        if let Some(waveform) = self.waveform(carrier)? {
            (settings.waveform, is_set) = (Some(waveform), true);
        }
        if settings.preset.is_none() && silent && !is_set {
            tell("no radio: that of the default station is taken");
            return Ok(default.clone());
        }
        if settings.preset.is_none() && settings.over(None).is_err() {
            tell("parts of a radio: completed from the default station");
        }
        // With a base to start from, nothing is missing.
        Ok(settings.over(Some(base)).unwrap_or_else(|_| base.clone()))
    }

    /// Antenna of the device that the radio of the document is.
    pub(crate) fn device_antenna(&self) -> Option<&'static Antenna> {
        let table = self.radio.as_ref().and_then(|settings| settings.preset.as_deref());
        let id = self.get(Field::Radio).or(table)?;
        presets::antenna_of_device(id.trim()).map(|preset| &preset.antenna)
    }

    /// The antenna, over that of a device, and whether the document gives any of it.
    pub(crate) fn antenna(
        &mut self,
        default: &Antenna,
        device: Option<&Antenna>,
        tell: Tell<'_>,
    ) -> Result<(Antenna, bool), Fault> {
        let default = device.unwrap_or(default);
        let table = self.antenna.take();
        let mut is_set = table.is_some();
        let mut settings = table.unwrap_or_default();
        for (field, setting) in [
            (Field::Gain, &mut settings.gain_dbi),
            (Field::AzimuthBeamwidth, &mut settings.azimuth_beamwidth_deg),
            (Field::ElevationBeamwidth, &mut settings.elevation_beamwidth_deg),
            (Field::FrontToBack, &mut settings.front_to_back_db),
            (Field::ElectricalTilt, &mut settings.electrical_tilt_deg),
        ] {
            if let Some(value) = self.number(field)? {
                (*setting, is_set) = (Some(value), true);
            }
        }
        if let Some(tilt_deg) = self.number(Field::Tilt)?.filter(|_| self.has_no_azimuth()) {
            (settings.electrical_tilt_deg, is_set) = (Some(tilt_deg), true);
        }
        if let Some(text) = self.get(Field::Polarization) {
            let polarization = match text.trim().to_ascii_lowercase().as_str() {
                "horizontal" | "h" => Polarization::Horizontal,
                "vertical" | "v" => Polarization::Vertical,
                _ => {
                    let allowed = "horizontal, vertical";
                    return Err(Fault::new("polarization", quoted(text), allowed));
                }
            };
            (settings.polarization, is_set) = (Some(polarization), true);
        }
        if let Some(id) = self.get(Field::Antenna) {
            (settings.preset, is_set) = (Some(id.trim().to_owned()), true);
        }
        let pattern = self.pattern(settings.pattern.take())?;
        is_set |= pattern.is_some();
        let base = match &settings.preset {
            None => default,
            Some(id) => match presets::antenna(id) {
                Some(preset) => &preset.antenna,
                None => {
                    let ids = ANTENNAS.iter().map(|preset| preset.id);
                    return Err(unknown_preset("antenna", id, suggest::one_of(id, ids)));
                }
            },
        };
        if !is_set && device.is_none() {
            let dbi = default.gain_dbi;
            tell(&format!("no antenna: that of the default station is taken, {dbi} dBi"));
        } else if is_set && settings.preset.is_none() && settings.over(None).is_err() {
            tell("parts of an antenna: completed from the default station");
        }
        let whole = settings.over(None);
        let antenna = settings.over(Some(base)).unwrap_or_else(|_| base.clone());
        let antenna = match (pattern, whole) {
            (None, _) => antenna,
            // A document with all parts is one of ours: as it was, to the bit.
            (pattern, Ok(whole)) => Antenna { pattern, ..whole },
            (Some(pattern), Err(_)) => antenna.with_pattern(pattern),
        };
        Ok((antenna, is_set))
    }

    /// `true` if the antenna looks nowhere in particular.
    fn has_no_azimuth(&self) -> bool {
        self.pointing.is_none() && self.get(Field::PointingAzimuth).is_none()
    }

    /// The pattern of a table of an antenna, else that of its column.
    fn pattern(&self, table: Option<PatternChoice>) -> Result<Option<Pattern>, Fault> {
        const ALLOWED: &str = "horizontal_loss_db and vertical_loss_db, dB of a turn each";
        let cuts = match (table, self.get(Field::Pattern)) {
            (Some(PatternChoice::Inline(cuts)), _) => *cuts,
            (Some(PatternChoice::File(name)), _) => {
                return Err(Fault::new("antenna.pattern", quoted(&name), ALLOWED));
            }
            (None, Some(text)) => serde_json::from_str(text)
                .map_err(|error| Fault::new("antenna_pattern", error.to_string(), ALLOWED))?,
            (None, None) => return Ok(None),
        };
        let pattern = Pattern::new(cuts);
        pattern.map(Some).map_err(|bad| groundwave_engine::Refusal::from(bad).into())
    }

    /// The waveform, if any part of it is given: its parts over those of `base` of the same kind.
    fn waveform(&self, base: &Waveform) -> Result<Option<Waveform>, Fault> {
        let has_value = |(_, field): &&(&str, Field)| self.values.contains_key(field);
        let kind = self.get(Field::Waveform).map(|kind| kind.trim().to_ascii_lowercase());
        if kind.is_none() && !WAVEFORM_PARTS.iter().any(|part| has_value(&part)) {
            return Ok(None);
        }
        // Plain structs of numbers always convert.
        let mut table = serde_json::to_value(base).unwrap_or_default();
        let kind = kind.or_else(|| table["kind"].as_str().map(str::to_owned)).unwrap_or_default();
        let mut of_others = WAVEFORM_PARTS.iter().filter(|(owner, _)| *owner != kind);
        if let Some((owner, field)) = of_others.find(has_value) {
            let actual = format!("a value, but the waveform is {}", quoted(&kind));
            let allowed = format!("nothing unless {owner}");
            return Err(Fault::new(field.name(), actual, allowed));
        }
        if table["kind"] != *kind {
            table = match kind.as_str() {
                // Defaults of the model.
                "ofdm" => json!({ "kind": kind, "spatial_streams": 1, "mac_efficiency_prob": 0.6 }),
                _ => json!({ "kind": kind }),
            };
        }
        for (_, field) in WAVEFORM_PARTS.iter().filter(|(owner, _)| *owner == kind) {
            let real = [Field::MacEfficiency, Field::BitRate, Field::Sensitivity].contains(field);
            let cell = &mut table[field.name()];
            match self.number(*field)? {
                Some(value) if real => *cell = value.into(),
                Some(value) if value.fract() == 0.0 && (0.0..=255.0).contains(&value) => {
                    *cell = (value as u8).into();
                }
                Some(value) => {
                    let allowed = "a whole number, 0 to 255";
                    return Err(Fault::new(field.name(), value.to_string(), allowed));
                }
                None if cell.is_null() => {
                    let allowed = format!("a value for {kind}");
                    return Err(Fault::new(field.name(), "nothing", allowed));
                }
                None => {}
            }
        }
        let waveform = serde_json::from_value(table).map(Some);
        waveform.map_err(|_| Fault::new("waveform", quoted(&kind), "ofdm, lora, narrowband"))
    }
}

/// Parameters of waveforms, by kind.
const WAVEFORM_PARTS: [(&str, Field); 6] = [
    ("ofdm", Field::SpatialStreams),
    ("ofdm", Field::MacEfficiency),
    ("lora", Field::SpreadingFactor),
    ("lora", Field::CodingRate),
    ("narrowband", Field::BitRate),
    ("narrowband", Field::Sensitivity),
];

fn unknown_preset(kind: &str, id: &str, allowed: String) -> Fault {
    Fault::new(kind, format!("unknown preset {}", quoted(id)), allowed)
}
