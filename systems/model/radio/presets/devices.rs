//! Devices that people own, as radio and antenna presets.
//!
//! LoRa devices are as Meshtastic sets them up in its regions: LongFast (250 kHz, SF11, 4/5), the power that
//! the device is able to send or the region allows, whichever is less. Devices of one radio are one preset, because a
//! plan keeps fields, not names.

use super::{AntennaPreset, PresetGroup, RadioPreset, antenna_of, lora, ofdm, radio_of};

/// Region of Meshtastic: frequency of LongFast, MHz, and its power limit, dBm.
struct Region {
    frequency_mhz: f64,
    power_max_dbm: f64,
}

const EU: Region = Region { frequency_mhz: 869.525, power_max_dbm: 27.0 };
const US: Region = Region { frequency_mhz: 906.875, power_max_dbm: 30.0 };

/// Source of a device with its region.
macro_rules! source {
    ($device:literal, EU) => {
        concat!(
            $device,
            ". LongFast in its one slot at 869.525 MHz, up to 27 dBm: Meshtastic documentation, Radio \
             Settings; regions of its firmware. Required SNR: Semtech SX1276 data sheet, table 13"
        )
    };
    ($device:literal, US) => {
        concat!(
            $device,
            ". LongFast in its default slot 20 at 906.875 MHz, up to 30 dBm: Meshtastic documentation, Radio \
             Settings; regions of its firmware. Required SNR: Semtech SX1276 data sheet, table 13"
        )
    };
}

/// Noise figure of an SX1262: its data sheet has -137 dBm at SF12 in 125 kHz, which is 6 dB.
const SX1262_NOISE_FIGURE_DB: f64 = 6.0;

