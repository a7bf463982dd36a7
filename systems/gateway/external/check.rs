//! Credentials and checks of external systems, as presets choose them.

use garde::Validate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthKind {
    /// None.
    #[default]
    None,
    /// User name and password, RFC 7617.
    Basic,
    /// Bearer token, RFC 6750.
    Bearer,
    /// Key in a header field or query parameter.
    ApiKey,
    /// Token with an id, as Proxmox VE has it.
    TokenId,
}

/// Request whose answer becomes a metric.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Metric: a-z 0-9 _
    #[garde(length(bytes, min = 1, max = 48))]
    #[schemars(regex(pattern = r"^[a-z0-9_]+$"))]
    pub metric: String,
    /// Path and query below the base URL, from `/`.
    #[garde(length(bytes, min = 1, max = 1024))]
    pub path: String,
    /// Place of a number or a truth value in a JSON answer, RFC 6901.
    #[serde(default)]
    #[garde(inner(length(bytes, max = 256)))]
    pub json_pointer: Option<String>,
    /// Sample in an answer in the Prometheus text format: name with its labels, as they stand there.
    #[serde(default)]
    #[garde(inner(length(bytes, min = 1, max = 256)))]
    pub sample: Option<String>,
    /// Unit.
    #[serde(default)]
    #[garde(inner(length(bytes, min = 1, max = 16)))]
    pub unit: Option<String>,
}

impl Check {
    /// Check of the status of a path: 1 for a successful answer, else 0.
    #[must_use]
    pub fn path(metric: &str, path: &str) -> Self {
        Self {
            metric: metric.to_owned(),
            path: path.to_owned(),
            json_pointer: None,
            sample: None,
            unit: None,
        }
    }
}
