//! Interfaces of nodes: as heartbeats report them, with the underlay domain they belong to.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Index, Kind, Refusal};
use groundwave_protocol::{Heartbeat, TransportKind};
use groundwave_simulation::site::{NODES_MAX, NodeId, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::domain::UnderlayDomain;
use crate::config::{ConfigObject, Reference};
use crate::fleet::NodeRecord;

/// Kind of an interface of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InterfaceKind {
    /// 802.11 radio in a mesh.
    WifiMesh,
    /// 802.11ah radio.
    Halow,
    /// Ethernet port.
    Ethernet,
    /// WireGuard tunnel.
    Wireguard,
    /// batman-adv mesh.
    Batman,
    /// Any other.
    Other,
}

impl InterfaceKind {
    /// Kind of the interface `ifname` of a heartbeat: that of the transport over it, else by the
    /// usual prefixes of names.
    #[must_use]
    pub fn of(heartbeat: &Heartbeat, ifname: &str) -> Self {
        let mut transports = heartbeat.transports.iter();
        match transports.find(|over| over.name == ifname).map(|over| over.kind) {
            Some(TransportKind::Halow) => return Self::Halow,
            Some(TransportKind::Wifi) => return Self::WifiMesh,
            Some(TransportKind::Ethernet) => return Self::Ethernet,
            _ => {}
        }
        let prefixes = [
            ("bat", Self::Batman),
            ("wg", Self::Wireguard),
            ("wlan", Self::WifiMesh),
            ("mesh", Self::WifiMesh),
            ("wl", Self::WifiMesh),
            ("halow", Self::Halow),
            ("eth", Self::Ethernet),
            ("en", Self::Ethernet),
        ];
        let by_prefix = prefixes.into_iter().find(|(prefix, _)| ifname.starts_with(prefix));
        by_prefix.map_or(Self::Other, |(_, kind)| kind)
    }
}

/// Settings of an interface of a node. Written by `interface.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct InterfaceSettings {
    /// Node.
    #[garde(skip)]
    #[schemars(with = "uuid::Uuid")]
    pub node_id: NodeId,
    /// Name of the interface on the node.
    #[garde(length(bytes, min = 1, max = 128))]
    pub ifname: String,
    /// Underlay domain the interface belongs to.
    #[serde(default)]
    #[garde(skip)]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub domain_id: Option<Id<UnderlayDomain>>,
    /// Label.
    #[serde(default)]
    #[garde(length(chars, min = 1, max = 64))]
    pub label: Option<String>,
}

impl InterfaceSettings {
    /// Id of the interface `ifname` of a node.
    #[must_use]
    pub fn id(node: NodeId, ifname: &str) -> Id<Self> {
        Id::named(&format!("{node}/{ifname}"))
    }
}

impl Kind for InterfaceSettings {
    const NAME: &'static str = "interface";
}

impl ConfigObject for InterfaceSettings {
    const KIND: &'static str = "interface";
    const COUNT_MAX: usize = NODES_MAX;

    fn references(&self) -> Vec<Reference> {
        let domain = self.domain_id.map(|id| Reference::to("domain_id", id));
        domain.into_iter().collect()
    }

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let node = world.resource::<Index<NodeKind>>().get(self.node_id);
        if !node.is_ok_and(|node| world.get::<NodeRecord>(node).is_some()) {
            let allowed = "the id of an existing node";
            return Err(Refusal::invalid("node_id", self.node_id, allowed));
        }
        if Self::id(self.node_id, &self.ifname) != id {
            return Err(Refusal::conflict("this is the id of another interface"));
        }
        Ok(())
    }
}

/// Removes the settings of interfaces whose nodes have left the fleet.
pub(super) fn drop_interfaces(
    mut departed: RemovedComponents<NodeRecord>,
    interfaces: Query<(Entity, &InterfaceSettings)>,
    index: Res<Index<NodeKind>>,
    nodes: Query<(), With<NodeRecord>>,
    mut commands: Commands,
) {
    if departed.read().count() == 0 {
        return;
    }
    for (entity, settings) in &interfaces {
        let node = index.get(settings.node_id);
        if !node.is_ok_and(|node| nodes.contains(node)) {
            commands.entity(entity).despawn();
        }
    }
}
