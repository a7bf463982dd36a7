//! Lines of the audit log.

use serde::{Deserialize, Serialize};

/// An audited operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Time, ns since the Unix epoch.
    pub at_ns: u64,
    /// Username, or `anonymous`.
    pub actor: String,
    /// Type of the actor: `user`, `node` or `none`.
    pub kind: String,
    /// Operation id.
    pub action: String,
    /// Path of the request.
    pub target: String,
    /// HTTP status; 0 while it is unknown.
    pub outcome: u16,
    /// Source address.
    pub source_ip: String,
    /// Request id.
    pub request_id: String,
    /// Further requests like this one, from the same source and with the same outcome, that have no
    /// line of their own.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeated: u64,
    /// Username of a login, also of one that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the API token of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

/// `true` for a count that is left out of a line.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A line of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditRecord {
    /// Number, from 1.
    pub number: u64,
    /// Audited operation.
    #[serde(flatten)]
    pub entry: AuditEntry,
    /// SHA-256 of the line before it, hexadecimal; in the first line of a segment, of the last line
    /// before the damage and of the damaged lines.
    pub follows: String,
    /// HMAC-SHA256 of the line up to here, hexadecimal; absent in lines of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<String>,
}
