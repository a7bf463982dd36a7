//! Heights along short ways: a link and a coverage get the same bits, nearly those of positions.

use std::fs;

use groundwave_model::terrain::{CurveRow, GeoPoint, Path, Profile, Terrain, sample_filled};

use super::TileDirectory;
use crate::gather::VOID;

/// Two rough tiles beside each other, of which one holds a void or not.
fn rough(void: bool) -> (tempfile::TempDir, TileDirectory) {
    let folder = tempfile::tempdir().unwrap();
    for (number, name) in ["N10E020.hgt", "N10E021.hgt"].into_iter().enumerate() {
        let mut bytes = Vec::with_capacity(2_884_802);
        for row in 0..1201_usize {
            for column in 0..1201_usize {
                let east = column + 1200 * number;
                let post = (row * 7 + east * 5) % 400 + (row * east * 7919) % 61;
                let hole = void && number == 0 && (row, column) == (600, 600);
                let post = if hole { VOID } else { post as i16 };
                bytes.extend(post.to_be_bytes());
            }
        }
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let tiles = TileDirectory::open(folder.path()).unwrap();
    (folder, tiles)
}

/// Ways within a tile, along its edges, from tile to tile and over the middle of the first.
fn ways() -> Vec<[GeoPoint; 2]> {
    let ends = [
        [10.5, 20.5, 10.51, 20.52],
        [10.0, 20.0, 10.4, 20.4],
        [10.0, 20.2, 10.0, 20.6],
        [10.1, 20.9, 10.3, 21.2],
        [10.45, 20.45, 10.55, 20.56],
        [10.2, 21.3, 10.7, 21.35],
        [10.7, 21.3, 10.7001, 21.3002],
        [10.9, 20.1, 10.2, 20.3],
        [10.3, 20.5, 10.3, 20.9],
    ];
    let point = |lat, lon| GeoPoint::new(lat, lon).unwrap();
    ends.map(|[a, b, c, d]| [point(a, b), point(c, d)]).to_vec()
}

#[test]
fn heights_along_a_curve_are_those_at_its_positions() {
    for void in [false, true] {
        let (_folder, tiles) = rough(void);
        for [from, to] in ways() {
            for samples in [2, 5, 33, 271, 700] {
                let path = Path::between(from, to);
                let mut profile = Profile::default();
                profile.trace(&tiles, &path, samples);
                let mut heights_m = vec![0.0; samples];
                let (lat_deg, lon_deg) = (&profile.lat_deg, &profile.lon_deg);
                let (used, ground) = sample_filled(&tiles, lat_deg, lon_deg, &mut heights_m);
                assert_eq!(profile.terrain, used, "{from:?} {to:?} {samples}");
                assert_eq!(profile.ground, ground, "{from:?} {to:?} {samples}");
                for (height_m, want) in profile.elevation_msl_m.iter().zip(&heights_m) {
                    assert!((height_m - want).abs() < 1e-7, "{height_m} {want}");
                }
            }
        }
    }
}

#[test]
fn neighbours_change_no_bit() {
    let (_folder, tiles) = rough(false);
    let samples = 500;
    let curves: Vec<_> = (ways().iter())
        .map(|[from, to]| Path::between(*from, *to).curve(samples).unwrap())
        .collect();
    let mut together = vec![vec![0.0; samples - 1]; curves.len()];
    let mut rows = Vec::new();
    for (curve, heights_m) in curves.iter().zip(&mut together) {
        rows.push(CurveRow { curve, elevation_msl_m: heights_m, greatest_m: None, used: None });
    }
    tiles.sample_curves(&mut rows);
    let mut count = 0;
    for row in &rows {
        let mut alone = vec![0.0; samples - 1];
        let mut one = [CurveRow {
            curve: row.curve,
            elevation_msl_m: &mut alone,
            greatest_m: None,
            used: None,
        }];
        tiles.sample_curves(&mut one);
        assert_eq!(one[0].greatest_m, row.greatest_m);
        if row.greatest_m.is_some() {
            assert_eq!(alone, row.elevation_msl_m);
            count += 1;
        }
    }
    assert!(count >= 5, "ways within a tile are followed everywhere: {count}");
}
