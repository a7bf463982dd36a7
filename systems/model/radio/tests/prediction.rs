//! Distributions of links alike.

use super::super::Verdict;
use super::super::calibration::Offset;
use super::super::prediction::{Basis, Distribution, Entry, Evidence, Exposure};
use crate::terrain::PathGround;

const PATH: Evidence<'_> = Evidence {
    exposure: Exposure::Above,
    unknown_share: 0.0,
    entry: Entry { is_indoor: false, median_db: 0.0, sigma_db: 0.0 },
    ground: PathGround::Known,
    clear: false,
    calibrated: None,
    is_unlike: false,
    is_elsewhere: false,
    model_sigma_db: 0.0,
    model_excess_db: 0.0,
    distance_m: 5e3,
    free_space_db: 105.2,
    model_loss_db: 118.0,
    known_db: 0.0,
    woodland_db: 0.0,
};

#[test]
fn the_interval_holds_nine_of_ten_and_the_deciles_eight() {
    let distribution = PATH.distribution();
    assert_eq!((distribution.basis, distribution.median_db), (Basis::Terrain, 118.0));
    let prediction = distribution.prediction(118.0, -80.0, Some(20.0));
    // 1.645 and 1.2816 times the root of 11² + 7².
    let [low_dbm, high_dbm] = prediction.rx_power_interval_dbm;
    assert!((high_dbm + 80.0 - 21.45).abs() < 0.01 && (low_dbm + 80.0 + 21.45).abs() < 0.01);
    let [ten_dbm, half_dbm, ninety_dbm] = distribution.quantiles_dbm(118.0, -80.0);
    assert!((ten_dbm + 80.0 - 16.71).abs() < 0.01 && (ninety_dbm + 80.0 + 16.71).abs() < 0.01);
    assert_eq!(half_dbm, -80.0);
    // Φ(20 / 13.04).
    assert!((prediction.link_prob - 0.937_45).abs() < 1e-4);
}

#[test]
fn what_is_unknown_widens_the_interval_and_low_antennas_stand_in_clutter() {
    let low = Evidence { unknown_share: 1.0, ..PATH };
    let distribution = low.distribution();
    assert_eq!(distribution.basis, Basis::SurroundingsUnknown);
    assert!((distribution.median_db - 137.2).abs() < 1e-9);
    assert!((1.645 * distribution.sigma_db() - 30.0).abs() < 0.1);
    // Terrain that costs more than surroundings do is not added to them.
    let behind_a_ridge = Evidence { model_loss_db: 150.0, ..low };
    assert_eq!(behind_a_ridge.distribution().median_db, 150.0);
    // Two nodes across a room have nothing between them.
    let near = Evidence { distance_m: 25.0, free_space_db: 59.2, model_loss_db: 59.2, ..low };
    assert!((near.distribution().median_db - 62.4).abs() < 1e-9);
    let void = Evidence { ground: PathGround::Partial, clear: true, ..PATH };
    let distribution = void.distribution();
    assert_eq!((distribution.basis, distribution.median_db), (Basis::GroundUnknown, 118.0));
}

#[test]
fn known_losses_count_beside_those_of_unknown_surroundings() {
    // The loss of the model has them.
    let low = Evidence { unknown_share: 1.0, ..PATH };
    let rain = Evidence { known_db: 6.5, model_loss_db: 124.5, ..low };
    assert!((rain.distribution().median_db - 143.7).abs() < 1e-9);
    let void = Evidence { ground: PathGround::Unknown, ..rain };
    assert!((void.distribution().median_db - 143.7).abs() < 1e-9);
    let half = Evidence { unknown_share: 0.5, ..rain };
    assert!((half.distribution().median_db - 127.7).abs() < 1e-9);
}

#[test]
fn of_woods_and_unknown_surroundings_the_larger_loss_counts() {
    let low = Evidence { unknown_share: 1.0, ..PATH };
    for (woodland_db, median_db) in [(0.1, 137.2), (20.0, 138.0), (40.0, 158.0)] {
        let woods = Evidence { woodland_db, model_loss_db: 118.0 + woodland_db, ..low };
        let distribution = woods.distribution();
        assert!((distribution.median_db - median_db).abs() < 1e-9, "{woodland_db}");
        assert_eq!(distribution.basis, Basis::SurroundingsUnknown);
        let void = Evidence { ground: PathGround::Unknown, ..woods }.distribution();
        assert!((void.median_db - 105.2 - woodland_db.max(32.0)).abs() < 1e-9, "{woodland_db}");
    }
}

