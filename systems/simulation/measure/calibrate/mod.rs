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
    /// Maximum of that, dB, where the receivers reported the most that they can.
    pub excess_at_most_db: Option<f64>,
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
    /// Maximum of the excess where that is not known.
    excess_at_most_db: Option<f64>,
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

/// Links of a class whose losses lie further from the model than a profile can move it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OutOfReach {
    /// Distances of the class, km.
    pub distance_km: [f64; 2],
    /// Links with a level.
    pub links: usize,
    /// Median of their loss beyond that of the model, dB.
    pub excess_db: f64,
}

/// The first class of `fitted` whose measured losses differ from the model by [`LOSS_DB_MAX`] or more at the median:
/// levels that mean "no value", or powers and gains of other radios.
///
/// Their own offset does not tell: a spread as wide as its bound leaves it near what was expected before.
#[must_use]
pub fn out_of_reach(samples: &[Sample], fitted: &[Fitted]) -> Option<OutOfReach> {
    let links = links(samples);
    let of_class = |Offset { frequency_mhz, distance_km, .. }: Offset| {
        let [low_mhz, high_mhz] = frequency_mhz;
        let is_in_band = |link: &&Link| (low_mhz..high_mhz).contains(&link.frequency_mhz);
        let band: Vec<&Link> = links.iter().filter(is_in_band).collect();
        let own = within(&band, distance_km);
        let mut excess_db: Vec<f64> = own.iter().filter_map(|link| link.excess_db).collect();
        excess_db.sort_by(f64::total_cmp);
        let median_db = *excess_db.get(excess_db.len() / 2)?;
        Some(OutOfReach { distance_km, links: excess_db.len(), excess_db: median_db })
    };
    let is_out = |one: &OutOfReach| one.excess_db.abs() >= LOSS_DB_MAX;
    fitted.iter().filter_map(|one| of_class(one.offset)).find(is_out)
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

/// Number of the class of frequencies.
pub(crate) fn band(frequency_mhz: f64) -> usize {
    BANDS_MHZ.partition_point(|edge_mhz| *edge_mhz <= frequency_mhz)
}

fn kind(sample: &Sample) -> Kind {
    (band(sample.frequency_mhz), (sample.sensitivity_dbm * 10.0).round() as i64)
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

/// Ends of a link, its place and its band.
type Key = ((NodeId, NodeId), Place, usize);

/// The links of samples: both directions of two nodes as one, in each band.
fn links(samples: &[Sample]) -> Vec<Link> {
    let below = kinds_below_sensitivity(samples);
    let mut pairs: BTreeMap<Key, Vec<&Sample>> = BTreeMap::new();
    for sample in samples {
        let (from, to) = sample.way;
        let ends = (from.min(to), from.max(to));
        pairs.entry((ends, sample.place, band(sample.frequency_mhz))).or_default().push(sample);
    }
    let limit_of =
        |way: &Sample| way.limit_db + below.get(&kind(way)).map_or(0.0, |kind| kind.below_db);
    let link = |((ends, ..), ways): (Key, Vec<&Sample>)| {
        let excess_db = mean(ways.iter().filter_map(|way| way.excess_db));
        let at_most_db = mean(ways.iter().filter_map(|way| way.excess_at_most_db));
        let limit_db = mean(ways.iter().map(|way| limit_of(way))).unwrap_or(f64::INFINITY);
        Link {
            ends,
            frequency_mhz: ways[0].frequency_mhz,
            distance_m: ways[0].distance_m,
            excess_db,
            excess_at_most_db: at_most_db.filter(|_| excess_db.is_none()),
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
            excess_at_most_db: link.excess_at_most_db.map(|excess_db| excess_db - mean_db),
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
mod tests;
