//! Catalogues to start from: radios and antennas, generic ones and those of devices, and roles.
//!
//! Every preset carries a `source`: a document, or the formula its numbers follow from. Values
//! that are planning assumptions say so. Antenna lobes are derived, so that gain and beamwidths
//! agree with each other: directive antennas follow `G = 27000 / (H x V)` with `G` as a ratio and
//! beamwidths in degrees, dishes also `G = 0.55 (pi D / lambda)^2` and `HPBW = 70 lambda / D`.

mod devices;
pub mod modems;

use groundwave_propagation::polarization::Polarization;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::station::{Antenna, Radio, Waveform};

/// Group of a preset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PresetGroup {
    /// A kind of radio or antenna.
    Generic,
    /// Products by their names.
    Device,
}

/// A radio one can start from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RadioPreset {
    /// Stable identifier.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Kind of radio, or devices.
    pub group: PresetGroup,
    /// The values.
    pub radio: Radio,
    /// Preset of the antenna of a device that has a fixed one; null for another.
    pub antenna_id: Option<&'static str>,
    /// Source of the values.
    pub source: &'static str,
}

/// An antenna one can start from.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AntennaPreset {
    /// Stable identifier.
    pub id: &'static str,
    /// Display name.
    pub name: &'static str,
    /// Kind of antenna, or devices.
    pub group: PresetGroup,
    /// The values.
    pub antenna: Antenna,
    /// Source of the values.
    pub source: &'static str,
}

/// Function of a node in the network.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Command post: directs other nodes.
    Command,
    /// Relay: forwards traffic of other nodes.
    #[default]
    Relay,
    /// Team on the move.
    Team,
    /// Sensor: measures.
    Sensor,
    /// Monitored asset.
    Asset,
}

/// Presentation of a role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RolePreset {
    /// The role.
    pub id: Role,
    /// Display name.
    pub name: &'static str,
    /// Display colour, `#rrggbb`; the five stay apart under common colour blindness
    /// (palette of Okabe and Ito).
    pub color: &'static str,
}

/// The radio called `id`.
#[must_use]
pub fn radio(id: &str) -> Option<&'static RadioPreset> {
    RADIOS.iter().find(|preset| preset.id == id)
}

/// The antenna that the device of a radio preset has; `None` for a preset without a fixed one.
#[must_use]
pub fn antenna_of_device(radio_id: &str) -> Option<&'static AntennaPreset> {
    radio(radio_id)?.antenna_id.and_then(antenna)
}

/// Antenna preset of a station that names none, unless its radio is a device that has one: a half-wave dipole.
pub const ANTENNA_DEFAULT: &str = "omni_2_15";

/// The antenna of a station with this radio preset that names none: that of the device, or
/// [`ANTENNA_DEFAULT`].
///
/// # Panics
/// If the catalogue lacks the default.
#[must_use]
pub fn antenna_where_unnamed(radio_id: &str) -> &'static AntennaPreset {
    let device = antenna_of_device(radio_id);
    device.or_else(|| antenna(ANTENNA_DEFAULT)).expect("the catalogue has the default")
}

/// The antenna called `id`.
#[must_use]
pub fn antenna(id: &str) -> Option<&'static AntennaPreset> {
    ANTENNAS.iter().find(|preset| preset.id == id)
}

/// 4FSK at 9600 bit/s; 0.35 µV into 50 ohm is -116 dBm.
const DMR: Waveform = Waveform::Narrowband { bit_rate_bps: 9_600.0, sensitivity_dbm: -116.0 };

