//! Calibration of the model by measurements: the offset of each class of paths, the interval of the next
//! link, and how often that held at nodes that were left out.
//!
//! Both directions of a pair of nodes are one link, because they differ by less than links do; where an end moves,
//! each place of it is one. All links of a
//! band of frequencies give the offset of the place, and those of a class of distances with
//! [`LINKS_MIN`] or more an offset about it. One link is enough: offsets shrink towards the model by
//! what a place may differ from it (`estimate`).
//!
//! Among unknown surroundings the prediction is not the model and an offset: loss beyond free space is nearly the
//! same at all distances there, while that of a model without clutter rises. Links are compared with the prediction,
//! each class of distances has the difference of prediction and model besides, and distances without a link stay
//! as they are predicted without a calibration.

mod estimate;
mod held_out;

use std::collections::BTreeMap;

use groundwave_model::radio::calibration::{Calibration, Offset};
use serde::Serialize;

use self::estimate::{DEVIATE_5_PERCENT, Estimate, estimate};
pub use self::estimate::{LOSS_DB_MAX, Prior};
use super::Place;
use crate::site::NodeId;

/// Edges of the frequency classes, MHz.
const BANDS_MHZ: [f64; 8] = [10.0, 300.0, 1_000.0, 3_000.0, 8_000.0, 18_000.0, 40_000.0, 100_001.0];
/// Edges of the distance classes, km.
const DISTANCES_KM: [f64; 6] = [0.0, 1.0, 3.0, 10.0, 30.0, 1_000.0];
/// Minimum number of links of a class of distances.
pub const LINKS_MIN: usize = 8;
/// Difference of prediction and model from which on surroundings are unknown, dB.
const UNKNOWN_DB: f64 = 1.0;
/// Half of the 95 % interval of a normal distribution, in standard deviations.
const DEVIATE_2_5_PERCENT: f64 = 1.959_963_984_540_054;

/// A measured direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Sender and receiver.
    pub way: (NodeId, NodeId),
    /// Squares of both ends, that of the lower id first, where one moves: each is a link of its own. Equal ones
    /// otherwise.
    pub place: Place,
    /// Frequency, MHz.
    pub frequency_mhz: f64,
    /// Length, m.
    pub distance_m: f64,
    /// Median of the loss beyond that of the model, dB; `None` where nothing was received.
    pub excess_db: Option<f64>,
    /// Loss beyond that of the model before anything is measured.
    pub prior: Prior,
    /// Loss beyond that of the model from which on nothing is received by the sensitivity that is stated, dB.
    pub limit_db: f64,
    /// Stated sensitivity of the receiver, dBm: receivers with the same one in a band are of one kind.
    pub sensitivity_dbm: f64,
    /// Share of packets that arrived, [0, 1], where it was counted.
    pub delivery_prob: Option<f64>,
}

/// A measured link: its directions taken together.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Link {
    ends: (NodeId, NodeId),
    frequency_mhz: f64,
    distance_m: f64,
    excess_db: Option<f64>,
    prior: Prior,
    limit_db: f64,
    delivery_prob: Option<f64>,
}

/// A class that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Offset of the class.
    pub offset: Offset,
    /// Confidence interval of the offset at 95 %, dB.
    pub interval_db: [f64; 2],
    /// Standard deviation of links about it, dB, as large as the interval of the next link needs.
    pub spread_db: f64,
    /// Links it was fitted on, both directions as one.
    pub links: usize,
    /// Loss beyond the model of the next link, dB: 5 % lie below the first, 5 % above the second.
    pub next_link_db: [f64; 2],
    /// Mean absolute error of the model alone, dB.
    pub error_before_db: f64,
    /// Mean absolute error at nodes that were left out, dB; absent with links of one node only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_held_out_db: Option<f64>,
    /// Share of the links at nodes that were left out which lie in the interval of the next link, [0, 1].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside_held_out_prob: Option<f64>,
}

impl Fitted {
    /// The class of the profile, with its interval and spread.
    fn class(&self) -> Offset {
        Offset {
            interval_db: Some(self.interval_db),
            spread_db: Some(self.spread_db.min(LOSS_DB_MAX)),
            ..self.offset
        }
    }
}

/// Fits the classes of distances with [`LINKS_MIN`] links, and after those of a band the band as a whole: the
/// first class of a profile that holds a path counts. Among unknown surroundings it fits each class of distances
/// that has a link, and no band.
#[must_use]
pub fn fit(samples: &[Sample]) -> Vec<Fitted> {
    let links = links(samples);
    let mut fitted = Vec::new();
    for band in BANDS_MHZ.windows(2) {
        let own: Vec<&Link> =
            links.iter().filter(|link| (band[0]..band[1]).contains(&link.frequency_mhz)).collect();
        if !own.iter().any(|link| link.excess_db.is_some()) {
            continue;
        }
        let classes = reaches(&own);
        for reach in &classes {
            fitted.push(fit_class([band[0], band[1]], *reach, &own));
        }
        let all = [DISTANCES_KM[0], DISTANCES_KM[5]];
        if classes != [all] && !is_unknown(&own) {
            fitted.push(fit_class([band[0], band[1]], all, &own));
        }
    }
    fitted
}

