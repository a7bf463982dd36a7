//! Data rate and packet error ratio as functions of the signal-to-noise ratio.
//!
//! OFDM adapts over an MCS table of ten modulations; LoRa and narrowband modems have one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::station::{Radio, Waveform};

/// Octets of the packet whose 10 % loss defines the IEEE 802.11 sensitivities (HT, VHT, HE).
pub const REFERENCE_OCTETS_OFDM: f64 = 4_096.0;

/// Octets of the packet taken to be lost 10 % of the time at a LoRa or narrowband sensitivity.
/// Data sheets differ in their criterion (bit error rates of 1e-6 to 5 %), so this is a convention.
pub const REFERENCE_OCTETS_FIXED: f64 = 64.0;

/// Steepness of the packet error curve, 1/dB: a planning convention, see [`packet_error_prob`].
pub const PER_SLOPE_PER_DB: f64 = 1.5;

/// Longer LoRa symbols are sent with low data rate optimisation, which gives up two bits of each
/// (Semtech SX1276 data sheet: mandatory above 16 ms), s.
const LORA_LONG_SYMBOL_S: f64 = 16e-3;

/// Maximum length of a frame of LoRa, octets: the length field of its header has eight bits (Semtech
/// SX1276 data sheet, section 4.1.1.6). Longer packets are sent as several frames.
pub const LORA_FRAME_OCTETS_MAX: u32 = 255;

/// Names a modulation; ordered from robust to fast within OFDM.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
pub enum ModulationId {
    /// BPSK, code rate 1/2.
    #[serde(rename = "bpsk_1_2")]
    Bpsk12,
    /// QPSK, code rate 1/2.
    #[serde(rename = "qpsk_1_2")]
    Qpsk12,
    /// QPSK, code rate 3/4.
    #[serde(rename = "qpsk_3_4")]
    Qpsk34,
    /// 16-QAM, code rate 1/2.
    #[serde(rename = "16qam_1_2")]
    Qam16R12,
    /// 16-QAM, code rate 3/4.
    #[serde(rename = "16qam_3_4")]
    Qam16R34,
    /// 64-QAM, code rate 2/3.
    #[serde(rename = "64qam_2_3")]
    Qam64R23,
    /// 64-QAM, code rate 3/4.
    #[serde(rename = "64qam_3_4")]
    Qam64R34,
    /// 64-QAM, code rate 5/6.
    #[serde(rename = "64qam_5_6")]
    Qam64R56,
    /// 256-QAM, code rate 3/4.
    #[serde(rename = "256qam_3_4")]
    Qam256R34,
    /// 256-QAM, code rate 5/6.
    #[serde(rename = "256qam_5_6")]
    Qam256R56,
    /// LoRa at the spreading factor of the radio.
    #[serde(rename = "lora")]
    Lora,
    /// The fixed modulation of a narrowband modem.
    #[serde(rename = "narrowband")]
    Narrowband,
}

impl ModulationId {
    /// Maximum length of a packet that is sent as one frame, octets.
    #[must_use]
    pub fn packet_octets_max(self) -> u32 {
        if self == Self::Lora { LORA_FRAME_OCTETS_MAX } else { u32::MAX }
    }
}

/// One entry of the OFDM MCS table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Modulation {
    /// Id of the modulation.
    pub id: ModulationId,
    /// Bits per symbol and subcarrier before coding.
    pub bits_per_symbol: u8,
    /// Code rate as a fraction, numerator then denominator.
    pub code_rate: [u8; 2],
    /// Minimum sensitivity in 20 MHz for 10 % loss of 4096-octet packets, dBm (IEEE 802.11).
    pub sensitivity_20_mhz_dbm: f64,
    /// SNR at which 10 % of 4096-octet packets are lost, dB: the sensitivity above
    /// -174 dBm/Hz + 73 dB for 20 MHz, less the 10 dB noise figure and 5 dB implementation margin
    /// the standard allows for.
    pub required_snr_db: f64,
}

/// OFDM MCS table, from robust to fast.
pub static MODULATIONS: [Modulation; 10] = [
    mcs(ModulationId::Bpsk12, 1, [1, 2], -82.0),
    mcs(ModulationId::Qpsk12, 2, [1, 2], -79.0),
    mcs(ModulationId::Qpsk34, 2, [3, 4], -77.0),
    mcs(ModulationId::Qam16R12, 4, [1, 2], -74.0),
    mcs(ModulationId::Qam16R34, 4, [3, 4], -70.0),
    mcs(ModulationId::Qam64R23, 6, [2, 3], -66.0),
    mcs(ModulationId::Qam64R34, 6, [3, 4], -65.0),
    mcs(ModulationId::Qam64R56, 6, [5, 6], -64.0),
    mcs(ModulationId::Qam256R34, 8, [3, 4], -59.0),
    mcs(ModulationId::Qam256R56, 8, [5, 6], -57.0),
];

