//! Both layouts from synthetic grids, and the published values from real grids.

use std::path::Path;

use groundwave_needs::needs;
use groundwave_test_data::{fetched, shared};

use super::*;

const REFERENCE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/terrain/egm96_reference.csv"
));

/// Centimetres at a post, `row` from the north and `column` from 0 degrees: no two neighbours
/// alike, and one value at each pole.
fn centimetres(row: usize, column: usize) -> i16 {
    match row {
        0 => 1361,
        720 => -2953,
        _ => i16::try_from((row * 31 + column * 17) % 7001).unwrap(),
    }
}

fn dac() -> Vec<u8> {
    let posts = (0..ROWS * COLUMNS).map(|i| centimetres(i / COLUMNS, i % COLUMNS));
    posts.flat_map(i16::to_be_bytes).collect()
}

fn gtx() -> Vec<u8> {
    let mut bytes: Vec<u8> =
        [-90.0_f64, -180.0, 0.25, 0.25].into_iter().flat_map(f64::to_be_bytes).collect();
    bytes.extend([721_i32, 1440].into_iter().flat_map(i32::to_be_bytes));
    for row in (0..ROWS).rev() {
        for column in 0..COLUMNS {
            let metres = f32::from(centimetres(row, (column + 720) % COLUMNS)) / 100.0;
            bytes.extend(metres.to_be_bytes());
        }
    }
    bytes
}

fn at(lat: f64, lon: f64) -> GeoPoint {
    GeoPoint::wrapping(lat, lon).unwrap()
}

#[test]
fn both_layouts_give_the_same_geoid() {
    let geoid = Geoid::decode(&dac()).unwrap();
    assert!(geoid == Geoid::decode(&gtx()).unwrap());
    for row in [0, 1, 359, 360, 361, 719, 720] {
        for column in [0, 1, 719, 720, 721, 1439] {
            let [lat, lon] = [row, column].map(|i| f64::from(u32::try_from(i).unwrap()) * 0.25);
            let undulation = geoid.undulation_m(at(90.0 - lat, lon));
            let expected = f64::from(centimetres(row, column)) / 100.0;
            assert!((undulation - expected).abs() < 1e-5, "{row} {column}");
        }
    }
}

#[test]
fn between_posts_it_is_bilinear_and_goes_round_the_earth() {
    let geoid = Geoid::decode(&dac()).unwrap();
    // A quarter of the way south and three quarters of the way east in the last column's cell.
    let corners = [(200, 1439, 0.1875), (200, 0, 0.5625), (201, 1439, 0.0625), (201, 0, 0.1875)];
    let expected: f64 =
        corners.iter().map(|&(r, c, w)| w * f64::from(centimetres(r, c)) / 100.0).sum();
    let lat = 90.0 - 200.25 * 0.25;
    for lon in [-0.0625, 359.9375] {
        assert!((geoid.undulation_m(at(lat, lon)) - expected).abs() < 1e-5);
    }
    assert_eq!(geoid.undulation_m(at(10.0, 180.0)), geoid.undulation_m(at(10.0, -180.0)));
    for lon in [0.0, 33.3, -120.1] {
        assert!((geoid.undulation_m(at(90.0, lon)) - 13.61).abs() < 1e-5);
        assert!((geoid.undulation_m(at(-90.0, lon)) + 29.53).abs() < 1e-5);
    }
    // A negative longitude so small that adding a turn rounds to a whole one.
    let (tiny, zero) = (geoid.undulation_m(at(10.0, -1e-18)), geoid.undulation_m(at(10.0, 0.0)));
    assert!((tiny - zero).abs() < 1e-9);
}

#[test]
fn other_files_are_refused() {
    for size in [0, 100, 2_076_479, 2_076_481, 4_153_001] {
        let error = Geoid::decode(&vec![0; size]).unwrap_err();
        assert_eq!(error, BadGrid::Size { found: size as u64 });
        let text = error.to_string();
        assert!(text.contains("2076480") && text.contains("4153000"), "{text}");
    }
    let mut other_grid = gtx();
    other_grid[..8].copy_from_slice(&(-89.0_f64).to_be_bytes());
    let error = Geoid::decode(&other_grid).unwrap_err();
    assert!(matches!(error, BadGrid::Header { .. }));
    assert!(error.to_string().contains("lat -89"), "{error}");
    // The wrong byte order.
    let swapped: Vec<u8> = dac().chunks(2).flat_map(|pair| [pair[1], pair[0]]).collect();
    assert!(matches!(Geoid::decode(&swapped), Err(BadGrid::Value { .. })));
    let mut not_a_number = gtx();
    not_a_number[40..44].copy_from_slice(&f32::NAN.to_be_bytes());
    let error = Geoid::decode(&not_a_number).unwrap_err();
    assert!(matches!(error, BadGrid::Value { row: 0, column: 0, .. }));
}

#[test]
fn a_file_is_read_and_named_in_errors() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("egm96");
    std::fs::write(&path, dac()).unwrap();
    assert!(Geoid::open(&path).unwrap() == Geoid::decode(&dac()).unwrap());
    std::fs::write(&path, vec![0; 5_000_000]).unwrap();
    let error = Geoid::open(&path).unwrap_err();
    assert!(matches!(error, GeoidError::Format { source: BadGrid::Size { found: 4_153_001 }, .. }));
    assert!(error.to_string().contains("egm96"), "{error}");
}

/// Compares a real grid with the undulations that NGA publishes.
fn check_published(path: &Path) {
    let geoid = Geoid::open(path).unwrap();
    // DAC values are whole centimetres, those of the GTX are not.
    let is_dac = path.metadata().unwrap().len() == DAC_BYTES;
    let (mut worst_nga_m, mut worst_bilinear_m, mut rows) = (0.0_f64, 0.0_f64, 0);
    for line in REFERENCE.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [lat, lon, bilinear] = [1, 2, 4].map(|i| fields[i].parse::<f64>().unwrap());
        let undulation_m = geoid.undulation_m(at(lat, lon));
        worst_bilinear_m = worst_bilinear_m.max((undulation_m - bilinear).abs());
        if let Ok(nga) = fields[3].parse::<f64>() {
            worst_nga_m = worst_nga_m.max((undulation_m - nga).abs());
        }
        rows += 1;
    }
    eprintln!("{}: {worst_nga_m:.4} m to NGA, {worst_bilinear_m:.6} m to bilinear", path.display());
    assert_eq!(rows, 23);
    assert!(worst_nga_m < 0.06);
    assert!(worst_bilinear_m < if is_dac { 2e-5 } else { 0.006 });
}

#[needs(terrain)]
#[test]
fn positions_give_published_undulations() {
    check_published(&fetched("geoid/WW15MGH.DAC"));
}

#[needs(shared("data/geoid/egm96_15.gtx"))]
#[test]
fn layout_of_proj_gives_published_undulations() {
    check_published(&shared("data/geoid/egm96_15.gtx"));
}
