//! Profiles over synthetic ground: gaps are filled by the rules and counted.

use super::super::{Flat, TerrainSource, TileId};
use super::*;

/// Ground that rises by 1000 m for each degree east, with a void and a missing stretch.
struct Slope {
    void_lon: std::ops::Range<f64>,
    missing_lon: std::ops::Range<f64>,
}

impl Terrain for Slope {
    fn sample(&self, lat: &[f64], lon: &[f64], out: &mut [f64]) -> TerrainUse {
        let mut used = TerrainUse::default();
        for i in 0..lat.len() {
            out[i] = lon[i] * 1000.0;
            if self.missing_lon.contains(&lon[i]) {
                used.missing_samples += 1;
                out[i] = f64::NAN;
                continue;
            }
            used.note_tile(TileId::containing(lat[i], lon[i]).unwrap(), 3.0);
            if self.void_lon.contains(&lon[i]) {
                used.void_samples += 1;
                out[i] = f64::NAN;
            }
        }
        used
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        (!self.missing_lon.contains(&at.lon_deg())).then_some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: "slope".into(),
            has_geoid: false,
            tiles_used: None,
            ..TerrainSource::default()
        }
    }
}

const NOWHERE: std::ops::Range<f64> = 0.0..0.0;

fn along_equator(slope: &Slope) -> Profile {
    let (from, to) = (GeoPoint::new(0.0, 10.0), GeoPoint::new(0.0, 11.0));
    sample_profile(slope, from.unwrap(), to.unwrap(), 101)
}

#[test]
fn clean_ground_is_reported_as_it_is() {
    let profile = along_equator(&Slope { void_lon: NOWHERE, missing_lon: NOWHERE });
    assert!((profile.distance_m - 111_319.491).abs() < 0.001);
    // Rounded to 24 bits.
    assert!((profile.step_m * 100.0 - profile.distance_m).abs() < 1e-7 * profile.distance_m);
    assert_eq!(profile.step_m, f64::from(profile.step_m as f32));
    assert!((profile.azimuth_deg - 90.0).abs() < 1e-9);
    assert!((profile.back_azimuth_deg - 270.0).abs() < 1e-9);
    for i in 0..101 {
        let lon = 10.0 + f64::from(u32::try_from(i).unwrap()) / 100.0;
        assert!((profile.elevation_msl_m[i] - lon * 1000.0).abs() < 1e-3);
        assert!((profile.point(i).unwrap().lon_deg() - lon).abs() < 1e-7);
    }
    assert!(profile.terrain.is_clean());
    assert_eq!(profile.point(101), None);
}

#[test]
fn a_void_takes_the_line_between_its_banks() {
    let profile = along_equator(&Slope { void_lon: 10.3..10.5, missing_lon: NOWHERE });
    assert!((19..=21).contains(&profile.terrain.void_samples));
    // The ground is a plane, so the filled line is the ground.
    for (elevation, lon) in profile.elevation_msl_m.iter().zip(&profile.lon_deg) {
        assert!((elevation - lon * 1000.0).abs() < 1e-2);
    }
}

#[test]
fn a_void_at_an_end_takes_the_nearest_height() {
    let profile = along_equator(&Slope { void_lon: 9.0..10.205, missing_lon: NOWHERE });
    let bank = profile.elevation_msl_m[21];
    assert!((bank - 10_210.0).abs() < 1e-2);
    assert!(profile.elevation_msl_m[..21].iter().all(|&m| m == bank));
    let profile = along_equator(&Slope { void_lon: 10.905..12.0, missing_lon: NOWHERE });
    let bank = profile.elevation_msl_m[90];
    assert!(profile.elevation_msl_m[91..].iter().all(|&m| m == bank));
}

