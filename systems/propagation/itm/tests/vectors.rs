//! Published results, and those of the published program on many more inputs.

use crate::profile::PathProfile;
use std::path::Path;

use groundwave_needs::needs;
use groundwave_test_data::shared;

use super::*;

macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/itm/", $name))
    };
}

/// The rows of a comma-separated table that consist of numbers only.
fn rows(text: &str) -> Vec<Vec<f64>> {
    let numbers = |line: &str| line.split(',').map(|cell| cell.trim().parse().ok()).collect();
    text.lines().filter_map(numbers).collect()
}

fn profile(row: &[f64]) -> PathProfile<'_> {
    assert_eq!(row[0] as usize, row.len() - 3, "intervals and points disagree");
    PathProfile::bare(row[1], &row[2..])
}

/// Losses agree this closely with those of the published program, dB.
const TOLERANCE_DB: f64 = 1e-6;

/// Other values agree relatively this closely. On a perfectly even slope the irregularity is
/// nothing but rounding error (3e-13 m here, 0 there), yet its square root acts on the horizons.
const TOLERANCE: f64 = 1e-7;

/// Compares with `rc, warnings, A` and, where there are more columns, the intermediate values
/// that follow; the error of the loss, dB.
fn compare(name: &str, got: Result<Prediction, Invalid>, want: &[f64]) -> f64 {
    let got = got.unwrap_or_else(|refused| panic!("{name}: {refused}"));
    let bits = got.warnings.ntia_bits();
    assert!((f64::from(bits) - want[1]).abs() < 0.5, "{name}: {bits:#x}");
    assert_eq!(bits != 0, want[0] > 0.5, "{name}: return code");
    if let [_, _, _, mode, distance, n_s, delta_h, a_ref, a_fs, ref rest @ ..] = *want {
        let of = &got.reference;
        assert_eq!(of.mode as u8, mode as u8, "{name}");
        for (got, want) in [(of.a_ref_db, a_ref), (of.a_fs_db, a_fs)] {
            assert!((got - want).abs() <= TOLERANCE_DB, "{name}: {got} {want}");
        }
        let pairs = [of.effective_height_m, of.horizon_distance_m, of.horizon_angle_rad];
        let mine = [of.distance_km, of.n_s, of.delta_h_m];
        let theirs = [distance, n_s, delta_h];
        assert_eq!(rest.len(), 6, "{name}");
        let mine = mine.iter().chain(pairs.as_flattened());
        for (got, want) in mine.zip(theirs.iter().chain(rest)) {
            let allowed = TOLERANCE * want.abs() + 1e-9;
            assert!((got - want).abs() <= allowed, "{name}: {got} {want}");
        }
    } else {
        assert_eq!(want.len(), 3, "{name}: columns");
    }
    (got.basic_transmission_loss_db - want[2]).abs()
}

fn polarization(code: f64) -> Polarization {
    match code as u8 {
        0 => Polarization::Horizontal,
        _ => Polarization::Vertical,
    }
}

fn mdvar(code: f64) -> Mdvar {
    Mdvar::from_code(code as u8).unwrap()
}

fn climate(code: f64) -> Climate {
    Climate::ALL[code as usize - 1]
}

fn siting(code: f64) -> Siting {
    [Siting::Random, Siting::Careful, Siting::VeryCareful][code as usize]
}

/// Columns: `case, profile, h_tx, h_rx, epsilon, sigma, N_0, f, pol, climate, mdvar, time,
/// location, situation, rc, warnings, A, ...`. The worst error, dB.
fn check_generated_p2p(cases: &[Vec<f64>], profiles: &[Vec<f64>]) -> f64 {
    let errors = cases.iter().map(|row| {
        let medium = Medium {
            n_0: row[6],
            epsilon: row[4],
            sigma_s_m: row[5],
            climate: climate(row[9]),
            frequency_mhz: row[7],
            polarization: polarization(row[8]),
            mdvar: mdvar(row[10]),
        };
        let profile = profile(&profiles[row[1] as usize]);
        let quantile = quantile(row[11], row[12], row[13]);
        let got = point_to_point(&profile, row[2], row[3], &medium, quantile);
        compare(&format!("case {}", row[0]), got, &row[14..])
    });
    errors.fold(0.0, f64::max)
}

/// Columns: `case, h_tx, h_rx, tx_siting, rx_siting, d, delta_h, climate, N_0, f, pol, epsilon,
/// sigma, mdvar, time, location, situation, rc, warnings, A, ...`. The worst error, dB.
fn check_generated_area(cases: &[Vec<f64>]) -> f64 {
    let errors = cases.iter().map(|row| {
        let path = AreaPath {
            distance_km: row[5],
            delta_h_m: row[6],
            antenna_agl_m: [row[1], row[2]],
            siting: [siting(row[3]), siting(row[4])],
        };
        let medium = Medium {
            n_0: row[8],
            epsilon: row[11],
            sigma_s_m: row[12],
            climate: climate(row[7]),
            frequency_mhz: row[9],
            polarization: polarization(row[10]),
            mdvar: mdvar(row[13]),
        };
        let got = area(&path, &medium, quantile(row[14], row[15], row[16]));
        compare(&format!("case {}", row[0]), got, &row[17..])
    });
    errors.fold(0.0, f64::max)
}

/// The five published cases, printed with two decimals.
#[test]
fn published_point_to_point() {
    let profiles = rows(fixture!("ntia_pfls.csv"));
    let cases = rows(fixture!("ntia_p2p.csv"));
    assert_eq!((cases.len(), profiles.len()), (5, 5));
    for (row, terrain) in cases.iter().zip(&profiles) {
        let medium = Medium {
            n_0: row[4],
            epsilon: row[2],
            sigma_s_m: row[3],
            climate: climate(row[7]),
            frequency_mhz: row[5],
            polarization: polarization(row[6]),
            mdvar: mdvar(row[11]),
        };
        let quantile = quantile(row[8], row[9], row[10]);
        let got = point_to_point(&profile(terrain), row[0], row[1], &medium, quantile);
        let loss_db = got.unwrap().basic_transmission_loss_db;
        assert!((loss_db - row[12]).abs() <= 0.01, "{loss_db} {}", row[12]);
    }
}