#[test]
fn unknown_ground_is_not_level_ground_and_has_no_verdict() {
    let beyond = Evidence { ground: PathGround::Unknown, model_loss_db: 165.0, ..PATH };
    let low = Evidence { unknown_share: 1.0, ..beyond };
    // Free space and 32 dB, whatever the model made of a level Earth.
    assert!((low.distribution().median_db - 137.2).abs() < 1e-9);
    let half = Evidence { unknown_share: 0.5, ..beyond }.distribution();
    assert!(half.median_db > 137.2 && half.median_db < 165.0);
    assert_eq!(beyond.distribution().median_db, 165.0, "masts above their surroundings");
    let gap = Evidence { ground: PathGround::Partial, ..low }.distribution();
    assert_eq!((gap.basis, gap.median_db), (Basis::GroundUnknown, 165.0));
    let verdict = |one: Distribution| one.verdict(one.median_db, 100.0);
    assert_eq!(verdict(low.distribution()), Verdict::NoLink);
    assert_eq!(verdict(gap), Verdict::Excellent);
    assert!((1.645 * gap.sigma_db() - 29.94).abs() < 0.01);
}

#[test]
fn an_antenna_in_part_among_unknown_surroundings_has_part_of_their_loss_and_spread() {
    for path in [PATH, Evidence { clear: true, ..PATH }] {
        let at = |unknown_share| Evidence { unknown_share, ..path }.distribution();
        let [above, next, half, next_to_whole, whole] = [0.0, 1e-6, 0.5, 1.0 - 1e-6, 1.0].map(at);
        for (a, b) in [(above, next), (next_to_whole, whole)] {
            assert!((a.median_db - b.median_db).abs() < 1e-3, "{a:?} {b:?}");
            assert!((a.sigma_db() - b.sigma_db()).abs() < 1e-3, "{a:?} {b:?}");
        }
        assert!(above.sigma_db() < half.sigma_db() && half.sigma_db() < whole.sigma_db());
        assert!((half.median_db - 121.2).abs() < 1e-9, "{half:?}");
        assert_eq!(half.basis, Basis::SurroundingsUnknown);
    }
}

#[test]
fn a_clear_path_above_its_surroundings_is_the_surest() {
    let clear = Evidence { clear: true, ..PATH };
    let distribution = clear.distribution();
    assert_eq!(distribution.basis, Basis::LineOfSight);
    assert!((1.645 * distribution.sigma_db() - 13.96).abs() < 0.01);
    let rough = Evidence { model_sigma_db: 9.0, ..clear };
    assert_eq!(rough.distribution().link_sigma_db, 6.0);
    let within = Evidence { exposure: Exposure::Within, ..clear };
    assert_eq!(within.distribution().basis, Basis::Terrain);
}

/// Losses that terrain does not show: from that of a clear line of sight at 6 dB to that of any terrain at 12 dB.
#[test]
fn clear_path_with_a_large_loss_by_the_model_is_as_uncertain_as_terrain() {
    let at = |model_excess_db| {
        Evidence { clear: true, model_sigma_db: 12.0, model_excess_db, ..PATH }.distribution()
    };
    for (excess_db, basis, sigmas_db) in [
        (0.0, Basis::LineOfSight, [6.0, 6.0]),
        (6.0, Basis::LineOfSight, [6.0, 6.0]),
        (6.0 + 1e-9, Basis::Terrain, [6.0, 6.0]),
        (9.0, Basis::Terrain, [9.0, 6.5]),
        (12.0, Basis::Terrain, [12.0, 7.0]),
        (36.6, Basis::Terrain, [12.0, 7.0]),
    ] {
        let distribution = at(excess_db);
        assert_eq!(distribution.basis, basis, "{excess_db}");
        let own_db = [distribution.link_sigma_db, distribution.place_sigma_db];
        for (own_db, sigma_db) in own_db.into_iter().zip(sigmas_db) {
            assert!((own_db - sigma_db).abs() < 1e-6, "{excess_db}: {own_db} {sigma_db}");
        }
    }
    let within = Evidence { exposure: Exposure::Within, clear: true, ..PATH }.distribution();
    assert_eq!([within.link_sigma_db, within.place_sigma_db], [11.0, 7.0]);
}

