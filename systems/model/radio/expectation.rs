//! Interval and probability of a link in short form, in the one wording that reports share.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::outcome::Verdict;
use super::prediction::Basis;
use super::result::LinkResult;
use crate::terrain::PathGround;

/// Distribution of links like one that was evaluated, in short form.
///
/// The text is the wording of all reports: `90 % of links like this: -98 to -141 dBm; works with 62 %;
/// surroundings unknown`. Over unknown ground there is an interval, but neither probability nor verdict.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// Knowledge that the prediction rests on.
    pub basis: Basis,
    /// Knowledge of the ground along the path: where it is `unknown`, the probability rests on assumed ground.
    #[serde(default)]
    pub ground: PathGround,
    /// Received power of 90 % of links like this one, dBm: 5 % lie below the first, 5 % above the
    /// second.
    pub rx_power_interval_dbm: [f64; 2],
    /// Probability that the link margin of a link like this one is not negative, [0, 1].
    pub link_prob: f64,
}

impl Expectation {
    /// Name of the interval, for rows and columns.
    pub const INTERVAL: &str = "90 % of links like this";

    /// Name of the probability, for rows and columns.
    pub const CHANCE: &str = "works with";

    /// Name of the basis, for rows and columns.
    pub const BASIS: &str = "rests on";

    /// Of a link that was evaluated.
    #[must_use]
    pub fn of(result: &LinkResult) -> Self {
        Self {
            basis: result.prediction.basis,
            ground: result.terrain.ground,
            rx_power_interval_dbm: result.prediction.rx_power_interval_dbm,
            link_prob: result.prediction.link_prob,
        }
    }

    /// The interval, strong end first: `-98 to -141 dBm`.
    #[must_use]
    pub fn interval(&self) -> String {
        format!("{} dBm", self.interval_dbm())
    }

    /// The interval without its unit, strong end first: `-98 to -141`.
    #[must_use]
    pub fn interval_dbm(&self) -> String {
        let [low_dbm, high_dbm] = self.rx_power_interval_dbm;
        // Half a decibel below zero is written without a minus.
        let whole = |dbm: f64| format!("{:.0}", dbm.round() + 0.0);
        format!("{} to {}", whole(high_dbm), whole(low_dbm))
    }

    /// The probability as percent: a decimal where whole ones would hide how near it is to 0 or 100. A dash over
    /// unknown ground.
    #[must_use]
    pub fn chance(&self) -> String {
        if !self.ground.is_enough() {
            return "–".to_owned();
        }
        let digits = usize::from(self.link_prob < 0.1 || self.link_prob > 0.99);
        format!("{:.digits$} %", self.link_prob * 100.0)
    }

    /// `verdict`, or none over unknown ground.
    #[must_use]
    pub fn verdict(&self, verdict: Verdict) -> Option<Verdict> {
        self.ground.is_enough().then_some(verdict)
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (of_all, interval) = (Self::INTERVAL, self.interval());
        match self.ground.is_enough() {
            true => {
                let (works, chance) = (Self::CHANCE, self.chance());
                write!(out, "{of_all}: {interval}; {works} {chance}; {}", self.basis.short())
            }
            false => write!(out, "{of_all}: {interval}; {}", self.basis.short()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Expectation = Expectation {
        basis: Basis::SurroundingsUnknown,
        ground: PathGround::Known,
        rx_power_interval_dbm: [-141.3, -97.6],
        link_prob: 0.618,
    };

    #[test]
    fn an_expectation_reads_strong_end_first_with_its_probability_and_basis() {
        let text =
            "90 % of links like this: -98 to -141 dBm; works with 62 %; surroundings unknown";
        assert_eq!(ONE.to_string(), text);
        let near = Expectation { rx_power_interval_dbm: [-20.0, -0.2], link_prob: 0.996, ..ONE };
        assert_eq!((near.interval().as_str(), near.chance().as_str()), ("0 to -20 dBm", "99.6 %"));
        let seldom = Expectation { link_prob: 0.004, ..ONE };
        assert_eq!(seldom.chance(), "0.4 %");
        assert_eq!(Expectation { link_prob: 0.99, ..ONE }.chance(), "99 %");
    }

    #[test]
    fn over_unknown_ground_there_is_an_interval_without_probability_or_verdict() {
        let unknown = Expectation {
            basis: Basis::GroundUnknown,
            ground: PathGround::Unknown,
            link_prob: 0.999,
            ..ONE
        };
        let text = "90 % of links like this: -98 to -141 dBm; ground unknown";
        assert_eq!(unknown.to_string(), text);
        assert_eq!((unknown.chance().as_str(), unknown.verdict(Verdict::Excellent)), ("–", None));
        let partial = Expectation { ground: PathGround::Partial, ..unknown };
        assert!(partial.to_string().ends_with("works with 99.9 %; ground unknown"));
        assert_eq!(partial.verdict(Verdict::Good), Some(Verdict::Good));
    }
}
