//! A node while it is read: its fields, completed from the default station.

use std::collections::BTreeMap;

use groundwave_model::radio::presets::ROLES;
use groundwave_model::radio::station::HEIGHT_MSL_M;
use groundwave_model::radio::{Indoor, Pointing, Role, Station, Surroundings};
use groundwave_toml_document::suggest;

use super::super::error::{Fault, quoted};
use super::field::{Field, Meaning, scale_of};
use super::{role_name, unit, values};
use crate::antenna::DIPOLE_DBI;
use crate::file_radio::{AntennaSettings, RadioSettings};

/// Receiver of notes about completed fields.
pub(crate) type Tell<'t> = &'t mut dyn FnMut(&str);

/// Fields of a node.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// Non-empty texts by column.
    pub(crate) values: BTreeMap<Field, String>,
    /// A radio written as a table; columns replace its values.
    pub(crate) radio: Option<RadioSettings>,
    /// An antenna written as a table; columns replace its values.
    pub(crate) antenna: Option<AntennaSettings>,
    /// A pointing written as a table.
    pub(crate) pointing: Option<Pointing>,
    /// Height above ground from the coordinates, m.
    pub(crate) height_agl_m: Option<f64>,
    /// Height above mean sea level from the coordinates, m.
    pub(crate) height_msl_m: Option<f64>,
}

/// A text of a column in another unit, by its header or its own unit, as one in the unit of the column.
fn converted(field: Field, name: &str, text: &str) -> Option<String> {
    let by_header = |value: f64| {
        let scale = scale_of(name, field);
        (!scale.is_identity()).then(|| scale.apply(value))
    };
    let value = match values::parse(text) {
        Ok(value) => by_header(value)?,
        Err(_) => unit::with_unit(field.quantity()?, text)?,
    };
    Some(value.to_string())
}

impl Draft {
    /// Takes the text of a column by its name or an alias; false for an unknown name. The name wins
    /// over aliases, then the first text.
    pub(crate) fn take(&mut self, name: &str, text: &str, tell: Tell<'_>) -> bool {
        let (field, own) = match Field::of(name) {
            // Tables alone have positions in one text.
            Meaning::Known { field: Field::Position, .. } => return false,
            Meaning::Known { field, own } => (field, own),
            Meaning::Noted(field, note) => {
                tell(note);
                (field, false)
            }
            Meaning::OtherHeight => {
                tell(&format!("{} is not a height above ground: dropped", quoted(name)));
                return true;
            }
            Meaning::Unknown => return false,
        };
        if text.is_empty() || (field != Field::Name && text.trim().is_empty()) {
            return true;
        }
        let converted = converted(field, name, text);
        if converted.is_some() {
            tell(&match field {
                Field::Height | Field::HeightMsl => {
                    "heights in feet: converted to metres".to_owned()
                }
                _ => format!("units of {}: converted", quoted(name)),
            });
        }
        let text = converted.as_deref().unwrap_or(text);
        let other = self.values.get(&field).filter(|first| *first != text);
        if other.is_some() {
            tell(&format!("{} is given twice, {} differs", field.name(), quoted(name)));
        }
        if own || other.is_none() {
            self.values.insert(field, text.to_owned());
        }
        true
    }

    /// Power at the antenna port by that radiated in the direction of the maximum, dBm.
    fn port_power_dbm(&self, station: &Station) -> Result<Option<f64>, Fault> {
        let eirp_dbm = self.number(Field::Eirp)?;
        let erp_dbm = self.number(Field::Erp)?.map(|dbm| dbm + DIPOLE_DBI);
        let lost_db = station.radio.feeder_loss_db - station.antenna.gain_dbi;
        Ok(eirp_dbm.or(erp_dbm).map(|dbm| dbm + lost_db))
    }

    /// The text of a column.
    pub(crate) fn get(&self, field: Field) -> Option<&str> {
        self.values.get(&field).map(String::as_str)
    }

    /// The role, `relay` by default.
    pub(crate) fn role(&self) -> Result<Role, Fault> {
        let Some(text) = self.get(Field::Role) else {
            return Ok(Role::default());
        };
        let name = text.trim().to_ascii_lowercase();
        let mut roles = ROLES.iter().map(|preset| preset.id);
        roles.find(|role| role_name(*role) == name).ok_or_else(|| {
            let names = ROLES.iter().map(|preset| role_name(preset.id));
            Fault::new("role", quoted(text), suggest::one_of(&name, names))
        })
    }

