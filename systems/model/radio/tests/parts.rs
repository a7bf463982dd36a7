//! Antenna patterns and Fresnel clearance.

use groundwave_propagation::bullington::{DiffractionPath, Profile, bullington};
use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::spherical_earth::Ground;

use super::super::antenna::{gain_toward_dbi, pointing_loss_db};
use super::super::fresnel::{CLEAR_RATIO, EARTH_RADIUS_M, clearance, first_radius_m, is_clear};
use super::super::{Antenna, Pointing};
use super::{Random, near};

fn lobe(azimuth_beamwidth_deg: f64, elevation_beamwidth_deg: f64) -> Antenna {
    Antenna {
        gain_dbi: 16.0,
        azimuth_beamwidth_deg,
        elevation_beamwidth_deg,
        front_to_back_db: 25.0,
        polarization: Polarization::Vertical,
        electrical_tilt_deg: 0.0,
        pattern: None,
    }
}

fn aim(azimuth_deg: f64, elevation_deg: f64) -> Option<Pointing> {
    Some(Pointing { azimuth_deg, elevation_deg })
}

#[test]
fn a_directive_lobe_loses_three_decibels_at_its_edge_and_never_more_than_its_floor() {
    let yagi = lobe(30.0, 20.0);
    near(pointing_loss_db(&yagi, aim(100.0, 5.0), 100.0, 5.0), 0.0, 1e-12);
    near(pointing_loss_db(&yagi, aim(100.0, 0.0), 115.0, 0.0), 3.0, 1e-12);
    near(pointing_loss_db(&yagi, aim(100.0, 0.0), 100.0, -10.0), 3.0, 1e-12);
    near(pointing_loss_db(&yagi, aim(100.0, 0.0), 115.0, 10.0), 6.0, 1e-12);
    near(pointing_loss_db(&yagi, aim(100.0, 0.0), 280.0, 0.0), 25.0, 1e-12);
    near(pointing_loss_db(&yagi, None, 280.0, 40.0), 0.0, 1e-12);
    near(gain_toward_dbi(&yagi, aim(100.0, 0.0), 115.0, 0.0), 13.0, 1e-12);
}

#[test]
fn angles_off_a_steep_boresight_are_those_on_the_sphere() {
    let dish = Antenna { front_to_back_db: 60.0, ..lobe(5.0, 5.0) };
    // So far to the right of a boresight at 80 deg, on the great circle across it.
    let (off, up) = (3.5_f64.to_radians(), 80.0_f64.to_radians());
    let azimuth_deg = off.sin().atan2(off.cos() * up.cos()).to_degrees();
    let elevation_deg = (off.cos() * up.sin()).asin().to_degrees();
    assert!(azimuth_deg > 19.0, "{azimuth_deg}");
    let loss_db = pointing_loss_db(&dish, aim(40.0, 80.0), 40.0 + azimuth_deg, elevation_deg);
    near(loss_db, 12.0 * (3.5_f64 / 5.0).powi(2), 1e-9);
    // Beyond the zenith, on the other side.
    near(pointing_loss_db(&dish, aim(40.0, 88.0), 220.0, 89.0), 12.0 * 0.36, 1e-9);
}

#[test]
fn mechanical_and_electrical_tilt_add_ahead_and_oppose_behind() {
    let panel = Antenna { electrical_tilt_deg: 2.0, ..lobe(360.0, 10.0) };
    near(pointing_loss_db(&panel, aim(90.0, -3.0), 90.0, -5.0), 0.0, 1e-9);
    near(pointing_loss_db(&panel, aim(90.0, -3.0), 270.0, 1.0), 0.0, 1e-9);
}

#[test]
fn azimuth_wraps_through_north() {
    let yagi = lobe(30.0, 20.0);
    let loss = pointing_loss_db(&yagi, aim(359.0, 0.0), 1.0, 0.0);
    near(loss, 12.0 * (2.0_f64 / 30.0).powi(2), 1e-12);
    near(pointing_loss_db(&yagi, aim(1.0, 0.0), 359.0, 0.0), loss, 1e-12);
}

#[test]
fn an_omni_stands_upright_and_looks_at_the_horizon() {
    let omni = lobe(360.0, 13.0);
    near(pointing_loss_db(&omni, None, 77.0, 0.0), 0.0, 1e-12);
    near(pointing_loss_db(&omni, None, 77.0, -6.5), 3.0, 1e-12);
    near(pointing_loss_db(&omni, None, 77.0, 60.0), 25.0, 1e-12);
    // Tilted electrically, all round.
    let tilted = Antenna { electrical_tilt_deg: 6.5, ..omni.clone() };
    near(pointing_loss_db(&tilted, None, 77.0, -6.5), 0.0, 1e-12);
    // Tilted on its mast towards the north: it looks up to the south.
    near(pointing_loss_db(&omni, aim(0.0, -6.5), 0.0, -6.5), 0.0, 1e-9);
    near(pointing_loss_db(&omni, aim(0.0, -6.5), 180.0, -6.5), 12.0, 1e-9);
    near(pointing_loss_db(&omni, aim(0.0, -6.5), 90.0, 0.0), 0.0, 1e-9);
    near(pointing_loss_db(&lobe(360.0, 360.0), None, 10.0, 90.0), 0.0, 1e-12);
}

#[test]
fn the_first_fresnel_radius_is_the_textbook_one() {
    // 5.8 GHz, 10 km, half-way: sqrt(0.051688 * 5000 * 5000 / 10000).
    near(first_radius_m(0.051_688, 5_000.0, 5_000.0), 11.367_498, 1e-6);
    near(first_radius_m(1.0, 0.0, 0.0), 0.0, 1e-12);
}

