//! Invariants of links, over thousands of random ones.

use groundwave_propagation::polarization::Polarization;

use super::super::presets::{ANTENNAS, RADIOS};
use super::super::{
    Basis, Clutter, ClutterCategory, Environment, Indoor, LinkResult, Model, Multipath,
    NoiseCategory, Pointing, Station, Surroundings, Vegetation, Verdict, Workspace, evaluate,
    evaluate_both,
};
use super::{Random, near, profile};

fn random_station(random: &mut Random, radio: usize) -> Station {
    let mut antenna = ANTENNAS[random.index(ANTENNAS.len())].antenna.clone();
    if random.once_in(6) {
        antenna.polarization = Polarization::Horizontal;
    }
    let mut radio = RADIOS[radio].radio.clone();
    radio.feeder_loss_db = random.between(0.0, 4.0);
    let pointing = random.once_in(2).then(|| Pointing {
        azimuth_deg: random.between(0.0, 360.0),
        elevation_deg: random.between(-90.0, 90.0),
    });
    let height_agl_m = if random.once_in(20) { 0.0 } else { random.between(0.1, 90.0) };
    let (surroundings, _) = Surroundings::ALL[random.index(Surroundings::ALL.len())];
    let (indoor, _) = Indoor::ALL[random.index(Indoor::ALL.len())];
    let woodland_depth_m = if random.once_in(6) { random.between(1.0, 400.0) } else { 0.0 };
    Station { height_agl_m, radio, antenna, pointing, surroundings, indoor, woodland_depth_m }
}

fn random_environment(random: &mut Random) -> Environment {
    let model = [Model::Itm, Model::Itm, Model::DeltaBullington, Model::FreeSpace][random.index(4)];
    let clutter = [
        None,
        Some(Clutter::Statistical {
            below_height_m: 10.0,
            location_percent: random.between(1.0, 99.0),
        }),
        Some(Clutter::HeightGain {
            category: ClutterCategory::Urban,
            representative_height_m: None,
        }),
    ][random.index(3)];
    Environment {
        model,
        clutter,
        time_percent: random.between(1.0, 99.0),
        situation_percent: random.between(1.0, 99.0),
        k_factor: random.between(0.5, 2.0),
        rain_rate_mm_h: if random.once_in(2) { random.between(0.0, 120.0) } else { 0.0 },
        rain_rate_001_mm_h: random.once_in(2).then_some(42.0),
        multipath: random.once_in(2).then_some(Multipath {
            gradient_1_percent_n_units_km: -300.0,
            terrain_roughness_m: 80.0,
        }),
        man_made_noise: random.once_in(3).then_some(NoiseCategory::Residential),
        vegetation: random.once_in(5).then_some(Vegetation {
            depth_m: 80.0,
            specific_attenuation_db_m: 0.2,
            maximum_attenuation_db: 25.0,
        }),
        other_loss_db: random.between(0.0, 5.0),
        interference_dbm: random.once_in(4).then_some(-100.0),
        required_margin_db: random.between(0.0, 10.0),
        ..Environment::default()
    }
}

/// A random walk over 0.1 m to 300 km.
fn random_profile(random: &mut Random) -> crate::terrain::Profile {
    let samples = 2 + random.index(120);
    let roughness_m = random.between(0.0, 40.0);
    let mut height_m = random.between(0.0, 1_500.0);
    let heights = (0..samples)
        .map(|_| {
            height_m += random.between(-roughness_m, roughness_m);
            height_m
        })
        .collect();
    profile(10f64.powf(random.between(-1.0, 5.5)), heights)
}

