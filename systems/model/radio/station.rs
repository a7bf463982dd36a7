//! One end of a link: radio, antenna and pointing.

use garde::Validate;
use groundwave_propagation::polarization::Polarization;
use groundwave_values::bounds::{bounded, finite};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use super::pattern::Pattern;
use super::surroundings::{Indoor, Surroundings};

/// Highest antenna above ground, m: that of a balloon in the stratosphere.
pub const HEIGHT_AGL_M_MAX: f64 = 20_000.0;

/// Range of the height of an antenna above mean sea level, m: from the lowest ground to [`HEIGHT_AGL_M_MAX`] above the
/// highest.
pub const HEIGHT_MSL_M: (f64, f64) = (-500.0, 29_000.0);

/// One end of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// Antenna height above ground, m, [0, 20000].
    #[garde(range(min = 0.0, max = HEIGHT_AGL_M_MAX), custom(finite))]
    pub height_agl_m: f64,
    /// Transmitter and receiver.
    #[garde(dive)]
    pub radio: Radio,
    /// Antenna, the same for both directions.
    #[garde(dive)]
    pub antenna: Antenna,
    /// Boresight of the antenna. Absent, a directive antenna points at the other end, as in a
    /// point-to-point link, and an omnidirectional one stands upright, its lobe level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub pointing: Option<Pointing>,
    /// Buildings and trees around the antenna, `unknown` by default: as the environment has them.
    #[serde(default, skip_serializing_if = "Surroundings::is_unknown")]
    #[garde(skip)]
    pub surroundings: Surroundings,
    /// Building around the antenna, `outdoors` by default.
    #[serde(default, skip_serializing_if = "Indoor::is_outdoors")]
    #[garde(skip)]
    pub indoor: Indoor,
    /// Length of the rays within woodland around the antenna, m, [0, 100000]; 0 by default, no antenna in woods. Above
    /// 0 the loss of mixed forest (ITU-R P.833, table 1) counts beside that of other surroundings, in place of forest
    /// around the antenna and of the woodland of the environment. Unknown surroundings stay so: of their loss and
    /// that of the woodland the larger counts.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[garde(range(min = 0.0, max = WOODLAND_DEPTH_M_MAX), custom(finite))]
    pub woodland_depth_m: f64,
}

/// Maximum length of rays within woodland, m.
pub const WOODLAND_DEPTH_M_MAX: f64 = 100_000.0;

impl Station {
    /// A station whose antenna points at the other end of each link, outdoors, surroundings unknown, without woods.
    #[must_use]
    pub const fn new(height_agl_m: f64, radio: Radio, antenna: Antenna) -> Self {
        Self {
            height_agl_m,
            radio,
            antenna,
            pointing: None,
            surroundings: Surroundings::Unknown,
            indoor: Indoor::Outdoors,
            woodland_depth_m: 0.0,
        }
    }

    /// `true` if the antenna stands in woodland of its own.
    #[must_use]
    pub fn is_in_woodland(&self) -> bool {
        self.woodland_depth_m > 0.0
    }
}

/// A transmitter and receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Centre frequency, MHz, [10, 100000].
    #[garde(range(min = 10.0, max = 100000.0), custom(finite))]
    pub frequency_mhz: f64,
    /// Occupied and noise bandwidth, Hz, [100, 2e9].
    #[garde(range(min = 100.0, max = 2000000000.0), custom(finite))]
    pub bandwidth_hz: f64,
    /// Conducted power of one spatial stream at the radio's connector, dBm, [-50, 80].
    #[garde(range(min = -50.0, max = 80.0), custom(finite))]
    pub tx_power_dbm: f64,
    /// Receiver noise figure, dB, [0, 40].
    #[garde(range(min = 0.0, max = 40.0), custom(finite))]
    pub noise_figure_db: f64,
    /// Loss between radio and antenna, dB, [0, 100].
    #[serde(default)]
    #[garde(range(min = 0.0, max = 100.0), custom(finite))]
    pub feeder_loss_db: f64,
    /// Waveform.
    #[garde(dive)]
    pub waveform: Waveform,
}

/// Waveform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Waveform {
    /// Coded OFDM with adaptive modulation, BPSK 1/2 to 256-QAM 5/6.
    Ofdm {
        /// Parallel streams, [1, 8]; each is taken to have its own chain and full `tx_power_dbm`.
        #[serde(default = "one_stream")]
        #[garde(range(min = 1, max = 8))]
        spatial_streams: u8,
        /// Share of the PHY rate left to payload, [0.01, 1].
        #[serde(default = "mac_efficiency")]
        #[garde(range(min = 0.01, max = 1.0), custom(finite))]
        mac_efficiency_prob: f64,
    },
    /// LoRa chirp spread spectrum at a fixed spreading factor.
    Lora {
        /// Bits per symbol and log2 of chips per symbol, [6, 12].
        #[garde(range(min = 6, max = 12))]
        spreading_factor: u8,
        /// Denominator of the code rate 4/n, [5, 8].
        #[garde(range(min = 5, max = 8))]
        coding_rate: u8,
    },
    /// A fixed-rate modem known by its data sheet.
    Narrowband {
        /// Bit rate on the air, bit/s, [1, 1e9].
        #[garde(range(min = 1.0, max = 1000000000.0), custom(finite))]
        bit_rate_bps: f64,
        /// Receiver input at which the packet error rate is taken to be 10 %, dBm, [-180, 0].
        #[garde(range(min = -180.0, max = 0.0), custom(finite))]
        sensitivity_dbm: f64,
    },
}

