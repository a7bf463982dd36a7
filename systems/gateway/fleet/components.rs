//! Components of a node of the fleet, each with its writer.
//!
//! Contents are shared with the view: a heartbeat costs what changed.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_protocol::heartbeat::Heartbeat;
use groundwave_protocol::metrics::Readings;
use groundwave_protocol::{Mac, PublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clone::NodeClone;
use super::liveness::Liveness;
use crate::identity::RegistrationId;

/// Attributes of a node of the fleet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeInfo {
    /// Display name.
    pub name: String,
    /// Role, free text.
    pub role_id: Option<String>,
    pub tags: Vec<String>,
    /// Registration, once it requested to join.
    pub registration: Option<RegistrationId>,
    /// Hardware address of its mesh interface.
    pub mac: Option<Mac>,
    /// Host name, as last reported.
    pub hostname: Option<String>,
    /// WireGuard public key.
    pub public_key: Option<PublicKey>,
    /// Overlay address.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Condition of its admission, if it was registered ahead.
    #[serde(rename = "expected")]
    pub preregistration: Option<Preregistration>,
    /// Location set by an operator.
    #[serde(rename = "place")]
    pub location: Option<Location>,
    /// Board, as reported.
    pub board: Option<String>,
    /// Firmware versions by component.
    pub firmware: BTreeMap<String, String>,
    pub supported_commands: Vec<String>,
    /// Settings in force by name, as reported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Time of its first record, ns since the Unix epoch.
    pub created_ns: u64,
    /// Revision, for `If-Match`.
    pub revision: u64,
}

/// Admission condition of a node registered ahead: hardware address, and key or code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preregistration {
    /// Required hardware address.
    pub mac: Mac,
    /// Accepted key.
    pub public_key: Option<PublicKey>,
    /// Overlay address that it gets; a free one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// SHA-256 of the accepted enrollment code.
    pub code_sha256: [u8; 32],
    /// Expiry of the code, ns since the Unix epoch.
    pub until_ns: u64,
}

/// Source of a location.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LocationSource {
    /// GPS receiver of the node.
    Gps,
    /// Set by an operator.
    Override,
    /// Plan.
    Plan,
}

/// Location of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Latitude, WGS 84, degrees.
    pub lat_deg: f64,
    /// Longitude, WGS 84, degrees.
    pub lon_deg: f64,
    /// Height above mean sea level, m, if known.
    pub alt_msl_m: Option<f64>,
    /// Time of the fix or of the change, ms since the Unix epoch.
    pub ts_ms: u64,
    pub source: LocationSource,
}

/// Record of a node of the fleet. Written by `onboarding.*`, `fleet.join` and `fleet.patch`.
#[derive(Component, Debug, Clone, PartialEq)]
#[require(
    groundwave_simulation::site::Enrolled,
    LivenessState,
    LastHeartbeat,
    LatestReadings,
    super::RecentSamples,
    super::NodeCommands,
    super::MeshEdges
)]
pub struct NodeRecord(pub Arc<NodeInfo>);

/// Liveness. Written by `fleet.hear`, `fleet.begin`, admission and `expire_liveness`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct LivenessState(pub Arc<Liveness>);

/// Last heartbeat, if any. Written by `fleet.hear`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct LastHeartbeat(pub Option<Arc<ReceivedHeartbeat>>);

/// Latest reading of each metric. Written by `fleet.hear` and `fleet.samples`.
#[derive(Component, Debug, Clone, Default, PartialEq)]
pub struct LatestReadings(pub Arc<Readings>);

/// A heartbeat and its reception.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReceivedHeartbeat {
    /// Heartbeat as sent.
    #[serde(rename = "beat")]
    pub heartbeat: Heartbeat,
    /// Time of reception by the gateway's wall clock, ns since the Unix epoch.
    pub wall_ns: u64,
    /// Source address.
    pub source_ip: IpAddr,
    /// Node clock minus gateway clock, ms, if the heartbeat carried its time.
    pub clock_offset_ms: Option<i64>,
    /// Time of the first heartbeat, ns since the Unix epoch.
    pub first_ns: u64,
    /// Boots before that of the heartbeat, the last one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier_boots: Vec<EarlierBoot>,
    /// Heartbeats of an earlier boot since the present one began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_clone: Option<NodeClone>,
}

