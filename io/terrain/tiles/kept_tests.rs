//! Tiles that come and go give the heights of tiles that stay.

use std::fs::{self, File};
use std::time::Duration;

use groundwave_systems::terrain::{GeoPoint, Terrain, sample_profile};

use super::*;

/// Memory of a tile of 3 arc-seconds, bytes.
const TILE: u64 = 4 * 1201 * 1200;

/// Files of so many tiles in a row, from `N00E000` eastwards, rough and each of its own.
fn row_of_tiles(count: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for tile in 0..count {
        let posts = (0..1201 * 1201_u32).map(|post| {
            let rough = post.wrapping_mul(2_654_435_761).wrapping_add(tile * 7919) >> 22;
            (100 * tile + rough) as i16
        });
        let bytes: Vec<u8> = posts.flat_map(i16::to_be_bytes).collect();
        fs::write(folder.path().join(format!("N00E{tile:03}.hgt")), bytes).unwrap();
    }
    folder
}

fn height_m(tiles: &TileDirectory, tile: u32) -> f64 {
    let mut height_m = [f64::NAN];
    tiles.sample(&[0.37], &[f64::from(tile) + 0.61], &mut height_m);
    height_m[0]
}

#[test]
fn a_budget_changes_no_height() {
    let folder = row_of_tiles(4);
    let open = || TileDirectory::open(folder.path()).unwrap();
    let (all, few) = (open(), open().with_budget(2 * TILE));
    let at = |lat, lon| GeoPoint::new(lat, lon).unwrap();
    for (from, to) in [(0.1, 3.9), (3.8, 0.2), (1.5, 2.5)] {
        let profile = |tiles: &TileDirectory| {
            let found = sample_profile(tiles, at(0.31, from), at(0.72, to), 3000);
            let heights: Vec<u64> = found.elevation_msl_m.iter().map(|m| m.to_bits()).collect();
            (heights, found.terrain)
        };
        assert_eq!(profile(&all), profile(&few));
        assert!(few.kept_bytes() <= 2 * TILE);
    }
    assert_eq!(all.decoded_count(), 4);
    assert!(few.decoded_count() > 4, "{}", few.decoded_count());
    assert_eq!(all.kept_bytes(), 4 * TILE);
    assert_eq!((few.used_count(), few.faults().len()), (4, 0));
    assert_eq!(all.files(), few.files());
}

#[test]
fn the_least_recently_used_tile_goes_first() {
    let folder = row_of_tiles(3);
    let tiles = TileDirectory::open(folder.path()).unwrap();
    // Two, and room for a third with its file while one of them goes.
    let tiles = tiles.with_budget(13 * TILE / 5);
    let mut decodes = |tile| {
        let before = tiles.decoded_count();
        height_m(&tiles, tile);
        tiles.decoded_count() - before
    };
    assert_eq!([0, 1, 0].map(&mut decodes), [1, 1, 0]);
    // The first was used after the second.
    assert_eq!([2, 0, 2].map(&mut decodes), [1, 0, 0]);
    assert_eq!([1, 2, 0].map(&mut decodes), [1, 0, 1]);
}

#[test]
fn a_budget_below_one_tile_still_answers() {
    let folder = row_of_tiles(2);
    let all = TileDirectory::open(folder.path()).unwrap();
    let none = TileDirectory::open(folder.path()).unwrap().with_budget(1);
    for tile in [0, 1, 1, 0] {
        assert_eq!(height_m(&none, tile), height_m(&all, tile));
    }
}

#[test]
fn threads_that_drive_out_each_others_tiles_see_the_same_ground() {
    let folder = row_of_tiles(3);
    let all = TileDirectory::open(folder.path()).unwrap();
    let expected: Vec<f64> = (0..3).map(|tile| height_m(&all, tile)).collect();
    let few = TileDirectory::open(folder.path()).unwrap();
    let few = &few.with_budget(13 * TILE / 5);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let expected = &expected;
            scope.spawn(move || {
                for turn in 0..30 {
                    let tile = (thread + turn * (thread + 1)) % 3;
                    assert_eq!(height_m(few, tile), expected[tile as usize]);
                }
            });
        }
    });
    assert!(few.kept_bytes() <= 13 * TILE / 5);
}

#[test]
fn an_evicted_tile_that_is_still_read_is_not_decoded_again() {
    let folder = row_of_tiles(2);
    let tiles = TileDirectory::open(folder.path())
        .unwrap()
        .with_budget(2 * TILE);
    let id = TileId::new(0, 0).unwrap();
    let reader = tiles.tile(id).unwrap();
    height_m(&tiles, 1);
    assert!(tiles.kept_bytes() <= TILE, "the first was evicted");
    let again = tiles.tile(id).unwrap();
    assert!(Arc::ptr_eq(&reader, &again));
    assert_eq!((tiles.decoded_count(), tiles.kept_bytes()), (2, 2 * TILE));
    drop((reader, again));
    // Nobody reads it: evicted, it is gone.
    tiles.reserve(2 * TILE);
    tiles.settle(2 * TILE, None);
    height_m(&tiles, 0);
    assert_eq!(tiles.decoded_count(), 3);
}

#[test]
fn digests_are_worked_out_once() {
    let folder = row_of_tiles(2);
    let tiles = TileDirectory::open(folder.path())
        .unwrap()
        .with_budget(TILE);
    height_m(&tiles, 0);
    height_m(&tiles, 1);
    let files = tiles.files();
    assert_eq!(files.len(), 2);
    let before = tiles.decoded_count();
    assert_eq!(tiles.files(), files);
    assert_eq!(
        tiles.file_digest("terrain tile N00E000"),
        files.values().next().cloned()
    );
    assert_eq!(tiles.decoded_count(), before);
}

#[test]
fn a_file_that_changed_meanwhile_is_a_fault() {
    let folder = row_of_tiles(2);
    let tiles = TileDirectory::open(folder.path())
        .unwrap()
        .with_budget(TILE);
    assert!(height_m(&tiles, 0).is_finite());
    height_m(&tiles, 1);
    let path = folder.path().join("N00E000.hgt");
    let file = File::options().write(true).open(path).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.set_modified(modified + Duration::from_secs(10))
        .unwrap();
    assert!(height_m(&tiles, 0).is_nan());
    let faults = tiles.faults();
    assert!(
        matches!(faults[..], [(_, HgtError::Changed { .. })]),
        "{faults:?}"
    );
    assert!(height_m(&tiles, 1).is_finite());
}