#[test]
fn clearance_of_one_ridge_by_hand() {
    let mut heights = [0.0; 101];
    heights[50] = 40.0;
    let result = clearance(&heights, 100.0, [50.0, 50.0], 0.051_688, 4.0 / 3.0);
    // Bulge 5000^2 / (2 * 4/3 * 6371000) = 1.4715 m half-way.
    near(result.max_earth_bulge_m, 1.471_512, 1e-5);
    near(result.min_clearance_m.unwrap(), 8.528_488, 1e-5);
    near(result.fresnel_clearance_ratio.unwrap(), 8.528_488 / 11.367_498, 1e-5);
    assert!(result.line_of_sight && result.obstruction.is_none());
    let blocked = clearance(&heights, 100.0, [10.0, 10.0], 0.051_688, 4.0 / 3.0);
    let edge = blocked.obstruction.unwrap();
    assert!(!blocked.line_of_sight);
    near(edge.distance_m, 5_000.0, 1e-9);
    near(edge.height_msl_m, 40.0, 1e-12);
    near(edge.nu, 31.471_512 / 11.367_498 * std::f64::consts::SQRT_2, 1e-4);
}

#[test]
fn paths_without_interior_have_no_clearance() {
    for heights in [&[3.0][..], &[3.0, 9.0], &[]] {
        let result = clearance(heights, 100.0, [1.0, 1.0], 0.1, 1.0);
        assert!(result.line_of_sight && result.min_clearance_m.is_none());
    }
    assert!(clearance(&[1.0, 1.0, 1.0], 0.0, [5.0, 5.0], 0.1, 1.0).min_clearance_m.is_none());
}

#[test]
fn a_path_is_clear_as_its_clearance_has_it() {
    let mut random = Random(5);
    let mut clear = 0;
    for count in (0..2_000).map(|round| round % 70) {
        let heights: Vec<f64> = (0..count)
            .map(|at| if at % 23 == 22 { f64::NAN } else { random.between(0.0, 150.0) })
            .collect();
        let antennas = [random.between(60.0, 300.0), random.between(60.0, 300.0)];
        let (step_m, wavelength_m) = (random.between(0.0, 300.0), random.between(0.03, 3.0));
        let whole = clearance(&heights, step_m, antennas, wavelength_m, 4.0 / 3.0);
        let is_on_limit =
            whole.fresnel_clearance_ratio.is_some_and(|ratio| (ratio - CLEAR_RATIO).abs() < 1e-9);
        if !is_on_limit {
            let alone = is_clear(&heights, step_m, antennas, wavelength_m, 4.0 / 3.0);
            assert_eq!(alone, whole.is_clear(), "{whole:?}");
        }
        clear += usize::from(whole.is_clear());
    }
    assert!((400..1_600).contains(&clear), "{clear} of 2000 are clear");
}

/// The squared comparison here and the Bullington construction find the same edge.
#[test]
fn the_obstruction_is_bullingtons_worst_point_and_reverses() {
    let mut random = Random(3);
    let mut obstructed = 0;
    for _ in 0..500 {
        let heights: Vec<f64> = (0..60).map(|_| random.between(0.0, 150.0)).collect();
        let (step_m, agl) = (random.between(20.0, 900.0), random.between(1.0, 120.0));
        let (frequency_mhz, k_factor) = (random.between(100.0, 9e3), random.between(0.7, 2.0));
        let wavelength_m = 299.792_458 / frequency_mhz;
        let antennas = [heights[0] + agl, heights[59] + agl];
        let result = clearance(&heights, step_m, antennas, wavelength_m, k_factor);
        let path = DiffractionPath {
            frequency_mhz,
            effective_earth_radius_m: k_factor * EARTH_RADIUS_M,
            tx_agl_m: agl,
            rx_agl_m: agl,
            polarization: Polarization::Vertical,
            ground: Ground::LAND,
            sea_share: 0.0,
        };
        let edge = bullington(&Profile::equally_spaced(step_m, &heights).unwrap(), &path).unwrap();
        let worst = edge.worst_point.unwrap();
        let ratio = result.fresnel_clearance_ratio.unwrap();
        near(-std::f64::consts::SQRT_2 * ratio, worst.nu, 1e-6 * (1.0 + worst.nu.abs()));
        if let Some(obstruction) = result.obstruction {
            obstructed += 1;
            near(obstruction.distance_m, worst.distance_m, 1e-6);
            let back: Vec<f64> = heights.iter().rev().copied().collect();
            let swapped = [antennas[1], antennas[0]];
            let mirrored = clearance(&back, step_m, swapped, wavelength_m, k_factor);
            let expected = result.reversed(step_m * 59.0);
            near(
                mirrored.obstruction.unwrap().distance_m,
                expected.obstruction.unwrap().distance_m,
                1e-6,
            );
            near(mirrored.min_clearance_m.unwrap(), expected.min_clearance_m.unwrap(), 1e-6);
        }
    }
    assert!(obstructed > 300, "only {obstructed} of 500 were obstructed");
}

#[test]
fn noise_above_the_range_of_its_curve_is_left_out_and_named() {
    let environment = crate::radio::Environment {
        man_made_noise: Some(crate::radio::NoiseCategory::City),
        ..crate::radio::Environment::default()
    };
    let is_left_out = |frequency_mhz: f64| {
        let assumptions = environment.assumptions(Some((frequency_mhz, 1_000.0)));
        assumptions.left_out.contains(&crate::radio::Effect::ManMadeNoise)
    };
    assert!(is_left_out(868.0) && !is_left_out(150.0));
}