#[test]
fn missing_ground_is_the_sea_and_no_bank_for_a_void() {
    let profile = along_equator(&Slope { void_lon: 10.3..10.4, missing_lon: 10.4..10.5 });
    let (mut voids, mut seas) = (0, 0);
    for (elevation, lon) in profile.elevation_msl_m.iter().zip(&profile.lon_deg) {
        if (10.4..10.5).contains(lon) {
            assert_eq!(*elevation, 0.0);
            seas += 1;
        } else {
            // Interpolated across the missing stretch to the ground beyond it.
            assert!((elevation - lon * 1000.0).abs() < 1e-2);
            voids += u32::from((10.3..10.4).contains(lon));
        }
    }
    assert_eq!((profile.terrain.void_samples, profile.terrain.missing_samples), (voids, seas));
}

#[test]
fn nothing_but_gaps_is_sea_level_and_counted() {
    let all_void = along_equator(&Slope { void_lon: 0.0..99.0, missing_lon: NOWHERE });
    assert_eq!(all_void.elevation_msl_m, vec![0.0; 101]);
    assert_eq!(all_void.terrain.void_samples, 101);
    let all_missing = along_equator(&Slope { void_lon: NOWHERE, missing_lon: 0.0..99.0 });
    assert_eq!(all_missing.elevation_msl_m, vec![0.0; 101]);
    assert_eq!(all_missing.terrain.missing_samples, 101);
    assert_eq!(all_missing.terrain.resolution_arcsec, None);
}

#[test]
fn equal_ends_work() {
    let at = GeoPoint::new(57.7, 11.9).unwrap();
    let profile = sample_profile(&Flat { elevation_msl_m: 12.0 }, at, at, 8);
    assert_eq!((profile.distance_m, profile.step_m), (0.0, 0.0));
    assert_eq!(profile.elevation_msl_m, vec![12.0; 8]);
}

#[test]
fn too_few_samples_become_both_ends() {
    let (from, to) = (GeoPoint::new(1.0, 2.0).unwrap(), GeoPoint::new(1.5, 2.5).unwrap());
    for samples in [0, 1, 2] {
        let profile = sample_profile(&Flat::default(), from, to, samples);
        assert_eq!(profile.elevation_msl_m.len(), 2);
        assert_eq!(profile.step_m, f64::from(profile.distance_m as f32));
        assert_eq!(profile.point(1), Some(to));
    }
}

#[test]
fn a_reused_profile_equals_a_new_one_and_keeps_its_buffers() {
    let slope = Slope { void_lon: 10.1..10.2, missing_lon: 10.5..10.6 };
    let mut path =
        Path::between(GeoPoint::new(0.0, 10.0).unwrap(), GeoPoint::new(1.0, 12.0).unwrap());
    let mut profile = Profile::default();
    profile.trace(&slope, &path, 4096);
    let buffers =
        [profile.lat_deg.as_ptr(), profile.lon_deg.as_ptr(), profile.elevation_msl_m.as_ptr()];
    for (lat, samples) in [(0.5, 4096), (0.25, 17), (0.75, 512)] {
        let (from, to) = (GeoPoint::new(0.0, 10.0).unwrap(), GeoPoint::new(lat, 11.0).unwrap());
        path.set_between(from, to);
        profile.trace(&slope, &path, samples);
        assert_eq!(profile, sample_profile(&slope, from, to, samples));
        let now =
            [profile.lat_deg.as_ptr(), profile.lon_deg.as_ptr(), profile.elevation_msl_m.as_ptr()];
        assert_eq!(now, buffers);
    }
}

#[test]
fn the_bulge_of_a_known_path() {
    // Midway on 50 km with k = 4/3: 36.79 m; zero at the ends; halved by doubling k.
    let midway = earth_bulge_m(25_000.0, 25_000.0, 4.0 / 3.0);
    assert!((midway - 36.788).abs() < 0.001, "{midway}");
    assert_eq!(earth_bulge_m(0.0, 50_000.0, 4.0 / 3.0), 0.0);
    assert!((earth_bulge_m(25_000.0, 25_000.0, 8.0 / 3.0) * 2.0 - midway).abs() < 1e-9);
}