/// A LoRa device in a region, with the power that it is able to send.
const fn meshtastic(
    [id, name, source]: [&'static str; 3],
    region: &Region,
    power_dbm: f64,
    noise_figure_db: f64,
) -> RadioPreset {
    let tx_power_dbm =
        if power_dbm < region.power_max_dbm { power_dbm } else { region.power_max_dbm };
    RadioPreset {
        id,
        name,
        group: PresetGroup::Device,
        radio: radio_of(region.frequency_mhz, 250_000.0, tx_power_dbm, noise_figure_db, lora(11)),
        antenna_id: None,
        source,
    }
}

/// A 5 GHz device of two chains with `power_dbm` in all, 40 MHz, and its antenna.
const fn airmax(
    [id, name, source]: [&'static str; 3],
    power_dbm: f64,
    antenna_id: &'static str,
) -> RadioPreset {
    RadioPreset {
        id,
        name,
        group: PresetGroup::Device,
        // Half of the power on each chain.
        radio: radio_of(5_580.0, 40e6, power_dbm - 3.0, 5.0, ofdm(2)),
        antenna_id: Some(antenna_id),
        source,
    }
}

pub(super) const SX1262_EU: RadioPreset = meshtastic(
    [
        "rak4631_eu",
        "RAK4631, T-Beam, T-Echo (EU 868)",
        source!(
            "RAK WisBlock RAK4631, LILYGO T-Beam with SX1262 and T-Echo: SX1262 without amplifier, hardware pages of \
             Meshtastic; +22 dBm and noise figure 6 dB (-137 dBm at SF12 in 125 kHz): Semtech SX1262 data sheet",
            EU
        ),
    ],
    &EU,
    22.0,
    SX1262_NOISE_FIGURE_DB,
);

pub(super) const SX1262_US: RadioPreset = meshtastic(
    [
        "rak4631_us",
        "RAK4631, T-Beam, T-Echo (US 915)",
        source!(
            "RAK WisBlock RAK4631, LILYGO T-Beam with SX1262 and T-Echo: SX1262 without amplifier, hardware pages of \
             Meshtastic; +22 dBm and noise figure 6 dB (-137 dBm at SF12 in 125 kHz): Semtech SX1262 data sheet",
            US
        ),
    ],
    &US,
    22.0,
    SX1262_NOISE_FIGURE_DB,
);

pub(super) const HELTEC_V3_EU: RadioPreset = meshtastic(
    [
        "heltec_v3_eu",
        "Heltec WiFi LoRa 32 V3 (EU 868)",
        source!(
            "SX1262 with 21 +- 1 dBm as stated by Heltec for WiFi LoRa 32 (V3); one was measured with 19.7 dBm \
             (richonguzman/LoRa_APRS_iGate, issue 311); noise figure 6 dB: Semtech SX1262 data sheet",
            EU
        ),
    ],
    &EU,
    21.0,
    SX1262_NOISE_FIGURE_DB,
);

pub(super) const HELTEC_V3_US: RadioPreset = meshtastic(
    [
        "heltec_v3_us",
        "Heltec WiFi LoRa 32 V3 (US 915)",
        source!(
            "SX1262 with 21 +- 1 dBm as stated by Heltec for WiFi LoRa 32 (V3); one was measured with 19.7 dBm \
             (richonguzman/LoRa_APRS_iGate, issue 311); noise figure 6 dB: Semtech SX1262 data sheet",
            US
        ),
    ],
    &US,
    21.0,
    SX1262_NOISE_FIGURE_DB,
);

pub(super) const HELTEC_V4_US: RadioPreset = meshtastic(
    [
        "heltec_v4_us",
        "Heltec WiFi LoRa 32 V4 (US 915)",
        source!(
            "SX1262 with an amplifier, 28 +- 1 dBm: hardware page of Meshtastic for Heltec LoRa 32 V4; noise figure \
             6 dB of the SX1262 (Semtech data sheet)",
            US
        ),
    ],
    &US,
    28.0,
    SX1262_NOISE_FIGURE_DB,
);

pub(super) const HELTEC_V4_EU: RadioPreset = meshtastic(
    [
        "heltec_v4_eu",
        "Heltec WiFi LoRa 32 V4 (EU 868)",
        source!(
            "SX1262 with an amplifier, 28 +- 1 dBm, of which the region allows 27: hardware page of Meshtastic for \
             Heltec LoRa 32 V4; noise figure 6 dB of the SX1262 (Semtech data sheet)",
            EU
        ),
    ],
    &EU,
    28.0,
    SX1262_NOISE_FIGURE_DB,
);

pub(super) const STATION_G2_EU: RadioPreset = meshtastic(
    [
        "station_g2_eu",
        "Station G2 (EU 868)",
        source!(
            "SX1262 with an amplifier of 35 dBm (1 dB compression), of which the region allows 27; a low-noise \
             amplifier that adds about 4 dB of sensitivity, so noise figure 2 dB: B&Q Consulting in \
             meshtastic/firmware, issue 3279",
            EU
        ),
    ],
    &EU,
    35.0,
    SX1262_NOISE_FIGURE_DB - 4.0,
);

pub(super) const STATION_G2_US: RadioPreset = meshtastic(
    [
        "station_g2_us",
        "Station G2 (US 915)",
        source!(
            "SX1262 with an amplifier of 35 dBm (1 dB compression), of which the region allows 30; a low-noise \
             amplifier that adds about 4 dB of sensitivity, so noise figure 2 dB: B&Q Consulting in \
             meshtastic/firmware, issue 3279",
            US
        ),
    ],
    &US,
    35.0,
    SX1262_NOISE_FIGURE_DB - 4.0,
);

pub(super) const NANOSTATION_5AC: RadioPreset = airmax(
    [
        "nanostation_5ac",
        "Ubiquiti NanoStation 5AC, M5",
        "27 dBm, two chains, at 5.58 GHz in 40 MHz: radio table of AREDN (files/etc/radios.json) for NanoStation AC \
         and M5. Noise figure assumed",
    ],
    27.0,
    "nanostation_16",
);

pub(super) const NANOSTATION_LOCO: RadioPreset = airmax(
    [
        "nanostation_5ac_loco",
        "Ubiquiti NanoStation 5AC Loco",
        "25 dBm, two chains, at 5.58 GHz in 40 MHz: radio table of AREDN (files/etc/radios.json). Noise figure \
         assumed",
    ],
    25.0,
    "nanostation_loco_13",
);

pub(super) const LITEBEAM: RadioPreset = airmax(
    [
        "litebeam_5ac",
        "Ubiquiti LiteBeam 5AC Gen2",
        "25 dBm, two chains, at 5.58 GHz in 40 MHz: radio table of AREDN (files/etc/radios.json). Noise figure \
         assumed",
    ],
    25.0,
    "litebeam_23",
);

pub(super) const NANOSTATION_16: AntennaPreset = AntennaPreset {
    id: "nanostation_16",
    name: "NanoStation 5AC, M5 panel, 16 dBi",
    group: PresetGroup::Device,
    antenna: antenna_of(16.0, 43.0, 15.8, 20.0),
    source: "16 dBi, 43 deg: radio table of AREDN (files/etc/radios.json). Elevation from G = 27000 / (H x V). \
             Front-to-back 20 dB assumed",
};

pub(super) const NANOSTATION_LOCO_13: AntennaPreset = AntennaPreset {
    id: "nanostation_loco_13",
    name: "NanoStation Loco panel, 13 dBi",
    group: PresetGroup::Device,
    antenna: antenna_of(13.0, 45.0, 30.1, 20.0),
    source: "13 dBi, 45 deg: radio table of AREDN (files/etc/radios.json). Elevation from G = 27000 / (H x V). \
             Front-to-back 20 dB assumed",
};

pub(super) const LITEBEAM_23: AntennaPreset = AntennaPreset {
    id: "litebeam_23",
    name: "LiteBeam 5AC Gen2 dish, 23 dBi",
    group: PresetGroup::Device,
    antenna: antenna_of(23.0, 15.0, 9.0, 20.8),
    source: "23 dBi, 15 deg: radio table of AREDN (files/etc/radios.json). Elevation from G = 27000 / (H x V). \
             Front-to-back: ITU-R F.699 far side lobes, 10 - 10 log(D / lambda) dBi at 55 % efficiency",
};
