//! Whether the server is well.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Alive {
    /// Always `ok`.
    pub status: String,
    /// Always `groundwave`.
    pub service: String,
    /// Version of the program.
    pub version: String,
}

/// The server can do its work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    /// Always `ready`; a server that is not answers 503.
    pub status: String,
    /// What the store said.
    pub store: String,
    /// What the terrain is.
    pub terrain: String,
}
