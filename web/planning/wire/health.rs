//! Health endpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Liveness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// Always `ok`.
    pub status: String,
    /// Always `groundwave`.
    pub service: String,
    /// Version of the program.
    pub version: String,
}

/// Readiness.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Always `ready`; a server that is not answers 503.
    pub status: String,
    /// Description of the store.
    pub store: String,
    /// Description of the terrain.
    pub terrain: String,
}
