//! Against `geographiclib`.

use super::super::Path;
use super::super::geodesic::{direct, inverse};
use super::*;

/// Numbers that look random, the same at every run.
struct Draw(u64);

impl Draw {
    fn within(&mut self, low: f64, high: f64) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn distance_and_bearings_are_those_of_geographiclib() {
    let mut draw = Draw(1);
    let (mut worst_share, mut worst_m, mut worst_turn_m, mut solved) =
        (0.0_f64, 0.0_f64, 0.0_f64, 0);
    for round in 0..60_000 {
        let lat = match round % 4 {
            0 => draw.within(-0.5, 0.5),
            1 => draw.within(-82.0, 82.0),
            _ => draw.within(-70.0, 70.0),
        };
        let from = GeoPoint::new(lat, draw.within(-180.0, 180.0)).unwrap();
        let length_m = 10f64.powf(draw.within(-2.0, 5.0));
        let azimuth = if round % 5 == 0 {
            90.0 * draw.within(0.0, 4.0).floor()
        } else {
            draw.within(0.0, 360.0)
        };
        let to = direct(from, azimuth, length_m).unwrap();
        let (exact, geodesic) = (inverse(from, to), between(from, to));
        if !geodesic.valid {
            continue;
        }
        solved += 1;
        let error_m = (geodesic.distance_m - exact.distance_m).abs();
        if error_m > 5e-9 {
            worst_share = worst_share.max(error_m / exact.distance_m);
        }
        worst_m = worst_m.max(error_m);
        for (got, want_deg) in
            geodesic.azimuth_rad.iter().zip([exact.azimuth_deg, exact.back_azimuth_deg + 180.0])
        {
            let apart = (got - want_deg.to_radians()).rem_euclid(std::f64::consts::TAU);
            let apart = apart.min(std::f64::consts::TAU - apart);
            worst_turn_m = worst_turn_m.max(apart * exact.distance_m);
        }
    }
    eprintln!(
        "{solved} geodesics: {worst_share:e} of the distance, {worst_m:e} m, across {worst_turn_m:e} m"
    );
    assert!(solved > 50_000);
    assert!(worst_share < 1e-11, "{worst_share:e}");
    assert!(worst_turn_m < 1e-6, "{worst_turn_m:e}");
}

#[test]
fn positions_stay_within_a_tenth_of_a_millimetre() {
    let mut draw = Draw(2);
    let (mut worst, mut lats, mut lons) = (0.0_f64, Vec::new(), Vec::new());
    for round in 0..3_000 {
        let lat = if round % 2 == 0 { draw.within(-82.0, 82.0) } else { draw.within(60.0, 70.0) };
        let from = GeoPoint::new(lat, draw.within(-180.0, 180.0)).unwrap();
        let azimuth = draw.within(0.0, 360.0);
        let to = direct(from, azimuth, draw.within(1.0, MAX_M)).unwrap();
        if !between(from, to).valid {
            continue;
        }
        let path = Path::between(from, to);
        path.positions(23, &mut lats, &mut lons);
        let exact = inverse(from, to);
        for (i, (lat, lon)) in lats.iter().zip(&lons).enumerate() {
            let want = direct(from, exact.azimuth_deg, exact.distance_m * i as f64 / 22.0).unwrap();
            let got = GeoPoint::wrapping(*lat, *lon).unwrap();
            worst = worst.max(inverse(want, got).distance_m);
        }
    }
    eprintln!("worst position {worst:e} m off");
    assert!(worst < 1e-4, "{worst:e}");
}

#[test]
fn equal_ends_and_the_antimeridian() {
    let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
    for (from, to) in [
        (at(57.7, 11.9), at(57.7, 11.9)),
        (at(10.0, 180.0), at(10.0, -180.0)),
        (at(0.0, 0.0), at(0.0, 0.0)),
    ] {
        let geodesic = between(from, to);
        assert!(geodesic.valid && geodesic.distance_m == 0.0);
        assert!(
            geodesic
                .azimuth_rad
                .iter()
                .chain(&geodesic.lat_deg)
                .chain(&geodesic.lon_deg)
                .all(|x| x.is_finite())
        );
    }
    let geodesic = between(at(10.0, 179.9), at(10.1, -179.9));
    assert!(geodesic.valid && geodesic.lon_deg.iter().sum::<f64>() > 180.0);
    for far in [at(-10.0, -0.1), at(10.0, 0.1), at(89.99, 3.0), at(90.0, 0.0)] {
        assert!(!between(at(10.0, 179.9), far).valid);
        assert!(!between(at(90.0, 0.0), far).valid);
    }
}
