//! Fallbacks outside a model's range, and the warnings that report them.

use super::super::{
    Clutter, ClutterCategory, Environment, Model, NoiseCategory, Verdict, Warning, Waveform,
    evaluate,
};
use super::{flat, link, near, profile, ridge, station, under};

const MODELS: [Model; 3] = [Model::Itm, Model::DeltaBullington, Model::FreeSpace];

#[test]
fn both_ends_at_one_place_are_one_metre_apart() {
    let end = station("wifi_2g4_mesh", "omni_5", 10.0);
    for model in MODELS {
        for samples in [2, 3, 64] {
            let result = link(&profile(0.0, vec![5.0; samples]), &end, &end, &under(model));
            // 20 log(4 pi / 0.12302 m).
            near(result.losses.total_path_loss_db, 40.184, 0.001);
            assert!(result.warnings.contains(Warning::DistanceTooShort));
            assert_eq!(result.verdict, Verdict::Excellent);
            assert!(!result.warnings.contains(Warning::ModelOutOfRange));
        }
        let mut higher = end.clone();
        higher.height_agl_m = 30.0;
        let above = link(&profile(0.0, vec![5.0; 9]), &end, &higher, &under(model));
        near(above.geometry.slant_range_m, 20.0, 1e-9);
        near(above.geometry.tx_elevation_angle_deg, 90.0, 1e-9);
        near(above.geometry.rx_elevation_angle_deg, -90.0, 1e-9);
    }
}

#[test]
fn path_below_a_kilometre_gives_delta_bullington() {
    let end = station("wifi_2g4_mesh", "omni_5", 10.0);
    let near_by = link(&flat(999.0), &end, &end, &Environment::default());
    assert_eq!(near_by.model, Model::DeltaBullington);
    assert!(near_by.warnings.contains(Warning::DistanceBelow1Km));
    let direct = link(&flat(999.0), &end, &end, &under(Model::DeltaBullington));
    assert_eq!(near_by.losses, direct.losses);
    assert!(direct.warnings.is_empty());
    assert_eq!(link(&flat(1_000.0), &end, &end, &Environment::default()).model, Model::Itm);
}

#[test]
fn station_outside_itm_gives_delta_bullington() {
    let mut end = station("ptp_11g", "dish_32", 30.0);
    for (frequency_mhz, height_agl_m, is_valid) in [
        (20.0, 30.0, true),
        (19.9, 30.0, false),
        (20_000.0, 30.0, true),
        (24_000.0, 30.0, false),
        (5_800.0, 0.4, false),
        (5_800.0, 0.0, false),
        (5_800.0, 3_001.0, false),
    ] {
        end.radio.frequency_mhz = frequency_mhz;
        end.height_agl_m = height_agl_m;
        let result = link(&flat(12_000.0), &end, &end, &Environment::default());
        assert_eq!(result.model == Model::Itm, is_valid, "{frequency_mhz} MHz, {height_agl_m} m");
        assert_eq!(result.warnings.contains(Warning::ModelOutOfRange), !is_valid);
        assert_eq!(result.model_version, result.model.get().version());
    }
}

#[test]
fn quantile_below_free_space_gives_free_space() {
    let end = station("lora_868_eu", "omni_5", 30.0);
    let lucky = Environment {
        time_percent: 1.0,
        location_percent: 1.0,
        situation_percent: 1.0,
        ..Environment::default()
    };
    let result = link(&flat(5_000.0), &end, &end, &lucky);
    assert!(result.warnings.contains(Warning::BelowFreeSpaceClamped));
    let losses = &result.losses;
    near(losses.reference_attenuation_db.unwrap() + losses.variability_db.unwrap(), 0.0, 1e-12);
    assert!(losses.total_path_loss_db >= losses.free_space_loss_db);
}

#[test]
fn gaps_in_the_terrain_are_disclosed() {
    let end = station("wifi_2g4_mesh", "omni_5", 10.0);
    let mut ground = flat(5_000.0);
    ground.terrain.missing_samples = 7;
    ground.terrain.void_samples = 2;
    ground.terrain.resolution_arcsec = Some(3.0);
    let result = link(&ground, &end, &end, &Environment::default());
    assert!(result.warnings.contains(Warning::TerrainMissing));
    assert!(result.warnings.contains(Warning::TerrainVoid));
    assert_eq!((result.terrain.missing_samples, result.terrain.void_samples), (7, 2));
    assert_eq!(result.terrain.resolution_arcsec, Some(3.0));
}