/// The profile of what was fitted.
#[must_use]
pub fn profile(name: &str, fitted: &[Fitted]) -> Calibration {
    let classes = fitted.iter().map(Fitted::class).collect();
    Calibration { name: name.to_owned(), classes, fitted: None, area: None }
}

/// Level by which receivers of a kind received below the sensitivity that is stated for them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BelowSensitivity {
    /// Stated sensitivity, dBm.
    pub sensitivity_dbm: f64,
    /// Directions with a level below it.
    pub directions: usize,
    /// Weakest of them below it, dB.
    pub below_db: f64,
}

/// Receptions below the sensitivity that is stated for their receivers, by kind of receiver: another spreading
/// factor or data rate than that of the stated radio was in use.
///
/// All links of such a kind are judged by the weakest reception: a limit that each link sets for itself would make
/// every weak link look like the rare survivor of many that were lost.
#[must_use]
pub fn below_sensitivity(samples: &[Sample]) -> Vec<BelowSensitivity> {
    let kinds = kinds_below_sensitivity(samples);
    kinds.into_values().collect()
}

/// Band and stated sensitivity, tenths of a dBm.
type Kind = (usize, i64);

fn kind(sample: &Sample) -> Kind {
    let band = BANDS_MHZ.partition_point(|edge_mhz| *edge_mhz <= sample.frequency_mhz);
    (band, (sample.sensitivity_dbm * 10.0).round() as i64)
}

fn kinds_below_sensitivity(samples: &[Sample]) -> BTreeMap<Kind, BelowSensitivity> {
    let mut kinds: BTreeMap<Kind, BelowSensitivity> = BTreeMap::new();
    for sample in samples {
        let below_db = sample.excess_db.map_or(0.0, |excess_db| excess_db - sample.limit_db);
        if below_db <= 0.0 {
            continue;
        }
        let sensitivity_dbm = sample.sensitivity_dbm;
        let none = BelowSensitivity { sensitivity_dbm, directions: 0, below_db: 0.0 };
        let entry = kinds.entry(kind(sample)).or_insert(none);
        entry.directions += 1;
        entry.below_db = entry.below_db.max(below_db);
    }
    kinds
}

/// The links of samples: both directions of two nodes as one.
fn links(samples: &[Sample]) -> Vec<Link> {
    let below = kinds_below_sensitivity(samples);
    let mut pairs: BTreeMap<((NodeId, NodeId), Place), Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        let (from, to) = sample.way;
        let ends = (from.min(to), from.max(to));
        pairs.entry((ends, sample.place)).or_default().push(sample);
    }
    let limit_of =
        |way: &Sample| way.limit_db + below.get(&kind(way)).map_or(0.0, |kind| kind.below_db);
    let link = |((ends, _), ways): (((NodeId, NodeId), Place), Vec<&Sample>)| {
        let excess_db = mean(ways.iter().filter_map(|way| way.excess_db));
        let limit_db = mean(ways.iter().map(|way| limit_of(way))).unwrap_or(f64::INFINITY);
        Link {
            ends,
            frequency_mhz: ways[0].frequency_mhz,
            distance_m: ways[0].distance_m,
            excess_db,
            prior: mean_prior(ways.iter().map(|way| way.prior)),
            // The mean of two directions may lie above that of their limits.
            limit_db: excess_db.map_or(limit_db, |excess_db| limit_db.max(excess_db)),
            delivery_prob: mean(ways.iter().filter_map(|way| way.delivery_prob)),
        }
    };
    pairs.into_iter().map(link).collect()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// Mean of the priors of links; that of terrain which is known, without any.
fn mean_prior(priors: impl Iterator<Item = Prior> + Clone) -> Prior {
    let of = |value: fn(&Prior) -> f64| mean(priors.clone().map(|prior| value(&prior)));
    Prior {
        mean_db: of(|prior| prior.mean_db).unwrap_or(0.0),
        place_sigma_db: of(|prior| prior.place_sigma_db).unwrap_or(7.0),
        link_sigma_db: of(|prior| prior.link_sigma_db).unwrap_or(11.0),
    }
}

/// Classes of distances, km, with enough links: one among unknown surroundings.
fn reaches(links: &[&Link]) -> Vec<[f64; 2]> {
    let count_min = if is_unknown(links) { 1 } else { LINKS_MIN };
    let has_enough = |reach: &[f64; 2]| within(links, *reach).len() >= count_min;
    classes().filter(has_enough).collect()
}

