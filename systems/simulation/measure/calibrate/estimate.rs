//! Offset and spread of a set of measured links, by their likelihood.
//!
//! Links of one place differ from the model by an offset, which itself differs between places, and from
//! each other by a normal deviate. A link is in a recording only if it was received: its density is
//! divided by the probability of that (a truncated normal), and packets that are known to be missed count
//! by the probability of a loss beyond the sensitivity. The deviates have Huber's density with k = 1.345
//! ("Robust Estimation of a Location Parameter", 1964): a link out of order pulls no further than that.

use groundwave_propagation::quantile::student_deviate;

use super::Link;

/// Number of links which the spread before any is measured is worth.
const PSEUDO_LINKS: f64 = 6.0;

/// Number of links from which on their spread is learned.
const SPREAD_LINKS_MIN: usize = 3;

/// Bend of Huber's function, in standard deviations.
const BEND: f64 = 1.345;

/// Probability of a normal deviate within the bend. Huber's function divided by it gives the spread of normal
/// deviates; alone it would give less.
const BEND_PROB: f64 = 0.821_374;

/// Bounds of the offset, dB: those of a calibration profile.
pub const LOSS_DB_MAX: f64 = 60.0;

/// Bounds of the natural logarithm of the spread in dB.
const LOG_SPREAD: [f64; 2] = [0.0, 3.4];

/// Deviate of the normal distribution exceeded in 5 % of cases.
pub const DEVIATE_5_PERCENT: f64 = 1.644_853_626_951_472_7;

/// Loss beyond that of the model before anything is measured: what the prediction has for unknown surroundings
/// and walls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// Mean, dB.
    pub mean_db: f64,
    /// Standard deviation of the mean between places, dB.
    pub place_sigma_db: f64,
    /// Standard deviation of links of one place, dB.
    pub link_sigma_db: f64,
}

/// Posterior of a set of links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Loss beyond the model, dB.
    pub loss_db: f64,
    /// Standard deviation of that, dB.
    pub loss_sigma_db: f64,
    /// Standard deviation of links about it, dB.
    pub link_sigma_db: f64,
    /// Deviate that the next link exceeds in 5 % of cases, in standard deviations: Student's where the spread was
    /// learned.
    pub deviate: f64,
}

impl Estimate {
    /// Half of the interval that holds the next link with 90 %, dB.
    pub fn half_width_db(&self) -> f64 {
        self.deviate * self.link_sigma_db.hypot(self.loss_sigma_db)
    }
}

/// The posterior of `links` with a prior of their offset.
pub fn estimate(links: &[&Link], prior: Prior) -> Estimate {
    let offset_at = |spread_db: f64| {
        let [low, high] = [-LOSS_DB_MAX, LOSS_DB_MAX];
        maximum([low, high], |loss_db| log_likelihood(links, prior, [loss_db, spread_db], 1.0))
    };
    let is_learned = links.len() >= SPREAD_LINKS_MIN;
    let link_sigma_db = if is_learned {
        let log_spread = maximum(LOG_SPREAD, |log_spread| {
            let spread_db = libm::exp(log_spread);
            let expected = prior.link_sigma_db / spread_db;
            let log_prior = -PSEUDO_LINKS * (log_spread + 0.5 * expected * expected);
            let at = [offset_at(spread_db), spread_db];
            log_prior + log_likelihood(links, prior, at, 1.0 / BEND_PROB)
        });
        libm::exp(log_spread)
    } else {
        prior.link_sigma_db
    };
    let loss_db = offset_at(link_sigma_db);
    // Curvature over a tenth of the spread: Huber's function has bends.
    let step_db = 0.1 * link_sigma_db;
    let at = |loss_db| log_likelihood(links, prior, [loss_db, link_sigma_db], 1.0);
    let bend = 2.0 * at(loss_db) - at(loss_db - step_db) - at(loss_db + step_db);
    let precision = (bend / (step_db * step_db)).max(prior.place_sigma_db.powi(-2));
    let freedom = PSEUDO_LINKS + links.len() as f64 - 1.0;
    Estimate {
        loss_db,
        loss_sigma_db: (1.0 / precision).sqrt(),
        link_sigma_db,
        deviate: if is_learned { student_5_percent(freedom) } else { DEVIATE_5_PERCENT },
    }
}

