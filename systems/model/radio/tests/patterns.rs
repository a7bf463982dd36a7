//! Antennas with measured patterns.

use groundwave_propagation::polarization::Polarization;
use serde_json::json;

use super::super::antenna::pointing_loss_db;
use super::super::pattern::{Cuts, LOSS_DB_MAX, Pattern};
use super::super::{Antenna, Pointing};
use super::{Random, near};

/// Loss of a parabolic lobe of so many degrees that ends at a loss.
fn lobe_db(offset_deg: f64, beamwidth_deg: f64, floor_db: f64) -> f64 {
    (12.0 * (offset_deg / beamwidth_deg).powi(2)).min(floor_db)
}

/// A cut of a sample each degree, of a function of the angle from the boresight, deg, [-180, 180).
fn cut(of: impl Fn(f64) -> f64) -> Vec<f64> {
    let signed_deg = |index: i32| f64::from(if index >= 180 { index - 360 } else { index });
    (0..360).map(|index| of(signed_deg(index))).collect()
}

/// A sector of 65 x 8 degrees, tilted 6 degrees down in its vertical cut, 25 dB front to back.
fn sector() -> Pattern {
    let down_db = |down_deg: f64| lobe_db(down_deg - 6.0, 8.0, 25.0);
    let ahead_db = down_db(0.0);
    Pattern::new(Cuts {
        horizontal_loss_db: cut(|right_deg| ahead_db + lobe_db(right_deg, 65.0, 25.0 - ahead_db)),
        vertical_loss_db: cut(down_db),
    })
    .unwrap()
}

fn antenna(pattern: Pattern) -> Antenna {
    let bare = Antenna {
        gain_dbi: 17.0,
        azimuth_beamwidth_deg: 360.0,
        elevation_beamwidth_deg: 360.0,
        front_to_back_db: 0.0,
        polarization: Polarization::Vertical,
        electrical_tilt_deg: 3.0,
        pattern: None,
    };
    bare.with_pattern(pattern)
}

#[test]
fn cuts_are_reproduced_at_their_samples() {
    let pattern = sector();
    let Cuts { horizontal_loss_db, vertical_loss_db } = pattern.cuts();
    for at in 0..360_usize {
        let turned_deg = if at > 180 { at as f64 - 360.0 } else { at as f64 };
        near(pattern.loss_db(turned_deg, 0.0), horizontal_loss_db[at], 1e-12);
        near(pattern.loss_db(0.0, -turned_deg), vertical_loss_db[at], 1e-12);
    }
    near(pattern.loss_db(180.0, -10.0), vertical_loss_db[170], 1e-12);
    near(pattern.loss_db(-180.0, 30.0), vertical_loss_db[210], 1e-12);
}

#[test]
fn loss_lies_between_zero_and_the_greatest_of_the_cuts_and_has_no_jumps() {
    let pattern = sector();
    let mut random = Random(7);
    for _ in 0..20_000 {
        let [across_deg, up_deg] = [random.between(-180.0, 180.0), random.between(-180.0, 180.0)];
        let loss_db = pattern.loss_db(across_deg, up_deg);
        assert!((0.0..=25.0).contains(&loss_db), "{across_deg} {up_deg} {loss_db}");
    }
    let steps = (-1800..1800).map(|tenth| f64::from(tenth) / 10.0);
    for angle_deg in steps {
        for other_deg in [-89.0, -6.0, 0.0, 40.0] {
            let across_db =
                pattern.loss_db(angle_deg, other_deg) - pattern.loss_db(angle_deg + 0.1, other_deg);
            let up_db = pattern.loss_db(other_deg, angle_deg / 2.0)
                - pattern.loss_db(other_deg, angle_deg / 2.0 + 0.1);
            assert!(across_db.abs() < 0.8 && up_db.abs() < 0.8, "{angle_deg} {other_deg}");
        }
    }
}

#[test]
fn symmetric_cuts_give_a_symmetric_pattern() {
    let pattern = sector();
    for across_deg in [0.0, 0.4, 17.5, 90.0, 133.3, 180.0] {
        for up_deg in [-90.0, -44.4, -6.0, 0.0, 12.0] {
            near(pattern.loss_db(-across_deg, up_deg), pattern.loss_db(across_deg, up_deg), 1e-9);
        }
    }
}

