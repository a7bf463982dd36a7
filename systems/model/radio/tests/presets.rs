//! The catalogues are complete, valid, and agree with the formulas they cite.

use std::collections::BTreeSet;

use super::super::antenna::is_omnidirectional;
use super::super::presets::{
    ANTENNAS, PresetGroup, RADIOS, ROLES, Role, antenna, antenna_of_device, radio,
};
use super::super::station::Radio;
use super::near;

#[test]
fn catalogues_have_each_preset_once_and_valid() {
    let radios = [
        "vhf_handheld_5w",
        "uhf_mobile_25w",
        "lora_868_eu",
        "lora_915_us",
        "wifi_2g4_mesh",
        "wifi_5g_mesh",
        "ptp_5g8",
        "ptp_11g",
        "rak4631_eu",
        "rak4631_us",
        "heltec_v3_eu",
        "heltec_v3_us",
        "heltec_v4_eu",
        "heltec_v4_us",
        "station_g2_eu",
        "station_g2_us",
        "nanostation_5ac",
        "nanostation_5ac_loco",
        "litebeam_5ac",
    ];
    assert_eq!(RADIOS.each_ref().map(|preset| preset.id), radios);
    let antennas = [
        "omni_2_15",
        "omni_5",
        "omni_9",
        "yagi_12",
        "yagi_16",
        "sector_17_90",
        "dish_24",
        "dish_30",
        "dish_32",
        "nanostation_16",
        "nanostation_loco_13",
        "litebeam_23",
    ];
    assert_eq!(ANTENNAS.each_ref().map(|preset| preset.id), antennas);
    for preset in &RADIOS {
        assert_eq!(preset.radio.validate(), Ok(()), "{}", preset.id);
        assert!(!preset.source.is_empty() && !preset.name.is_empty());
        assert_eq!(radio(preset.id), Some(preset));
    }
    for preset in &ANTENNAS {
        assert_eq!(preset.antenna.validate(), Ok(()), "{}", preset.id);
        assert!(!preset.source.is_empty() && !preset.name.is_empty());
        assert_eq!(antenna(preset.id), Some(preset));
    }
    assert_eq!(radio("cb_radio"), None);
    let roles = [Role::Command, Role::Relay, Role::Team, Role::Sensor, Role::Asset];
    assert_eq!(ROLES.map(|preset| preset.id), roles);
    let colors: BTreeSet<_> = ROLES.iter().map(|preset| preset.color).collect();
    assert_eq!(colors.len(), 5);
    for color in colors {
        assert!(color.len() == 7 && u32::from_str_radix(&color[1..], 16).is_ok(), "{color}");
    }
}

#[test]
fn directive_lobes_follow_from_the_gain() {
    for preset in ANTENNAS.iter().filter(|preset| !is_omnidirectional(&preset.antenna)) {
        let lobe = &preset.antenna;
        let product = lobe.azimuth_beamwidth_deg * lobe.elevation_beamwidth_deg;
        near(10.0 * (27_000.0 / product).log10(), lobe.gain_dbi, 0.1);
    }
}

#[test]
fn omni_lobes_follow_from_the_gain() {
    for id in ["omni_5", "omni_9"] {
        let lobe = &antenna(id).unwrap().antenna;
        let width = lobe.elevation_beamwidth_deg;
        let directivity = 101.5 / (width - 0.0027 * width * width);
        near(10.0 * directivity.log10(), lobe.gain_dbi, 0.05);
    }
}

/// The field of a half-wave dipole is `cos(pi/2 cos t) / sin t`, `t` from its axis.
#[test]
fn the_dipole_is_a_dipole() {
    let power = |t: f64| ((std::f64::consts::FRAC_PI_2 * t.cos()).cos() / t.sin()).powi(2);
    let steps = 20_000;
    let width = std::f64::consts::PI / f64::from(steps);
    let mean: f64 = (0..steps)
        .map(|i| (f64::from(i) + 0.5) * width)
        .map(|t| power(t) * t.sin() * width / 2.0)
        .sum();
    let dipole = &antenna("omni_2_15").unwrap().antenna;
    near(-10.0 * mean.log10(), dipole.gain_dbi, 0.005);
    let edge = (90.0 - dipole.elevation_beamwidth_deg / 2.0).to_radians();
    near(10.0 * power(edge).log10(), -3.01, 0.03);
}

#[test]
fn dishes_have_the_size_they_state() {
    let wavelength_m = 0.299_792_458 / 5.8;
    for (id, diameter_m) in [("dish_30", 0.70), ("dish_32", 0.88)] {
        let dish = &antenna(id).unwrap().antenna;
        let across = diameter_m / wavelength_m;
        near(10.0 * (0.55 * (std::f64::consts::PI * across).powi(2)).log10(), dish.gain_dbi, 0.1);
        near(70.0 / across, dish.azimuth_beamwidth_deg, 0.06);
        near(dish.gain_dbi - 10.0 + 10.0 * across.log10(), dish.front_to_back_db, 0.5);
    }
}

#[test]
fn devices_send_what_they_can_and_their_region_allows() {
    for preset in RADIOS.iter().filter(|preset| preset.group == PresetGroup::Device) {
        let Radio { frequency_mhz, tx_power_dbm, .. } = preset.radio;
        let limit_dbm = match frequency_mhz {
            869.4..=869.65 => 27.0,
            902.0..=928.0 => 30.0,
            _ => 24.0,
        };
        assert!(tx_power_dbm <= limit_dbm, "{}: {tx_power_dbm} dBm", preset.id);
        let antenna = preset.antenna_id.map(|id| antenna(id).expect("a preset"));
        assert_eq!(antenna.is_some(), frequency_mhz > 5_000.0, "{}", preset.id);
        assert!(antenna.is_none_or(|antenna| antenna.group == PresetGroup::Device));
        assert_eq!(antenna_of_device(preset.id), antenna);
    }
    // -137 dBm at SF12 in 125 kHz, of which 20 dB are below the noise.
    let noise_dbm = -174.0 + 10.0 * 125e3_f64.log10();
    near(-137.0 + 20.0 - noise_dbm, radio("rak4631_eu").unwrap().radio.noise_figure_db, 0.1);
    near(radio("station_g2_us").unwrap().radio.tx_power_dbm, 30.0, 1e-9);
    near(radio("heltec_v4_us").unwrap().radio.tx_power_dbm, 28.0, 1e-9);
    assert!(RADIOS.iter().filter(|preset| preset.group == PresetGroup::Generic).count() == 8);
}

#[test]
fn powers_and_sensitivities_are_the_stated_ones() {
    let dbm = |watts: f64| 10.0 * (watts * 1e3).log10();
    for (id, watts) in [
        ("vhf_handheld_5w", 5.0),
        ("uhf_mobile_25w", 25.0),
        ("lora_868_eu", 0.025),
        ("wifi_2g4_mesh", 0.1),
        ("wifi_5g_mesh", 0.25),
    ] {
        near(radio(id).unwrap().radio.tx_power_dbm, dbm(watts), 0.03);
    }
    near(dbm(0.35e-6_f64.powi(2) / 50.0), -116.0, 0.2);
}
