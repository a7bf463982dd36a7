//! Tests of the fit of a profile.

use groundwave_engine::Seed;

use super::*;

/// Sums of twelve draws less six: near enough to a normal deviate.
pub(super) fn deviates(count: u64, purpose: &str) -> Vec<f64> {
    let draw = |at| {
        let mut stream = Seed(9).stream(purpose, at, 0);
        (0..12).map(|_| stream.unit_prob()).sum::<f64>() - 6.0
    };
    (0..u128::from(count)).map(draw).collect()
}

/// Terrain known, surroundings below the antennas or described.
pub(super) const PRIOR: Prior = Prior { mean_db: 0.0, place_sigma_db: 7.0, link_sigma_db: 11.0 };

fn node(name: &str, number: usize) -> NodeId {
    NodeId::named(&format!("{name}{number}"))
}

/// A link that was measured, far from the end of reception.
pub(super) fn link(excess_db: f64) -> Link {
    Link {
        ends: (node("a", 0), node("b", 0)),
        frequency_mhz: 868.0,
        distance_m: 500.0,
        excess_db: Some(excess_db),
        excess_at_most_db: None,
        prior: PRIOR,
        limit_db: 200.0,
        delivery_prob: None,
    }
}

/// A direction from the numbered node to the gateway.
fn sample(number: usize, frequency_mhz: f64, distance_m: f64, excess_db: f64) -> Sample {
    Sample {
        way: (node("node ", number), node("gateway ", 0)),
        place: Place::default(),
        frequency_mhz,
        distance_m,
        excess_db: Some(excess_db),
        excess_at_most_db: None,
        prior: PRIOR,
        limit_db: 200.0,
        sensitivity_dbm: -126.0,
        delivery_prob: None,
    }
}

/// Links of a survey with several spreading factors: losses about 25 dB, received to 10 dB below the
/// sensitivity of the radio that is stated, which lies in the middle of them.
#[test]
fn receptions_below_the_stated_sensitivity_move_the_limit_of_their_kind() {
    let noise = deviates(150, "factors");
    let samples: Vec<Sample> = noise
        .iter()
        .enumerate()
        .map(|(number, z)| Sample { limit_db: 25.0, ..sample(number, 868.0, 5e3, 25.0 + 8.0 * z) })
        .filter(|sample| sample.excess_db < Some(35.0))
        .collect();
    let below = below_sensitivity(&samples);
    assert_eq!((below.len(), below[0].sensitivity_dbm), (1, -126.0));
    assert!((9.0..=10.0).contains(&below[0].below_db), "{below:?}");
    let class = &fit(&samples)[0];
    assert!((22.0..29.0).contains(&class.offset.loss_db), "{class:?}");
    let inside = class.inside_held_out_prob;
    assert!(inside.is_none_or(|inside_prob| inside_prob > 0.85), "{class:?}");
    // Receivers of another kind keep their own limit.
    let other = Sample { limit_db: 25.0, sensitivity_dbm: -137.0, ..sample(200, 868.0, 5e3, 1.0) };
    let links = links(&[&samples[..], &[other]].concat());
    assert_eq!(links.iter().filter(|link| link.limit_db == 25.0).count(), 1);
}

#[test]
fn levels_beyond_the_reach_of_a_profile_are_named_whatever_the_fit_makes_of_them() {
    for excess_db in [-69.0, 69.0, -60.0, 200.0] {
        let samples: Vec<Sample> =
            (0..12).map(|number| sample(number, 868.0, 2e3, excess_db)).collect();
        let fitted = fit(&samples);
        let out = out_of_reach(&samples, &fitted).unwrap();
        assert_eq!((out.links, out.excess_db), (12, excess_db), "{fitted:?}");
        // Both directions of a link are one.
        let back = samples.iter().map(|one| Sample { way: (one.way.1, one.way.0), ..*one });
        let both: Vec<Sample> = samples.iter().copied().chain(back).collect();
        assert_eq!(out_of_reach(&both, &fit(&both)), Some(out));
    }
    let mut usual: Vec<Sample> = (0..12).map(|number| sample(number, 868.0, 2e3, 31.0)).collect();
    assert_eq!(out_of_reach(&usual, &fit(&usual)), None);
    // One of many is out of order: the fit bears it.
    usual[3].excess_db = Some(-80.0);
    assert_eq!(out_of_reach(&usual, &fit(&usual)), None);
}

#[test]
fn one_link_among_unknown_surroundings_moves_the_loss_expected_there() {
    let prior = Prior { mean_db: 30.0, ..PRIOR };
    let one = Sample { prior, ..sample(1, 868.0, 2000.0, 30.0) };
    assert!((fit(&[one])[0].offset.loss_db - 30.0).abs() < 0.11);
    let off = Sample { excess_db: Some(40.0), ..one };
    assert!((32.0..33.5).contains(&fit(&[off])[0].offset.loss_db));
}

