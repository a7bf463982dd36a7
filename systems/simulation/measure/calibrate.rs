//! Calibration of the model by measurements: the offset of each class of paths, its confidence
//! interval, and its error on held-out links.
//!
//! The offset is Huber's estimate of location with k = 1.345 times the scale, which is the median
//! absolute deviation times 1.4826 (Huber, "Robust Estimation of a Location Parameter", 1964):
//! outliers pull it no further than that. The interval is the distribution-free one of the median
//! by order statistics, 95 % or more. Errors are those of five folds, each fitted on the other
//! four.

use groundwave_model::radio::calibration::{Calibration, Offset};
use serde::Serialize;

/// Edges of the frequency classes, MHz.
const BANDS_MHZ: [f64; 8] = [10.0, 300.0, 1_000.0, 3_000.0, 8_000.0, 18_000.0, 40_000.0, 100_001.0];
/// Edges of the distance classes, km.
const DISTANCES_KM: [f64; 6] = [0.0, 1.0, 3.0, 10.0, 30.0, 1_000.0];
/// Minimum number of links of a class.
pub const LINKS_MIN: usize = 8;
/// Folds of the held-out error.
const FOLDS: usize = 5;
/// Bend of Huber's function, in scales.
const BEND: f64 = 1.345;

/// Measured excess loss of a direction of a link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Frequency, MHz.
    pub frequency_mhz: f64,
    /// Length, m.
    pub distance_m: f64,
    /// Median of the loss beyond that of the model, dB.
    pub excess_db: f64,
}

/// A class that was fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fitted {
    /// Offset of the class.
    pub offset: Offset,
    /// Confidence interval of the median at 95 % or more, dB.
    pub interval_db: [f64; 2],
    /// Standard deviation of the links around it, by their median absolute deviation, dB.
    pub spread_db: f64,
    /// Directions it was fitted on.
    pub links: usize,
    /// Mean absolute error of the model alone, dB.
    pub error_before_db: f64,
    /// Mean absolute error on held-out links, dB.
    pub error_held_out_db: f64,
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

/// Fits all classes with at least [`LINKS_MIN`] samples; the number counts the samples of others.
#[must_use]
pub fn fit(samples: &[Sample]) -> (Vec<Fitted>, usize) {
    let mut fitted = Vec::new();
    let mut left_out = samples.len();
    for band in BANDS_MHZ.windows(2) {
        for reach in DISTANCES_KM.windows(2) {
            let class = Offset {
                frequency_mhz: [band[0], band[1]],
                distance_km: [reach[0], reach[1]],
                loss_db: 0.0,
                interval_db: None,
                spread_db: None,
            };
            let holds = |sample: &&Sample| class.holds(sample.frequency_mhz, sample.distance_m);
            let excess: Vec<f64> = samples.iter().filter(holds).map(|one| one.excess_db).collect();
            if excess.len() >= LINKS_MIN {
                left_out -= excess.len();
                fitted.push(fit_class(class, &excess));
            }
        }
    }
    (fitted, left_out)
}

/// The profile of what was fitted.
#[must_use]
pub fn profile(name: &str, fitted: &[Fitted]) -> Calibration {
    Calibration { name: name.to_owned(), classes: fitted.iter().map(Fitted::class).collect() }
}

/// Maximum offset of a class, dB: that of a calibration profile.
const LOSS_DB_MAX: f64 = 60.0;

fn fit_class(class: Offset, excess: &[f64]) -> Fitted {
    let (location, spread_db) = huber(excess);
    let [low, high] = interval(excess);
    // A tenth of a dB: finer digits are noise. The interval is rounded outwards, so that it holds
    // with its probability or more, and the offset, which need not be the median, stays in it.
    let tenths = |value: f64| value.clamp(-LOSS_DB_MAX, LOSS_DB_MAX) * 10.0;
    let interval_db = [tenths(low).floor() / 10.0, tenths(high).ceil() / 10.0];
    let loss_db = tenths(location.clamp(low, high)).round() / 10.0;
    let mut held_out = 0.0;
    for fold in 0..FOLDS {
        let others: Vec<f64> = excess
            .iter()
            .enumerate()
            .filter(|(at, _)| at % FOLDS != fold)
            .map(|(_, value)| *value)
            .collect();
        let (guess, _) = huber(&others);
        let own = excess.iter().skip(fold).step_by(FOLDS);
        held_out += own.map(|value| (value - guess).abs()).sum::<f64>();
    }
    let count = excess.len() as f64;
    Fitted {
        offset: Offset { loss_db, ..class },
        interval_db,
        spread_db,
        links: excess.len(),
        error_before_db: excess.iter().map(|value| value.abs()).sum::<f64>() / count,
        error_held_out_db: held_out / count,
    }
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted
}

fn median(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    let half = sorted.len() / 2;
    match sorted.len() % 2 {
        _ if sorted.is_empty() => 0.0,
        0 => f64::midpoint(sorted[half - 1], sorted[half]),
        _ => sorted[half],
    }
}

/// Huber's location, and the scale it bends at, as a standard deviation.
fn huber(values: &[f64]) -> (f64, f64) {
    let mut location = median(values);
    let deviations: Vec<f64> = values.iter().map(|value| (value - location).abs()).collect();
    let scale = 1.4826 * median(&deviations);
    if scale <= 0.0 || values.is_empty() {
        return (location, scale);
    }
    // Weights fall as values lie further away; this converges by a factor a round.
    for _ in 0..50 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for value in values {
            let away = (value - location).abs() / scale;
            let weight = if away <= BEND { 1.0 } else { BEND / away };
            sum += weight * value;
            weights += weight;
        }
        let next = sum / weights;
        if (next - location).abs() < 1e-9 {
            return (next, scale);
        }
        location = next;
    }
    (location, scale)
}

