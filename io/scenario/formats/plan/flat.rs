//! Nodes as rows of texts: the columns of tables and the extended data of placemarks.

use std::collections::BTreeMap;

use groundwave_model::radio::presets::{ANTENNAS, RADIOS};
use groundwave_model::radio::{Antenna, Radio};
use serde::Serialize;
use serde_json::{Value, json};

use super::field::{Field, Meaning};
use super::{PlanNode, role_name};

/// The shortest text of a number that reads back to the same bits.
pub(crate) fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-5 { format!("{value:e}") } else { value.to_string() }
}

/// `true` if two values are identical to the bit: unlike `==`, this distinguishes -0 from 0.
pub(crate) fn identical<T: Serialize>(a: &T, b: &T) -> bool {
    let text = |value: &T| serde_json::to_string(value).ok();
    text(a).is_some() && text(a) == text(b)
}

/// Id of the built-in preset equal to `radio`.
pub(crate) fn radio_preset(radio: &Radio) -> Option<&'static str> {
    let mut same = RADIOS
        .iter()
        .filter(|preset| preset.radio == *radio)
        .filter(|preset| identical(&preset.radio, radio));
    same.next().map(|preset| preset.id)
}

/// Id of the built-in preset equal to `antenna`.
pub(crate) fn antenna_preset(antenna: &Antenna) -> Option<&'static str> {
    let mut same = ANTENNAS
        .iter()
        .filter(|preset| preset.antenna == *antenna)
        .filter(|preset| identical(&preset.antenna, antenna));
    same.next().map(|preset| preset.id)
}

/// Non-empty cells of `node` in the order of [`FIELDS`](super::field::FIELDS).
pub(crate) fn row(node: &PlanNode) -> BTreeMap<Field, String> {
    let station = &node.station;
    let mut row = BTreeMap::new();
    row.extend(node.id.map(|id| (Field::Id, id.to_string())));
    row.insert(Field::Name, node.name.clone());
    row.insert(Field::Role, role_name(node.role).to_owned());
    row.insert(Field::Lat, number(node.position.lat_deg()));
    row.insert(Field::Lon, number(node.position.lon_deg()));
    match node.height_msl_m {
        Some(height_msl_m) => row.insert(Field::HeightMsl, number(height_msl_m)),
        None => row.insert(Field::Height, number(station.height_agl_m)),
    };
    let radio = radio_preset(&station.radio);
    row.extend(radio.map(|id| (Field::Radio, id.to_owned())));
    let antenna = antenna_preset(&station.antenna);
    row.extend(antenna.map(|id| (Field::Antenna, id.to_owned())));
    // Plain structs of numbers always convert; their keys are names of columns.
    leaves(&serde_json::to_value(&station.radio).unwrap_or_default(), &mut row);
    leaves(&serde_json::to_value(&station.antenna).unwrap_or_default(), &mut row);
    // Two cuts are no columns: their JSON, as the deployment has it.
    let cuts = station.antenna.pattern.as_ref().map(|pattern| json!(pattern.cuts()));
    row.extend(cuts.map(|cuts| (Field::Pattern, cuts.to_string())));
    if let Some(pointing) = &station.pointing {
        row.insert(Field::PointingAzimuth, number(pointing.azimuth_deg));
        row.insert(Field::PointingElevation, number(pointing.elevation_deg));
    }
    if !station.surroundings.is_unknown() {
        row.insert(Field::Surroundings, station.surroundings.name().to_owned());
    }
    if !station.indoor.is_outdoors() {
        row.insert(Field::Indoor, station.indoor.name().to_owned());
    }
    if station.is_in_woodland() {
        row.insert(Field::WoodlandDepth, number(station.woodland_depth_m));
    }
    row
}

/// Adds the numbers and texts of a table and of the tables in it, by their columns.
fn leaves(table: &Value, row: &mut BTreeMap<Field, String>) {
    for (key, value) in table.as_object().into_iter().flatten() {
        let text = match value {
            Value::Number(value) => value.as_f64().map(number),
            Value::String(text) => Some(text.clone()),
            table => {
                leaves(table, row);
                None
            }
        };
        // A waveform is identified by its kind.
        let column = if key == "kind" { "waveform" } else { key };
        if let (Meaning::Known { field, .. }, Some(text)) = (Field::of(column), text) {
            row.insert(field, text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_to_the_bit() {
        for value in [0.0, -0.0, 5e-324, -1e-7, 0.1 + 0.2, 57.0, 2e9, 1.0 / 3.0] {
            let read: f64 = number(value).parse().unwrap();
            assert_eq!(read.to_bits(), value.to_bits(), "{value}");
        }
        assert_eq!(number(20e6), "20000000");
    }

    #[test]
    fn a_preset_is_the_same_to_the_bit() {
        let mut radio = RADIOS[2].radio.clone();
        assert_eq!(radio_preset(&radio), Some("lora_868_eu"));
        radio.feeder_loss_db = -0.0;
        assert_eq!(radio_preset(&radio), None);
    }
}
