use groundwave_propagation::polarization::Polarization;

use super::super::Model;
use super::*;
use crate::radio::Environment;

fn prepared(antenna_agl_m: [f64; 2], time_percent: f64) -> Result<Box<dyn PreparedModel>, Warning> {
    let environment = Environment { time_percent, ..Environment::default() };
    let values = environment.setting_values();
    let direction = Direction::new(300.0, Polarization::Horizontal, antenna_agl_m, values);
    Model::P528.get().prepare(&direction)
}

fn over(
    antenna_agl_m: [f64; 2],
    time_percent: f64,
    ground_msl_m: &[f64],
    step_m: f64,
) -> Attenuation {
    let profile = PathProfile::bare(step_m, ground_msl_m);
    prepared(antenna_agl_m, time_percent).unwrap().attenuation(&profile).unwrap()
}

/// Loss between isotropic antennas, dB.
fn loss_db(attenuation: &Attenuation, distance_km: f64, rise_m: f64) -> f64 {
    let slant_m = (distance_km * distance_km * 1e6 + rise_m * rise_m).sqrt();
    free_space_loss_db(slant_m, 300.0) + attenuation.total_db()
}

#[test]
fn loss_over_the_sea_is_that_of_the_published_table() {
    // 300 MHz, half of the time, 15 m and 10,000 m: in line of sight, at 500 km and in scatter.
    for (distance_km, expected_db) in [(200.0, 128.2), (500.0, 174.9), (1_000.0, 220.4)] {
        let attenuation = over([15.0, 10_000.0], 50.0, &[0.0; 1_001], distance_km);
        let loss_db = loss_db(&attenuation, distance_km, 9_985.0);
        assert!((loss_db - expected_db).abs() < 0.1, "{distance_km} km: {loss_db}");
        let reversed = over([10_000.0, 15.0], 50.0, &[0.0; 1_001], distance_km);
        assert!((reversed.total_db() - attenuation.total_db()).abs() < 1e-9);
        assert!(attenuation.warnings.is_empty(), "{attenuation:?}");
    }
}

#[test]
fn heights_are_those_above_the_mean_ground_of_the_path() {
    let sea = over([10.0, 120.0], 50.0, &[0.0; 401], 200.0);
    let plateau = over([10.0, 120.0], 50.0, &[800.0; 401], 200.0);
    assert!((sea.total_db() - plateau.total_db()).abs() < 1e-9, "{sea:?} {plateau:?}");
    assert_ne!(sea.mode, Some(PropagationMode::LineOfSight));
    // A mast on a coast of 800 m sees far.
    let mut coast = [0.0; 401];
    coast[0] = 800.0;
    let coast = over([10.0, 120.0], 50.0, &coast, 200.0);
    assert_eq!(coast.mode, Some(PropagationMode::LineOfSight));
    assert!(coast.total_db() < sea.total_db() - 10.0, "{coast:?} {sea:?}");
}

#[test]
fn terrain_above_the_horizon_gives_a_warning() {
    let mut ground_msl_m = [0.0; 401];
    for (distance_m, is_in_the_way) in [(200.0, true), (1_000.0, true)] {
        ground_msl_m[40] = 1_500.0;
        let ridge = over([10.0, 3_000.0], 50.0, &ground_msl_m, distance_m);
        assert_eq!(ridge.warnings.contains(Warning::P528TerrainObstructs), is_in_the_way);
        ground_msl_m[40] = 0.0;
        let flat = over([10.0, 3_000.0], 50.0, &ground_msl_m, distance_m);
        assert!(!flat.warnings.contains(Warning::P528TerrainObstructs), "{flat:?}");
    }
    // A hill below the ray hides nothing.
    ground_msl_m[200] = 300.0;
    let below = over([500.0, 3_000.0], 50.0, &ground_msl_m, 200.0);
    assert!(!below.warnings.contains(Warning::P528TerrainObstructs), "{below:?}");
}

#[test]
fn shares_of_time_give_the_deviation_of_the_prediction() {
    let [tenth, half, ninety] =
        [10.0, 50.0, 90.0].map(|percent| over([15.0, 10_000.0], percent, &[0.0; 1_001], 500.0));
    assert!(tenth.total_db() < half.total_db() && half.total_db() < ninety.total_db());
    assert_eq!(tenth.median_total_db(), half.total_db());
    let expected_db = (ninety.total_db() - tenth.total_db()) / (2.0 * 1.281_551_565_544_6);
    assert!((half.sigma_db - expected_db).abs() < 1e-6, "{half:?}");
    assert!(half.sigma_db > 3.0);
}

#[test]
fn inputs_out_of_range_are_refused() {
    for (heights_m, percent) in
        [([1.0, 500.0], 50.0), ([10.0, 20_001.0], 50.0), ([10.0, 500.0], 0.5)]
    {
        let refusal = prepared(heights_m, percent).err();
        assert_eq!(refusal, Some(Warning::ModelOutOfRange), "{heights_m:?} {percent}");
    }
}
