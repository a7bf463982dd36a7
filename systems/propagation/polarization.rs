//! The polarization of a wave over the ground.

use serde::{Deserialize, Serialize};

/// Direction of the electric field with respect to the ground. Both ends of a link share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Polarization {
    /// Electric field parallel to the ground.
    Horizontal,
    /// Electric field in the vertical plane through the path.
    Vertical,
}

impl Polarization {
    /// Name in documents and reports: `horizontal` or `vertical`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Horizontal => "horizontal",
            Self::Vertical => "vertical",
        }
    }
}
