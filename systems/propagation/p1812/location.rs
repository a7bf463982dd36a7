//! Variability over the places of a small area (ITU-R P.1812-8 §4.8) and the quantile of the normal
//! distribution that the Recommendation uses (attachment 3).

use super::super::domain::{DomainError, within};

/// Standard deviation of the loss over the places of an area, dB (eq. 64), for a carrier at
/// `frequency_mhz`, 30 to 6,000 MHz, and an area `width_m` wide, 50 to 1,000 m.
///
/// It is variability inside an area whose ground is known, much less than the error of a prediction.
///
/// # Errors
/// [`DomainError`] for a number outside its range.
pub fn location_sigma_db(frequency_mhz: f64, width_m: f64) -> Result<f64, DomainError> {
    within("frequency_mhz", frequency_mhz, 30.0, 6_000.0)?;
    within("width_m", width_m, 50.0, 1_000.0)?;
    Ok((0.52 + 0.024e-3 * frequency_mhz) * libm::pow(width_m, 0.28))
}

/// Share of that deviation for an antenna of `height_agl_m` beside clutter of `clutter_agl_m` (eq. 66): all
/// below the clutter, none from 10 m above it.
#[must_use]
pub fn location_share_of_height(height_agl_m: f64, clutter_agl_m: f64) -> f64 {
    (1.0 - (height_agl_m - clutter_agl_m) / 10.0).clamp(0.0, 1.0)
}

/// Addition to the median loss so that it is not exceeded at `location_percent` of the places, 1 to
/// 99 %, dB (eq. 69): negative below 50 %, nothing there.
///
/// # Errors
/// [`DomainError`] for a percentage outside its range.
pub fn location_loss_db(location_percent: f64, sigma_db: f64) -> Result<f64, DomainError> {
    let share = within("location_percent", location_percent, 1.0, 99.0)? * 1e-2;
    // The approximation is 2e-5 off in the middle.
    Ok(if share == 0.5 { 0.0 } else { -exceeded_quantile(share) * sigma_db })
}

/// Inverse of the complementary cumulative normal distribution, `share` in [1e-6, 1 - 1e-6], by the
/// approximation of the Recommendation: 4.5e-4 off at most, and part of its method.
pub(super) fn exceeded_quantile(share: f64) -> f64 {
    if share > 0.5 {
        return -exceeded_quantile(1.0 - share);
    }
    let t = (-2.0 * libm::log(share.max(1e-6))).sqrt();
    let numerator = (0.010_328 * t + 0.802_853) * t + 2.515_516_698;
    let denominator = ((0.001_308 * t + 0.189_269) * t + 1.432_788) * t + 1.0;
    t - numerator / denominator
}