#[test]
fn distances_among_unknown_surroundings_have_the_shape_of_the_prediction() {
    // A model that rises by 20 dB where the loss does not: links lie about the prediction by 4 dB and noise.
    let noise = deviates(12, "shape");
    let at = |number: usize, distance_m: f64, mean_db: f64| Sample {
        prior: Prior { mean_db, place_sigma_db: 14.5, ..PRIOR },
        ..sample(number, 868.0, distance_m, mean_db + 4.0 + noise[number])
    };
    let near = (0..6).map(|number| at(number, 800.0, 30.0));
    let samples: Vec<Sample> = near.chain((6..12).map(|number| at(number, 5e3, 10.0))).collect();
    let fitted = fit(&samples);
    let profile = profile("s", &fitted);
    assert!((profile.loss_db(868.0, 500.0) - 34.0).abs() < 1.0, "{fitted:?}");
    assert!((profile.loss_db(868.0, 4e3) - 14.0).abs() < 1.0, "{fitted:?}");
    assert!(fitted.iter().all(|class| class.spread_db < 11.0), "{fitted:?}");
    // No link was measured at 20 km: the prediction stays that of unknown surroundings.
    assert_eq!(profile.class(868.0, 20e3), None);
}

#[test]
fn classes_have_own_fits_and_few_links_that_of_their_band() {
    let noise = deviates(40, "c");
    let mut samples: Vec<Sample> = Vec::new();
    for (number, z) in noise.iter().enumerate() {
        samples.push(sample(number, 5500.0, 500.0, 10.0 + z));
        samples.push(sample(100 + number, 5500.0, 2000.0, -4.0 + z));
    }
    samples.extend((0..3).map(|number| sample(200 + number, 868.0, 2000.0, 30.0)));
    let fitted = fit(&samples);
    // Below 1 GHz three links are a band; above, two classes and their band.
    assert_eq!(fitted.iter().map(|class| class.links).collect::<Vec<_>>(), [3, 40, 40, 80]);
    for (class, truth_db) in fitted[1..3].iter().zip([10.0, -4.0]) {
        assert!((class.offset.loss_db - truth_db).abs() < 0.7, "{class:?}");
        let [low_db, high_db] = class.interval_db;
        assert!(low_db < truth_db && truth_db < high_db, "{class:?}");
        assert!(class.error_held_out_db.unwrap() < 1.5 && class.error_before_db > 3.0);
    }
    // Three links do not move it all the way.
    assert!((5.0..29.0).contains(&fitted[0].offset.loss_db), "{:?}", fitted[0]);
    let profile = profile("c", &fitted);
    assert!((profile.loss_db(5500.0, 700.0) - 10.0).abs() < 0.7);
    assert_eq!(profile.loss_db(5500.0, 20e3), fitted[3].offset.loss_db);
    assert_eq!(profile.loss_db(24_000.0, 700.0), 0.0);
    assert!(profile.validate().is_ok());
}

#[test]
fn both_directions_of_two_nodes_are_one_link() {
    let there = sample(1, 868.0, 2000.0, 4.0);
    let back = Sample { way: (there.way.1, there.way.0), excess_db: Some(8.0), ..there };
    let links = links(&[there, back]);
    assert_eq!(links.len(), 1);
    assert_eq!(links[0].excess_db, Some(6.0));
    assert_eq!(fit(&[there, back])[0].links, 1);
}

#[test]
fn bands_of_one_pair_of_nodes_are_links_of_their_own() {
    let low = (0..12).map(|number| sample(number, 868.0, 2000.0, 10.0));
    let samples: Vec<Sample> =
        low.chain((0..12).map(|number| sample(number, 2440.0, 2000.0, 30.0))).collect();
    let fitted = fit(&samples);
    assert_eq!(fitted.iter().map(|class| class.links).max(), Some(12), "{fitted:?}");
    let profile = profile("b", &fitted);
    assert!((8.0..=10.0).contains(&profile.loss_db(868.0, 2000.0)), "{fitted:?}");
    assert!((25.0..=30.0).contains(&profile.loss_db(2440.0, 2000.0)), "{fitted:?}");
    // Channels of one band are one link.
    let channels = [868.1, 868.5].map(|mhz| sample(1, mhz, 2000.0, 4.0));
    assert_eq!(links(&channels).len(), 1);
}

#[test]
fn places_of_one_link_count_each() {
    let at = |square: i32, distance_m: f64| Sample {
        place: [[square, 0], [0, 0]],
        ..sample(1, 868.0, distance_m, 4.0)
    };
    let samples: Vec<Sample> =
        (0..20).map(|square| at(square, 500.0 + 200.0 * f64::from(square))).collect();
    let fitted = fit(&samples);
    assert_eq!(fitted.iter().map(|class| class.links).max(), Some(20), "{fitted:?}");
    assert!(fitted.len() > 1, "{fitted:?}");
}

#[test]
fn the_next_link_of_a_prediction_lies_where_the_profile_has_it() {
    let values = deviates(20, "next");
    let samples: Vec<Sample> = values
        .iter()
        .enumerate()
        .map(|(number, z)| sample(number, 868.0, 2000.0, 5.0 + 9.0 * z))
        .collect();
    let class = &fit(&samples)[0];
    let place_sigma_db = (class.interval_db[1] - class.interval_db[0]) / 2.0 / 1.96;
    let half_db = DEVIATE_5_PERCENT * class.spread_db.hypot(place_sigma_db);
    let [low_db, high_db] = class.next_link_db;
    assert!((high_db - low_db - 2.0 * half_db).abs() < 0.4, "{class:?} {half_db}");
}