/// An antenna, reduced to its main lobe where it has no pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Antenna {
    /// Gain at boresight, dBi, [-30, 60].
    #[garde(range(min = -30.0, max = 60.0), custom(finite))]
    pub gain_dbi: f64,
    /// Half-power beamwidth in azimuth, deg, [0.1, 360]; 360 is omnidirectional.
    #[garde(range(min = 0.1, max = 360.0), custom(finite))]
    pub azimuth_beamwidth_deg: f64,
    /// Half-power beamwidth in elevation, deg, [0.1, 360]; 360 is isotropic.
    #[garde(range(min = 0.1, max = 360.0), custom(finite))]
    pub elevation_beamwidth_deg: f64,
    /// Attenuation limit of the pattern below boresight (front-to-back ratio), dB, [0, 80].
    #[garde(range(min = 0.0, max = 80.0), custom(finite))]
    pub front_to_back_db: f64,
    /// Polarisation of the radiated field.
    #[schemars(schema_with = "polarization_schema")]
    #[garde(skip)]
    pub polarization: Polarization,
    /// Electrical tilt of the lobe below the plane across the antenna, the same all round, deg, [-90, 90];
    /// positive looks down. The mechanical tilt is that of the pointing.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[garde(range(min = -90.0, max = 90.0), custom(finite))]
    pub electrical_tilt_deg: f64,
    /// Measured pattern, which stands for the lobe in all directions; absent, the lobe counts. A beamwidth in
    /// azimuth of 360 still means that the antenna needs no pointing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub pattern: Option<Pattern>,
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// A boresight direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Pointing {
    /// Clockwise from true north, deg, [-360, 360]; kept from 0 to below 360.
    #[serde(deserialize_with = "azimuth")]
    #[garde(range(min = -360.0, max = 360.0), custom(finite))]
    pub azimuth_deg: f64,
    /// Above the local horizontal, deg, [-90, 90].
    #[serde(default)]
    #[garde(range(min = -90.0, max = 90.0), custom(finite))]
    pub elevation_deg: f64,
}

impl Pointing {
    /// The direction of an azimuth, deg, [-360, 360], which is kept from 0 to below 360, and an elevation, deg, [-90, 90].
    /// Values beyond stay as they are, for the check.
    #[must_use]
    pub fn new(azimuth_deg: f64, elevation_deg: f64) -> Self {
        Self { azimuth_deg: normal_azimuth_deg(azimuth_deg), elevation_deg }
    }
}

/// An azimuth of [-360, 360] deg in [0, 360); another one stays as it is.
fn normal_azimuth_deg(azimuth_deg: f64) -> f64 {
    if !(-360.0..=360.0).contains(&azimuth_deg) {
        return azimuth_deg;
    }
    // A tiny angle to the west rounds to a whole turn; zero has one sign.
    let turned = azimuth_deg.rem_euclid(360.0);
    if turned < 360.0 { turned + 0.0 } else { 0.0 }
}

/// Reads an azimuth.
fn azimuth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    f64::deserialize(deserializer).map(normal_azimuth_deg)
}

/// Schema of [`Polarization`], whose module has no schemas.
pub(super) fn polarization_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["horizontal", "vertical"] })
}

/// One stream where the document has no number.
fn one_stream() -> u8 {
    1
}

/// Planning convention: three fifths of the PHY rate reach the payload once preambles,
/// acknowledgements and contention are paid for.
fn mac_efficiency() -> f64 {
    0.6
}

bounded! {
    Station: "",
    Radio: "radio",
    Waveform: "radio.waveform",
    Antenna: "antenna",
    Pointing: "pointing",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn azimuths_of_a_turn_either_way_are_kept_from_0_to_below_360() {
        for (azimuth_deg, kept_deg) in [
            (0.0, 0.0),
            (-0.0, 0.0),
            (359.9, 359.9),
            (360.0, 0.0),
            (-90.0, 270.0),
            (-360.0, 0.0),
            (-1e-20, 0.0),
        ] {
            let pointing = Pointing::new(azimuth_deg, 2.0);
            assert_eq!(pointing.azimuth_deg.to_bits(), f64::to_bits(kept_deg), "{azimuth_deg}");
            pointing.validate().unwrap();
            let document = serde_json::json!({ "azimuth_deg": azimuth_deg, "elevation_deg": 2 });
            assert_eq!(serde_json::from_value::<Pointing>(document).unwrap(), pointing);
        }
        for azimuth_deg in [360.1, -361.0, f64::NAN, f64::INFINITY] {
            let pointing = Pointing::new(azimuth_deg, 0.0);
            assert!(pointing.validate().is_err(), "{azimuth_deg}");
        }
        let error = Pointing::new(370.0, 0.0).validate().unwrap_err();
        assert_eq!(
            error.to_string(),
            "invalid pointing.azimuth_deg: found 370, allowed [-360, 360]"
        );
    }
}
