use super::super::vectors::{fixture, rows};
use super::ClutterCategory::{DenseUrban, OpenRural, Suburban, TreesForest, Urban, WaterSea};
use super::*;

/// Category numbers of the NTIA test data.
const CATEGORIES: [ClutterCategory; 6] =
    [WaterSea, OpenRural, Suburban, Urban, TreesForest, DenseUrban];

/// Columns f GHz, h m, street width m, R m, category, A_h dB to `tolerance` of its print.
fn check_height_gain(table: &[Vec<f64>]) {
    for row in table {
        let site = ClutterSite {
            category: CATEGORIES[row[4] as usize - 1],
            height_m: row[3],
            street_width_m: row[2],
        };
        let got = site.height_gain_loss_db(row[0], row[1]).unwrap();
        assert!((got - row[5]).abs() <= row[6], "{row:?}: {got}");
    }
}

#[test]
fn height_gain_matches_workbook_and_ntia() {
    let table = rows(fixture!("p2108_height_gain.csv"));
    assert_eq!(table.len(), 28);
    check_height_gain(&table);
}

/// Columns f GHz, d km, p, L_ctt dB, half a unit of its last printed digit.
#[test]
fn terrestrial_matches_workbook_and_ntia() {
    let table = rows(fixture!("p2108_terrestrial.csv"));
    assert_eq!(table.len(), 267);
    for row in table {
        let got = terrestrial_clutter_loss_db(row[0], row[1], row[2]).unwrap();
        assert!((got - row[3]).abs() <= row[4], "{row:?}: {got}");
    }
}

/// Columns f GHz, elevation, p, L_ces dB, half a unit of its last printed digit.
#[test]
fn slant_matches_workbook_and_ntia() {
    let table = rows(fixture!("p2108_slant.csv"));
    assert_eq!(table.len(), 228);
    for row in table {
        let got = slant_clutter_loss_db(row[0], row[1], row[2]).unwrap();
        assert!((got - row[3]).abs() <= row[4], "{row:?}: {got}");
    }
}

#[test]
fn climbing_out_of_the_clutter_helps() {
    for category in CATEGORIES {
        let site = ClutterSite::from(category);
        let mut last = f64::INFINITY;
        for decimetre in 1..250 {
            let loss = site.height_gain_loss_db(0.9, f64::from(decimetre) * 0.1).unwrap();
            assert!(loss <= last && loss >= 0.0, "{category:?} {decimetre}");
            last = loss;
        }
        assert!(last.abs() < 1e-300);
    }
}

#[test]
fn losses_grow_with_location_percentage_and_stop_at_two_kilometres() {
    for frequency_ghz in [0.5, 2.4, 28.0, 67.0] {
        let mut last = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for p in 1..100 {
            let p = f64::from(p);
            let ground = terrestrial_clutter_loss_db(frequency_ghz, 1.0, p).unwrap();
            let air = slant_clutter_loss_db(frequency_ghz.max(10.0), 20.0, p).unwrap();
            assert!(ground > last.0 && air > last.1);
            last = (ground, air);
            let far = terrestrial_clutter_loss_db(frequency_ghz, 50.0, p).unwrap();
            let edge = terrestrial_clutter_loss_db(frequency_ghz, 2.0, p).unwrap();
            assert!(far <= edge);
        }
    }
}

#[test]
fn refuses_what_the_recommendation_does_not_cover() {
    assert!(ClutterSite::from(Urban).height_gain_loss_db(3.1, 2.0).is_err());
    assert!(ClutterSite::from(Urban).height_gain_loss_db(1.0, 0.0).is_err());
    assert!(terrestrial_clutter_loss_db(0.433, 1.0, 50.0).is_err());
    assert!(terrestrial_clutter_loss_db(2.4, 0.2, 50.0).is_err());
    assert!(terrestrial_clutter_loss_db(2.4, 1.0, 100.0).is_err());
    assert!(slant_clutter_loss_db(30.0, 91.0, 50.0).is_err());
    assert!(slant_clutter_loss_db(30.0, 90.0, 50.0).unwrap().is_finite());
}
