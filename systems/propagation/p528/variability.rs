//! Variation of the loss in time (ITU-R P.528-5 annex 2, §12 to §14).

use super::curves::{LOSS_DB, RATIO_DB, TIME_PERCENT};

/// Shares of time below 10 %, percent, with the deviate of each over that of 10 % (continental temperate
/// climate) and the maximum gain over free space, dB.
const SMALL_SHARES: [[f64; 3]; 4] =
    [[1.0, 1.9507, 5.0], [2.0, 1.7166, 4.5], [5.0, 1.3265, 3.7], [10.0, 1.0, 0.0]];

/// Terms of one long-term curve over the effective distance (§14, table of the constants).
struct Curve {
    c: [f64; 3],
    n: [f64; 3],
    /// Value at infinity, dB.
    far_db: f64,
    /// Value in the middle, dB.
    middle_db: f64,
}

/// Loss at 90 % of the time, gain at 10 % and gain of the median, dB.
const CURVES: [Curve; 3] = [
    Curve { c: [2.93e-4, 3.78e-8, 1.02e-7], n: [2.00, 2.88, 3.15], far_db: 3.2, middle_db: 8.2 },
    Curve { c: [5.25e-4, 1.57e-6, 4.70e-7], n: [1.97, 2.31, 2.90], far_db: 5.4, middle_db: 10.0 },
    Curve { c: [1.59e-5, 1.56e-11, 2.77e-8], n: [2.32, 4.08, 3.25], far_db: 0.0, middle_db: 3.9 },
];

impl Curve {
    fn at_db(&self, effective_km: f64) -> f64 {
        let power = |term: usize| self.c[term] * libm::pow(effective_km, self.n[term]);
        let far_db = self.far_db + (self.middle_db - self.far_db) * libm::exp(-power(1));
        (power(0) - far_db) * libm::exp(-power(2)) + far_db
    }
}

/// Slow variation of one path, by the weather.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LongTerm {
    /// Loss at 90 % of the time, and gain at 10 %, over the median, dB.
    deciles_db: [f64; 2],
    /// Gain of the median, dB.
    median_db: f64,
    /// Share of the variation that a ray of this elevation has, [0, 1].
    share: f64,
    /// Gain over free space without variation, dB.
    gain_db: f64,
    /// Reduction that keeps small shares of time near free space, dB, 0 or more.
    pub limit_db: f64,
}

impl LongTerm {
    /// Variation over a distance, km, between terminals with horizons at the distances `horizon_km`.
    pub(super) fn new(
        frequency_mhz: f64,
        horizon_km: [f64; 2],
        distance_km: f64,
        share: f64,
        gain_db: f64,
    ) -> Self {
        let beyond_km = 65.0 * libm::cbrt(100.0 / frequency_mhz);
        let scatter_km = horizon_km[0] + horizon_km[1] + beyond_km;
        let effective_km = if distance_km <= scatter_km {
            130.0 * distance_km / scatter_km
        } else {
            130.0 + distance_km - scatter_km
        };
        let wave = libm::sin(5.22 * libm::log10(frequency_mhz / 200.0));
        let [at_90, at_10] = if frequency_mhz > 1_600.0 {
            [1.05, 1.05]
        } else {
            [0.18 * wave + 1.23, 0.21 * wave + 1.28]
        };
        let [low_db, high_db, median_db] = [0, 1, 2].map(|curve| CURVES[curve].at_db(effective_km));
        let deciles_db = [low_db * at_90, high_db * at_10];
        let tenth_db = share * (deciles_db[1] + median_db);
        let limit_db = (gain_db + tenth_db - 3.0).max(0.0);
        Self { deciles_db, median_db, share, gain_db, limit_db }
    }