/// The five published cases, printed with one decimal.
#[test]
fn published_area() {
    let cases = rows(fixture!("ntia_area.csv"));
    assert_eq!(cases.len(), 5);
    for row in cases {
        let path = AreaPath {
            distance_km: row[4],
            delta_h_m: row[2],
            antenna_agl_m: [row[0], row[1]],
            siting: [siting(row[5]), siting(row[6])],
        };
        let medium = Medium {
            n_0: row[9],
            epsilon: row[7],
            sigma_s_m: row[8],
            climate: climate(row[12]),
            frequency_mhz: row[10],
            polarization: polarization(row[11]),
            mdvar: mdvar(row[3]),
        };
        let got = area(&path, &medium, quantile(row[13], row[14], row[15]));
        let loss_db = got.unwrap().basic_transmission_loss_db;
        assert!((loss_db - row[16]).abs() <= 0.05, "{loss_db} {}", row[16]);
    }
}

/// `cmd_examples/o_p2pcr_tbl.txt`: reliability down, confidence across.
#[test]
fn published_point_to_point_confidence_table() {
    let table = [
        (10.0, [110.9, 117.2, 129.1]),
        (65.0, [110.9, 117.4, 129.2]),
        (90.0, [110.9, 117.5, 129.3]),
    ];
    let terrain = rows(fixture!("ntia_cmd_pfl.csv"));
    let medium = Medium { mdvar: mdvar(1.0), ..medium(3500.0) };
    let of = reference(&profile(&terrain[0]), 15.0, 3.0, &medium).unwrap();
    for (reliability, losses_db) in table {
        for (confidence, want_db) in [10.0, 60.0, 90.0].into_iter().zip(losses_db) {
            let quantile = Quantile::confidence_reliability(confidence, reliability).unwrap();
            let got_db = of.basic_transmission_loss_db(quantile);
            assert!((got_db - want_db).abs() <= 0.05 + 1e-9, "{got_db} {want_db}");
        }
    }
}

/// `cmd_examples/o_areacr_tbl.txt`, which crosses all three modes of propagation.
#[test]
fn published_area_confidence_table() {
    let table = rows(fixture!("ntia_cmd_area_cr.csv"));
    assert_eq!(table.len(), 19);
    let medium = Medium { mdvar: mdvar(3.0), ..medium(10e3) };
    let mut modes = Vec::new();
    for row in table {
        let path = AreaPath {
            distance_km: row[0],
            delta_h_m: 0.0,
            antenna_agl_m: [3.0, 3.0],
            siting: [Siting::Random; 2],
        };
        let of = area_reference(&path, &medium).unwrap();
        modes.push(of.mode as u8);
        assert!((of.a_fs_db - row[1]).abs() <= 0.05, "{} km", row[0]);
        for (confidence, want_db) in [50.0, 75.0, 90.0].into_iter().zip(&row[2..]) {
            let quantile = Quantile::confidence_reliability(confidence, 90.0).unwrap();
            let got_db = of.basic_transmission_loss_db(quantile);
            assert!((got_db - want_db).abs() <= 0.05 + 1e-9, "{got_db} {want_db}");
        }
    }
    modes.dedup();
    assert_eq!(modes, [1, 2, 3]);
}

/// Cases from 3000 on are those where the least rounding of a horizon distance decides how the
/// terrain is cut.
#[test]
fn shipped_point_to_point_cases_and_all_intermediates() {
    let cases = rows(fixture!("generated_p2p.csv"));
    assert_eq!(cases.len(), 68);
    let worst_db = check_generated_p2p(&cases, &rows(fixture!("generated_profiles.csv")));
    assert!(worst_db <= TOLERANCE_DB, "{worst_db:e} dB");
}

/// Cases from 2000 on go through both tails of time in every climate, and through weak
/// troposcatter.
#[test]
fn shipped_area_cases_and_all_intermediates() {
    let cases = rows(fixture!("generated_area.csv"));
    assert_eq!(cases.len(), 80);
    let worst_db = check_generated_area(&cases);
    assert!(worst_db <= TOLERANCE_DB, "{worst_db:e} dB");
}

fn read(path: &Path) -> Vec<Vec<f64>> {
    rows(&std::fs::read_to_string(path).expect("a listed vector file is readable"))
}

#[needs(shared("vectors/generated_from_NTIA_itm"))]
#[test]
fn all_point_to_point_cases() {
    let folder = shared("vectors/generated_from_NTIA_itm");
    let cases = read(&folder.join("p2p.csv"));
    assert!(cases.len() > 1000, "{}", cases.len());
    let worst_db = check_generated_p2p(&cases, &read(&folder.join("profiles.csv")));
    eprintln!("{} cases, worst error {worst_db:e} dB", cases.len());
    assert!(worst_db <= TOLERANCE_DB, "{worst_db:e} dB");
}

#[needs(shared("vectors/generated_from_NTIA_itm/area.csv"))]
#[test]
fn all_area_cases() {
    let cases = read(&shared("vectors/generated_from_NTIA_itm/area.csv"));
    assert!(cases.len() > 500, "{}", cases.len());
    let worst_db = check_generated_area(&cases);
    eprintln!("{} cases, worst error {worst_db:e} dB", cases.len());
    assert!(worst_db <= TOLERANCE_DB, "{worst_db:e} dB");
}