/// The radio catalogue.
pub static RADIOS: [RadioPreset; 19] = [
    RadioPreset {
        id: "vhf_handheld_5w",
        name: "VHF handheld, 5 W",
        group: PresetGroup::Generic,
        radio: radio_of(155.0, 12_500.0, 37.0, 8.0, DMR),
        antenna_id: None,
        source: "5 W = 37 dBm. 4FSK at 4800 symbol/s in 12.5 kHz: ETSI TS 102 361-1. -116 \
                 dBm = 0.35 uV into 50 ohm for 5 % BER: Motorola XPR 7550e service \
                 manual, table 3-6. Noise figure assumed",
    },
    RadioPreset {
        id: "uhf_mobile_25w",
        name: "UHF mobile, 25 W",
        group: PresetGroup::Generic,
        radio: radio_of(450.0, 12_500.0, 44.0, 7.0, DMR),
        antenna_id: None,
        source: "25 W = 44 dBm. 4FSK at 4800 symbol/s in 12.5 kHz: ETSI TS 102 361-1. \
                 -116 dBm = 0.35 uV into 50 ohm for 5 % BER: Motorola XPR 7550e service \
                 manual, table 3-6. Noise figure assumed",
    },
    RadioPreset {
        id: "lora_868_eu",
        name: "LoRa 868 MHz, EU",
        group: PresetGroup::Generic,
        radio: radio_of(868.1, 125_000.0, 14.0, 6.0, lora(9)),
        antenna_id: None,
        source: "25 mW ERP (14 dBm into a dipole) in 868.0 to 868.6 MHz: ETSI EN 300 \
                 220-2. Required SNR: Semtech SX1276 data sheet, table 13. Noise figure \
                 assumed",
    },
    RadioPreset {
        id: "lora_915_us",
        name: "LoRa 915 MHz, US",
        group: PresetGroup::Generic,
        radio: radio_of(915.0, 250_000.0, 22.0, 6.0, lora(11)),
        antenna_id: None,
        source: "+22 dBm: Semtech SX1262 data sheet. 250 kHz, SF11, 4/5: Meshtastic \
                 LongFast. Required SNR: Semtech SX1276 data sheet, table 13. Noise \
                 figure assumed",
    },
    RadioPreset {
        id: "wifi_2g4_mesh",
        name: "Wi-Fi mesh, 2.4 GHz",
        group: PresetGroup::Generic,
        radio: radio_of(2_437.0, 20e6, 20.0, 6.0, ofdm(1)),
        antenna_id: None,
        source: "Channel 6, 20 MHz. 100 mW is the EIRP limit of ETSI EN 300 328, so lower \
                 the power by the gain of a larger antenna where it applies. Noise figure \
                 assumed (IEEE 802.11 allows for 10 dB)",
    },
    RadioPreset {
        id: "wifi_5g_mesh",
        name: "Wi-Fi mesh, 5 GHz",
        group: PresetGroup::Generic,
        radio: radio_of(5_580.0, 40e6, 24.0, 6.0, ofdm(1)),
        antenna_id: None,
        source: "24 dBm = 250 mW conducted, the limit of 47 CFR 15.407(a)(2) in 5.47 to \
                 5.725 GHz. Noise figure assumed (IEEE 802.11 allows for 10 dB)",
    },
    RadioPreset {
        id: "ptp_5g8",
        name: "Point to point, 5.8 GHz",
        group: PresetGroup::Generic,
        radio: radio_of(5_800.0, 80e6, 22.0, 5.0, ofdm(2)),
        antenna_id: None,
        source: "22 dBm on each of two polarisations = 25 dBm, the output at 256-QAM in a \
                 Cambium point-to-point user guide (4.9 GHz variant), within the 1 W of \
                 47 CFR 15.407(a)(3). Noise figure assumed",
    },
    RadioPreset {
        id: "ptp_11g",
        name: "Point to point, 11 GHz",
        group: PresetGroup::Generic,
        radio: radio_of(11_000.0, 56e6, 17.0, 5.0, ofdm(1)),
        antenna_id: None,
        source: "56 MHz, +17 dBm at 256-QAM: RACOM RAy11 technical parameters; its -69 \
                 dBm at 26.5 dB SNR in 28 MHz implies a noise figure of 4 dB, 5 dB kept \
                 here",
    },
    devices::SX1262_EU,
    devices::SX1262_US,
    devices::HELTEC_V3_EU,
    devices::HELTEC_V3_US,
    devices::HELTEC_V4_EU,
    devices::HELTEC_V4_US,
    devices::STATION_G2_EU,
    devices::STATION_G2_US,
    devices::NANOSTATION_5AC,
    devices::NANOSTATION_LOCO,
    devices::LITEBEAM,
];