    /// The value that a column names, in any letter case and with blanks or hyphens for underscores.
    fn one_of<T: Copy>(&self, field: Field, all: &[(T, &'static str)]) -> Result<Option<T>, Fault> {
        let Some(text) = self.get(field) else {
            return Ok(None);
        };
        let name = text.trim().to_ascii_lowercase().replace([' ', '-'], "_");
        let value = all.iter().find(|(_, own)| *own == name).map(|(value, _)| *value);
        let allowed = || suggest::one_of(&name, all.iter().map(|(_, own)| *own));
        value.map(Some).ok_or_else(|| Fault::new(field.name(), quoted(text), allowed()))
    }

    /// The station, completed from `defaults`.
    pub(crate) fn station(&mut self, defaults: &Station, tell: Tell<'_>) -> Result<Station, Fault> {
        let height_agl_m = match self.number(Field::Height)?.or(self.height_agl_m) {
            Some(height_agl_m) => {
                if self.height_msl_m.take().is_some()
                    || self.values.remove(&Field::HeightMsl).is_some()
                {
                    tell("a height above sea level beside one above ground: not used");
                }
                height_agl_m
            }
            None if self.height_msl_m()?.is_some() => defaults.height_agl_m,
            None => {
                let default = defaults.height_agl_m;
                tell(&format!("no height above ground: {default} m is taken"));
                default
            }
        };
        let device = self.device_antenna();
        let radio = self.radio(&defaults.radio, tell)?;
        let says_antenna = self.antenna.is_some();
        let (antenna, chosen) = self.antenna(&defaults.antenna, device, tell)?;
        let pointing = match self.pointing()? {
            // An antenna without a pointing has none.
            None if !says_antenna && !chosen => defaults.pointing,
            pointing => pointing,
        };
        let surroundings = self.one_of(Field::Surroundings, &Surroundings::ALL)?;
        let indoor = self.one_of(Field::Indoor, &Indoor::ALL)?;
        let woodland_depth_m = self.number(Field::WoodlandDepth)?;
        let mut station = Station {
            height_agl_m,
            radio,
            antenna,
            pointing,
            surroundings: surroundings.unwrap_or(defaults.surroundings),
            indoor: indoor.unwrap_or(defaults.indoor),
            woodland_depth_m: woodland_depth_m.unwrap_or(defaults.woodland_depth_m),
        };
        match (self.port_power_dbm(&station)?, self.get(Field::TxPower)) {
            (Some(_), Some(_)) => tell("a radiated power beside that of the transmitter: not used"),
            (Some(power_dbm), None) => station.radio.tx_power_dbm = power_dbm,
            (None, _) => {}
        }
        match station.validate() {
            Ok(()) => Ok(station),
            Err(bad) => Err(groundwave_engine::Refusal::from(bad).into()),
        }
    }

    /// Antenna height above mean sea level, m.
    pub(crate) fn height_msl_m(&self) -> Result<Option<f64>, Fault> {
        let height_m = self.number(Field::HeightMsl)?.or(self.height_msl_m);
        let (least_m, greatest_m) = HEIGHT_MSL_M;
        match height_m.filter(|m| !(least_m..=greatest_m).contains(m)) {
            Some(m) => {
                let allowed = format!("[{least_m}, {greatest_m}]");
                Err(Fault::new(Field::HeightMsl.name(), m.to_string(), allowed))
            }
            None => Ok(height_m),
        }
    }

    /// The pointing of the antenna.
    fn pointing(&self) -> Result<Option<Pointing>, Fault> {
        let azimuth = self.number(Field::PointingAzimuth)?;
        let elevation = self.number(Field::PointingElevation)?;
        let azimuth = azimuth.or(self.pointing.map(|p| p.azimuth_deg));
        // Without an azimuth the tilt is one of the lobe, see the antenna.
        let tilt = self.number(Field::Tilt)?.filter(|_| azimuth.is_some());
        match (azimuth, elevation.or(tilt.map(|deg| -deg))) {
            (Some(azimuth_deg), elevation) => {
                let elevation = elevation.or(self.pointing.map(|own| own.elevation_deg));
                Ok(Some(Pointing::new(azimuth_deg, elevation.unwrap_or(0.0))))
            }
            (None, Some(_)) => {
                let allowed = "a pointing_azimuth_deg with a pointing_elevation_deg";
                Err(Fault::new("pointing_azimuth_deg", "nothing", allowed))
            }
            (None, None) => Ok(None),
        }
    }

    /// Makes it one of several nodes of one feature: numbers its name, removes its id.
    pub(crate) fn part(&mut self, number: usize) {
        self.values.remove(&Field::Id);
        if let Some(name) = self.values.get_mut(&Field::Name) {
            name.push_str(&format!(" {number}"));
        }
    }

    /// The number in a column.
    pub(crate) fn number(&self, field: Field) -> Result<Option<f64>, Fault> {
        let Some(text) = self.get(field) else {
            return Ok(None);
        };
        values::parse(text).map(Some).map_err(|mut fault| {
            field.name().clone_into(&mut fault.key);
            fault
        })
    }
}
