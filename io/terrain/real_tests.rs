//! Real SRTM tiles: known heights and the rows and columns neighbours share.

use std::path::{Path, PathBuf};

use groundwave_model::terrain::{GeoPoint, Terrain, sample_profile};
use groundwave_needs::needs;
use groundwave_test_data::shared;

use super::hgt::Tile;
use super::{HgtError, Resolution, TileDirectory};

/// The directory of real tiles.
fn directory() -> TileDirectory {
    TileDirectory::open(&shared("data/srtm")).unwrap()
}

/// The tile in the one file of the real tiles that starts with `name`.
fn tile(name: &str) -> Tile {
    let folder = shared("data/srtm");
    let path = [".hgt", ".hgt.zip", ".hgt.gz"].map(|end| folder.join(format!("{name}{end}")));
    let path: &PathBuf = path.iter().find(|path| path.exists()).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap();
    let (id, packing) = super::name::parse(name).unwrap().unwrap();
    super::read::read_tile(path, id, packing, None).unwrap()
}

fn point(lat: f64, lon: f64) -> GeoPoint {
    GeoPoint::new(lat, lon).unwrap()
}

/// Highest sample in a square of half a minute around a summit, whose position on the map and
/// in the tile differ by a post or two.
fn summit_m(terrain: &TileDirectory, lat: f64, lon: f64) -> f64 {
    let mut highest = f64::MIN;
    for i in -10..=10 {
        for j in -10..=10 {
            let at = point(lat + f64::from(i) / 1200.0, lon + f64::from(j) / 1200.0);
            highest = highest.max(terrain.elevation_msl_m(at).unwrap_or(f64::MIN));
        }
    }
    highest
}

#[needs(shared("data/srtm"))]
#[test]
fn points_give_their_published_heights() {
    let terrain = directory();
    // Name, position, surveyed height (m), and how much a 90 m post may cut off a summit.
    for (name, lat, lon, height_m, cut_m) in [
        ("Heidbrink", 52.291_4, 8.638_9, 319.6, 5.0),
        ("Arthur's Seat", 55.944_1, -3.161_8, 251.0, 30.0),
        ("Leith Hill", 51.176_0, -0.371_0, 294.0, 15.0),
    ] {
        let summit = summit_m(&terrain, lat, lon);
        assert!(summit <= height_m + 5.0 && summit >= height_m - cut_m, "{name}: {summit}");
    }
    // Kattegat west of Gothenburg, and the hills east of the city.
    let sea = terrain.elevation_msl_m(point(57.5, 11.3)).unwrap();
    assert!(sea.abs() <= 6.0, "{sea}");
}

#[needs(shared("data/srtm"))]
#[test]
fn mountains_and_coasts_have_no_spikes() {
    for entry in std::fs::read_dir(shared("data/srtm")).unwrap() {
        let path = entry.unwrap().path();
        let named = path.file_name().and_then(|name| super::name::parse(name.to_str()?));
        if let Some(Ok((id, packing))) = named {
            let tile = super::read::read_tile(&path, id, packing, None).unwrap();
            assert_eq!(tile.census().spikes.largest, None, "{id}");
        }
    }
}

#[needs(shared("data/srtm"))]
#[test]
fn neighbours_agree_on_what_they_share() {
    for (west, east) in [("N00E010", "N00E011"), ("N51W001", "N51E000"), ("N55W004", "N55W003")] {
        let (west_tile, east_tile) = (tile(west), tile(east));
        for row in 0..1201 {
            assert_eq!(west_tile.post_m(row, 1200), east_tile.post_m(row, 0), "{west} row {row}");
        }
    }
    let (south, north) = (tile("N41E001"), tile("N42E001"));
    for column in 0..1201 {
        let (below, above) = (south.post_m(0, column), north.post_m(1200, column));
        assert_eq!(below, above, "column {column}");
    }
}

#[needs(shared("data/srtm"))]
#[test]
fn a_profile_across_greenwich_has_no_step() {
    let terrain = directory();
    let profile = sample_profile(&terrain, point(51.5, -0.02), point(51.51, 0.02), 2001);
    assert_eq!(profile.terrain.missing_samples, 0);
    assert_eq!(profile.terrain.tiles.as_slice().len(), 2);
    // 1.5 m apart over city terrain; a swapped tile would jump by tens of metres.
    let steepest =
        profile.elevation_msl_m.windows(2).map(|z| (z[1] - z[0]).abs()).fold(0.0, f64::max);
    assert!(steepest < 2.0, "{steepest}");
    // The height on the shared column is the same from both sides.
    let mut elevation = [0.0; 3];
    terrain.sample(&[51.477_3; 3], &[-1e-12, 0.0, 1e-12], &mut elevation);
    assert!(
        (elevation[0] - elevation[1]).abs() < 1e-6 && (elevation[2] - elevation[1]).abs() < 1e-6
    );
}

#[needs(shared("data/srtm"))]
#[test]
fn one_arc_second_with_its_northern_half_void() {
    let terrain = directory();
    assert_eq!(terrain.resolution_arcsec(point(48.2, -124.5)), Some(1.0));
    let profile = sample_profile(&terrain, point(48.1, -124.3), point(48.9, -124.5), 512);
    assert!(profile.terrain.void_samples > 200, "{:?}", profile.terrain);
    assert_eq!(profile.terrain.missing_samples, 0);
    assert!(profile.elevation_msl_m.iter().all(|m| m.is_finite()));
    let holes = tile("N48W125");
    let voids = (0..3601 * 3601).filter(|i| holes.post_m(i / 3601, i % 3601).is_none()).count();
    assert_eq!(voids, 6_483_876);
}

#[needs(shared("data/srtm"))]
#[test]
fn southern_and_western_tiles_and_the_equator() {
    let south = tile("S46W066");
    assert_eq!(south.resolution(), Resolution::OneArcSecond);
    let posts = (0..3601 * 3601).filter_map(|i| south.post_m(i / 3601, i % 3601));
    let (low, high) = posts.fold((i16::MAX, i16::MIN), |(l, h), m| (l.min(m), h.max(m)));
    assert_eq!((low, high), (-3, 146));
    let terrain = directory();
    let mut elevation = [0.0; 3];
    let used = terrain.sample(&[0.0, 0.5, -0.5], &[10.5, 11.0, 10.5], &mut elevation);
    assert_eq!((used.missing_samples, used.tiles.as_slice().len()), (1, 2));
    assert!(elevation[0] > 0.0 && elevation[1] > 100.0 && elevation[2].is_nan());
}

#[needs(shared("data/srtm"))]
#[test]
fn every_real_tile_decodes() {
    let terrain = directory();
    assert!(terrain.tile_count() > 0 && terrain.ignored().is_empty());
    terrain.check().unwrap();
}

#[needs(shared("data/bad_inputs/hgt"))]
#[test]
fn real_bad_files_are_refused() {
    let folder = shared("data/bad_inputs/hgt");
    let terrain = TileDirectory::open(&folder).unwrap();
    assert_eq!((terrain.tile_count(), terrain.ignored().len()), (0, 3));
    let id = "N38W093".parse().unwrap();
    for name in ["sample-srtm-100kb.hgt", "sample-srtm-1mb.hgt"] {
        let path: &Path = &folder.join(name);
        let size = path.metadata().unwrap().len();
        let error =
            super::read::read_tile(path, id, super::name::Packing::Plain, None).unwrap_err();
        assert!(matches!(&error, HgtError::Size { source, .. } if source.found_bytes == size));
    }
}