/// The antenna catalogue.
pub static ANTENNAS: [AntennaPreset; 12] = [
    AntennaPreset {
        id: "omni_2_15",
        name: "Half-wave dipole, 2.15 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(2.15, 360.0, 78.0, 20.0),
        source: "Half-wave dipole: directivity 1.643, half-power beamwidth 78 deg. \
                 Front-to-back 20 dB: 3GPP TR 36.814 table A.2.1.1-2 (vertical)",
    },
    AntennaPreset {
        id: "omni_5",
        name: "Collinear omni, 5 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(5.0, 360.0, 35.5, 20.0),
        source: "Beamwidth from the gain by D = 101.5 / (H - 0.0027 H^2), H in deg \
                 (McDonald). Front-to-back 20 dB: 3GPP TR 36.814 table A.2.1.1-2 (vertical)",
    },
    AntennaPreset {
        id: "omni_9",
        name: "Collinear omni, 9 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(9.0, 360.0, 13.3, 20.0),
        source: "Beamwidth from the gain by D = 101.5 / (H - 0.0027 H^2), H in deg \
                 (McDonald). Front-to-back 20 dB: 3GPP TR 36.814 table A.2.1.1-2 (vertical)",
    },
    AntennaPreset {
        id: "yagi_12",
        name: "Yagi, 12 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(12.0, 41.3, 41.3, 15.0),
        source: "Round lobe from G = 27000 / (H x V). Front-to-back 15 dB assumed",
    },
    AntennaPreset {
        id: "yagi_16",
        name: "Yagi, 16 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(16.0, 26.0, 26.0, 18.0),
        source: "Round lobe from G = 27000 / (H x V). Front-to-back 18 dB assumed",
    },
    AntennaPreset {
        id: "sector_17_90",
        name: "Sector 90 deg, 17 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(17.0, 90.0, 6.0, 25.0),
        source: "Elevation from G = 27000 / (H x V) at H = 90 deg. Front-to-back \
                 25 dB: 3GPP TR 36.814 table A.2.1.1-2 (horizontal)",
    },
    AntennaPreset {
        id: "dish_24",
        name: "Grid dish, 24 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(24.0, 10.4, 10.4, 22.0),
        source: "Round lobe from G = 27000 / (H x V); 0.83 m at 2.44 GHz and 55 % \
                 efficiency. Front-to-back: ITU-R F.699 far side lobes, \
                 10 - 10 log(D / lambda) dBi",
    },
    AntennaPreset {
        id: "dish_30",
        name: "Dish 0.7 m at 5.8 GHz, 30 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(30.0, 5.2, 5.2, 31.0),
        source: "0.70 m at 5.8 GHz and 55 % efficiency, HPBW 70 lambda / D. \
                 Front-to-back: ITU-R F.699 far side lobes, 10 - 10 log(D / lambda) dBi",
    },
    AntennaPreset {
        id: "dish_32",
        name: "Dish 0.9 m at 5.8 GHz, 32 dBi",
        group: PresetGroup::Generic,
        antenna: antenna_of(32.0, 4.1, 4.1, 34.0),
        source: "0.88 m at 5.8 GHz and 55 % efficiency, HPBW 70 lambda / D. \
                 Front-to-back: ITU-R F.699 far side lobes, 10 - 10 log(D / lambda) dBi",
    },
    devices::NANOSTATION_16,
    devices::NANOSTATION_LOCO_13,
    devices::LITEBEAM_23,
];

/// The role catalogue.
pub static ROLES: [RolePreset; 5] = [
    RolePreset { id: Role::Command, name: "Command", color: "#d55e00" },
    RolePreset { id: Role::Relay, name: "Relay", color: "#0072b2" },
    RolePreset { id: Role::Team, name: "Team", color: "#009e73" },
    RolePreset { id: Role::Sensor, name: "Sensor", color: "#f0e442" },
    RolePreset { id: Role::Asset, name: "Asset", color: "#cc79a7" },
];

/// A radio without feeder loss.
const fn radio_of(
    frequency_mhz: f64,
    bandwidth_hz: f64,
    tx_power_dbm: f64,
    noise_figure_db: f64,
    waveform: Waveform,
) -> Radio {
    Radio {
        frequency_mhz,
        bandwidth_hz,
        tx_power_dbm,
        noise_figure_db,
        feeder_loss_db: 0.0,
        waveform,
    }
}

/// A vertically polarised antenna.
const fn antenna_of(gain_dbi: f64, azimuth: f64, elevation: f64, front_to_back_db: f64) -> Antenna {
    Antenna {
        gain_dbi,
        azimuth_beamwidth_deg: azimuth,
        elevation_beamwidth_deg: elevation,
        front_to_back_db,
        polarization: Polarization::Vertical,
        electrical_tilt_deg: 0.0,
        pattern: None,
    }
}

/// LoRa at code rate 4/5.
const fn lora(spreading_factor: u8) -> Waveform {
    Waveform::Lora { spreading_factor, coding_rate: 5 }
}

/// OFDM with the default MAC efficiency.
const fn ofdm(spatial_streams: u8) -> Waveform {
    Waveform::Ofdm { spatial_streams, mac_efficiency_prob: 0.6 }
}
