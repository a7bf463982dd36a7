//! Calibration: measured offsets of the model, by class of path.
//!
//! A profile is part of the [`Environment`](super::Environment), so it is in the log, in the view and
//! in the identity of a sweep; every result it changed has the warning
//! [`Warning::Calibrated`](super::Warning::Calibrated).

use garde::Validate;
use groundwave_values::bounds::{
    bounded, finite, finite_each, finite_if_some, finite_pair_if_some,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Classes a profile may have.
pub const CLASSES_MAX: usize = 256;

/// Maximum length of the name of a profile, characters.
pub const NAME_CHARS_MAX: usize = 64;

/// A named profile of offsets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Name of the profile, 1 to 64 characters.
    #[garde(length(chars, min = 1, max = NAME_CHARS_MAX))]
    pub name: String,
    /// Offsets by class; the first that fits a path counts, others are as the model has them.
    #[garde(length(max = CLASSES_MAX), dive)]
    pub classes: Vec<Offset>,
}

/// The offset of a class of paths.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Offset {
    /// Frequencies of the class, MHz, [0, 1e6], the first included, the second not.
    #[garde(inner(range(min = 0.0, max = 1e6)), custom(finite_each))]
    pub frequency_mhz: [f64; 2],
    /// Distances of the class, km, [0, 1e6], the first included, the second not: a class whose
    /// second is not above its first holds nothing.
    #[garde(inner(range(min = 0.0, max = 1e6)), custom(finite_each))]
    pub distance_km: [f64; 2],
    /// Loss beyond that of the model, dB, [-60, 60].
    #[garde(range(min = -60.0, max = 60.0), custom(finite))]
    pub loss_db: f64,
    /// Confidence interval of the offset at 95 % or more, dB, [-60, 60]; absent where not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(inner(inner(range(min = -60.0, max = 60.0))), custom(finite_pair_if_some))]
    #[schemars(inner(range(min = -60.0, max = 60.0)))]
    pub interval_db: Option<[f64; 2]>,
    /// Standard deviation of the measured links around the offset, dB, [0, 60]; absent where not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 0.0, max = 60.0), custom(finite_if_some))]
    pub spread_db: Option<f64>,
}

impl Offset {
    /// True if the path belongs to the class.
    #[must_use]
    pub fn holds(&self, frequency_mhz: f64, distance_m: f64) -> bool {
        let within = |[low, high]: [f64; 2], value: f64| (low..high).contains(&value);
        within(self.frequency_mhz, frequency_mhz) && within(self.distance_km, distance_m * 1e-3)
    }
}

bounded! { Calibration: "environment.calibration" }

impl Calibration {
    /// The first class that holds a path.
    #[must_use]
    pub fn class(&self, frequency_mhz: f64, distance_m: f64) -> Option<&Offset> {
        let holds = |class: &&Offset| class.holds(frequency_mhz, distance_m);
        self.classes.iter().find(holds)
    }

    /// Loss beyond that of the model on a path, dB; 0 where no class holds it.
    #[must_use]
    pub fn loss_db(&self, frequency_mhz: f64, distance_m: f64) -> f64 {
        let class = self.class(frequency_mhz, distance_m);
        class.map_or(0.0, |class| class.loss_db)
    }
}
