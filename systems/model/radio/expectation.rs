//! Interval and probability of a link in short form, in the one wording that reports share.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::prediction::{Basis, Prediction};

/// Distribution of links like one that was evaluated, in short form.
///
/// The text is the wording of all reports: `90 % of links like this: -98 to -141 dBm; works with 62 %;
/// surroundings unknown`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Expectation {
    /// Knowledge that the prediction rests on.
    pub basis: Basis,
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

    /// The interval, strong end first: `-98 to -141 dBm`.
    #[must_use]
    pub fn interval(&self) -> String {
        let [low_dbm, high_dbm] = self.rx_power_interval_dbm;
        // Half a decibel below zero is written without a minus.
        let whole = |dbm: f64| format!("{:.0}", dbm.round() + 0.0);
        format!("{} to {} dBm", whole(high_dbm), whole(low_dbm))
    }

    /// The probability as percent: a decimal where whole ones would hide how near it is to 0 or 100.
    #[must_use]
    pub fn chance(&self) -> String {
        let digits = usize::from(self.link_prob < 0.1 || self.link_prob > 0.99);
        format!("{:.digits$} %", self.link_prob * 100.0)
    }
}

impl From<&Prediction> for Expectation {
    fn from(prediction: &Prediction) -> Self {
        Self {
            basis: prediction.basis,
            rx_power_interval_dbm: prediction.rx_power_interval_dbm,
            link_prob: prediction.link_prob,
        }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (interval, chance) = (self.interval(), self.chance());
        let (of_all, works) = (Self::INTERVAL, Self::CHANCE);
        write!(out, "{of_all}: {interval}; {works} {chance}; {}", self.basis.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_reads_strong_end_first_with_its_probability_and_basis() {
        let one = Expectation {
            basis: Basis::SurroundingsUnknown,
            rx_power_interval_dbm: [-141.3, -97.6],
            link_prob: 0.618,
        };
        let text =
            "90 % of links like this: -98 to -141 dBm; works with 62 %; surroundings unknown";
        assert_eq!(one.to_string(), text);
        let near = Expectation { rx_power_interval_dbm: [-20.0, -0.2], link_prob: 0.996, ..one };
        assert_eq!((near.interval().as_str(), near.chance().as_str()), ("0 to -20 dBm", "99.6 %"));
        let seldom = Expectation { link_prob: 0.004, ..one };
        assert_eq!(seldom.chance(), "0.4 %");
        assert_eq!(Expectation { link_prob: 0.99, ..one }.chance(), "99 %");
    }
}