/// Logarithm of the likelihood of an offset, with its prior, but for constants.
///
/// `weight` is that of Huber's function: 1 for offsets.
fn log_likelihood(
    links: &[&Link],
    prior: Prior,
    [loss_db, spread_db]: [f64; 2],
    weight: f64,
) -> f64 {
    let away = (loss_db - prior.mean_db) / prior.place_sigma_db;
    let each = |link: &&Link| {
        let limit = (link.limit_db - loss_db) / spread_db;
        let density = |excess_db: f64| {
            let z = ((excess_db - loss_db) / spread_db).abs();
            let square = if z <= BEND { 0.5 * z * z } else { BEND * z - 0.5 * BEND * BEND };
            -square * weight - libm::log(spread_db)
        };
        match (link.excess_db.or(link.excess_at_most_db), link.delivery_prob) {
            (Some(at_most_db), _) if link.excess_db.is_none() => {
                log_share_below((at_most_db - loss_db) / spread_db)
            }
            (None, _) => log_share_below(-limit),
            (Some(excess_db), None) => density(excess_db) - log_share_below(limit),
            (Some(excess_db), Some(share)) => {
                share * density(excess_db) + (1.0 - share) * log_share_below(-limit)
            }
        }
    };
    links.iter().map(each).sum::<f64>() - 0.5 * away * away
}

/// Logarithm of the probability that a deviate of Huber's density is not above `limit`. With that of a normal one
/// the likelihood of links that were received would have no maximum: its tails fall faster.
fn log_share_below(limit: f64) -> f64 {
    let normal = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
    let root = (2.0 * std::f64::consts::PI).sqrt();
    let log_edge = -0.5 * BEND * BEND;
    let area = root * BEND_PROB + 2.0 * libm::exp(log_edge) / BEND;
    // Beyond the bend the density falls as an exponential does.
    if limit <= -BEND {
        return log_edge + BEND * (limit + BEND) - libm::log(BEND * area);
    }
    let tail = libm::exp(log_edge) / (BEND * area);
    let share = if limit < BEND {
        tail + root * (normal(limit) - normal(-BEND)) / area
    } else {
        1.0 - tail * libm::exp(BEND * (BEND - limit))
    };
    libm::log(share)
}

/// Deviate that Student's distribution exceeds in 5 % of cases, for 6 degrees of freedom or more within 0.001.
fn student_5_percent(freedom: f64) -> f64 {
    student_deviate(DEVIATE_5_PERCENT, freedom)
}

