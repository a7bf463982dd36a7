//! Underlay domains: what carries a network.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cidr;
use crate::config::ConfigObject;

/// Characters of the name of an interface, as in a refusal.
pub(crate) const IFNAME: &str = "1 to 15 characters of A-Z a-z 0-9 _ . -, but not . and ..";

/// `true` for the name of an interface: what the kernel takes, but no blanks, slashes and colons.
#[must_use]
pub(crate) fn is_ifname(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (1..=15).contains(&name.len()) && name.bytes().all(fits) && name != "." && name != ".."
}

/// Kind of an underlay domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DomainKind {
    /// A batman-adv mesh: one broadcast domain of layer 2.
    BatmanAdv,
    /// An Ethernet segment.
    Ethernet,
    /// A routed network.
    Ip,
}

/// Underlay domain: a mesh, a segment or a routed network that carries a network. Written by
/// `underlay_domain.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct UnderlayDomain {
    /// Name, unique.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Kind.
    #[garde(skip)]
    pub kind: DomainKind,
    /// Interface of the gateway in the domain, such as `bat0`.
    #[serde(default)]
    #[garde(length(bytes, min = 1, max = 15))]
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.-]+$"))]
    pub ifname: Option<String>,
    /// Addresses.
    #[serde(default)]
    #[garde(skip)]
    pub cidr: Option<Cidr>,
    /// 802.11s mesh id.
    #[serde(default)]
    #[garde(length(bytes, min = 1, max = 32))]
    pub mesh_id: Option<String>,
    /// Centre frequency of the channel, MHz.
    #[serde(default)]
    #[garde(range(min = 100, max = 100_000))]
    pub freq_mhz: Option<u32>,
    /// MTU, bytes.
    #[serde(default)]
    #[garde(range(min = 68, max = 65_535))]
    pub mtu: Option<u32>,
}

impl Kind for UnderlayDomain {
    const NAME: &'static str = "underlay domain";
}

impl ConfigObject for UnderlayDomain {
    const KIND: &'static str = "underlay_domain";

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let ifname = self.ifname.as_deref();
        if let Some(ifname) = ifname.filter(|ifname| !is_ifname(ifname)) {
            return Err(Refusal::invalid("ifname", format!("{ifname:?}"), IFNAME));
        }
        let shared = |other: &Self| self.ifname.is_some() && self.ifname == other.ifname;
        let mut others = crate::config::all::<Self>(world).filter(|(other, _)| *other != id);
        match others.find(|(_, other)| shared(other)) {
            Some((_, other)) => Err(Refusal::conflict(format!(
                "the interface {:?} belongs to the underlay domain {:?}",
                self.ifname.as_deref().unwrap_or_default(),
                other.name
            ))),
            None => Ok(()),
        }
    }
}
