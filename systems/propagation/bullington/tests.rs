use super::super::vectors::{fixture, rows};
use super::*;

const RADIUS_M: f64 = 8.5e6;

fn path(frequency_mhz: f64, tx_agl_m: f64, rx_agl_m: f64) -> DiffractionPath {
    DiffractionPath {
        frequency_mhz,
        effective_earth_radius_m: RADIUS_M,
        tx_agl_m,
        rx_agl_m,
        polarization: Polarization::Horizontal,
        ground: Ground::LAND,
        sea_share: 0.0,
    }
}

/// The validation profiles: `path,step_m,length_m,elevations..`, elevations every step and one
/// at the end, the last interval being shorter.
fn validation_profiles() -> Vec<(Vec<f64>, Vec<f64>)> {
    rows(fixture!("p526_profiles.csv"))
        .into_iter()
        .map(|row| {
            let elevations = row[3..].to_vec();
            let mut distances = Vec::with_capacity(elevations.len());
            distances.extend((1..elevations.len()).map(|i| (i - 1) as f64 * row[1]));
            distances.push(row[2]);
            (distances, elevations)
        })
        .collect()
}

/// The 20 cases of the Study Group 3 workbook "Validation examples for the delta Bullington
/// diffraction prediction method", with its tolerance of 0.1 dB and a tenth of it demanded. The
/// workbook takes c = 3e8 m/s.
#[test]
fn matches_the_study_group_examples_with_intermediates() {
    let profiles = validation_profiles();
    let cases = rows(fixture!("p526_expected.csv"));
    assert_eq!((profiles.len(), cases.len()), (4, 20));
    for case in cases {
        let (distances, elevations) = &profiles[case[0] as usize - 1];
        let profile = Profile::new(distances, elevations).unwrap();
        let path = path(case[3], case[1], case[2]);
        assert!((path.effective_earth_radius_m - case[4] * 1e3).abs() < 1e-9);
        let got = delta_bullington(&profile, &path).unwrap();
        for (name, got, want, tolerance) in [
            ("h'ts", got.tx_effective_m, case[5], 1e-3),
            ("h'rs", got.rx_effective_m, case[6], 1e-3),
            ("L_ba", got.actual.loss_db, case[7], 0.01),
            ("L_bs", got.bullington_smooth_db, case[8], 0.01),
            ("L_sph", got.spherical_earth_db, case[9], 0.01),
            ("L", got.loss_db, case[10], 0.01),
        ] {
            let error = (got - want).abs();
            assert!(error < tolerance, "{case:?} {name}: {got} {want}");
        }
    }
}

/// ITU-R P.1812 uses the same method; profile `rburg` without clutter, all land, from the
/// validation runs of its reference implementation. Expected columns: f GHz, heights, Earth
/// radius km, three intermediates (-1 where not logged) and the loss.
#[test]
fn matches_the_p1812_runs_without_clutter() {
    let points = rows(fixture!("p1812_rburg_profile.csv"));
    let distances: Vec<f64> = points.iter().map(|row| row[0] * 1e3).collect();
    let elevations: Vec<f64> = points.iter().map(|row| row[1]).collect();
    let profile = Profile::new(&distances, &elevations).unwrap();
    let cases = rows(fixture!("p1812_rburg_expected.csv"));
    assert_eq!(cases.len(), 6);
    for case in cases {
        let path = DiffractionPath {
            effective_earth_radius_m: case[3] * 1e3,
            ..path(case[0] * 1e3, case[1], case[2])
        };
        let got = delta_bullington(&profile, &path).unwrap();
        for (name, got, want) in [
            ("Lbulla", got.actual.loss_db, case[4]),
            ("Lbulls", got.bullington_smooth_db, case[5]),
            ("Ldsph", got.spherical_earth_db, case[6]),
            ("Ld", got.loss_db, case[7]),
        ] {
            if want < 0.0 {
                continue;
            }
            // Those runs take c = 2.998e8 m/s.
            assert!((got - want).abs() < 1e-3, "{case:?} {name}: {got} {want}");
        }
    }
}

#[test]
fn knife_edge_has_its_known_values() {
    // J(0) = 6.9 + 20 log(sqrt(1.01) - 0.1): the 6 dB of grazing incidence.
    assert!((knife_edge_loss_db(0.0) - 6.032_852).abs() < 1e-6);
    assert!(knife_edge_loss_db(-0.78).abs() < 1e-300);
    assert!(knife_edge_loss_db(-0.779_999).abs() < 0.01);
    // Asymptote 13 + 20 log ν.
    assert!((knife_edge_loss_db(100.0) - 53.0).abs() < 0.1);
    assert!(knife_edge_loss_db(f64::NEG_INFINITY).abs() < 1e-300);
}

/// A ridge of `height` in the middle of 10 km of plain, 101 points.
fn ridge(height: f64) -> Vec<f64> {
    let mut elevations = vec![100.0; 101];
    elevations[50] += height;
    elevations
}

