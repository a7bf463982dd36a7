//! Whole budgets against numbers worked by hand, and against the models they are made of.

use groundwave_propagation::itm;
use groundwave_propagation::profile::PathProfile;

use super::super::{
    Environment, LimitingFactor, Model, PropagationMode, Station, Verdict, Workspace, evaluate,
    evaluate_both,
};
use super::{flat, link, near, profile, ridge, station, under};

/// 5.8 GHz over 10 km of level ground, 0.7 m dishes at 60 m.
///
/// Free space 20 log(4 pi 10000 m / 0.051688 m) = 127.716 dB; the masts are 0 m apart in height
/// and the chord at 60 m is 0.09 m longer. Gases take about 0.009 dB/km in the
/// reference atmosphere. EIRP 22 + 30;
/// received 52 - 127.81 + 30 = -45.81 dBm. Noise -173.975 + 79.031 + 5 = -89.944 dBm.
#[test]
fn a_hand_worked_ten_kilometre_link() {
    let end = station("ptp_5g8", "dish_30", 60.0);
    let result = link(&flat(10_000.0), &end, &end, &under(Model::DeltaBullington));
    near(result.geometry.slant_range_m, 10_000.09, 0.01);
    near(result.losses.free_space_loss_db, 127.716, 0.001);
    near(result.losses.gas_oxygen_db + result.losses.gas_water_vapour_db, 0.09, 0.02);
    near(result.losses.diffraction_loss_db.unwrap(), 0.0, 1e-9);
    near(result.budget.eirp_dbm, 52.0, 1e-12);
    near(result.receiver.rx_power_dbm, -45.81, 0.02);
    near(result.receiver.noise_floor_dbm, -89.944, 0.001);
    near(result.receiver.sinr_db, 44.13, 0.02);
    near(result.margin.link_margin_db, 40.13, 0.02);
    near(result.margin.fade_margin_db.unwrap(), 15.13, 0.02);
    near(result.margin.sensitivity_dbm, -85.944, 0.001);
    // Two streams of 234 carriers, 8 bits at 5/6, every 4 us; three fifths reach the payload.
    near(result.rate.phy_rate_bps, 780e6, 1.0);
    near(result.rate.data_rate_bps, 468e6, 1.0);
    near(result.rate.spectral_efficiency, 9.75, 1e-9);
    near(result.clearance.min_clearance_m.unwrap(), 60.0 - 1.4715, 1e-3);
    near(result.geometry.tx_elevation_angle_deg, -0.0337, 1e-4);
    assert_eq!(result.verdict, Verdict::Excellent);
    assert_eq!(result.limiting_factor, Some(LimitingFactor::Distance));
    assert!(result.warnings.is_empty(), "{:?}", result.warnings.iter().collect::<Vec<_>>());
}

/// LoRa SF11 in 250 kHz: noise floor -173.975 + 53.979 + 6 = -113.995 dBm, sensitivity 17.5 dB
/// below.
#[test]
fn a_hand_worked_lora_link() {
    let end = station("lora_915_us", "omni_5", 10.0);
    let result = link(&flat(5_000.0), &end, &end, &under(Model::FreeSpace));
    near(result.losses.free_space_loss_db, 105.654, 0.002);
    near(result.margin.sensitivity_dbm, -131.495, 0.002);
    near(result.receiver.rx_power_dbm, 27.0 - 105.654 + 5.0, 0.05);
    near(result.rate.data_rate_bps, 1_074.2, 0.1);
    assert_eq!((result.model, result.itm), (Model::FreeSpace, None));
}

/// No frame of LoRa is longer than 255 octets, so that its loss is not that of 1,500.
#[test]
fn lora_is_rated_by_the_longest_frame_that_it_sends() {
    let [lora, wifi] = ["lora_868_eu", "wifi_5g_mesh"].map(|radio| station(radio, "omni_5", 10.0));
    let env = under(Model::FreeSpace);
    let rate = |end: &Station, octets| {
        let result = evaluate(&flat(5_000.0), [0.0; 2], end, end, &env, octets);
        result.unwrap().rate
    };
    assert_eq!(rate(&lora, 1_500).packet_octets, 255);
    assert_eq!(rate(&lora, 1_500).per, rate(&lora, 255).per);
    assert_eq!(rate(&lora, 24).packet_octets, 24);
    assert_eq!(rate(&wifi, 1_500).packet_octets, 1_500);
}

