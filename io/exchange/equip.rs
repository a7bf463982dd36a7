//! The radio and the antenna of a node: presets, settings over them, and what is missing from the
//! default station.

use groundwave_systems::propagation::polarization::Polarization;
use groundwave_systems::radio::presets::{self, ANTENNAS, RADIOS};
use groundwave_systems::radio::{Antenna, Radio, Waveform};

use super::draft::{Draft, Tell};
use super::error::{Fault, quoted};
use super::field::Field;
use crate::toml_document::suggest;

impl Draft {
    /// The radio, completed from `default`.
    pub(super) fn radio(&mut self, default: &Radio, tell: Tell<'_>) -> Result<Radio, Fault> {
        let table = self.radio.take();
        let silent = table.is_none();
        let mut settings = table.unwrap_or_default();
        let mut said = false;
        for (field, setting) in [
            (Field::Frequency, &mut settings.frequency_mhz),
            (Field::Bandwidth, &mut settings.bandwidth_hz),
            (Field::TxPower, &mut settings.tx_power_dbm),
            (Field::NoiseFigure, &mut settings.noise_figure_db),
            (Field::FeederLoss, &mut settings.feeder_loss_db),
        ] {
            if let Some(value) = self.number(field)? {
                (*setting, said) = (Some(value), true);
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
            (settings.waveform, said) = (Some(waveform), true);
        }
        if settings.preset.is_none() && silent && !said {
            tell("no radio: that of the default station is taken");
            return Ok(default.clone());
        }
        if settings.preset.is_none() && settings.over(None).is_err() {
            tell("parts of a radio: completed from the default station");
        }
        // With a base to start from, nothing is missing.
        Ok(settings.over(Some(base)).unwrap_or_else(|_| base.clone()))
    }

    /// The antenna, and whether the document chose any of it.
    pub(super) fn antenna(
        &mut self,
        default: &Antenna,
        tell: Tell<'_>,
    ) -> Result<(Antenna, bool), Fault> {
        let table = self.antenna.take();
        let mut said = table.is_some();
        let mut settings = table.unwrap_or_default();
        for (field, setting) in [
            (Field::Gain, &mut settings.gain_dbi),
            (Field::AzimuthBeamwidth, &mut settings.azimuth_beamwidth_deg),
            (
                Field::ElevationBeamwidth,
                &mut settings.elevation_beamwidth_deg,
            ),
            (Field::FrontToBack, &mut settings.front_to_back_db),
        ] {
            if let Some(value) = self.number(field)? {
                (*setting, said) = (Some(value), true);
            }
        }
        if let Some(text) = self.get(Field::Polarization) {
            let polarization = match text.trim().to_ascii_lowercase().as_str() {
                "horizontal" => Polarization::Horizontal,
                "vertical" => Polarization::Vertical,
                _ => {
                    let allowed = "horizontal, vertical";
                    return Err(Fault::new("polarization", quoted(text), allowed));
                }
            };
            (settings.polarization, said) = (Some(polarization), true);
        }
        if let Some(id) = self.get(Field::Antenna) {
            (settings.preset, said) = (Some(id.trim().to_owned()), true);
        }
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
        if !said {
            tell("no antenna: that of the default station is taken");
        } else if settings.preset.is_none() && settings.over(None).is_err() {
            tell("parts of an antenna: completed from the default station");
        }
        let antenna = settings.over(Some(base)).unwrap_or_else(|_| base.clone());
        Ok((antenna, said))
    }

    /// The waveform, if any part of it is said: the parts over `base` where that is of one kind.
    fn waveform(&self, base: &Waveform) -> Result<Option<Waveform>, Fault> {
        let parts = [
            ("ofdm", Field::SpatialStreams),
            ("ofdm", Field::MacEfficiency),
            ("lora", Field::SpreadingFactor),
            ("lora", Field::CodingRate),
            ("narrowband", Field::BitRate),
            ("narrowband", Field::Sensitivity),
        ];
        let said = |(_, field): &&(_, Field)| self.values.contains_key(field);
        let named = self
            .get(Field::Waveform)
            .map(|kind| kind.trim().to_ascii_lowercase());
        if named.is_none() && !parts.iter().any(|part| said(&part)) {
            return Ok(None);
        }
        let of_base = match base {
            Waveform::Ofdm { .. } => "ofdm",
            Waveform::Lora { .. } => "lora",
            Waveform::Narrowband { .. } => "narrowband",
        };
        let kind = named.as_deref().unwrap_or(of_base);
        if let Some((owner, field)) = parts.iter().filter(said).find(|(owner, _)| *owner != kind) {
            let found = format!("a value, but the waveform is {}", quoted(kind));
            return Err(Fault::new(
                field.name(),
                found,
                format!("nothing unless {owner}"),
            ));
        }
        self.waveform_of(kind, base).map(Some)
    }

    /// The waveform of a kind.
    fn waveform_of(&self, kind: &str, base: &Waveform) -> Result<Waveform, Fault> {
        let need = |field: Field, base: Option<f64>| {
            let missing = || Fault::new(field.name(), "nothing", format!("a value for {kind}"));
            self.number(field)?.or(base).ok_or_else(missing)
        };
        let whole = |field: Field, base: Option<u8>| {
            let value = need(field, base.map(f64::from))?;
            if value.fract() == 0.0 && (0.0..=255.0).contains(&value) {
                Ok(value as u8)
            } else {
                Err(Fault::new(
                    field.name(),
                    value.to_string(),
                    "a whole number, 0 to 255",
                ))
            }
        };
        match (kind, base) {
            ("ofdm", base) => {
                let (streams, efficiency) = match *base {
                    Waveform::Ofdm {
                        spatial_streams,
                        mac_efficiency_prob,
                    } => (spatial_streams, mac_efficiency_prob),
                    // What the model takes when a document is silent.
                    _ => (1, 0.6),
                };
                Ok(Waveform::Ofdm {
                    spatial_streams: whole(Field::SpatialStreams, Some(streams))?,
                    mac_efficiency_prob: need(Field::MacEfficiency, Some(efficiency))?,
                })
            }
            ("lora", base) => {
                let (factor, rate) = match *base {
                    Waveform::Lora {
                        spreading_factor,
                        coding_rate,
                    } => (Some(spreading_factor), Some(coding_rate)),
                    _ => (None, None),
                };
                Ok(Waveform::Lora {
                    spreading_factor: whole(Field::SpreadingFactor, factor)?,
                    coding_rate: whole(Field::CodingRate, rate)?,
                })
            }
            ("narrowband", base) => {
                let (rate, sensitivity) = match *base {
                    Waveform::Narrowband {
                        bit_rate_bps,
                        sensitivity_dbm,
                    } => (Some(bit_rate_bps), Some(sensitivity_dbm)),
                    _ => (None, None),
                };
                Ok(Waveform::Narrowband {
                    bit_rate_bps: need(Field::BitRate, rate)?,
                    sensitivity_dbm: need(Field::Sensitivity, sensitivity)?,
                })
            }
            (other, _) => {
                let allowed = "ofdm, lora, narrowband";
                Err(Fault::new("waveform", quoted(other), allowed))
            }
        }
    }
}

fn unknown_preset(kind: &str, id: &str, allowed: String) -> Fault {
    Fault::new(kind, format!("unknown preset {}", quoted(id)), allowed)
}