    /// Gain at a share of the time, percent, dB.
    fn at_db(&self, time_percent: f64) -> f64 {
        let varied_db = if time_percent >= 50.0 {
            -self.deciles_db[0] * deviate(time_percent) / deviate(90.0)
        } else if time_percent >= 10.0 {
            self.deciles_db[1] * deviate(time_percent) / deviate(10.0)
        } else {
            self.deciles_db[1] * small_share(time_percent, 1)
        };
        let gain_db = self.share * (varied_db + self.median_db) - self.limit_db;
        if time_percent < 10.0 {
            gain_db.min(small_share(time_percent, 2) - self.gain_db)
        } else {
            gain_db
        }
    }
}

/// Variation of one path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Variability {
    pub long_term: LongTerm,
    /// Ratio of the power of scattered rays to that of the steady one, dB.
    pub scattered_db: f64,
}

impl Variability {
    /// Gain at a share of the time, percent, 1 to 99, dB.
    pub(super) fn at_db(&self, time_percent: f64) -> f64 {
        let median_db = self.long_term.at_db(50.0);
        let slow_db = self.long_term.at_db(time_percent) - median_db;
        let fast_db = fading_db(self.scattered_db, time_percent);
        let apart_db = (slow_db * slow_db + fast_db * fast_db).sqrt();
        if time_percent < 50.0 { median_db + apart_db } else { median_db - apart_db }
    }
}

/// Deviate of the normal distribution that is exceeded in a share of cases, percent, by the approximation
/// that the curves were computed with (Abramowitz and Stegun, 26.2.23).
fn deviate(share_percent: f64) -> f64 {
    let share = share_percent / 100.0;
    let tail = if share > 0.5 { 1.0 - share } else { share };
    let t = (-2.0 * libm::log(tail)).sqrt();
    let numerator = (0.010_328 * t + 0.802_853) * t + 2.515_516;
    let denominator = ((0.001_308 * t + 0.189_269) * t + 1.432_788) * t + 1.0;
    let deviate = t - numerator / denominator;
    if share > 0.5 { -deviate } else { deviate }
}

/// Column of [`SMALL_SHARES`] at a share of the time, percent, 1 to 10.
fn small_share(time_percent: f64, column: usize) -> f64 {
    let rows = &SMALL_SHARES;
    let after = rows.partition_point(|row| row[0] < time_percent).clamp(1, rows.len() - 1);
    let [low, high] = [rows[after - 1], rows[after]];
    let share = (time_percent - low[0]) / (high[0] - low[0]);
    low[column] + share * (high[column] - low[column])
}

/// Interval of an ascending list that holds a value, and the place of the value in it, [0, 1].
fn interval(list: &[f64], value: f64) -> (usize, f64) {
    let after = list.partition_point(|entry| *entry < value).clamp(1, list.len() - 1);
    let [low, high] = [list[after - 1], list[after]];
    (after - 1, ((value - low) / (high - low)).clamp(0.0, 1.0))
}

/// Loss by fading at a share of the time, percent, over the median, dB, where the scattered power has a
/// ratio, dB, to the steady one.
fn fading_db(ratio_db: f64, time_percent: f64) -> f64 {
    let (curve, between_curves) = interval(&RATIO_DB, ratio_db);
    let (column, between_columns) = interval(&TIME_PERCENT, time_percent);
    let along = |curve: usize| {
        let [low_db, high_db] = [LOSS_DB[curve][column], LOSS_DB[curve][column + 1]];
        low_db + between_columns * (high_db - low_db)
    };
    let [low_db, high_db] = [along(curve), along(curve + 1)];
    low_db + between_curves * (high_db - low_db)
}

/// Ratio of the power of scattered rays to that of the steady one, dB, at which the fading at 99 % of the
/// time has a loss, dB.
pub(super) fn scattered_db(loss_99_db: f64) -> f64 {
    let losses_db = LOSS_DB.map(|curve| curve[curve.len() - 1]);
    let (curve, share) = interval(&losses_db, loss_99_db);
    RATIO_DB[curve] + share * (RATIO_DB[curve + 1] - RATIO_DB[curve])
}