fn check(result: &LinkResult) {
    let (losses, budget) = (&result.losses, &result.budget);
    let received = budget.eirp_dbm - losses.total_path_loss_db + budget.rx_gain_dbi
        - (budget.rx_pointing_loss_db + budget.rx_feeder_loss_db + budget.polarization_loss_db);
    near(result.receiver.rx_power_dbm, received, 1e-9);
    near(result.closed_rx_power_dbm(), received, 1e-9);
    near(losses.total_path_loss_db, losses.sum_db(), 1e-9);
    near(losses.total_path_loss_db - losses.free_space_loss_db, losses.excess_loss_db, 1e-9);
    assert!(losses.total_path_loss_db >= losses.free_space_loss_db - 1e-9);
    let eirp = budget.tx_power_dbm - budget.tx_feeder_loss_db + budget.tx_gain_dbi;
    near(budget.eirp_dbm, eirp - budget.tx_pointing_loss_db, 1e-9);
    assert_eq!(result.model_version, result.model.get().version());
    assert!((0.0..=1.0).contains(&result.rate.per));
    for loss in [budget.tx_pointing_loss_db, budget.rx_pointing_loss_db] {
        assert!((0.0..=34.0).contains(&loss));
    }
    let carried = result.rate.data_rate_bps > 0.0;
    assert_eq!(carried, result.rate.modulation_id.is_some());
    assert_eq!(carried, result.closes());
    let prediction = &result.prediction;
    assert_eq!(result.verdict, Verdict::of(prediction.link_prob));
    assert!((0.0..=1.0).contains(&prediction.link_prob));
    if result.limiting_factor.is_none() {
        assert_eq!(result.verdict, Verdict::NoLink);
    }
    let [low_dbm, high_dbm] = prediction.rx_power_interval_dbm;
    near((low_dbm + high_dbm) / 2.0, prediction.rx_power_dbm, 1e-9);
    // Power and loss are one distribution, and 13.9 dB either way is the least without a calibration.
    let constant_dbm = received + losses.total_path_loss_db;
    near(prediction.rx_power_dbm + prediction.path_loss_db, constant_dbm, 1e-9);
    if prediction.basis != Basis::Calibrated {
        assert!(high_dbm - low_dbm > 27.9);
    }
    let outages = &result.availability;
    for percent in
        [outages.rain_outage_percent, outages.multipath_outage_percent].into_iter().flatten()
    {
        assert!((0.0..=100.0).contains(&percent));
    }
}

#[test]
fn every_random_link_closes_its_budget() {
    let mut random = Random(20_260_101);
    let (mut links, mut models) = (0, [0; 3]);
    for _ in 0..5_000 {
        let radio = random.index(RADIOS.len());
        let other = if random.once_in(10) { random.index(RADIOS.len()) } else { radio };
        let (tx, rx) = (random_station(&mut random, radio), random_station(&mut random, other));
        let env = random_environment(&mut random);
        let ground = random_profile(&mut random);
        let result = evaluate(&ground, [48.0, 47.0], &tx, &rx, &env, 1_024).unwrap();
        check(&result);
        links += usize::from(result.closes());
        models[result.model as usize] += 1;
        // Every number is finite: JSON has no word for the others and would say null.
        let json = serde_json::to_string(&result).unwrap();
        assert!(!json.contains("null"), "{json}");
    }
    assert!((500..4_500).contains(&links), "{links} of 5000 link");
    assert!(models.iter().all(|&count| count > 500), "{models:?}");
}

/// The shared evaluation of both directions is two single ones.
#[test]
fn both_directions_are_each_direction() {
    let mut random = Random(7);
    let mut workspace = Workspace::default();
    for _ in 0..500 {
        let radio = random.index(RADIOS.len());
        let (a, b) = (random_station(&mut random, radio), random_station(&mut random, radio));
        let env = random_environment(&mut random);
        let ground = random_profile(&mut random);
        let (there, here) =
            evaluate_both(&ground, [10.0, 20.0], &a, &b, &env, 256, &mut workspace).unwrap();
        // The air is known now; air that is not allowed is refused nevertheless.
        let dry = Environment { water_vapour_g_m3: -1.0, ..env.clone() };
        evaluate_both(&ground, [10.0, 20.0], &a, &b, &dry, 256, &mut workspace).unwrap_err();
        for _ in 0..2 {
            let again =
                evaluate_both(&ground, [10.0, 20.0], &a, &b, &env, 256, &mut workspace).unwrap();
            assert_eq!(again, (there.clone(), here.clone()));
        }
        let single = evaluate(&ground, [10.0, 20.0], &a, &b, &env, 256).unwrap();
        let mut back = ground.clone();
        back.elevation_msl_m.reverse();
        (back.azimuth_deg, back.back_azimuth_deg) = (ground.back_azimuth_deg, ground.azimuth_deg);
        let reversed = evaluate(&back, [20.0, 10.0], &b, &a, &env, 256).unwrap();
        for (shared, alone) in [(&there, &single), (&here, &reversed)] {
            check(shared);
            assert_eq!(shared.losses, alone.losses);
            assert_eq!(shared.receiver, alone.receiver);
            assert_eq!((shared.verdict, shared.warnings), (alone.verdict, alone.warnings));
            assert_eq!(shared.clearance.line_of_sight, alone.clearance.line_of_sight);
            let ratios =
                [shared, alone].map(|r| r.clearance.fresnel_clearance_ratio.unwrap_or(0.0));
            near(ratios[0], ratios[1], 1e-6 * (1.0 + ratios[0].abs()));
        }
        assert_eq!(there.rate.etx, here.rate.etx);
        assert_eq!(
            there.rate.etx.is_some(),
            there.rate.etx_forward.is_some() && here.rate.etx_forward.is_some()
        );
    }
}