/// Derives the SNR from the sensitivity: S + 101 - 10 - 5.
const fn mcs(
    id: ModulationId,
    bits_per_symbol: u8,
    code_rate: [u8; 2],
    sensitivity: f64,
) -> Modulation {
    Modulation {
        id,
        bits_per_symbol,
        code_rate,
        sensitivity_20_mhz_dbm: sensitivity,
        required_snr_db: sensitivity + 101.0 - 10.0 - 5.0,
    }
}

/// A modulation of a radio, with its rates.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Selected {
    /// Id of the modulation.
    pub id: ModulationId,
    /// MCS index, 0 the most robust.
    pub mcs_index: u8,
    /// Bits per symbol before coding; absent for a narrowband modem.
    pub bits_per_symbol: Option<u8>,
    /// Information bits per coded bit, (0, 1]; absent for a narrowband modem.
    pub code_rate: Option<f64>,
    /// SNR for 10 % loss of the reference packet, dB.
    pub required_snr_db: f64,
    /// Coded rate on the air, all streams, bit/s.
    pub phy_rate_bps: f64,
    /// Rate of payload data, bit/s. For LoRa (less what low data rate optimisation takes) and
    /// narrowband this is the PHY rate: duty-cycle limits, preambles and channel sharing are not
    /// known here.
    pub data_rate_bps: f64,
    /// Packet length of the required SNR, octets.
    pub reference_octets: f64,
}

/// Modulation with MCS index 0 of `radio`: the one every link needs.
///
/// The last parameter, dBm, is the noise floor over which a narrowband sensitivity was measured.
#[must_use]
pub fn lowest(radio: &Radio, thermal_floor_dbm: f64) -> Selected {
    match radio.waveform {
        Waveform::Ofdm { .. } => ofdm(radio, 0),
        Waveform::Lora { spreading_factor, coding_rate } => {
            lora(radio, spreading_factor, coding_rate)
        }
        Waveform::Narrowband { bit_rate_bps, sensitivity_dbm } => Selected {
            id: ModulationId::Narrowband,
            mcs_index: 0,
            bits_per_symbol: None,
            code_rate: None,
            required_snr_db: sensitivity_dbm - thermal_floor_dbm,
            phy_rate_bps: bit_rate_bps,
            data_rate_bps: bit_rate_bps,
            reference_octets: REFERENCE_OCTETS_FIXED,
        },
    }
}

/// The modulations of a radio with the SNR from which each is used.
#[derive(Debug, Clone, PartialEq)]
pub struct McsTable {
    /// Rising SNR, dB, and the modulation used from there; one entry or more.
    entries: Vec<(f64, Selected)>,
}

impl McsTable {
    /// Table of `radio`, keeping `reserve_db` (0 or more) above the required SNR of all but the
    /// lowest modulation. The noise floor, dBm, is as in [`lowest`].
    #[must_use]
    pub fn new(radio: &Radio, reserve_db: f64, thermal_floor_dbm: f64) -> Self {
        let lowest = lowest(radio, thermal_floor_dbm);
        let mut entries = vec![(lowest.required_snr_db, lowest)];
        if matches!(radio.waveform, Waveform::Ofdm { .. }) {
            entries.extend((1..MODULATIONS.len()).map(|index| {
                let selected = ofdm(radio, index);
                (selected.required_snr_db + reserve_db, selected)
            }));
        }
        Self { entries }
    }

    /// Modulation with MCS index 0.
    #[inline]
    #[must_use]
    pub fn lowest(&self) -> &Selected {
        &self.entries[0].1
    }

    /// Rising SNR, dB, and the data rate from there, bit/s.
    pub fn steps(&self) -> impl Iterator<Item = (f64, f64)> {
        let entries = self.entries.iter();
        entries.map(|(from_db, selected)| (*from_db, selected.data_rate_bps))
    }

    /// The fastest modulation whose required SNR plus reserve is met by `snr_db`; if none keeps
    /// the reserve, the lowest without. `None` below the required SNR of the lowest.
    #[inline]
    #[must_use]
    pub fn select(&self, snr_db: f64) -> Option<&Selected> {
        let usable = self.entries.partition_point(|(from_db, _)| *from_db <= snr_db);
        usable.checked_sub(1).map(|index| &self.entries[index].1)
    }
}