#[test]
fn a_product_of_an_azimuth_and_an_elevation_pattern_is_exact() {
    let down_db = |down_deg: f64| lobe_db(down_deg, 20.0, 30.0);
    let right_db = |right_deg: f64| (right_deg / 18.0).abs();
    let behind_deg = |deg: f64| 180.0_f64.copysign(deg) - deg;
    let pattern = Pattern::new(Cuts {
        horizontal_loss_db: cut(right_db),
        vertical_loss_db: cut(|deg| match deg.abs() <= 90.0 {
            true => down_db(deg),
            false => down_db(behind_deg(deg)) + 10.0,
        }),
    })
    .unwrap();
    for right_deg in [-170.0, -90.0, -3.0, 0.0, 45.0, 120.0] {
        for up_deg in [-80.0, -11.0, 0.0, 7.0, 60.0] {
            let sum_db = right_db(right_deg) + down_db(-up_deg);
            near(pattern.loss_db(right_deg, up_deg), sum_db, 1e-9);
        }
    }
}

#[test]
fn pattern_is_turned_and_tilted_like_a_lobe() {
    let sector = antenna(sector());
    let aim = |azimuth_deg, elevation_deg| Some(Pointing { azimuth_deg, elevation_deg });
    near(pointing_loss_db(&sector, aim(120.0, 0.0), 120.0, -6.0), 0.0, 1e-12);
    near(pointing_loss_db(&sector, aim(120.0, -4.0), 120.0, -10.0), 0.0, 1e-9);
    near(
        pointing_loss_db(&sector, aim(350.0, 0.0), 20.0, 0.0),
        6.75 + 12.0 * 0.213_017_751_5,
        1e-6,
    );
    // More electrical tilt than the pattern has.
    let steep = Antenna { electrical_tilt_deg: 2.0, ..sector.clone() };
    near(pointing_loss_db(&steep, aim(120.0, 0.0), 120.0, -8.0), 0.0, 1e-12);
    // A directive one looks at the other end; one that is alike all round has its 0 degrees in the north.
    near(pointing_loss_db(&sector, None, 20.0, 0.0), 0.0, 0.0);
    let upright = Antenna { azimuth_beamwidth_deg: 360.0, ..sector };
    assert!(pointing_loss_db(&upright, None, 270.0, -6.0) > 10.0);
    near(pointing_loss_db(&upright, None, 0.0, -6.0), 0.0, 1e-12);
}

#[test]
fn beamwidths_and_front_to_back_ratio_are_those_of_the_cuts() {
    let sector = antenna(sector());
    near(sector.azimuth_beamwidth_deg, 65.0, 0.11);
    near(sector.elevation_beamwidth_deg, 8.0, 0.11);
    assert_eq!((sector.front_to_back_db, sector.electrical_tilt_deg), (18.3, 0.0));
    let pattern = sector.pattern.unwrap();
    assert_eq!(pattern.peaks_deg(), [0.0, 6.0]);
    let flat = Pattern::new(Cuts {
        horizontal_loss_db: vec![0.0, 1.0, 2.0, 1.0],
        vertical_loss_db: vec![0.0, 0.0, 2.0, 0.0],
    });
    let flat = flat.unwrap();
    assert_eq!((flat.beamwidths_deg(), flat.front_to_back_db()), ([360.0, 360.0], 2.0));
    near(flat.loss_db(45.0, 0.0), 0.5, 1e-12);
}

#[test]
fn invalid_samples_give_an_error_with_the_allowed_range() {
    let error = |horizontal_loss_db: Vec<f64>| {
        let cuts = Cuts { horizontal_loss_db, vertical_loss_db: vec![0.0; 4] };
        Pattern::new(cuts).unwrap_err().to_string()
    };
    let count = "invalid pattern.horizontal_loss_db: found 3 values, allowed 4 to 3600 values";
    assert_eq!(error(vec![0.0; 3]), count);
    let range = "invalid pattern.horizontal_loss_db[2]: found -1, allowed [0, 100]";
    assert_eq!(error(vec![0.0, 0.0, -1.0, 0.0]), range);
    for loss_db in [f64::NAN, f64::INFINITY, LOSS_DB_MAX + 0.1] {
        assert!(error(vec![loss_db; 4]).contains("allowed [0, 100]"));
    }
}

#[test]
fn document_of_an_antenna_has_the_samples_and_none_without_a_pattern() {
    let own = antenna(sector());
    let document = serde_json::to_value(&own).unwrap();
    assert_eq!(document["pattern"]["vertical_loss_db"][6], json!(0.0));
    assert_eq!(serde_json::from_value::<Antenna>(document.clone()).unwrap(), own);
    let plain = serde_json::to_value(Antenna { pattern: None, ..own }).unwrap();
    assert_eq!(plain.get("pattern"), None);
    let mut bad = document;
    bad["pattern"]["vertical_loss_db"][6] = json!(-0.5);
    let error = serde_json::from_value::<Antenna>(bad).unwrap_err().to_string();
    assert!(error.contains("pattern.vertical_loss_db[6]: found -0.5, allowed [0, 100]"), "{error}");
}
