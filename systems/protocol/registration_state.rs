//! State of a registration.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// State of a registration.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RegistrationState {
    /// Waits for an admin.
    Pending,
    /// Admitted.
    Approved,
    /// Rejected by an admin.
    Rejected,
    /// Admission revoked.
    Revoked,
    /// No decision within a day.
    Expired,
}

impl RegistrationState {
    /// Name of the state in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}