/// Order statistics between which the median lies with 95 % or more; all there is of fewer than six.
fn interval(values: &[f64]) -> [f64; 2] {
    let sorted = sorted(values);
    let count = sorted.len();
    // Tail of the binomial distribution with p = 1/2, from its logarithm: no power underflows.
    let mut log_term = -(count as f64) * std::f64::consts::LN_2;
    let mut below = log_term.exp();
    let mut rank = 0;
    while below <= 0.025 && rank + 1 < count / 2 {
        rank += 1;
        log_term += ((count - rank + 1) as f64 / rank as f64).ln();
        below += log_term.exp();
    }
    // `rank` is the first whose tail is too heavy, so the one before it holds.
    let rank = rank.saturating_sub(1);
    [sorted[rank], sorted[count - 1 - rank]]
}

#[cfg(test)]
mod tests {
    use groundwave_engine::Seed;

    use super::*;

    /// Sums of twelve draws less six: near enough to a normal deviate.
    fn deviates(count: u64, purpose: &str) -> Vec<f64> {
        let draw = |at| {
            let mut stream = Seed(9).stream(purpose, at, 0);
            (0..12).map(|_| stream.unit_prob()).sum::<f64>() - 6.0
        };
        (0..u128::from(count)).map(draw).collect()
    }

    #[test]
    fn an_offset_is_found_through_links_that_are_out_of_order() {
        let mut excess: Vec<f64> = deviates(100, "a").iter().map(|z| 7.0 + 3.0 * z).collect();
        for at in 0..12 {
            excess[at * 8] = 60.0;
        }
        let (location, scale) = huber(&excess);
        assert!((location - 7.0).abs() < 1.2, "{location}");
        assert!((2.0..5.0).contains(&scale), "{scale}");
        let mean = excess.iter().sum::<f64>() / 100.0;
        assert!(mean > 12.0, "the mean is carried away: {mean}");
        assert_eq!(huber(&[2.0, 2.0, 2.0, 9.0]), (2.0, 0.0));
    }

    #[test]
    fn an_offset_lies_in_its_own_interval() {
        let class = Offset {
            frequency_mhz: [3000.0, 8000.0],
            distance_km: [0.0, 1.0],
            loss_db: 0.0,
            interval_db: None,
            spread_db: None,
        };
        // Two clusters: the robust mean lies between them, the median in the larger one.
        let skewed: Vec<f64> = [0.02; 14].into_iter().chain([9.0; 11]).collect();
        let far: Vec<f64> = (0..8).map(|at| 70.0 + f64::from(at)).collect();
        for excess in [skewed, far, vec![-3.333; 9], deviates(30, "own interval")] {
            let fitted = fit_class(class, &excess);
            let ([low, high], loss_db) = (fitted.interval_db, fitted.offset.loss_db);
            assert!(low <= loss_db && loss_db <= high, "{fitted:?}");
        }
    }

    #[test]
    fn intervals_are_those_of_the_tables() {
        // Conover, "Practical Nonparametric Statistics", table A3: ranks 2 and 9 of 10, 6 and 15 of
        // 20, 10 and 21 of 30.
        for (count, ranks) in [(6, [1, 6]), (10, [2, 9]), (20, [6, 15]), (30, [10, 21])] {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            assert_eq!(interval(&values), ranks.map(f64::from), "{count}");
        }
        assert_eq!(interval(&[1.0, 2.0]), [1.0, 2.0]);
    }

    #[test]
    fn intervals_cover_the_truth_at_their_confidence() {
        let covered = (0..400).filter(|round| {
            let values = deviates(25, &format!("round {round}"));
            let [low, high] = interval(&values);
            (low..=high).contains(&0.0)
        });
        let share = covered.count() as f64 / 400.0;
        assert!((0.93..=1.0).contains(&share), "{share}");
    }

    #[test]
    fn classes_have_own_fits_and_small_ones_none() {
        let sample =
            |frequency_mhz, distance_m, excess_db| Sample { frequency_mhz, distance_m, excess_db };
        let noise = deviates(40, "c");
        let mut samples: Vec<Sample> =
            noise.iter().map(|z| sample(5500.0, 500.0, 10.0 + z)).collect();
        samples.extend(noise.iter().map(|z| sample(5500.0, 2000.0, -4.0 + z)));
        samples.extend((0..3).map(|_| sample(868.0, 2000.0, 30.0)));
        let (fitted, left_out) = fit(&samples);
        assert_eq!((fitted.len(), left_out), (2, 3));
        for (class, truth_db) in fitted.iter().zip([10.0, -4.0]) {
            assert!((class.offset.loss_db - truth_db).abs() < 0.6, "{class:?}");
            let [low, high] = class.interval_db;
            assert!(low < truth_db && truth_db < high, "{class:?}");
            // The remaining error is the noise, on links that were held out.
            assert!(class.error_held_out_db < 1.1 && class.error_before_db > 3.0, "{class:?}");
        }
        let profile = profile("c", &fitted);
        assert!((profile.loss_db(5500.0, 700.0) - 10.0).abs() < 0.6);
        assert_eq!(profile.loss_db(868.0, 2000.0), 0.0);
        assert!(profile.validate().is_ok());
    }
}
