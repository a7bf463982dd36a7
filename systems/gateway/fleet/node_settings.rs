//! Desired settings of a node, and their differences from those that it reports.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Index, Kind, Refusal};
use groundwave_simulation::site::{NODES_MAX, NodeId, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::components::NodeRecord;
use crate::config::ConfigObject;

/// Kind of the node command that applies settings.
pub const CONFIGURE: &str = "configure";

/// Maximum bandwidth that batman-adv can announce, kbit/s.
const BANDWIDTH_KBPS_MAX: u64 = 429_496_729_500;

/// Gateway mode of batman-adv.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatmanGatewayMode {
    /// No gateway function.
    Off,
    /// Selects the best gateway.
    Client,
    /// Is a gateway.
    Server,
}

/// Desired settings of batman-adv; absent ones stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, default)]
pub struct BatmanSettings {
    /// Time between originator messages, ms.
    #[garde(range(min = 40, max = 60_000))]
    pub orig_interval_ms: Option<u32>,
    /// Penalty per hop.
    #[garde(range(min = 0, max = 255))]
    pub hop_penalty: Option<u32>,
    /// Gateway mode.
    #[garde(skip)]
    pub gw_mode: Option<BatmanGatewayMode>,
    /// Downlink bandwidth announced as a gateway, kbit/s, in steps of 100.
    #[garde(range(min = 0, max = BANDWIDTH_KBPS_MAX))]
    pub gw_bandwidth_down_kbps: Option<u64>,
    /// Uplink bandwidth announced as a gateway, kbit/s, in steps of 100.
    #[garde(range(min = 0, max = BANDWIDTH_KBPS_MAX))]
    pub gw_bandwidth_up_kbps: Option<u64>,
    /// Bridge loop avoidance.
    #[garde(skip)]
    pub bridge_loop_avoidance: Option<bool>,
    /// Distributed ARP table.
    #[garde(skip)]
    pub distributed_arp_table: Option<bool>,
    /// Fragmentation of large frames.
    #[garde(skip)]
    pub fragmentation: Option<bool>,
    /// Bonding: alternating use of several routes.
    #[garde(skip)]
    pub bonding: Option<bool>,
    /// Isolation of access point clients from each other.
    #[garde(skip)]
    pub ap_isolation: Option<bool>,
    /// Multicast optimisation: frames go to listeners only.
    #[garde(skip)]
    pub multicast_mode: Option<bool>,
}

/// Desired settings of a node. Written by `node_settings.put` and `drop_settings`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct NodeSettings {
    /// Node.
    #[garde(skip)]
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    /// Settings of batman-adv on the mesh interface.
    #[garde(dive)]
    pub batman: BatmanSettings,
    /// Time within which the node must reach the gateway after the change, s; else it undoes it.
    #[garde(range(min = 10, max = 600))]
    pub confirm_within_s: u32,
}

/// A setting whose value on the node is not the desired one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingDifference {
    /// Name, for example `batman.hop_penalty`.
    pub setting: String,
    /// Desired value.
    pub wanted: String,
    /// Value as reported; absent where the node reports none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

impl NodeSettings {
    /// Id of the settings of a node.
    #[must_use]
    pub fn id(node: NodeId) -> Id<Self> {
        Id::new(node.uuid())
    }

    /// Desired values by name.
    #[must_use]
    pub fn values(&self) -> BTreeMap<String, String> {
        let value = serde_json::to_value(&self.batman).unwrap_or_default();
        let settings =
            value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        let text = |value: &Value| {
            let word = value.as_str().map(str::to_owned);
            word.unwrap_or_else(|| value.to_string())
        };
        settings.map(|(name, value)| (format!("batman.{name}"), text(value))).collect()
    }

    /// Differences from the values that the node reports.
    #[must_use]
    pub fn divergence(&self, reported: &BTreeMap<String, String>) -> Vec<SettingDifference> {
        let values = self.values().into_iter();
        let difference = |(setting, desired): (String, String)| SettingDifference {
            found: reported.get(&setting).cloned(),
            setting,
            wanted: desired,
        };
        values
            .filter(|(name, desired)| reported.get(name) != Some(desired))
            .map(difference)
            .collect()
    }
}

impl Kind for NodeSettings {
    const NAME: &'static str = "settings of a node";
}

impl ConfigObject for NodeSettings {
    const KIND: &'static str = "node_settings";
    const COUNT_MAX: usize = NODES_MAX;

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let node = world.resource::<Index<NodeKind>>().get(self.node_id)?;
        let record = world
            .get::<NodeRecord>(node)
            .ok_or_else(|| Refusal::NotFound { kind: "node", id: self.node_id.to_string() })?;
        if Self::id(self.node_id) != id {
            return Err(Refusal::conflict("these are the settings of another node"));
        }
        let values = self.values();
        let unknown = values.keys().find(|name| !record.0.settings.contains_key(*name));
        if let Some(unknown) = unknown {
            let settings: Vec<&str> = record.0.settings.keys().map(String::as_str).collect();
            let allowed = match settings.is_empty() {
                true => "none: its agent permits no settings".to_owned(),
                false => format!("those the node reports: {}", settings.join(", ")),
            };
            return Err(Refusal::invalid(unknown.clone(), &values[unknown], allowed));
        }
        if values.is_empty() {
            return Err(Refusal::invalid("batman", "no setting", "at least one"));
        }
        Ok(())
    }
}

/// Removes the desired settings of nodes that have left the fleet.
pub(super) fn drop_settings(
    mut departed: RemovedComponents<NodeRecord>,
    settings: Query<(Entity, &NodeSettings)>,
    index: Res<Index<NodeKind>>,
    nodes: Query<(), With<NodeRecord>>,
    mut commands: Commands,
) {
    if departed.read().count() == 0 {
        return;
    }
    for (entity, desired) in &settings {
        let node = index.get(desired.node_id);
        if !node.is_ok_and(|node| nodes.contains(node)) {
            commands.entity(entity).despawn();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_named_as_the_node_names_its_settings() {
        let settings = NodeSettings {
            node_id: NodeId::from_u128(1),
            batman: BatmanSettings {
                hop_penalty: Some(40),
                gw_mode: Some(BatmanGatewayMode::Server),
                bonding: Some(false),
                ..BatmanSettings::default()
            },
            confirm_within_s: 60,
        };
        let mut reported = settings.values();
        let expected = [
            ("batman.bonding", "false"),
            ("batman.gw_mode", "server"),
            ("batman.hop_penalty", "40"),
        ];
        let pairs = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(reported, BTreeMap::from(pairs));
        assert_eq!(settings.divergence(&reported), []);
        reported.insert("batman.hop_penalty".to_owned(), "15".to_owned());
        reported.remove("batman.bonding");
        let differences: Vec<_> = settings
            .divergence(&reported)
            .into_iter()
            .map(|one| (one.setting, one.found))
            .collect();
        assert_eq!(
            differences,
            [
                ("batman.bonding".to_owned(), None),
                ("batman.hop_penalty".to_owned(), Some("15".to_owned()))
            ]
        );
    }
}
