//! Deciles of normal distributions.

/// Deviate of the normal distribution exceeded in 10 % of cases.
pub(crate) const DEVIATE_10_PERCENT: f64 = 1.281_551_565_544_600_4;

/// Standard deviation of a normal distribution by the values exceeded in 10 and in 90 % of cases, dB.
pub(crate) fn sigma_of_deciles_db([high_db, low_db]: [f64; 2]) -> f64 {
    (high_db - low_db) / (2.0 * DEVIATE_10_PERCENT)
}