/// A narrowband radio works down to the sensitivity of its data sheet, whatever its noise figure.
#[test]
fn narrowband_sensitivity_is_the_data_sheets() {
    let mut end = station("vhf_handheld_5w", "omni_2_15", 2.0);
    for noise_figure_db in [3.0, 8.0, 12.0] {
        end.radio.noise_figure_db = noise_figure_db;
        let result = link(&flat(3_000.0), &end, &end, &under(Model::FreeSpace));
        near(result.margin.sensitivity_dbm, -116.0, 1e-9);
        near(result.margin.link_margin_db, result.receiver.rx_power_dbm + 116.0, 1e-9);
    }
}

#[test]
fn itm_terms_are_those_of_itm() {
    let tx = station("lora_915_us", "omni_5", 12.0);
    let rx = station("lora_915_us", "omni_2_15", 3.0);
    let heights: Vec<f64> = (0..150).map(|i| 300.0 + 90.0 * (f64::from(i) * 0.21).sin()).collect();
    let ground = profile(30_000.0, heights);
    for (time, situation) in [(50.0, 50.0), (90.0, 70.0), (10.0, 50.0)] {
        let env = Environment {
            time_percent: time,
            situation_percent: situation,
            ..Environment::default()
        };
        let result = link(&ground, &tx, &rx, &env);
        let medium = itm::Medium {
            n_0: 301.0,
            epsilon: 15.0,
            sigma_s_m: 0.005,
            climate: itm::Climate::ContinentalTemperate,
            frequency_mhz: 915.0,
            polarization: groundwave_propagation::polarization::Polarization::Vertical,
            mdvar: itm::Mdvar::from_code(3).unwrap(),
        };
        let path = PathProfile::bare(ground.step_m, &ground.elevation_msl_m);
        let quantile = itm::Quantile::new(time, 50.0, situation).unwrap();
        let expected = itm::point_to_point(&path, 12.0, 3.0, &medium, quantile).unwrap();
        let losses = &result.losses;
        let terrain = losses.reference_attenuation_db.unwrap() + losses.variability_db.unwrap();
        // The whole differs by ITM's rounded free-space constant and the slant only.
        near(losses.free_space_loss_db + terrain, expected.basic_transmission_loss_db, 0.01);
        near(result.itm.unwrap().terrain_irregularity_m, expected.reference.delta_h_m, 1e-9);
        assert_eq!(result.model, Model::Itm);
        assert_eq!(losses.diffraction_loss_db, None);
    }
}

#[test]
fn troposcatter_is_named_but_not_counted_twice() {
    let end = station("uhf_mobile_25w", "yagi_16", 10.0);
    let result = link(&flat(400_000.0), &end, &end, &Environment::default());
    assert_eq!(result.propagation_mode, PropagationMode::Troposcatter);
    assert_eq!(result.losses.troposcatter_loss_db, result.losses.reference_attenuation_db);
    near(result.losses.sum_db(), result.losses.total_path_loss_db, 0.0);
    assert!(result.losses.troposcatter_loss_db.unwrap() > 20.0);
}

#[test]
fn free_space_is_reciprocal_and_links_both_ways() {
    let (low, high) =
        (station("wifi_5g_mesh", "omni_5", 3.0), station("wifi_5g_mesh", "sector_17_90", 80.0));
    let ground = profile(4_000.0, (0..50).map(|i| f64::from(i) * 2.0).collect());
    let env = under(Model::FreeSpace);
    let mut workspace = Workspace::default();
    let (there, here) =
        evaluate_both(&ground, [0.0; 2], &low, &high, &env, 1_000, &mut workspace).unwrap();
    near(there.losses.total_path_loss_db, here.losses.total_path_loss_db, 1e-9);
    near(there.receiver.rx_power_dbm, here.receiver.rx_power_dbm, 1e-9);
    assert_eq!(here.geometry.azimuth_deg, 270.0);
    near(there.geometry.tx_elevation_angle_deg, here.geometry.rx_elevation_angle_deg, 1e-12);
    let etx = there.rate.etx.unwrap();
    let product = (1.0 - there.rate.per) * (1.0 - here.rate.per);
    near(etx, 1.0 / product, 1e-12);
    near(there.rate.ett_s.unwrap(), etx * 8_000.0 / there.rate.data_rate_bps, 1e-15);
    assert!(etx >= there.rate.etx_forward.unwrap() && there.rate.etx_forward.unwrap() >= 1.0);
}