/// A boot of a node that is over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierBoot {
    /// Boot id.
    pub boot_id: String,
    /// Time of the first heartbeat of the next boot, ns since the Unix epoch.
    pub over_ns: u64,
}

/// Maximum number of earlier boots remembered.
const EARLIER_BOOTS_MAX: usize = 8;
/// Time for which an earlier boot is remembered, ns: an hour. A node without unique boot ids is heard
/// again after it.
const EARLIER_BOOT_NS: u64 = 3_600_000_000_000;

/// Difference of two begins of boots that counts, ns: uptimes are whole seconds, and a heartbeat may be late.
const BEGIN_TOLERANCE_NS: u64 = 60_000_000_000;

/// Time at which a boot began, ns since the Unix epoch; none where the uptime is not reported.
fn begin_ns(uptime_s: u64, wall_ns: u64) -> Option<u64> {
    (uptime_s > 0).then(|| wall_ns.saturating_sub(uptime_s.saturating_mul(1_000_000_000)))
}

impl ReceivedHeartbeat {
    /// True when a heartbeat was sent before this one: by number within the boot, or in an earlier boot.
    #[must_use]
    pub fn is_after(&self, heartbeat: &Heartbeat, wall_ns: u64) -> bool {
        if self.heartbeat.boot_id == heartbeat.boot_id {
            return self.heartbeat.seq >= heartbeat.seq;
        }
        self.is_earlier_boot(&heartbeat.boot_id, heartbeat.uptime_s, wall_ns)
    }

    /// True for a boot that began before that of this heartbeat: by their uptimes (0: not reported), and
    /// where these do not decide, because it was over before.
    pub(super) fn is_earlier_boot(&self, boot_id: &str, uptime_s: u64, wall_ns: u64) -> bool {
        if self.heartbeat.boot_id == boot_id {
            return false;
        }
        // Begins before and after the clock was set back do not compare.
        let is_of_one_clock = self.wall_ns <= wall_ns.saturating_add(BEGIN_TOLERANCE_NS);
        let begin_ns = begin_ns(self.heartbeat.uptime_s, self.wall_ns);
        let other_ns = self::begin_ns(uptime_s, wall_ns);
        if let (Some(begin_ns), Some(other_ns)) = (begin_ns, other_ns)
            && is_of_one_clock
            && begin_ns.abs_diff(other_ns) > BEGIN_TOLERANCE_NS
        {
            return other_ns < begin_ns;
        }
        self.is_remembered(boot_id, wall_ns)
    }

    /// True for a boot whose successor was heard within the last hour.
    pub(super) fn is_remembered(&self, boot_id: &str, wall_ns: u64) -> bool {
        self.remembered_boots(wall_ns).any(|boot| boot.boot_id == boot_id)
    }

    /// Boots before that of the next heartbeat, the last one first.
    pub(super) fn boots_before(&self, next: &Heartbeat, wall_ns: u64) -> Vec<EarlierBoot> {
        let ends = self.heartbeat.boot_id != next.boot_id;
        let boot_id = self.heartbeat.boot_id.clone();
        let last = ends.then_some(EarlierBoot { boot_id, over_ns: wall_ns });
        let others = self.remembered_boots(wall_ns).cloned();
        last.into_iter().chain(others).take(EARLIER_BOOTS_MAX).collect()
    }

    fn remembered_boots(&self, wall_ns: u64) -> impl Iterator<Item = &EarlierBoot> {
        let is_recent =
            move |boot: &&EarlierBoot| boot.over_ns.saturating_add(EARLIER_BOOT_NS) > wall_ns;
        self.earlier_boots.iter().filter(is_recent)
    }
}

/// A planned node that has left the fleet. Written by `onboarding.revoke`.
#[derive(Component, Debug)]
pub struct Deregistered;
