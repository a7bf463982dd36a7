//! Stations of requests: presets by name, or documents as scenarios have them.

use groundwave_model::radio::{Antenna, Indoor, Pointing, Radio, Station, Surroundings, presets};
use groundwave_model::terrain::GeoPoint;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::Invalid;
use crate::document::below;

/// A station at a position.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Latitude, deg, [-90, 90].
    pub lat_deg: f64,
    /// Longitude, deg, [-180, 180].
    pub lon_deg: f64,
    /// Radio, antenna and height; that of `groundwave link` without options by default.
    #[serde(default)]
    pub station: StationDocument,
}

/// A station; keys left out take the defaults of `groundwave link`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StationDocument {
    /// Antenna height above ground, m, [0, 20000], 10 by default.
    pub height_agl_m: f64,
    /// Radio, `wifi_5g_mesh` by default.
    #[serde(deserialize_with = "radio")]
    pub radio: Radio,
    /// Antenna, the half-wave dipole `omni_2_15` by default.
    #[serde(deserialize_with = "antenna")]
    pub antenna: Antenna,
    /// Boresight; absent, a directive antenna points at the other end.
    pub pointing: Option<Pointing>,
    /// Buildings and trees around the antenna.
    pub surroundings: Surroundings,
    /// Building around the antenna.
    pub indoor: Indoor,
    /// Length of the rays within woodland around the antenna, m.
    pub woodland_depth_m: f64,
}

impl Default for StationDocument {
    fn default() -> Self {
        Self {
            height_agl_m: 10.0,
            radio: presets::radio("wifi_5g_mesh").expect("a preset").radio.clone(),
            antenna: presets::antenna_where_unnamed("wifi_5g_mesh").antenna.clone(),
            pointing: None,
            surroundings: Surroundings::Unknown,
            indoor: Indoor::Outdoors,
            woodland_depth_m: 0.0,
        }
    }
}

impl StationDocument {
    /// The station, whose keys in errors follow `part`.
    ///
    /// # Errors
    /// The first value out of its range.
    pub fn station(&self, part: &str) -> Result<Station, Invalid> {
        let station = Station {
            pointing: self.pointing,
            surroundings: self.surroundings,
            indoor: self.indoor,
            woodland_depth_m: self.woodland_depth_m,
            ..Station::new(self.height_agl_m, self.radio.clone(), self.antenna.clone())
        };
        station.validate().map_err(|bad| below(part, &bad))?;
        Ok(station)
    }
}

impl End {
    /// The position, whose keys in errors follow `part`.
    ///
    /// # Errors
    /// When it is not on the Earth.
    pub fn position(&self, part: &str) -> Result<GeoPoint, Invalid> {
        GeoPoint::new(self.lat_deg, self.lon_deg)
            .map_err(|error| Invalid(format!("invalid {part}: {error}")))
    }
}

/// A preset by its name, or a document.
fn named<'de, D, T>(
    reader: D,
    what: &str,
    preset: impl Fn(&str) -> Option<T>,
    names: impl Iterator<Item = &'static str>,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    match Value::deserialize(reader)? {
        Value::String(name) => preset(&name).ok_or_else(|| {
            let allowed = names.collect::<Vec<_>>().join(", ");
            D::Error::custom(format!("unknown {what} preset: found {name:?}, allowed {allowed}"))
        }),
        document => serde_json::from_value(document).map_err(D::Error::custom),
    }
}

fn radio<'de, D: Deserializer<'de>>(reader: D) -> Result<Radio, D::Error> {
    let names = presets::RADIOS.iter().map(|preset| preset.id);
    named(reader, "radio", |id| Some(presets::radio(id)?.radio.clone()), names)
}

fn antenna<'de, D: Deserializer<'de>>(reader: D) -> Result<Antenna, D::Error> {
    let names = presets::ANTENNAS.iter().map(|preset| preset.id);
    named(reader, "antenna", |id| Some(presets::antenna(id)?.antenna.clone()), names)
}

/// Radios and antennas by name, as a JSON document.
///
/// # Errors
/// Never: their numbers are finite.
pub fn presets() -> Result<String, Invalid> {
    let radios: Vec<_> = presets::RADIOS.iter().collect();
    let antennas: Vec<_> = presets::ANTENNAS.iter().collect();
    crate::document::write(&serde_json::json!({ "radios": radios, "antennas": antennas }))
}