#[test]
fn one_deaf_direction_leaves_no_etx() {
    let loud = station("wifi_2g4_mesh", "omni_9", 30.0);
    let mut quiet = loud.clone();
    quiet.radio.tx_power_dbm = -40.0;
    let mut workspace = Workspace::default();
    let env = under(Model::FreeSpace);
    let (there, here) =
        evaluate_both(&flat(5_000.0), [0.0; 2], &loud, &quiet, &env, 500, &mut workspace).unwrap();
    assert!(there.rate.etx_forward.is_some() && there.verdict > Verdict::NoLink);
    assert_eq!((here.verdict, here.rate.etx_forward), (Verdict::NoLink, None));
    assert_eq!((there.rate.etx, here.rate.etx, there.rate.ett_s), (None, None, None));
    assert_eq!((here.rate.modulation_id, here.margin.fade_margin_db), (None, None));
    near(here.rate.data_rate_bps, 0.0, 0.0);
}

/// 11 GHz, vertical, 64 mm/h: k 0.017307, alpha 1.16171 (P.838), 2.1701 dB/km. Over 20 km P.530
/// shortens by 1 / (0.477 * 6.661 * 1.4229 * 1.3431 - 10.579 * 0.38122) = 0.4904.
#[test]
fn rain_costs_specific_attenuation_over_the_effective_length() {
    let end = station("ptp_11g", "dish_32", 80.0);
    let dry = link(&flat(20_000.0), &end, &end, &under(Model::DeltaBullington));
    let wet_env = Environment { rain_rate_mm_h: 64.0, ..under(Model::DeltaBullington) };
    let wet = link(&flat(20_000.0), &end, &end, &wet_env);
    near(dry.losses.rain_loss_db, 0.0, 0.0);
    near(
        wet.losses.total_path_loss_db - dry.losses.total_path_loss_db,
        wet.losses.rain_loss_db,
        1e-9,
    );
    near(wet.losses.rain_loss_db, 2.1701 * 20.0 * 0.4904, 0.01);
    // On short paths the factor exceeds 1, but rain now falls on the path and no further.
    let short = link(&flat(500.0), &end, &end, &wet_env);
    near(short.losses.rain_loss_db, 2.1701 * 0.5, 1e-3);
    let long_wave = station("lora_868_eu", "omni_5", 80.0);
    near(link(&flat(20_000.0), &long_wave, &long_wave, &wet_env).losses.rain_loss_db, 0.0, 0.0);
}

#[test]
fn terrain_blocks_the_ray() {
    let end = station("wifi_2g4_mesh", "omni_5", 10.0);
    let open = link(&flat(8_000.0), &end, &end, &under(Model::DeltaBullington));
    let blocked = link(&ridge(8_000.0, 120.0), &end, &end, &under(Model::DeltaBullington));
    assert!(
        blocked.losses.diffraction_loss_db.unwrap()
            > open.losses.diffraction_loss_db.unwrap() + 15.0
    );
    assert_eq!(blocked.propagation_mode, PropagationMode::Diffraction);
    assert!(!blocked.clearance.line_of_sight);
    near(blocked.clearance.obstruction.unwrap().distance_m, 4_000.0, 1e-6);
}

/// Heights above the ellipsoid carry the geoid; a geoid that slopes lengthens the slant.
#[test]
fn the_geoid_moves_ellipsoidal_heights_only() {
    let end = station("wifi_5g_mesh", "omni_5", 10.0);
    let mut ground = profile(3_000.0, vec![100.0; 11]);
    ground.has_geoid = true;
    let env = under(Model::FreeSpace);
    let result = evaluate(&ground, [50.0, 47.5], &end, &end, &env, 100).unwrap();
    near(result.geometry.tx_ground_hae_m.unwrap(), 150.0, 1e-12);
    near(result.geometry.rx_ground_hae_m.unwrap(), 147.5, 1e-12);
    ground.has_geoid = false;
    let without = evaluate(&ground, [0.0; 2], &end, &end, &env, 100).unwrap();
    assert_eq!(without.geometry.tx_ground_hae_m, None);
    near(result.geometry.tx_antenna_msl_m, 110.0, 1e-12);
}
