//! One end of a link: radio, antenna and pointing.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::value::{BadValue, below, within};
use crate::propagation::polarization::Polarization;

/// One end of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Station {
    /// Antenna height above ground, m, [0, 20000].
    #[schemars(range(min = 0.0, max = 20000.0))]
    pub height_agl_m: f64,
    /// Transmitter and receiver.
    pub radio: Radio,
    /// Antenna, the same for both directions.
    pub antenna: Antenna,
    /// Boresight of the antenna. Absent, a directive antenna points at the other end, as in a
    /// point-to-point link, and an omnidirectional one stands upright, its lobe level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointing: Option<Pointing>,
}

/// A transmitter and receiver.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Radio {
    /// Centre frequency, MHz, [10, 100000].
    #[schemars(range(min = 10.0, max = 100000.0))]
    pub frequency_mhz: f64,
    /// Occupied and noise bandwidth, Hz, [100, 2e9].
    #[schemars(range(min = 100.0, max = 2000000000.0))]
    pub bandwidth_hz: f64,
    /// Conducted power of one spatial stream at the radio's connector, dBm, [-50, 80].
    #[schemars(range(min = -50.0, max = 80.0))]
    pub tx_power_dbm: f64,
    /// Receiver noise figure, dB, [0, 40].
    #[schemars(range(min = 0.0, max = 40.0))]
    pub noise_figure_db: f64,
    /// Loss between radio and antenna, dB, [0, 100].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub feeder_loss_db: f64,
    /// Waveform.
    pub waveform: Waveform,
}

/// Waveform.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Waveform {
    /// Coded OFDM with adaptive modulation, BPSK 1/2 to 256-QAM 5/6.
    Ofdm {
        /// Parallel streams, [1, 8]; each is taken to have its own chain and full `tx_power_dbm`.
        #[serde(default = "one_stream")]
        #[schemars(range(min = 1, max = 8))]
        spatial_streams: u8,
        /// Share of the PHY rate left to payload, [0.01, 1].
        #[serde(default = "mac_efficiency")]
        #[schemars(range(min = 0.01, max = 1.0))]
        mac_efficiency_prob: f64,
    },
    /// LoRa chirp spread spectrum at a fixed spreading factor.
    Lora {
        /// Bits per symbol and log2 of chips per symbol, [6, 12].
        #[schemars(range(min = 6, max = 12))]
        spreading_factor: u8,
        /// Denominator of the code rate 4/n, [5, 8].
        #[schemars(range(min = 5, max = 8))]
        coding_rate: u8,
    },
    /// A fixed-rate modem known by its data sheet.
    Narrowband {
        /// Bit rate on the air, bit/s, [1, 1e9].
        #[schemars(range(min = 1.0, max = 1000000000.0))]
        bit_rate_bps: f64,
        /// Receiver input at which the packet error rate is taken to be 10 %, dBm, [-180, 0].
        #[schemars(range(min = -180.0, max = 0.0))]
        sensitivity_dbm: f64,
    },
}

/// An antenna, reduced to its main lobe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Antenna {
    /// Gain at boresight, dBi, [-30, 60].
    #[schemars(range(min = -30.0, max = 60.0))]
    pub gain_dbi: f64,
    /// Half-power beamwidth in azimuth, deg, [0.1, 360]; 360 is omnidirectional.
    #[schemars(range(min = 0.1, max = 360.0))]
    pub azimuth_beamwidth_deg: f64,
    /// Half-power beamwidth in elevation, deg, [0.1, 360]; 360 is isotropic.
    #[schemars(range(min = 0.1, max = 360.0))]
    pub elevation_beamwidth_deg: f64,
    /// Depth of the pattern floor below boresight, dB, [0, 80].
    #[schemars(range(min = 0.0, max = 80.0))]
    pub front_to_back_db: f64,
    /// Polarisation of the radiated field.
    #[schemars(schema_with = "polarization_schema")]
    pub polarization: Polarization,
}

/// A boresight direction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pointing {
    /// Clockwise from true north, deg, [0, 360).
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 360.0))]
    pub azimuth_deg: f64,
    /// Above the local horizontal, deg, [-90, 90].
    #[serde(default)]
    #[schemars(range(min = -90.0, max = 90.0))]
    pub elevation_deg: f64,
}

