//! Liveness state of a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Liveness state of a node.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum NodeState {
    /// Registered or approved; no heartbeat yet.
    #[default]
    Joining,
    /// Last heartbeat within three periods.
    Online,
    /// No heartbeat for three periods, or a single one after an absence.
    Stale,
    /// No heartbeat for twelve periods.
    Offline,
}

impl NodeState {
    /// Name of the state in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Joining => "joining",
            Self::Online => "online",
            Self::Stale => "stale",
            Self::Offline => "offline",
        }
    }
}