/// All classes of distances, km.
fn classes() -> impl Iterator<Item = [f64; 2]> {
    DISTANCES_KM.windows(2).map(|edges| [edges[0], edges[1]])
}

/// `true` if the prediction of some of the links is not the loss by the model.
fn is_unknown(links: &[&Link]) -> bool {
    links.iter().any(|link| link.prior.mean_db.abs() >= UNKNOWN_DB)
}

/// The links, less the mean difference of prediction and model in the class of distances of each.
fn about_their_classes(links: &[&Link]) -> Vec<Link> {
    let each = |reach: [f64; 2]| {
        let own = within(links, reach);
        let mean_db = mean_prior(own.iter().map(|link| link.prior)).mean_db;
        own.into_iter().map(move |link| Link {
            excess_db: link.excess_db.map(|excess_db| excess_db - mean_db),
            limit_db: link.limit_db - mean_db,
            prior: Prior { mean_db: 0.0, ..link.prior },
            ..*link
        })
    };
    classes().flat_map(each).collect()
}

/// Links of a class of distances, km.
fn within<'l>(links: &[&'l Link], [low_km, high_km]: [f64; 2]) -> Vec<&'l Link> {
    let is_within = |link: &&&Link| (low_km..high_km).contains(&(link.distance_m * 1e-3));
    links.iter().filter(is_within).copied().collect()
}

/// The offset of a class of distances among the links of a band: that of the band, and what the class differs
/// from it.
fn offset(band: &[&Link], reach_km: [f64; 2]) -> Estimate {
    let prior = |links: &[&Link]| mean_prior(links.iter().map(|link| link.prior));
    let own = within(band, reach_km);
    if own.len() == band.len() {
        return estimate(band, prior(band));
    }
    let centred = about_their_classes(band);
    let centred: Vec<&Link> = centred.iter().collect();
    let place = estimate(&centred, prior(&centred));
    // Nodes that are left out may leave none in the class.
    let own_prior = prior(if own.is_empty() { band } else { &own });
    let mean_db = place.loss_db + own_prior.mean_db;
    if own.len() < LINKS_MIN {
        return Estimate { loss_db: mean_db, ..place };
    }
    estimate(&own, Prior { mean_db, ..own_prior })
}

fn fit_class(frequency_mhz: [f64; 2], distance_km: [f64; 2], band: &[&Link]) -> Fitted {
    let estimate = offset(band, distance_km);
    let own = within(band, distance_km);
    // A tenth of a dB: finer digits are noise. Intervals are rounded outwards.
    let tenths = |value: f64| value.clamp(-LOSS_DB_MAX, LOSS_DB_MAX) * 10.0;
    let outwards = |half_db: f64| {
        let [low, high] = [estimate.loss_db - half_db, estimate.loss_db + half_db];
        [tenths(low).floor() / 10.0, tenths(high).ceil() / 10.0]
    };
    // Student's distribution as a normal one with the same 90 % interval.
    let wider = estimate.deviate / DEVIATE_5_PERCENT;
    let measured = own.iter().filter_map(|link| link.excess_db);
    let held_out = held_out::held_out(band, distance_km);
    let class = Offset {
        frequency_mhz,
        distance_km,
        loss_db: tenths(estimate.loss_db).round() / 10.0,
        interval_db: None,
        spread_db: None,
    };
    Fitted {
        offset: class,
        interval_db: outwards(DEVIATE_2_5_PERCENT * wider * estimate.loss_sigma_db),
        spread_db: wider * estimate.link_sigma_db,
        links: own.len(),
        next_link_db: outwards(estimate.half_width_db()),
        error_before_db: mean(measured.map(f64::abs)).unwrap_or(0.0),
        error_held_out_db: held_out.map(|held_out| held_out.error_db),
        inside_held_out_prob: held_out.map(|held_out| held_out.inside_prob),
    }
}

#[cfg(test)]
mod tests {
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
    pub(super) const PRIOR: Prior =
        Prior { mean_db: 0.0, place_sigma_db: 7.0, link_sigma_db: 11.0 };

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
            .map(|(number, z)| Sample {
                limit_db: 25.0,
                ..sample(number, 868.0, 5e3, 25.0 + 8.0 * z)
            })
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
        let other =
            Sample { limit_db: 25.0, sensitivity_dbm: -137.0, ..sample(200, 868.0, 5e3, 1.0) };
        let links = links(&[&samples[..], &[other]].concat());
        assert_eq!(links.iter().filter(|link| link.limit_db == 25.0).count(), 1);
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
        let samples: Vec<Sample> =
            near.chain((6..12).map(|number| at(number, 5e3, 10.0))).collect();
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
}
