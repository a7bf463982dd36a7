//! A node while it is read: what a document says of it, completed from the default station.

use std::collections::BTreeMap;

use groundwave_systems::radio::presets::ROLES;
use groundwave_systems::radio::{Pointing, Role, Station};

use super::error::{Fault, quoted};
use super::field::{Field, Meaning};
use super::{role_name, values};
use crate::scenario::file_radio::{AntennaSettings, RadioSettings};
use crate::toml_document::suggest;

/// What is done for want of an answer, and told.
pub(super) type Tell<'t> = &'t mut dyn FnMut(&str);

/// What a document says of a node.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Texts by column; none is empty.
    pub(super) values: BTreeMap<Field, String>,
    /// A radio written as a table; columns go over it.
    pub(super) radio: Option<RadioSettings>,
    /// An antenna written as a table; columns go over it.
    pub(super) antenna: Option<AntennaSettings>,
    /// A pointing written as a table.
    pub(super) pointing: Option<Pointing>,
    /// A height above ground that a place came with, m.
    pub(super) height_agl_m: Option<f64>,
}

impl Draft {
    /// Takes a text under a name that others may have given; whether the name means something.
    /// The own name of a column wins over others, then the first.
    pub(super) fn take(&mut self, name: &str, text: &str, tell: Tell<'_>) -> bool {
        let (field, own) = match Field::of(name) {
            Meaning::Known { field, own } => (field, own),
            Meaning::Noted(field, note) => {
                tell(note);
                (field, false)
            }
            Meaning::OtherHeight => {
                tell(&format!(
                    "{} is no height above ground: dropped",
                    quoted(name)
                ));
                return true;
            }
            Meaning::Unknown => return false,
        };
        if text.is_empty() || (field != Field::Name && text.trim().is_empty()) {
            return true;
        }
        let other = self.values.get(&field).filter(|first| *first != text);
        if other.is_some() {
            tell(&format!(
                "{} is said twice, {} differs",
                field.name(),
                quoted(name)
            ));
        }
        if own || other.is_none() {
            self.values.insert(field, text.to_owned());
        }
        true
    }

    /// The text of a column.
    pub(super) fn get(&self, field: Field) -> Option<&str> {
        self.values.get(&field).map(String::as_str)
    }

    /// The role, `relay` unless something else is said.
    pub(super) fn role(&self) -> Result<Role, Fault> {
        let Some(text) = self.get(Field::Role) else {
            return Ok(Role::default());
        };
        let wanted = text.trim().to_ascii_lowercase();
        let mut roles = ROLES.iter().map(|preset| preset.id);
        roles
            .find(|role| role_name(*role) == wanted)
            .ok_or_else(|| {
                let names = ROLES.iter().map(|preset| role_name(preset.id));
                Fault::new("role", quoted(text), suggest::one_of(&wanted, names))
            })
    }

    /// The station, completed from `defaults`.
    pub(super) fn station(&mut self, defaults: &Station, tell: Tell<'_>) -> Result<Station, Fault> {
        let height_agl_m = match self.number(Field::Height)?.or(self.height_agl_m) {
            Some(height_agl_m) => height_agl_m,
            None => {
                let default = defaults.height_agl_m;
                tell(&format!("no height above ground: {default} m is taken"));
                default
            }
        };
        let radio = self.radio(&defaults.radio, tell)?;
        let says_antenna = self.antenna.is_some();
        let (antenna, chosen) = self.antenna(&defaults.antenna, tell)?;
        let pointing = match self.pointing()? {
            // A document that brings an antenna says by silence that it looks nowhere.
            None if !says_antenna && !chosen => defaults.pointing,
            pointing => pointing,
        };
        let station = Station {
            height_agl_m,
            radio,
            antenna,
            pointing,
        };
        match station.validate() {
            Ok(()) => Ok(station),
            Err(bad) => Err(groundwave_engine::Refusal::from(bad).into()),
        }
    }

    /// Where the antenna looks, if that is said.
    fn pointing(&self) -> Result<Option<Pointing>, Fault> {
        let azimuth = self.number(Field::PointingAzimuth)?;
        let elevation = self.number(Field::PointingElevation)?;
        match (azimuth.or(self.pointing.map(|p| p.azimuth_deg)), elevation) {
            (Some(azimuth_deg), elevation) => Ok(Some(Pointing {
                azimuth_deg,
                elevation_deg: elevation
                    .or(self.pointing.map(|p| p.elevation_deg))
                    .unwrap_or(0.0),
            })),
            (None, Some(_)) => {
                let allowed = "a pointing_azimuth_deg with a pointing_elevation_deg";
                Err(Fault::new("pointing_azimuth_deg", "nothing", allowed))
            }
            (None, None) => Ok(None),
        }
    }

    /// Makes it one of several nodes from one thing: its name is numbered, its id goes.
    pub(super) fn part(&mut self, number: usize) {
        self.values.remove(&Field::Id);
        if let Some(name) = self.values.get_mut(&Field::Name) {
            name.push_str(&format!(" {number}"));
        }
    }

    /// The number in a column.
    pub(super) fn number(&self, field: Field) -> Result<Option<f64>, Fault> {
        let Some(text) = self.get(field) else {
            return Ok(None);
        };
        values::parse(text).map(Some).map_err(|mut fault| {
            field.name().clone_into(&mut fault.key);
            fault
        })
    }
}
