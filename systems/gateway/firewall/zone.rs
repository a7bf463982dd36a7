//! Zones: interfaces and networks with one policy.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::canonical::{IFNAME, Network, is_ifname};
use crate::config::{ConfigObject, Reference, all};

/// Verdict on a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Accepted.
    Accept,
    /// Dropped.
    Drop,
    /// Dropped, with an ICMP error to the sender.
    Reject,
}

/// Zone of the firewall. Written by `firewall_zone.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Name, unique.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Interfaces of the gateway; each belongs to one zone at most.
    #[serde(default)]
    #[garde(length(max = 64), inner(length(bytes, min = 1, max = 15)))]
    #[schemars(inner(regex(pattern = r"^[A-Za-z0-9_.-]+$")))]
    pub interfaces: Vec<String>,
    /// Networks, by their overlay addresses, on interfaces of no zone; each belongs to one zone at
    /// most.
    #[serde(default)]
    #[garde(length(max = 64))]
    #[schemars(with = "Vec<uuid::Uuid>")]
    pub networks: Vec<Id<Network>>,
    /// Verdict on packets from the zone to this gateway that no rule decides.
    #[garde(skip)]
    pub input: Verdict,
    /// Verdict on packets of this gateway to the zone that no rule decides.
    #[garde(skip)]
    pub output: Verdict,
    /// Verdict on packets from the zone that are forwarded and that no rule decides.
    #[garde(skip)]
    pub forward: Verdict,
    /// Packets forwarded to the zone get the address of the gateway.
    #[serde(default)]
    #[garde(skip)]
    pub masquerade: bool,
    /// TCP connections through the zone announce a segment size that fits the MTU of the route.
    #[serde(default)]
    #[garde(skip)]
    pub mss_clamp: bool,
}

impl Kind for Zone {
    const NAME: &'static str = "firewall zone";
}

impl ConfigObject for Zone {
    const KIND: &'static str = "firewall_zone";
    const COUNT_MAX: usize = 256;

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn references(&self) -> Vec<Reference> {
        Reference::list("networks", &self.networks)
    }

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        for (i, ifname) in self.interfaces.iter().enumerate() {
            let key = format!("interfaces[{i}]");
            if !is_ifname(ifname) {
                return Err(Refusal::invalid(key, format!("{ifname:?}"), IFNAME));
            }
            if self.interfaces[..i].contains(ifname) {
                return Err(Refusal::invalid(key, format!("{ifname:?} again"), "each once"));
            }
        }
        for (i, network) in self.networks.iter().enumerate() {
            if self.networks[..i].contains(network) {
                let duplicate = format!("{network} again");
                return Err(Refusal::invalid(format!("networks[{i}]"), duplicate, "each once"));
            }
        }
        for (_, other) in all::<Self>(world).filter(|(other, _)| *other != id) {
            let shared = |ifname: &&String| other.interfaces.contains(ifname);
            if let Some(ifname) = self.interfaces.iter().find(shared) {
                return Err(Refusal::conflict(format!(
                    "the interface {ifname:?} belongs to the firewall zone {:?}",
                    other.name
                )));
            }
            if self.networks.iter().any(|network| other.networks.contains(network)) {
                return Err(Refusal::conflict(format!(
                    "a network of this zone belongs to the firewall zone {:?}",
                    other.name
                )));
            }
        }
        Ok(())
    }
}
