//! Invariants for any input.

use super::*;
use crate::itm::fit::line_ends;
use crate::itm::horizons::{Horizon, horizons};
use crate::itm::roughness::{NO_SAMPLES, Sampled, delta_h_m, ranges_m};
use crate::profile::PathProfile;

fn assert_finite(of: &Reference, quantile: Quantile) {
    let values = [
        of.n_s,
        of.distance_km,
        of.curvature_per_m,
        of.delta_h_m,
        of.a_ref_db,
        of.a_fs_db,
        of.attenuation_db(quantile),
        of.basic_transmission_loss_db(quantile),
    ];
    let pairs = [of.effective_height_m, of.horizon_distance_m, of.horizon_angle_rad];
    let finite = |value: &f64| value.is_finite();
    assert!(values.iter().chain(pairs.as_flattened()).all(finite), "{of:?}");
    assert!(of.a_ref_db >= 0.0 && of.delta_h_m >= 0.0, "{of:?}");
}

/// True if `refused` is a valid answer to inputs that are each within their range.
fn is_consequence(refused: Invalid) -> bool {
    matches!(
        refused,
        Invalid::GroundImpedance { .. }
            | Invalid::SurfaceRefractivitySmall(_)
            | Invalid::SurfaceRefractivityLarge(_)
            | Invalid::PathDistance(_)
    )
}

#[test]
fn any_profile_gives_numbers_in_both_directions() {
    let mut draw = Draw(1);
    let mut answers = 0;
    for _ in 0..4000 {
        let points = draw.scaled(2.0, 600.0) as usize;
        let (base_m, relief_m) =
            (draw.within(-400.0, 3000.0), draw.pick(&[0.0, 1.0, 50.0, 3000.0]));
        let mut elevation = draw.terrain(points, base_m, relief_m);
        if draw.next().is_multiple_of(10) {
            elevation = elevation.iter().map(|_| draw.within(-20e3, 20e3)).collect();
        }
        let step_m = draw.scaled(MIN_STEP_M, 30e3);
        let (tx, rx) = (draw.scaled(0.5, 3000.0), draw.scaled(0.5, 3000.0));
        let (medium, quantile) = (draw.medium(), draw.quantile());
        for [h_tx, h_rx] in [[tx, rx], [rx, tx]] {
            let profile = PathProfile::bare(step_m, &elevation);
            match reference(&profile, h_tx, h_rx, &medium) {
                Ok(of) => {
                    assert_finite(&of, quantile);
                    answers += 1;
                }
                Err(refused) => assert!(is_consequence(refused), "{refused}"),
            }
            elevation.reverse();
        }
    }
    assert!(answers > 5000, "{answers}");
}

#[test]
fn any_area_gives_numbers() {
    let mut draw = Draw(2);
    let sitings = [Siting::Random, Siting::Careful, Siting::VeryCareful];
    let mut answers = 0;
    for _ in 0..4000 {
        let path = AreaPath {
            distance_km: draw.scaled(1e-6, 20_040.0),
            delta_h_m: draw.pick(&[0.0, 1.0, 30.0, 90.0, 500.0, MAX_AREA_DELTA_H_M]),
            antenna_agl_m: [draw.scaled(0.5, 3000.0), draw.scaled(0.5, 3000.0)],
            siting: [draw.pick(&sitings), draw.pick(&sitings)],
        };
        match area_reference(&path, &draw.medium()) {
            Ok(of) => {
                assert_finite(&of, draw.quantile());
                answers += 1;
            }
            Err(refused) => assert!(is_consequence(refused), "{refused}"),
        }
    }
    assert!(answers > 3000, "{answers}");
}

/// More certainty never costs less loss.
#[test]
fn loss_rises_with_every_percentage() {
    const PERCENT: [f64; 11] = [0.01, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.99];
    let mut draw = Draw(3);
    for _ in 0..300 {
        let relief_m = draw.pick(&[0.0, 20.0, 300.0]);
        let elevation = draw.terrain(90, 400.0, relief_m);
        let profile = PathProfile::bare(draw.scaled(10.0, 5000.0), &elevation);
        let medium = Medium { epsilon: 15.0, sigma_s_m: 0.005, ..draw.medium() };
        let of = reference(&profile, 20.0, 5.0, &medium).unwrap();
        let others = [draw.pick(&PERCENT), draw.pick(&PERCENT)];
        let sweeps: [&dyn Fn(f64) -> Quantile; 3] = [
            &|percent| quantile(percent, others[0], others[1]),
            &|percent| quantile(others[0], percent, others[1]),
            &|percent| quantile(others[0], others[1], percent),
        ];
        for sweep in sweeps {
            let losses = PERCENT.map(|percent| of.attenuation_db(sweep(percent)));
            assert!(losses.is_sorted(), "{losses:?} {medium:?}");
        }
    }
}