#[test]
fn ends_that_cannot_understand_each_other_have_no_link() {
    let wifi = station("wifi_5g_mesh", "omni_5", 10.0);
    let mut retuned = wifi.clone();
    retuned.radio.frequency_mhz += 11.0;
    let mut lora = wifi.clone();
    lora.radio.waveform = Waveform::Lora { spreading_factor: 7, coding_rate: 5 };
    for (other, warning) in
        [(&retuned, Warning::FrequencyMismatch), (&lora, Warning::WaveformMismatch)]
    {
        let result = link(&flat(100.0), &wifi, other, &Environment::default());
        assert!(result.warnings.contains(warning));
        assert_eq!((result.verdict, result.limiting_factor), (Verdict::NoLink, None));
        assert_eq!((result.rate.modulation_id, result.rate.etx_forward), (None, None));
        near(result.rate.per, 1.0, 0.0);
        near(result.rate.data_rate_bps, 0.0, 0.0);
    }
    // Within a quarter of the bandwidth they still do.
    retuned.radio.frequency_mhz = wifi.radio.frequency_mhz + 9.0;
    assert_eq!(
        link(&flat(100.0), &wifi, &retuned, &Environment::default()).verdict,
        Verdict::Excellent
    );
}

#[test]
fn ofdm_meets_at_the_narrower_width_and_the_fewer_streams() {
    let wide = station("ptp_5g8", "dish_30", 40.0);
    let mut narrow = wide.clone();
    narrow.radio.bandwidth_hz = 20e6;
    narrow.radio.waveform = Waveform::Ofdm { spatial_streams: 1, mac_efficiency_prob: 1.0 };
    let result = link(&flat(2_000.0), &wide, &narrow, &Environment::default());
    near(result.bandwidth_hz, 20e6, 0.0);
    near(result.rate.phy_rate_bps, 52.0 * 8.0 * 5.0 / 6.0 / 4e-6, 1.0);
    assert!(
        result.warnings.contains(Warning::BandwidthMismatch) && result.verdict > Verdict::NoLink
    );
    let mut lora = station("lora_868_eu", "omni_5", 40.0);
    let sender = lora.clone();
    lora.radio.bandwidth_hz = 250e3;
    let deaf = link(&flat(2_000.0), &sender, &lora, &Environment::default());
    assert!(deaf.warnings.contains(Warning::WaveformMismatch));
}

#[test]
fn man_made_noise_counts_where_it_is_strong() {
    let end = station("vhf_handheld_5w", "omni_2_15", 10.0);
    let city = Environment { man_made_noise: Some(NoiseCategory::City), ..under(Model::FreeSpace) };
    let quiet = link(&flat(5_000.0), &end, &end, &under(Model::FreeSpace));
    let noisy = link(&flat(5_000.0), &end, &end, &city);
    // 76.8 - 27.7 log 155 = 16.13 dB over kTB, with 8 dB of receiver: 16.67 dB.
    near(noisy.receiver.man_made_noise_db.unwrap(), 16.13, 0.01);
    near(noisy.receiver.noise_floor_dbm - quiet.receiver.noise_floor_dbm, 8.65, 0.03);
    near(noisy.margin.sensitivity_dbm - quiet.margin.sensitivity_dbm, 8.65, 0.03);
    assert!(!noisy.warnings.contains(Warning::NoiseExtrapolated));
    let uhf = station("uhf_mobile_25w", "omni_2_15", 10.0);
    assert!(link(&flat(5_000.0), &uhf, &uhf, &city).warnings.contains(Warning::NoiseExtrapolated));
}