/// OFDM modulation with MCS index `index`.
fn ofdm(radio: &Radio, index: usize) -> Selected {
    let (streams, efficiency) = match radio.waveform {
        Waveform::Ofdm { spatial_streams, mac_efficiency_prob } => {
            (spatial_streams, mac_efficiency_prob)
        }
        Waveform::Lora { .. } | Waveform::Narrowband { .. } => (1, 1.0),
    };
    let modulation = &MODULATIONS[index];
    let code_rate = f64::from(modulation.code_rate[0]) / f64::from(modulation.code_rate[1]);
    let bits = f64::from(modulation.bits_per_symbol) * code_rate;
    let phy_rate_bps = ofdm_symbol_rate(radio.bandwidth_hz) * bits * f64::from(streams);
    Selected {
        id: modulation.id,
        mcs_index: u8::try_from(index).unwrap_or(u8::MAX),
        bits_per_symbol: Some(modulation.bits_per_symbol),
        code_rate: Some(code_rate),
        required_snr_db: modulation.required_snr_db,
        phy_rate_bps,
        data_rate_bps: phy_rate_bps * efficiency,
        reference_octets: REFERENCE_OCTETS_OFDM,
    }
}

/// Data symbols per second and stream over all subcarriers.
///
/// The four VHT channel widths carry 52, 108, 234 and 468 data subcarriers every 4 us (long guard
/// interval, IEEE 802.11 VHT timing constants). Any other width is taken to carry 0.65 symbols per
/// second and hertz, the figure of the 20 MHz channel.
#[must_use]
pub fn ofdm_symbol_rate(bandwidth_hz: f64) -> f64 {
    const SYMBOL_S: f64 = 4e-6;
    let subcarriers = match bandwidth_hz.round() as u64 {
        20_000_000 => 52.0,
        40_000_000 => 108.0,
        80_000_000 => 234.0,
        160_000_000 => 468.0,
        _ => return 0.65 * bandwidth_hz,
    };
    subcarriers / SYMBOL_S
}

/// LoRa: bit rate `SF x 4/n x BW / 2^SF`; required SNR falls 2.5 dB a spreading factor from -5 dB
/// at SF6 to -20 dB at SF12 (Semtech SX1276 data sheet, table 13).
fn lora(radio: &Radio, spreading_factor: u8, coding_rate: u8) -> Selected {
    let sf = f64::from(spreading_factor);
    let code_rate = 4.0 / f64::from(coding_rate);
    let symbols_per_s = radio.bandwidth_hz / libm::exp2(sf);
    let phy_rate_bps = sf * code_rate * symbols_per_s;
    let kept_bits = if symbols_per_s.recip() > LORA_LONG_SYMBOL_S { sf - 2.0 } else { sf };
    Selected {
        id: ModulationId::Lora,
        mcs_index: 0,
        bits_per_symbol: Some(spreading_factor),
        code_rate: Some(code_rate),
        required_snr_db: -5.0 - 2.5 * (sf - 6.0),
        phy_rate_bps,
        data_rate_bps: phy_rate_bps * kept_bits / sf,
        reference_octets: REFERENCE_OCTETS_FIXED,
    }
}

/// Probability that a packet of `packet_octets` is lost at `snr_db`, (0, 1].
///
/// A model, not a standard: a logistic curve through 10 % at the required SNR for the reference
/// packet, with [`PER_SLOPE_PER_DB`], scaled by length as if octets failed independently:
/// `PER(L) = 1 - (1 - PER(ref))^(L / ref)`. Real curves over a fading channel are flatter.
#[must_use]
pub fn packet_error_prob(snr_db: f64, modulation: &Selected, packet_octets: u32) -> f64 {
    let margin_db = snr_db - modulation.required_snr_db;
    error_prob_at(margin_db, modulation.reference_octets, packet_octets)
}

/// As [`packet_error_prob`], from the SNR above the one required for `reference_octets`, dB.
#[must_use]
pub fn error_prob_at(margin_db: f64, reference_octets: f64, packet_octets: u32) -> f64 {
    let ln_odds_at_required = libm::log(9.0);
    let reference = 1.0 / (1.0 + libm::exp(PER_SLOPE_PER_DB * margin_db + ln_odds_at_required));
    let lengths = f64::from(packet_octets.max(1)) / reference_octets;
    -libm::expm1(libm::log1p(-reference) * lengths)
}
