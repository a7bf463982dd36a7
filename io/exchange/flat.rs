//! A node as a row of texts: the columns of tables, and the extended data of placemarks.

use groundwave_systems::propagation::polarization::Polarization;
use groundwave_systems::radio::presets::{ANTENNAS, RADIOS};
use groundwave_systems::radio::{Antenna, Radio, Waveform};
use serde::Serialize;

use super::field::{FIELDS, Field};
use super::{PlanNode, role_name};

/// A number with as few digits as read back to the same bits.
pub(super) fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-5 {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

/// Whether two values are the same to the bit: unlike `==`, this tells -0 from 0.
pub(super) fn identical<T: Serialize>(a: &T, b: &T) -> bool {
    let text = |value: &T| serde_json::to_string(value).ok();
    text(a).is_some() && text(a) == text(b)
}

/// Id of the built-in preset that `radio` is.
pub(super) fn radio_preset(radio: &Radio) -> Option<&'static str> {
    let same = RADIOS.iter().filter(|preset| preset.radio == *radio);
    let mut same = same.filter(|preset| identical(&preset.radio, radio));
    same.next().map(|preset| preset.id)
}

/// Id of the built-in preset that `antenna` is.
pub(super) fn antenna_preset(antenna: &Antenna) -> Option<&'static str> {
    let same = ANTENNAS.iter().filter(|preset| preset.antenna == *antenna);
    let mut same = same.filter(|preset| identical(&preset.antenna, antenna));
    same.next().map(|preset| preset.id)
}

/// What stands in the columns of `node`, empty ones left out, in the order of [`FIELDS`].
pub(super) fn row(node: &PlanNode) -> Vec<(Field, String)> {
    let station = &node.station;
    let (radio, antenna) = (&station.radio, &station.antenna);
    let mut row = Vec::with_capacity(FIELDS.len());
    row.extend(node.id.map(|id| (Field::Id, id.to_string())));
    row.push((Field::Name, node.name.clone()));
    row.push((Field::Role, role_name(node.role).to_owned()));
    let (lat, lon) = (node.position.lat_deg(), node.position.lon_deg());
    let place = [(Field::Lat, lat), (Field::Lon, lon)];
    let numbers = |row: &mut Vec<_>, numbers: &[(Field, f64)]| {
        row.extend(
            numbers
                .iter()
                .map(|(field, value)| (*field, number(*value))),
        );
    };
    numbers(&mut row, &place);
    numbers(&mut row, &[(Field::Height, station.height_agl_m)]);
    row.extend(radio_preset(radio).map(|id| (Field::Radio, id.to_owned())));
    row.extend(antenna_preset(antenna).map(|id| (Field::Antenna, id.to_owned())));
    numbers(
        &mut row,
        &[
            (Field::Frequency, radio.frequency_mhz),
            (Field::Bandwidth, radio.bandwidth_hz),
            (Field::TxPower, radio.tx_power_dbm),
            (Field::NoiseFigure, radio.noise_figure_db),
            (Field::FeederLoss, radio.feeder_loss_db),
        ],
    );
    let (kind, parameters) = waveform(&radio.waveform);
    row.push((Field::Waveform, kind.to_owned()));
    numbers(&mut row, &parameters);
    numbers(
        &mut row,
        &[
            (Field::Gain, antenna.gain_dbi),
            (Field::AzimuthBeamwidth, antenna.azimuth_beamwidth_deg),
            (Field::ElevationBeamwidth, antenna.elevation_beamwidth_deg),
            (Field::FrontToBack, antenna.front_to_back_db),
        ],
    );
    let polarization = polarization_name(antenna.polarization);
    row.push((Field::Polarization, polarization.to_owned()));
    if let Some(pointing) = &station.pointing {
        numbers(
            &mut row,
            &[
                (Field::PointingAzimuth, pointing.azimuth_deg),
                (Field::PointingElevation, pointing.elevation_deg),
            ],
        );
    }
    row
}

/// The kind of a waveform and its numbers.
fn waveform(waveform: &Waveform) -> (&'static str, [(Field, f64); 2]) {
    match *waveform {
        Waveform::Ofdm {
            spatial_streams,
            mac_efficiency_prob,
        } => (
            "ofdm",
            [
                (Field::SpatialStreams, f64::from(spatial_streams)),
                (Field::MacEfficiency, mac_efficiency_prob),
            ],
        ),
        Waveform::Lora {
            spreading_factor,
            coding_rate,
        } => (
            "lora",
            [
                (Field::SpreadingFactor, f64::from(spreading_factor)),
                (Field::CodingRate, f64::from(coding_rate)),
            ],
        ),
        Waveform::Narrowband {
            bit_rate_bps,
            sensitivity_dbm,
        } => (
            "narrowband",
            [
                (Field::BitRate, bit_rate_bps),
                (Field::Sensitivity, sensitivity_dbm),
            ],
        ),
    }
}

fn polarization_name(polarization: Polarization) -> &'static str {
    match polarization {
        Polarization::Horizontal => "horizontal",
        Polarization::Vertical => "vertical",
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