/// Argument of the maximum of a function with one, within a hundred-thousandth of the bounds: golden section.
fn maximum([mut low, mut high]: [f64; 2], value: impl Fn(f64) -> f64) -> f64 {
    const SHARE: f64 = 0.618_033_988_749_894_9;
    let [mut lower, mut upper] = [high - SHARE * (high - low), low + SHARE * (high - low)];
    let [mut at_lower, mut at_upper] = [value(lower), value(upper)];
    for _ in 0..32 {
        if at_lower >= at_upper {
            (high, upper, at_upper) = (upper, lower, at_lower);
            lower = high - SHARE * (high - low);
            at_lower = value(lower);
        } else {
            (low, lower, at_lower) = (lower, upper, at_upper);
            upper = low + SHARE * (high - low);
            at_upper = value(upper);
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{deviates, link};
    use super::*;

    const PLACE: Prior = super::super::tests::PRIOR;

    fn of(links: &[Link]) -> Estimate {
        estimate(&links.iter().collect::<Vec<_>>(), PLACE)
    }

    #[test]
    fn student_s_deviates_are_those_of_the_tables() {
        for (freedom, deviate) in [(6.0, 1.9432), (8.0, 1.8595), (15.0, 1.7531), (40.0, 1.6839)] {
            assert!((student_5_percent(freedom) - deviate).abs() < 1e-3, "{freedom}");
        }
    }

    #[test]
    fn shares_below_a_limit_are_those_of_the_density() {
        // By the rule of trapezoids over the density itself.
        let density = |z: f64| {
            let away = z.abs();
            let square = if away <= BEND { 0.5 * z * z } else { BEND * away - 0.5 * BEND * BEND };
            libm::exp(-square)
        };
        let area = |to: f64| {
            let step = 1e-3;
            let count = ((to + 30.0) / step) as u32;
            (0..count).map(|at| density(-30.0 + (f64::from(at) + 0.5) * step) * step).sum::<f64>()
        };
        let all = area(30.0);
        for limit in [-6.0, -1.345, -0.5, 0.0, 1.0, 3.0] {
            let share = area(limit) / all;
            assert!((libm::exp(log_share_below(limit)) / share - 1.0).abs() < 1e-3, "{limit}");
        }
    }

    #[test]
    fn links_at_the_end_of_reception_do_not_move_the_offset_out_of_bounds() {
        let at_the_end = |excess_db| Link { limit_db: excess_db, ..link(excess_db) };
        let estimate = of(&[4.0, 5.0, 6.0, 40.0].map(at_the_end));
        assert!((0.0..20.0).contains(&estimate.loss_db), "{estimate:?}");
        let far = of(&[4.0, 5.0, 6.0].map(|excess_db| Link { limit_db: 40.0, ..link(excess_db) }));
        assert!((2.0..6.0).contains(&far.loss_db), "{far:?}");
    }

    #[test]
    fn one_link_moves_the_offset_by_its_share_of_the_variance() {
        let one = of(&[link(20.0)]);
        // 20 · 7² / (7² + 11²), but for Huber's bend at 14.8 dB.
        assert!((5.0..5.8).contains(&one.loss_db), "{one:?}");
        // The root of 7² · 11² / (7² + 11²).
        assert!((one.loss_sigma_db - 5.9).abs() < 0.4, "{one:?}");
        assert_eq!((one.link_sigma_db, one.deviate), (PLACE.link_sigma_db, DEVIATE_5_PERCENT));
        assert!((one.half_width_db() - 20.5).abs() < 0.7, "{one:?}");
        let none = estimate(&[], PLACE);
        assert!(none.loss_db.abs() < 1e-3 && (none.loss_sigma_db - 7.0).abs() < 1e-6);
    }

    #[test]
    fn many_links_give_their_own_offset_and_spread_through_those_out_of_order() {
        let mut excess_db: Vec<f64> =
            deviates(100, "estimate").iter().map(|z| 7.0 + 5.0 * z).collect();
        for at in 0..12 {
            excess_db[at * 8] = 60.0;
        }
        let links: Vec<Link> = excess_db.into_iter().map(link).collect();
        let estimate = of(&links);
        assert!((estimate.loss_db - 7.0).abs() < 2.5, "{estimate:?}");
        assert!((4.0..12.0).contains(&estimate.link_sigma_db), "{estimate:?}");
    }

    #[test]
    fn links_that_were_not_received_are_not_taken_for_absent() {
        // Of links 10 dB worse than the model only those within 8 dB of it were received.
        let all: Vec<f64> = deviates(400, "survivors").iter().map(|z| 10.0 + 8.0 * z).collect();
        let received: Vec<Link> = all
            .iter()
            .filter(|excess_db| **excess_db <= 8.0)
            .map(|excess_db| Link { limit_db: 8.0, ..link(*excess_db) })
            .collect();
        let mean_db =
            received.iter().filter_map(|link| link.excess_db).sum::<f64>() / received.len() as f64;
        assert!(mean_db < 3.0, "{mean_db}");
        let truncated = of(&received);
        assert!(truncated.loss_db > mean_db + 3.0, "{truncated:?}");
        // The misses themselves, where they are known, tell more.
        let missed = (received.len()..all.len()).map(|_| Link {
            excess_db: None,
            limit_db: 8.0,
            ..link(0.0)
        });
        let counted = received.iter().map(|link| Link { delivery_prob: Some(1.0), ..*link });
        let estimate = of(&counted.chain(missed).collect::<Vec<_>>());
        assert!((estimate.loss_db - 10.0).abs() < 2.0, "{estimate:?}");
    }

    #[test]
    fn links_of_which_a_maximum_is_known_are_below_it() {
        // Links as the model has them, of which those better than it are known to be so and no more.
        let all: Vec<f64> = deviates(200, "bounds").iter().map(|z| 8.0 * z).collect();
        let links: Vec<Link> = all
            .iter()
            .map(|excess_db| match *excess_db < 0.0 {
                true => Link { excess_db: None, excess_at_most_db: Some(0.0), ..link(0.0) },
                false => link(*excess_db),
            })
            .collect();
        let estimate = of(&links);
        assert!(estimate.loss_db.abs() < 2.5, "{estimate:?}");
        let received: Vec<Link> =
            links.iter().filter(|link| link.excess_db.is_some()).copied().collect();
        assert!(of(&received).loss_db > estimate.loss_db + 3.0);
    }

    #[test]
    fn the_interval_of_the_next_link_holds_nine_of_ten() {
        let mut inside = 0;
        for round in 0..300 {
            let place_db = 7.0 * deviates(1, &format!("place {round}"))[0];
            let values = deviates(11, &format!("links {round}"));
            let links: Vec<Link> = values[..10].iter().map(|z| link(place_db + 11.0 * z)).collect();
            let estimate = of(&links);
            let next_db = place_db + 11.0 * values[10];
            inside += usize::from((next_db - estimate.loss_db).abs() <= estimate.half_width_db());
        }
        assert!((258..=288).contains(&inside), "{inside} of 300");
    }
}
