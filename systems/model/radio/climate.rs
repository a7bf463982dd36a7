//! Radio climates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Radio climates of ITM.
#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Climate {
    /// Congo.
    Equatorial,
    /// Sudan.
    ContinentalSubtropical,
    /// West coast of Africa.
    MaritimeSubtropical,
    /// Sahara.
    Desert,
    /// Most land between 30 and 60 degrees latitude.
    #[default]
    ContinentalTemperate,
    /// United Kingdom and continental west coasts.
    MaritimeTemperateLand,
    /// The same, over sea.
    MaritimeTemperateSea,
}

impl Climate {
    /// All climates, in the order of their numbers in ITM, with their names for people.
    pub const ALL: [(Self, &'static str); 7] = [
        (Self::Equatorial, "equatorial"),
        (Self::ContinentalSubtropical, "continental subtropical"),
        (Self::MaritimeSubtropical, "maritime subtropical"),
        (Self::Desert, "desert"),
        (Self::ContinentalTemperate, "continental temperate"),
        (Self::MaritimeTemperateLand, "maritime temperate, over land"),
        (Self::MaritimeTemperateSea, "maritime temperate, over sea"),
    ];
}
