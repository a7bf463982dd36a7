//! Tiles that come and go give the heights of tiles that stay.

use std::fs::{self, File};
use std::time::Duration;

use groundwave_model::terrain::{GeoPoint, Terrain, TerrainUse, sample_profile};

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
fn any_budget_gives_the_same_heights() {
    let folder = row_of_tiles(4);
    let open = || TileDirectory::open(folder.path()).unwrap();
    let (all, few) = (open(), open().with_budget(2 * TILE));
    for (from, to) in [(0.1, 3.9), (3.8, 0.2), (1.5, 2.5)] {
        let ends = [[0.31, from], [0.72, to]];
        assert_eq!(profile(&all, ends, 3000), profile(&few, ends, 3000));
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
fn budget_below_one_tile_gives_heights() {
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
    let tiles = TileDirectory::open(folder.path()).unwrap().with_budget(3 * TILE / 2);
    let id = TileId::new(0, 0).unwrap();
    let reader = tiles.tile(id, [0.0, 1.0]).unwrap();
    height_m(&tiles, 1);
    assert!(tiles.kept_bytes() <= TILE, "the first was evicted");
    let again = tiles.tile(id, [0.0, 1.0]).unwrap();
    assert!(Arc::ptr_eq(&reader, &again));
    assert_eq!((tiles.decoded_count(), tiles.kept_bytes()), (2, TILE));
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
    let tiles = TileDirectory::open(folder.path()).unwrap().with_budget(TILE);
    height_m(&tiles, 0);
    height_m(&tiles, 1);
    let files = tiles.files();
    assert_eq!(files.len(), 2);
    let before = tiles.decoded_count();
    assert_eq!(tiles.files(), files);
    assert_eq!(tiles.file_digest("terrain tile N00E000"), files.values().next().cloned());
    assert_eq!(tiles.decoded_count(), before);
}

#[test]
fn changed_file_gives_a_fault() {
    let folder = row_of_tiles(2);
    let tiles = TileDirectory::open(folder.path()).unwrap().with_budget(TILE);
    assert!(height_m(&tiles, 0).is_finite());
    height_m(&tiles, 1);
    let path = folder.path().join("N00E000.hgt");
    let file = File::options().write(true).open(path).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.set_modified(modified + Duration::from_secs(10)).unwrap();
    assert!(height_m(&tiles, 0).is_nan());
    let faults = tiles.faults();
    assert!(matches!(faults[..], [(_, HgtError::Changed { .. })]), "{faults:?}");
    assert!(height_m(&tiles, 1).is_finite());
}

/// Heights along a path, and tiles that supplied them.
fn profile(tiles: &TileDirectory, ends: [[f64; 2]; 2], samples: usize) -> (Vec<u64>, TerrainUse) {
    let [from, to] = ends.map(|[lat, lon]| GeoPoint::new(lat, lon).unwrap());
    let profile = sample_profile(tiles, from, to, samples);
    let heights = profile.elevation_msl_m.iter().map(|m| m.to_bits()).collect();
    (heights, profile.terrain)
}

#[test]
fn expected_rows_are_decoded_alone_and_all_rows_on_demand() {
    let folder = row_of_tiles(2);
    let open = || TileDirectory::open(folder.path()).unwrap();
    let (all, some) = (open(), open());
    some.expect([0.3, 0.5]);
    let within = [
        [[0.3, 0.2], [0.5, 0.9]],
        [[0.49, 0.1], [0.49, 0.8]],
        [[0.4, 0.7], [0.35, 1.6]],
        [[0.45, 1.9], [0.3, 1.2]],
    ];
    for ends in within {
        assert_eq!(profile(&some, ends, 701), profile(&all, ends, 701));
    }
    assert_eq!((some.decoded_count(), some.faults().len()), (2, 0));
    let few = some.kept_bytes();
    assert!((2 * TILE / 5..2 * TILE / 4).contains(&few), "{few}");
    // Beyond, in the first tile alone; and over both.
    let beyond = [[0.45, 0.2], [0.9, 0.3]];
    assert_eq!(profile(&some, beyond, 701), profile(&all, beyond, 701));
    assert_eq!(some.decoded_count(), 3);
    assert_eq!(some.kept_bytes(), TILE + few / 2);
    let sample = |tiles: &TileDirectory| {
        let mut height_m = [f64::NAN; 4];
        let lat_deg = [0.4, 0.299, 0.4, 1.0];
        tiles.sample(&lat_deg, &[1.5, 1.5, 1.6, 1.0], &mut height_m);
        height_m
    };
    assert_eq!(sample(&some), sample(&all));
    assert_eq!((some.decoded_count(), some.kept_bytes()), (4, 2 * TILE));
    assert_eq!(some.files(), all.files());
}

#[test]
fn digests_are_those_of_whole_files() {
    let folder = row_of_tiles(1);
    let open = || TileDirectory::open(folder.path()).unwrap();
    let (all, some) = (open(), open());
    some.expect([0.36, 0.38]);
    assert_eq!(height_m(&some, 0), height_m(&all, 0));
    assert_eq!(some.files(), all.files());
}

#[test]
fn threads_that_read_all_rows_and_some_see_the_same_ground() {
    let folder = row_of_tiles(2);
    let open = || TileDirectory::open(folder.path()).unwrap();
    let all = open();
    let ends = |turn: u32| {
        let tile = f64::from(turn % 2);
        let north = if turn % 5 == 4 { 0.9 } else { 0.48 };
        [[0.31, tile + 0.2], [north, tile + 0.4]]
    };
    let expected: Vec<_> = (0..10).map(|turn| profile(&all, ends(turn), 99)).collect();
    for budget in [u64::MAX, TILE, 3 * TILE / 2] {
        let some = &open().with_budget(budget);
        some.expect([0.3, 0.5]);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let expected = &expected;
                scope.spawn(move || {
                    for turn in (0..30).map(|turn| (thread + turn * (thread + 1)) % 10) {
                        assert_eq!(profile(some, ends(turn), 99), expected[turn as usize]);
                    }
                });
            }
        });
        assert!(some.kept_bytes() <= budget, "{budget}");
    }
}