#[test]
fn a_single_ridge_is_its_own_equivalent_edge() {
    let elevations = ridge(80.0);
    let profile = Profile::equally_spaced(100.0, &elevations).unwrap();
    let got = bullington(&profile, &path(600.0, 20.0, 20.0)).unwrap();
    let edge = got.edge.unwrap();
    assert!(!got.line_of_sight);
    assert!((edge.distance_m - 5000.0).abs() < 1e-6);
    assert!((edge.height_msl_m - 180.0).abs() < 1e-6);
    // Above the line by 60 m and the bulge.
    let above = 60.0 + 5000.0 * 5000.0 / (2.0 * RADIUS_M);
    let lambda = 299_792_458.0 / 600e6;
    let nu = above * (2.0 * 10_000.0 / (lambda * 5000.0 * 5000.0f64)).sqrt();
    assert!((edge.nu - nu).abs() < 1e-9);
    let worst = got.worst_point.unwrap();
    assert!((worst.nu - nu).abs() < 1e-9 && worst.distance_m == 5000.0);
}

#[test]
fn a_higher_ridge_loses_more() {
    let mut last = -1.0;
    for height in 0..200 {
        let elevations = ridge(f64::from(height));
        let profile = Profile::equally_spaced(100.0, &elevations).unwrap();
        let loss = bullington(&profile, &path(900.0, 10.0, 30.0)).unwrap().loss_db;
        assert!(loss >= last, "{height} m");
        last = loss;
    }
    assert!(last > 30.0);
}

/// Terrain without structure but deterministic, 0 to `relief` metres.
fn rough(points: usize, relief: f64, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 40) as f64 / f64::from(1 << 24)
    };
    (0..points).map(|_| relief * next()).collect()
}

#[test]
fn both_directions_lose_the_same() {
    for seed in 0..200 {
        let there = rough(60, 10.0 * seed as f64, seed);
        let back: Vec<f64> = there.iter().rev().copied().collect();
        let step_m = 20.0 + 7.0 * seed as f64;
        let forth = Profile::equally_spaced(step_m, &there).unwrap();
        let reverse = Profile::equally_spaced(step_m, &back).unwrap();
        let a = delta_bullington(&forth, &path(433.0, 12.0, 3.0)).unwrap();
        let b = delta_bullington(&reverse, &path(433.0, 3.0, 12.0)).unwrap();
        assert!((a.loss_db - b.loss_db).abs() < 1e-7, "{} {}", a.loss_db, b.loss_db);
        assert!((a.tx_effective_m - b.rx_effective_m).abs() < 1e-7);
        assert!(a.loss_db.is_finite() && a.loss_db >= 0.0);
        assert_eq!(a.actual.line_of_sight, b.actual.line_of_sight);
    }
}

/// Grazing incidence in exact arithmetic: an Earth so large that it is flat, heights chosen so
/// that the middle point lies on the line. Both sides of it must agree.
#[test]
fn grazing_is_continuous() {
    let loss = |middle: f64, radius: f64| {
        let elevations = [0.0, 0.0, middle, 0.0, 0.0];
        let profile = Profile::equally_spaced(1000.0, &elevations).unwrap();
        let path = DiffractionPath { effective_earth_radius_m: radius, ..path(900.0, 16.0, 48.0) };
        bullington(&profile, &path).unwrap().loss_db
    };
    let grazing = loss(32.0, 1e300);
    let single = knife_edge_loss_db(0.0);
    let want = single + (1.0 - (-single / 6.0).exp()) * 10.08;
    assert!((grazing - want).abs() < 1e-9, "{grazing} {want}");
    for delta in [-1e-9, -1e-13, 1e-13, 1e-9] {
        assert!((loss(32.0 + delta, 1e300) - grazing).abs() < 1e-6);
    }
}

#[test]
fn a_path_without_interior_has_no_edge() {
    let profile = Profile::equally_spaced(50.0, &[3.0, 4.0]).unwrap();
    let got = delta_bullington(&profile, &path(900.0, 2.0, 2.0)).unwrap();
    assert!(got.actual.line_of_sight && got.actual.edge.is_none());
    assert!(got.actual.loss_db.abs() < 1e-300);
    assert!(got.loss_db.is_finite());
}

#[test]
fn both_spacings_agree() {
    let elevations = rough(40, 300.0, 7);
    let distances: Vec<f64> = (0..40).map(|i| f64::from(i) * 30.0).collect();
    let a = Profile::new(&distances, &elevations).unwrap();
    let b = Profile::equally_spaced(30.0, &elevations).unwrap();
    let path = path(5800.0, 5.0, 5.0);
    assert_eq!(delta_bullington(&a, &path), delta_bullington(&b, &path));
}

#[test]
fn refuses_profiles_that_are_none() {
    let bad =
        |distances: &[f64], elevations: &[f64]| Profile::new(distances, elevations).unwrap_err();
    assert_eq!(bad(&[0.0], &[1.0]), ProfileError::TooShort { points: 1 });
    assert_eq!(bad(&[0.0, 0.0], &[1.0, 1.0]), ProfileError::Distance { index: 1 });
    assert_eq!(bad(&[1.0, 2.0], &[1.0, 1.0]), ProfileError::Distance { index: 0 });
    assert_eq!(bad(&[0.0, 1.0], &[1.0, f64::NAN]), ProfileError::Elevation { index: 1 });
    let mismatch = ProfileError::Mismatch { distances: 2, elevations: 1 };
    assert_eq!(bad(&[0.0, 1.0], &[1.0]), mismatch);
    assert!(Profile::equally_spaced(0.0, &[1.0, 1.0]).is_err());
    let profile = Profile::equally_spaced(10.0, &[1.0, 1.0]).unwrap();
    assert!(delta_bullington(&profile, &path(f64::NAN, 1.0, 1.0)).is_err());
    assert!(delta_bullington(&profile, &path(900.0, -1.0, 1.0)).is_err());
}