/// Schema of [`Polarization`], whose module knows no schemas.
pub(super) fn polarization_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["horizontal", "vertical"] })
}

/// One stream unless the document says otherwise.
fn one_stream() -> u8 {
    1
}

/// Planning convention: three fifths of the PHY rate reach the payload once preambles,
/// acknowledgements and contention are paid for.
fn mac_efficiency() -> f64 {
    0.6
}

impl Station {
    /// Refuses any value outside the range its field states.
    ///
    /// # Errors
    /// The first [`BadValue`] met, in field order.
    pub fn validate(&self) -> Result<(), BadValue> {
        within("height_agl_m", self.height_agl_m, 0.0, 20_000.0)?;
        self.radio.validate()?;
        self.antenna.validate()?;
        self.pointing.as_ref().map_or(Ok(()), Pointing::validate)
    }
}

impl Radio {
    /// Refuses any value outside the range its field states.
    ///
    /// # Errors
    /// The first [`BadValue`] met, in field order.
    pub fn validate(&self) -> Result<(), BadValue> {
        within("radio.frequency_mhz", self.frequency_mhz, 10.0, 100_000.0)?;
        within("radio.bandwidth_hz", self.bandwidth_hz, 100.0, 2e9)?;
        within("radio.tx_power_dbm", self.tx_power_dbm, -50.0, 80.0)?;
        within("radio.noise_figure_db", self.noise_figure_db, 0.0, 40.0)?;
        within("radio.feeder_loss_db", self.feeder_loss_db, 0.0, 100.0)?;
        self.waveform.validate()
    }
}

impl Waveform {
    /// Refuses any value outside the range its field states.
    ///
    /// # Errors
    /// The first [`BadValue`] met, in field order.
    pub fn validate(&self) -> Result<(), BadValue> {
        match *self {
            Self::Ofdm {
                spatial_streams,
                mac_efficiency_prob,
            } => {
                within(
                    "radio.waveform.spatial_streams",
                    f64::from(spatial_streams),
                    1.0,
                    8.0,
                )?;
                within(
                    "radio.waveform.mac_efficiency_prob",
                    mac_efficiency_prob,
                    0.01,
                    1.0,
                )
            }
            Self::Lora {
                spreading_factor,
                coding_rate,
            } => {
                within(
                    "radio.waveform.spreading_factor",
                    f64::from(spreading_factor),
                    6.0,
                    12.0,
                )?;
                within(
                    "radio.waveform.coding_rate",
                    f64::from(coding_rate),
                    5.0,
                    8.0,
                )
            }
            Self::Narrowband {
                bit_rate_bps,
                sensitivity_dbm,
            } => {
                within("radio.waveform.bit_rate_bps", bit_rate_bps, 1.0, 1e9)?;
                within(
                    "radio.waveform.sensitivity_dbm",
                    sensitivity_dbm,
                    -180.0,
                    0.0,
                )
            }
        }
    }
}

impl Antenna {
    /// Refuses any value outside the range its field states.
    ///
    /// # Errors
    /// The first [`BadValue`] met, in field order.
    pub fn validate(&self) -> Result<(), BadValue> {
        within("antenna.gain_dbi", self.gain_dbi, -30.0, 60.0)?;
        within(
            "antenna.azimuth_beamwidth_deg",
            self.azimuth_beamwidth_deg,
            0.1,
            360.0,
        )?;
        within(
            "antenna.elevation_beamwidth_deg",
            self.elevation_beamwidth_deg,
            0.1,
            360.0,
        )?;
        within("antenna.front_to_back_db", self.front_to_back_db, 0.0, 80.0)
    }
}

impl Pointing {
    /// Refuses any value outside the range its field states.
    ///
    /// # Errors
    /// The first [`BadValue`] met, in field order.
    pub fn validate(&self) -> Result<(), BadValue> {
        below("pointing.azimuth_deg", self.azimuth_deg, 0.0, 360.0)?;
        within("pointing.elevation_deg", self.elevation_deg, -90.0, 90.0)
    }
}