/// The horizon search that skips blocks finds what looking at every point finds.
#[test]
fn horizons_are_those_of_a_plain_search() {
    let mut draw = Draw(4);
    for _ in 0..1000 {
        let points = draw.scaled(2.0, 300.0) as usize;
        let relief_m = draw.pick(&[0.0, 5.0, 200.0]);
        let elevation = draw.terrain(points, 200.0, relief_m);
        let profile = PathProfile::bare(draw.scaled(1.0, 2000.0), &elevation);
        let antenna_agl_m = [draw.scaled(0.5, 100.0), draw.scaled(0.5, 100.0)];
        let radius_m = 8500e3;
        let horizons = horizons(&profile, radius_m, antenna_agl_m);
        let last = points - 1;
        for (end, horizon) in horizons.into_iter().enumerate() {
            let at = |step: usize| if end == 0 { step } else { last - step };
            let eye_m = elevation[at(0)] + antenna_agl_m[end];
            let angle = |step: usize| {
                let ahead_m = step as f64 * profile.step_m;
                let antenna_m = if step == last { antenna_agl_m[1 - end] } else { 0.0 };
                (elevation[at(step)] + antenna_m - eye_m) / ahead_m - ahead_m / (2.0 * radius_m)
            };
            let best = (1..=last).max_by(|&a, &b| angle(a).total_cmp(&angle(b))).unwrap();
            let want = Horizon { angle_rad: angle(best), distance_m: best as f64 * profile.step_m };
            assert!((horizon.angle_rad - want.angle_rad).abs() < 1e-12, "{horizon:?} {want:?}");
            let off = horizon.distance_m / want.distance_m - 1.0;
            assert!(off.abs() < 1e-12, "{horizon:?} {want:?}");
        }
    }
}

/// Interdecile range of the terrain between two distances from the transmitter, m.
fn interdecile_range_m(profile: &PathProfile<'_>, start_m: f64, end_m: f64) -> f64 {
    let mut buffers = [NO_SAMPLES];
    let sampled = Sampled::take(profile, start_m, end_m, &mut buffers[0]);
    let [range_m] = ranges_m([sampled], &mut buffers);
    range_m
}

/// A triangle wave about a slope: its deviations are spread evenly, so the interdecile range is
/// eight tenths of the full range, and the slope makes no difference.
#[test]
fn roughness_is_the_interdecile_range_about_the_slope() {
    let step_m = 100.0;
    let wave = |index: usize| 50.0 * (1.0 - (index % 40) as f64 / 20.0).abs();
    for slope in [0.0, 3.0] {
        let elevation: Vec<f64> = (0..=4000).map(|i| wave(i) + slope * i as f64).collect();
        let profile = PathProfile::bare(step_m, &elevation);
        let length_m = profile.distance_m();
        let found_m = delta_h_m(interdecile_range_m(&profile, 0.0, length_m), length_m);
        assert!((found_m - 40.0).abs() < 1.5, "{found_m}");
        assert!(interdecile_range_m(&profile, 0.0, 199.0).abs() < 1e-300, "under two steps");
    }
}

/// A line is fitted to itself, however little of it is looked at.
#[test]
fn a_straight_line_is_its_own_fit() {
    let slope: Vec<f64> = (0..30).map(|index| 7.0 + 3.0 * f64::from(index)).collect();
    for (start, end) in
        [(0.0, 29.0), (3.4, 3.6), (3.0, 2.0), (28.5, 40.0), (-2.0, 0.1), (12.0, 25.0)]
    {
        let [first_m, last_m] = line_ends(&slope, start, end);
        assert!((first_m - 7.0).abs() < 1e-9, "{start} to {end}: {first_m}");
        assert!((last_m - 94.0).abs() < 1e-9, "{start} to {end}: {last_m}");
    }
}

/// Over a flat plain nothing stands out, losses grow with distance and the ends are alike.
#[test]
fn flat_ground_is_plain_and_symmetric() {
    let ground = [0.0; 400];
    let mut last_db = 0.0;
    for points in [2, 3, 4, 10, 50, 200, 400] {
        let profile = PathProfile::bare(500.0, &ground[..points]);
        let of = reference(&profile, 10.0, 10.0, &medium(450.0)).unwrap();
        assert!(of.delta_h_m.abs() < 1e-300, "{of:?}");
        let [tx, rx] = of.horizon_distance_m;
        assert!((tx - rx).abs() < 1e-6, "{of:?}");
        let loss_db = of.basic_transmission_loss_db(Quantile::MEDIAN);
        assert!(loss_db > last_db, "{loss_db} after {last_db}");
        last_db = loss_db;
    }
}

