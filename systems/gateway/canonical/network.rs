//! Networks: overlay address ranges over underlay domains.

use core::net::IpAddr;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Index, Kind, Refusal};
use groundwave_simulation::site::{NodeId, NodeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cidr;
use super::domain::UnderlayDomain;
use super::underlay::Underlay;
use crate::config::{ConfigObject, Reference, all, find};
use crate::onboarding::{AddressPool, leased, leases_count};

/// Network. Written by `network.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Name, unique.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Overlay addresses: an IPv4 range with a prefix of 8 to 28 bits, apart from other networks.
    #[garde(skip)]
    pub overlay_cidr: Cidr,
    /// Underlay domains that carry it.
    #[serde(default)]
    #[garde(length(max = 16))]
    #[schemars(with = "Vec<uuid::Uuid>")]
    pub underlay_domain_ids: Vec<Id<UnderlayDomain>>,
    /// Node that serves it; absent for this gateway. While the node is removed, nobody serves it. Of the
    /// networks of this gateway the oldest is the one that nodes get their addresses of.
    #[serde(default)]
    #[garde(skip)]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub gateway_node_id: Option<NodeId>,
    /// Description.
    #[serde(default)]
    #[garde(length(chars, max = 1024))]
    pub description: String,
}

impl Kind for Network {
    const NAME: &'static str = "network";
}

impl Network {
    /// Address pool of the network.
    ///
    /// # Errors
    /// When its range is not IPv4 or its prefix not of 8 to 28 bits.
    pub fn pool(&self) -> Result<AddressPool, String> {
        match self.overlay_cidr.first() {
            IpAddr::V4(first) => AddressPool::new(first, self.overlay_cidr.prefix_len()),
            IpAddr::V6(_) => Err("invalid range: found IPv6, allowed IPv4".to_owned()),
        }
    }
}

/// The network that nodes get their addresses of: of those without a gateway node, the first in id
/// order, which is that of creation.
pub fn served<'n>(
    networks: impl Iterator<Item = (Id<Network>, &'n Network)>,
) -> Option<(Id<Network>, &'n Network)> {
    networks.filter(|(_, network)| network.gateway_node_id.is_none()).min_by_key(|(id, _)| *id)
}

/// Checks a choice of the served network. Nodes have the address of the gateway and the range of the time
/// of their admission, so a range with leases stays as it is.
fn check_served(world: &World, served: Option<(Id<Network>, &Network)>) -> Result<(), Refusal> {
    let Some(pool) = served.and_then(|(_, network)| network.pool().ok()) else {
        return Ok(());
    };
    if let Some(underlay) = world.resource::<Underlay>().range()
        && pool.overlaps(&underlay)
    {
        return Err(Refusal::conflict(format!(
            "{pool} would be served and overlaps the underlay addresses {underlay}"
        )));
    }
    let current = *world.resource::<AddressPool>();
    match leases_count(world) {
        count if count > 0 && pool != current => Err(Refusal::conflict(format!(
            "{count} addresses of {current} are leased or in quarantine: revoke their nodes and free \
             them before nodes get addresses of {pool}"
        ))),
        _ => Ok(()),
    }
}

/// Refuses a range that no overlay can have: special addresses, or those of the underlay.
fn check_range(world: &World, network: &Network) -> Result<(), Refusal> {
    let invalid = |why: String| {
        Refusal::invalid(
            "overlay_cidr",
            network.overlay_cidr,
            format!("an IPv4 range like 10.42.0.0/24 ({why})"),
        )
    };
    let pool = network.pool().map_err(invalid)?;
    if let Some(special) = pool.special() {
        return Err(invalid(format!("apart from {special}")));
    }
    match world.resource::<Underlay>().range() {
        Some(underlay) if pool.overlaps(&underlay) => {
            Err(invalid(format!("apart from the underlay addresses {underlay}")))
        }
        _ => Ok(()),
    }
}

impl ConfigObject for Network {
    const KIND: &'static str = "network";
    const COUNT_MAX: usize = 256;

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn references(&self) -> Vec<Reference> {
        Reference::list("underlay_domain_ids", &self.underlay_domain_ids)
    }

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        check_range(world, self)?;
        // A node that was removed stays, so that nobody else serves the range by accident.
        let before = find(world, id).and_then(|before: &Self| before.gateway_node_id);
        if let Some(node) = self.gateway_node_id
            && before != Some(node)
            && world.resource::<Index<NodeKind>>().get(node).is_err()
        {
            let allowed = "the id of an existing node";
            return Err(Refusal::invalid("gateway_node_id", node, allowed));
        }
        let others = || all::<Self>(world).filter(|(other, _)| *other != id);
        let overlaps = |other: &Self| other.overlay_cidr.overlaps(&self.overlay_cidr);
        if let Some((_, other)) = others().find(|(_, other)| overlaps(other)) {
            return Err(Refusal::conflict(format!(
                "{} overlaps {} of the network {:?}",
                self.overlay_cidr, other.overlay_cidr, other.name
            )));
        }
        check_served(world, served(others().chain([(id, self)])))
    }

    fn check_removal(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        let is_served = served(all::<Self>(world)).is_some_and(|(served, _)| served == id);
        let count = self.pool().map_or(0, |pool| leased(world, pool));
        if is_served && count > 0 {
            return Err(Refusal::conflict(format!(
                "{count} addresses of the network {:?} are leased: release them first",
                self.name
            )));
        }
        let others = all::<Self>(world).filter(|(other, _)| *other != id);
        check_served(world, served(others))
    }

    /// Nodes that are approved from now on get addresses of the served network; without one, the
    /// range stays as it was.
    fn derive(world: &mut World) {
        let pool = served(all::<Self>(world)).and_then(|(_, network)| network.pool().ok());
        if let Some(pool) = pool {
            world.resource_mut::<AddressPool>().set_if_neq(pool);
        }
    }
}
