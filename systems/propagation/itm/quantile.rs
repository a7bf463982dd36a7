//! Quantile of the loss: time, location and situation variability.

use serde::{Deserialize, Serialize};

use super::Invalid;

/// The shares of time, locations and situations in which the loss is to stay at or below the
/// answer, each in percent between 0 and 100, both excluded.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Quantile {
    time_percent: f64,
    location_percent: f64,
    situation_percent: f64,
}

impl Quantile {
    /// The median of everything.
    pub const MEDIAN: Self =
        Self { time_percent: 50.0, location_percent: 50.0, situation_percent: 50.0 };

    /// The median of time and locations at this quantile's share of situations.
    #[must_use]
    pub const fn median_of_situation(self) -> Self {
        Self { situation_percent: self.situation_percent, ..Self::MEDIAN }
    }

    /// A quantile of time, location and situation.
    ///
    /// # Errors
    /// [`Invalid::Situation`], [`Invalid::Time`] or [`Invalid::Location`], in this order, when
    /// one is not between 0 and 100 %, exclusive.
    pub const fn new(
        time_percent: f64,
        location_percent: f64,
        situation_percent: f64,
    ) -> Result<Self, Invalid> {
        if !is_open_percent(situation_percent) {
            return Err(Invalid::Situation(situation_percent));
        }
        if !is_open_percent(time_percent) {
            return Err(Invalid::Time(time_percent));
        }
        if !is_open_percent(location_percent) {
            return Err(Invalid::Location(location_percent));
        }
        Ok(Self { time_percent, location_percent, situation_percent })
    }

    /// The confidence and reliability form: reliability is a share of time, confidence a share
    /// of situations, and the location is the median one.
    ///
    /// # Errors
    /// [`Invalid::Confidence`] or [`Invalid::Reliability`] when one is not between 0 and 100 %,
    /// exclusive.
    pub const fn confidence_reliability(
        confidence_percent: f64,
        reliability_percent: f64,
    ) -> Result<Self, Invalid> {
        if !is_open_percent(confidence_percent) {
            return Err(Invalid::Confidence(confidence_percent));
        }
        if !is_open_percent(reliability_percent) {
            return Err(Invalid::Reliability(reliability_percent));
        }
        Ok(Self {
            time_percent: reliability_percent,
            location_percent: 50.0,
            situation_percent: confidence_percent,
        })
    }

    /// Share of time, percent.
    #[must_use]
    pub const fn time_percent(self) -> f64 {
        self.time_percent
    }

    /// Share of locations, percent.
    #[must_use]
    pub const fn location_percent(self) -> f64 {
        self.location_percent
    }

    /// Share of situations, percent.
    #[must_use]
    pub const fn situation_percent(self) -> f64 {
        self.situation_percent
    }
}

const fn is_open_percent(value: f64) -> bool {
    value > 0.0 && value < 100.0
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    time_percent: f64,
    location_percent: f64,
    situation_percent: f64,
}

impl TryFrom<Unchecked> for Quantile {
    type Error = Invalid;

    fn try_from(raw: Unchecked) -> Result<Self, Invalid> {
        Self::new(raw.time_percent, raw.location_percent, raw.situation_percent)
    }
}

/// The standard normal deviate exceeded with probability `percent / 100`, within 4.5e-4
/// (Abramowitz & Stegun 26.2.23, as the model prescribes).
pub(super) fn exceedance_deviate(percent: f64) -> f64 {
    let share = percent / 100.0;
    // Subnormal percentages vanish in the division; keep the logarithm finite.
    let tail = if share > 0.5 { 1.0 - share } else { share }.max(f64::MIN_POSITIVE);
    let t = (-2.0 * libm::log(tail)).sqrt();
    let above = (0.010_328 * t + 0.802_853) * t + 2.515_516;
    let below = ((0.001_308 * t + 0.189_269) * t + 1.432_788) * t + 1.0;
    let deviate = t - above / below;
    if share > 0.5 { -deviate } else { deviate }
}