#[test]
fn clutter_counts_at_the_ends_that_stand_in_it() {
    let statistical = Clutter::Statistical { below_height_m: 10.0, location_percent: 50.0 };
    let env = Environment { clutter: Some(statistical), ..under(Model::FreeSpace) };
    let low = station("wifi_2g4_mesh", "omni_5", 2.0);
    let high = station("wifi_2g4_mesh", "omni_5", 30.0);
    let ends = |tx, rx, distance_m| {
        let losses = link(&flat(distance_m), tx, rx, &env).losses;
        (losses.clutter_tx_db > 10.0, losses.clutter_rx_db > 10.0)
    };
    assert_eq!(ends(&low, &low, 5_000.0), (true, true));
    assert_eq!(ends(&low, &high, 5_000.0), (true, false));
    assert_eq!(ends(&high, &low, 5_000.0), (false, true));
    assert_eq!(ends(&high, &high, 5_000.0), (false, false));
    assert_eq!(ends(&low, &low, 260.0), (false, true));
    // Below 250 m in proportion to the distance, at one end.
    let too_near = link(&flat(125.0), &low, &low, &env);
    assert!(too_near.warnings.contains(Warning::ClutterOutOfRange));
    let begins = link(&flat(250.0), &low, &low, &env).losses;
    near(too_near.losses.clutter_rx_db, begins.clutter_rx_db / 2.0, 1e-9);
    assert_eq!((too_near.losses.clutter_tx_db, begins.clutter_tx_db), (0.0, 0.0));
}

/// Terrain is judged from the roofs (15 m), so a low antenna sees over what would block it, and
/// pays for the way down instead.
#[test]
fn height_gain_starts_at_the_roofs() {
    let clutter =
        Clutter::HeightGain { category: ClutterCategory::Urban, representative_height_m: None };
    let env = Environment { clutter: Some(clutter), ..under(Model::DeltaBullington) };
    let low = station("lora_868_eu", "omni_5", 2.0);
    let roof = station("lora_868_eu", "omni_5", 15.0);
    let ground = ridge(3_000.0, 12.0);
    let among = link(&ground, &low, &roof, &env);
    let above = link(&ground, &roof, &roof, &under(Model::DeltaBullington));
    assert!(among.losses.clutter_tx_db > 10.0 && among.losses.clutter_rx_db == 0.0);
    assert_eq!(among.losses.diffraction_loss_db, above.losses.diffraction_loss_db);
}

#[test]
fn nonsense_is_refused_by_name() {
    let good = station("wifi_2g4_mesh", "omni_5", 10.0);
    let refuse = |change: &dyn Fn(&mut super::Station)| {
        let mut bad = good.clone();
        change(&mut bad);
        let env = Environment::default();
        let here = evaluate(&flat(5e3), [0.0; 2], &good, &bad, &env, 1).unwrap_err();
        assert_eq!(evaluate(&flat(5e3), [0.0; 2], &bad, &good, &env, 1).unwrap_err().key, here.key);
        here.key
    };
    assert_eq!(refuse(&|s| s.height_agl_m = -1.0), "height_agl_m");
    assert_eq!(refuse(&|s| s.height_agl_m = f64::NAN), "height_agl_m");
    assert_eq!(refuse(&|s| s.radio.frequency_mhz = 0.0), "radio.frequency_mhz");
    assert_eq!(refuse(&|s| s.radio.bandwidth_hz = f64::INFINITY), "radio.bandwidth_hz");
    assert_eq!(refuse(&|s| s.radio.tx_power_dbm = f64::NAN), "radio.tx_power_dbm");
    assert_eq!(refuse(&|s| s.antenna.azimuth_beamwidth_deg = 0.0), "antenna.azimuth_beamwidth_deg");
    let bad_rate = Waveform::Lora { spreading_factor: 13, coding_rate: 5 };
    assert_eq!(refuse(&|s| s.radio.waveform = bad_rate.clone()), "radio.waveform.spreading_factor");
    let east = super::super::Pointing { azimuth_deg: 361.0, elevation_deg: 0.0 };
    assert_eq!(refuse(&|s| s.pointing = Some(east)), "pointing.azimuth_deg");
    let env = Environment { k_factor: 0.0, ..Environment::default() };
    let refused = evaluate(&flat(5e3), [0.0; 2], &good, &good, &env, 1).unwrap_err();
    assert_eq!(refused.to_string(), "invalid environment.k_factor: found 0, allowed [0.3, 10]");
    let empty = crate::terrain::Profile::default();
    let refused = evaluate(&empty, [0.0; 2], &good, &good, &Environment::default(), 1).unwrap_err();
    assert_eq!(refused.key, "profile.samples");
    let broken = profile(5e3, vec![f64::NAN, 0.0, 0.0]);
    let refused =
        evaluate(&broken, [0.0; 2], &good, &good, &Environment::default(), 1).unwrap_err();
    assert_eq!(refused.key, "profile.elevation_msl_m");
}