#[test]
fn walls_widen_the_interval_by_what_buildings_differ() {
    let entry = Entry { is_indoor: true, median_db: 12.0, sigma_db: 9.0 };
    let indoor = Evidence { entry, clear: true, ..PATH }.distribution();
    assert_eq!((indoor.basis, indoor.median_db), (Basis::Indoor, 118.0));
    // The root of 11² + 9² + 10².
    assert!((indoor.sigma_db() - 17.378).abs() < 1e-3);
    let unknown = Evidence { entry, unknown_share: 1.0, ..PATH }.distribution();
    assert_eq!(unknown.basis, Basis::SurroundingsUnknown);
    assert!((unknown.median_db - 149.2).abs() < 1e-9);
    assert!(unknown.sigma_db() > indoor.sigma_db());
}

#[test]
fn the_model_s_deviation_replaces_a_smaller_one_and_is_not_added() {
    let rough = Evidence { model_sigma_db: 14.0, ..PATH };
    assert_eq!(rough.distribution().link_sigma_db, 14.0);
    let smooth = Evidence { model_sigma_db: 3.0, ..PATH };
    assert_eq!(smooth.distribution().link_sigma_db, 11.0);
}

#[test]
fn a_calibration_brings_its_own_spread() {
    let class = Offset {
        frequency_mhz: [800.0, 900.0],
        distance_km: [1.0, 9.0],
        loss_db: 4.0,
        interval_db: Some([2.04, 5.96]),
        spread_db: Some(9.0),
    };
    let calibrated = Evidence { calibrated: Some(&class), unknown_share: 1.0, ..PATH };
    let distribution = calibrated.distribution();
    assert_eq!((distribution.basis, distribution.median_db), (Basis::Calibrated, 118.0));
    assert_eq!(distribution.link_sigma_db, 9.0);
    assert!((distribution.place_sigma_db - 1.0).abs() < 1e-9);
    // Of another place, whose own deviation of 7 dB comes on top.
    let elsewhere = Evidence { is_elsewhere: true, ..calibrated }.distribution();
    assert_eq!((elsewhere.median_db, elsewhere.link_sigma_db), (118.0, 9.0));
    assert!((elsewhere.place_sigma_db - 50.0_f64.sqrt()).abs() < 1e-9);
}

#[test]
fn a_calibration_of_other_ends_makes_nothing_surer() {
    let class = |spread_db| Offset {
        frequency_mhz: [800.0, 900.0],
        distance_km: [1.0, 9.0],
        loss_db: 0.0,
        interval_db: Some([-1.96, 1.96]),
        spread_db: Some(spread_db),
    };
    let entry = Entry { is_indoor: true, median_db: 12.0, sigma_db: 9.0 };
    let low = Evidence { unknown_share: 1.0, ..PATH };
    let indoors = Evidence { entry, ..PATH };
    for alone in [PATH, low, indoors, Evidence { clear: true, ..PATH }] {
        let sure = class(4.0);
        let unlike = Evidence { calibrated: Some(&sure), is_unlike: true, ..alone };
        assert_eq!(unlike.distribution(), alone.distribution());
        let wide = class(30.0);
        let unlike = Evidence { calibrated: Some(&wide), ..unlike }.distribution();
        assert!((unlike.sigma_db() - 901.0_f64.sqrt()).abs() < 1e-9, "{unlike:?}");
        assert_eq!(unlike.median_db, alone.distribution().median_db);
    }
}

#[test]
fn verdicts_are_those_of_the_probability() {
    let distribution = PATH.distribution();
    for margin_db in (-60..60).map(|db| f64::from(db) + 0.5) {
        let prediction = distribution.prediction(118.0, -80.0, Some(margin_db));
        let verdict = distribution.verdict(118.0, margin_db);
        assert_eq!(verdict, Verdict::of(prediction.link_prob), "{margin_db}");
    }
    assert_eq!(distribution.prediction(118.0, -80.0, None).link_prob, 0.0);
}
