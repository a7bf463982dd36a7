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
