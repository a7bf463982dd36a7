//! Settings of a mesh interface that can be changed while it runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{GatewayMode, Mesh, attr};
use crate::attr::put;

/// Settings of batman-adv.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BatmanConfig {
    /// Time between originator messages, ms, at least 40.
    #[schemars(range(min = 40))]
    pub orig_interval_ms: Option<u32>,
    /// Penalty per hop, [0, 255].
    pub hop_penalty: Option<u8>,
    /// Gateway mode.
    pub gw_mode: Option<GatewayMode>,
    /// Downlink bandwidth announced as a gateway, kbit/s, in steps of 100.
    #[schemars(range(max = 429_496_729_500_u64))]
    pub gw_bandwidth_down_kbps: Option<u64>,
    /// Uplink bandwidth announced as a gateway, kbit/s, in steps of 100.
    #[schemars(range(max = 429_496_729_500_u64))]
    pub gw_bandwidth_up_kbps: Option<u64>,
    /// Bridge loop avoidance.
    pub bridge_loop_avoidance: Option<bool>,
    /// Distributed ARP table.
    pub distributed_arp_table: Option<bool>,
    /// Fragmentation of large frames.
    pub fragmentation: Option<bool>,
    /// Bonding: alternating use of several routes.
    pub bonding: Option<bool>,
    /// Isolation of access point clients from each other.
    pub ap_isolation: Option<bool>,
    /// Multicast optimisation: frames go to listeners only.
    pub multicast_mode: Option<bool>,
}

impl From<Mesh> for BatmanConfig {
    fn from(mesh: Mesh) -> Self {
        Self {
            orig_interval_ms: mesh.orig_interval_ms,
            hop_penalty: mesh.hop_penalty,
            gw_mode: mesh.gw_mode,
            gw_bandwidth_down_kbps: mesh.gw_bandwidth.map(|offer| offer.down_kbps),
            gw_bandwidth_up_kbps: mesh.gw_bandwidth.map(|offer| offer.up_kbps),
            bridge_loop_avoidance: mesh.bridge_loop_avoidance,
            distributed_arp_table: mesh.distributed_arp_table,
            fragmentation: mesh.fragmentation,
            bonding: mesh.bonding,
            ap_isolation: mesh.ap_isolation,
            multicast_mode: mesh.multicast_mode,
        }
    }
}

impl BatmanConfig {
    /// Appends the given settings as attributes.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        let flags = [
            (attr::BRIDGE_LOOP_AVOIDANCE, self.bridge_loop_avoidance),
            (attr::DISTRIBUTED_ARP_TABLE, self.distributed_arp_table),
            (attr::FRAGMENTATION, self.fragmentation),
            (attr::BONDING, self.bonding),
            (attr::AP_ISOLATION, self.ap_isolation),
            (attr::MULTICAST_FORCEFLOOD, self.multicast_mode.map(|on| !on)),
        ];
        let mode = self.gw_mode.map(|mode| match mode {
            GatewayMode::Off => 0,
            GatewayMode::Client => 1,
            GatewayMode::Server => 2,
        });
        let bytes = flags.map(|(kind, on)| (kind, on.map(u8::from))).into_iter();
        for (kind, byte) in
            bytes.chain([(attr::GW_MODE, mode), (attr::HOP_PENALTY, self.hop_penalty)])
        {
            if let Some(byte) = byte {
                put(out, kind, &[byte]);
            }
        }
        // The unit of the kernel is 100 kbit/s.
        let rate =
            |kbps: Option<u64>| kbps.map(|kbps| u32::try_from(kbps / 100).unwrap_or(u32::MAX));
        let words = [
            (attr::GW_BANDWIDTH_DOWN, rate(self.gw_bandwidth_down_kbps)),
            (attr::GW_BANDWIDTH_UP, rate(self.gw_bandwidth_up_kbps)),
            (attr::ORIG_INTERVAL, self.orig_interval_ms),
        ];
        for (kind, word) in words {
            if let Some(word) = word {
                put(out, kind, &word.to_ne_bytes());
            }
        }
    }
}
