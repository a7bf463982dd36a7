//! Counters of a port. They only grow; a rate is the difference of two samples.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One sample of a port's counters, cumulative since the daemon started.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkStats {
    /// Monotonic clock of the sample, ns.
    #[serde(rename = "captured_at")]
    pub captured_at_ns: u64,
    /// Wall clock of the sample, ns since the Unix epoch.
    #[serde(rename = "captured_at_wall")]
    pub captured_at_wall_ns: u64,
    /// Packets that left the stack.
    pub packets_total: u64,
    /// Bytes that left the stack.
    pub bytes_total: u64,
    /// Packets dropped anywhere in the stack; the sum of the three below.
    pub drops_total: u64,
    /// Of these, dropped by loss, or because the delay line was full.
    pub impairment_drops_total: u64,
    /// Of these, dropped because a frame did not fit the token bucket.
    pub rate_drops_total: u64,
    /// Of these, dropped because the queue was full.
    pub queue_drops_total: u64,
    /// Packets that had to wait for tokens.
    pub overlimits_total: u64,
    /// Packets that overtook others.
    pub reordered_total: u64,
    /// Packets in the stack now.
    pub backlog_packets: u32,
    /// Bytes in the stack now.
    pub backlog_bytes: u32,
    /// Packets the interface sent.
    pub interface_tx_packets_total: u64,
    /// Bytes the interface sent.
    pub interface_tx_bytes_total: u64,
    /// Packets the interface dropped while sending.
    pub interface_tx_dropped_total: u64,
    /// Number of resets of the kernel counters by a new discipline stack.
    pub resets_total: u64,
    /// Counters of the rules in force; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<RuleStats>,
}

/// Counters of the traffic of a rule, or of all rules that exclude, since its discipline was made.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImpairmentRuleStats")]
pub struct RuleStats {
    /// Names: of a rule with an impairment, or of all that exclude.
    pub names: Vec<String>,
    /// Packets that left the rule's stack.
    pub packets_total: u64,
    /// Bytes that left the rule's stack.
    pub bytes_total: u64,
    /// Packets dropped in the rule's stack.
    pub drops_total: u64,
    /// Packets in the rule's stack now.
    pub backlog_packets: u32,
}
