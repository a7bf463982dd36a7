//! Clones: a second machine that sends heartbeats with the identity of a node.
//!
//! Of two machines with one key the boot that began last is the node; heartbeats of the other one are those of
//! an earlier boot, which is over, and are refused. One such heartbeat may have been late; a second one with a
//! higher number is that of a machine which runs.

use core::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::liveness::{LivenessRules, OFFLINE_PERIODS};

/// Refused heartbeats of an earlier boot until its machine counts as a clone.
const HEARTBEATS_OF_CLONE: u32 = 2;

/// Heartbeats of an earlier boot, which were refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeClone {
    /// Boot id.
    pub boot_id: String,
    /// Host name.
    pub hostname: String,
    /// Source address.
    pub source_ip: IpAddr,
    /// Number of the last one within the boot.
    pub seq: u64,
    /// Number of heartbeats in all.
    pub count: u32,
    /// Time of the first one, ns since the Unix epoch.
    pub first_ns: u64,
    /// Time of the last one, ns since the Unix epoch.
    pub last_ns: u64,
}

impl NodeClone {
    /// `true` where a machine runs, and not a single heartbeat was late.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.count >= HEARTBEATS_OF_CLONE
    }

    /// The reason of the alert, for display.
    #[must_use]
    pub fn reason(&self) -> String {
        let Self { hostname, source_ip, .. } = self;
        format!(
            "another machine sends with the key of this node: host {hostname} at {source_ip}; its heartbeats \
             are refused"
        )
    }

    /// `true` after as long a silence as makes a node offline.
    pub(super) fn is_over(&self, rules: LivenessRules, wall_ns: u64) -> bool {
        wall_ns.saturating_sub(self.last_ns) > OFFLINE_PERIODS.saturating_mul(rules.period_ns)
    }
}