#[test]
fn inputs_out_of_range_are_refused_by_name() {
    let ground = [100.0; 20];
    let profile = |step_m, elevation_msl_m| PathProfile::bare(step_m, elevation_msl_m);
    let fine = profile(100.0, &ground);
    let code = |profile: &PathProfile, tx, rx, medium: &Medium| {
        reference(profile, tx, rx, medium).unwrap_err().code()
    };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0] {
        let medium = medium(900.0);
        assert_eq!(code(&fine, bad, 2.0, &medium), Some(1000));
        assert_eq!(code(&fine, 2.0, bad, &medium), Some(1001));
        assert_eq!(code(&fine, 2.0, 2.0, &Medium { n_0: bad, ..medium }), Some(1008));
        let frequency_mhz = bad;
        assert_eq!(code(&fine, 2.0, 2.0, &Medium { frequency_mhz, ..medium }), Some(1009));
        assert_eq!(code(&fine, 2.0, 2.0, &Medium { epsilon: bad, ..medium }), Some(1011));
        assert_eq!(code(&fine, 2.0, 2.0, &Medium { sigma_s_m: bad, ..medium }), Some(1012));
        assert!(reference(&profile(bad, &ground), 2.0, 2.0, &medium).is_err());
        assert_eq!(Quantile::new(bad, 50.0, 50.0).unwrap_err().code(), Some(1003));
        assert_eq!(Quantile::new(50.0, bad, 50.0).unwrap_err().code(), Some(1004));
        assert_eq!(Quantile::new(50.0, 50.0, bad).unwrap_err().code(), Some(1005));
    }
    let mut pit = ground;
    pit[7] = f64::NAN;
    let refused = reference(&profile(100.0, &pit), 2.0, 2.0, &medium(900.0)).unwrap_err();
    assert!(matches!(refused, Invalid::Elevation { index: 7, .. }), "{refused}");
    let refused = reference(&profile(100.0, &[5.0]), 2.0, 2.0, &medium(900.0)).unwrap_err();
    assert_eq!(refused, Invalid::ProfilePoints(1));
    let high = [9000.0; 20];
    assert_eq!(code(&profile(100.0, &high), 2.0, 2.0, &medium(900.0)), Some(1021));
    let refused = reference(&fine, 2.0, 4000.0, &medium(900.0)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "receiver height 4000 m above ground is not within 0.5 to 3000 m"
    );
}

/// Sea water under a vertical antenna with a cliff right in front of it: the smooth-earth method
/// has no answer, which is said.
#[test]
fn attenuation_without_a_value_is_reported() {
    let mut elevation = [0.0; 40];
    elevation[1] = 600.0;
    let profile = PathProfile::bare(30.0, &elevation);
    let sea = Medium { epsilon: 81.0, sigma_s_m: 5.0, ..medium(60.0) };
    let of = reference(&profile, 30.0, 2.0, &sea).unwrap();
    assert!(of.warnings.contains(Warnings::ATTENUATION_UNDEFINED), "{of:?}");
    assert_eq!(of.warnings.names().last(), Some("attenuation_undefined"));
    assert!(of.a_ref_db.abs() < 1e-300);

    let of = reference(&profile, 30.0, 2.0, &medium(60.0)).unwrap();
    assert!(!of.warnings.contains(Warnings::ATTENUATION_UNDEFINED), "{of:?}");
    assert!(of.a_ref_db > 20.0, "{of:?}");
}

#[test]
fn modes_of_variability_have_ntias_codes() {
    let valid: Vec<u8> = (0..=255).filter(|&code| Mdvar::from_code(code).is_ok()).collect();
    let want = [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33];
    assert_eq!(valid, want);
    for code in want {
        assert_eq!(Mdvar::from_code(code).unwrap().code(), code);
    }
}

#[test]
fn warnings_have_names_from_the_lowest_bit_up() {
    let ground = [0.0; 3];
    let profile = PathProfile::bare(200.0, &ground);
    let of = reference(&profile, 0.7, 2.0, &medium(30.0)).unwrap();
    let far_out = quantile(99.95, 50.0, 50.0);
    let names: Vec<_> = of.warnings_at(far_out).names().collect();
    assert_eq!(
        names,
        ["tx_terminal_height", "frequency", "path_distance_too_small_2", "extreme_variabilities"]
    );
    assert_eq!(of.warnings_at(far_out).bits(), 0x2045);
}
