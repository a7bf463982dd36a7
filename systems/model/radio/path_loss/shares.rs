//! Shares of time, locations and situations that path-loss models have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::SettingValues;

/// Share that a loss is not exceeded of a model without one, percent: its loss is a median.
const MEDIAN_PERCENT: f64 = 50.0;

/// Kind of a share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Share {
    /// Of time.
    Time,
    /// Of locations.
    Location,
    /// Of situations.
    Situation,
}

impl Share {
    /// Every kind, in the order of the environment.
    pub const ALL: [Self; 3] = [Self::Time, Self::Location, Self::Situation];

    /// Name of the setting of the environment.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Time => "time_percent",
            Self::Location => "location_percent",
            Self::Situation => "situation_percent",
        }
    }

    /// The kind in words.
    #[must_use]
    pub const fn text(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Location => "locations",
            Self::Situation => "situations",
        }
    }

    /// Value of the share, percent.
    const fn value(self, values: &mut SettingValues) -> &mut f64 {
        match self {
            Self::Time => &mut values.time_percent,
            Self::Location => &mut values.location_percent,
            Self::Situation => &mut values.situation_percent,
        }
    }
}

/// Minimum and maximum of the shares of a model, percent; `None` where it has the median alone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ShareRanges {
    /// Of time.
    pub time_percent: Option<[f64; 2]>,
    /// Of locations.
    pub location_percent: Option<[f64; 2]>,
    /// Of situations.
    pub situation_percent: Option<[f64; 2]>,
}

impl ShareRanges {
    /// The median alone.
    pub const NONE: Self =
        Self { time_percent: None, location_percent: None, situation_percent: None };

    /// Range of one kind.
    #[must_use]
    pub const fn range(&self, share: Share) -> Option<[f64; 2]> {
        match share {
            Share::Time => self.time_percent,
            Share::Location => self.location_percent,
            Share::Situation => self.situation_percent,
        }
    }

    /// The values with each share at the nearest one that the model has, and the shares that differ from the
    /// requested ones. A share beyond the range of a model keeps the term of the model: another model without
    /// it would have less loss for more assurance.
    #[must_use]
    pub fn limited(&self, mut values: SettingValues) -> (SettingValues, Vec<NotModelled>) {
        let mut not_modelled = Vec::new();
        for share in Share::ALL {
            let [minimum, maximum] = self.range(share).unwrap_or([MEDIAN_PERCENT; 2]);
            let value = share.value(&mut values);
            let requested_percent = *value;
            *value = requested_percent.clamp(minimum, maximum);
            if *value != requested_percent {
                not_modelled.push(NotModelled { share, requested_percent });
            }
        }
        (values, not_modelled)
    }
}

/// A requested share that the model does not have, or not so far.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NotModelled {
    /// Kind of the share.
    pub share: Share,
    /// The share that the environment has, percent.
    pub requested_percent: f64,
}
