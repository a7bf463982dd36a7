//! The promise of `path.rs`: within 1 mm of the exact geodesic.

use super::super::geodesic::direct;
use super::*;

fn point(lat: f64, lon: f64) -> GeoPoint {
    GeoPoint::new(lat, lon).unwrap()
}

/// Worst distance (m) between the samples of a path and the exact geodesic.
fn worst_error_m(path: &Path, samples: usize) -> f64 {
    let (mut lat, mut lon) = (Vec::new(), Vec::new());
    path.positions(samples, &mut lat, &mut lon);
    let step_m = path.step_m(samples);
    let mut worst = 0.0_f64;
    for i in 0..samples {
        let exact = direct(path.from, path.azimuth_deg(), whole(i) * step_m).unwrap();
        let sampled = GeoPoint::wrapping(lat[i], lon[i]).unwrap();
        worst = worst.max(inverse(exact, sampled).distance_m);
    }
    worst
}

#[test]
fn positions_stay_within_a_millimetre_of_the_geodesic() {
    let mut worst = 0.0_f64;
    for lat in [0.0, 0.01, -12.0, 30.0, 45.0, -60.0, 70.0, 80.0, -80.0, 81.9, 85.0, 89.99, 90.0] {
        for lon in [0.0, 11.0, -0.02, 179.97, -180.0] {
            for azimuth in [0.0, 17.0, 45.0, 90.0, 133.0, 180.0, 225.0, 270.0, 300.0, 359.9] {
                for distance in
                    [1.0, 250.0, 9_999.0, 10_001.0, 19_999.9, 47_000.0, 123_456.0, 500_000.0]
                {
                    let path = Path::along(point(lat, lon), azimuth, distance).unwrap();
                    let error = worst_error_m(&path, 97);
                    assert!(error < 1e-3, "{lat} {lon} {azimuth} {distance}: {error} m");
                    worst = worst.max(error);
                }
            }
        }
    }
    eprintln!("worst error {worst:e} m");
}

#[test]
fn both_ends_are_exactly_the_points_asked_for() {
    for (from, to) in [
        (point(57.7, 11.9), point(57.8, 12.3)),
        (point(10.0, 179.5), point(10.2, -179.4)),
        (point(10.0, -179.5), point(10.2, 179.4)),
        (point(51.0, -0.5), point(51.2, 0.5)),
        (point(-0.5, 30.0), point(0.5, 30.0)),
        (point(88.0, 10.0), point(88.0, -170.0)),
        (point(0.0, 0.0), point(0.0, 180.0)),
    ] {
        for samples in [2, 3, 256] {
            let path = Path::between(from, to);
            let (mut lat, mut lon) = (Vec::new(), Vec::new());
            path.positions(samples, &mut lat, &mut lon);
            assert_eq!((lat[0], lon[0]), (from.lat_deg(), from.lon_deg()));
            let last = GeoPoint::wrapping(lat[samples - 1], lon[samples - 1]).unwrap();
            assert!(inverse(last, to).distance_m < 1e-6, "{last:?} {to:?}");
            assert!(worst_error_m(&path, samples) < 1e-3);
        }
    }
}

#[test]
fn longitude_does_not_jump_at_the_antimeridian() {
    let path = Path::between(point(10.0, 179.5), point(10.2, -179.4));
    let (mut lat, mut lon) = (Vec::new(), Vec::new());
    path.positions(64, &mut lat, &mut lon);
    assert!(lon.windows(2).all(|pair| pair[1] > pair[0] && pair[1] - pair[0] < 0.02));
    assert!((lon[63] - 180.6).abs() < 1e-9);
    assert!(path.distance_m() < 125_000.0);
}

#[test]
fn equal_points_make_a_path_of_no_length() {
    let at = point(57.7, 11.9);
    let path = Path::between(at, at);
    let (mut lat, mut lon) = (vec![1.0; 9], vec![2.0; 9]);
    path.positions(5, &mut lat, &mut lon);
    assert_eq!((path.distance_m(), path.step_m(5)), (0.0, 0.0));
    assert_eq!((lat, lon), (vec![57.7; 5], vec![11.9; 5]));
}

#[test]
fn a_reused_path_equals_a_new_one() {
    let mut reused = Path::between(point(57.0, 11.0), point(58.0, 12.0));
    let points = [point(-33.0, 151.0), point(-33.4, 151.2), point(-33.4, 151.2), point(87.0, 3.0)];
    for pair in points.windows(2) {
        reused.set_between(pair[0], pair[1]);
        let fresh = Path::between(pair[0], pair[1]);
        let (mut a, mut b) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
        reused.positions(301, &mut a.0, &mut a.1);
        fresh.positions(301, &mut b.0, &mut b.1);
        assert_eq!(a, b);
        assert_eq!(reused.back_azimuth_deg(), fresh.back_azimuth_deg());
    }
}

#[test]
fn a_bearing_and_a_length_give_the_same_path_as_its_two_ends() {
    let (from, to) = (point(57.7, 11.9), point(57.9, 12.6));
    let between = Path::between(from, to);
    let along = Path::along(from, between.azimuth_deg(), between.distance_m()).unwrap();
    assert!((between.back_azimuth_deg() - along.back_azimuth_deg()).abs() < 1e-9);
    assert!((between.end[0] - along.end[0]).abs() < 1e-12);
    assert!((between.end[1] - along.end[1]).abs() < 1e-12);
}

#[test]
fn impossible_paths_are_refused() {
    let from = point(0.0, 0.0);
    for (azimuth, distance) in
        [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (0.0, -1.0), (0.0, f64::NAN), (0.0, 3e7)]
    {
        assert!(Path::along(from, azimuth, distance).is_err());
    }
    assert!(Path::along(from, -450.0, 0.0).is_ok());
    // The longest path there is: from pole to pole.
    let longest = inverse(point(90.0, 0.0), point(-90.0, 0.0)).distance_m;
    assert!(longest <= MAX_PATH_M && longest > MAX_PATH_M - 1.0);
}
