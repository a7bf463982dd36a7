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
use crate::config::{ConfigObject, Reference, all};
use crate::onboarding::{AddressPool, lease_outside, leased};

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
    /// Node that serves it; absent for this gateway. Of the networks of this gateway the oldest is
    /// the one that nodes get their addresses of.
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

/// Refuses a choice of the served network that leaves leased addresses outside it.
fn keeps_leases(world: &World, served: Option<(Id<Network>, &Network)>) -> Result<(), Refusal> {
    let Some((_, network)) = served else {
        return Ok(());
    };
    let outside = network.pool().ok().and_then(|pool| lease_outside(world, pool));
    match outside {
        None => Ok(()),
        Some(ip) => Err(Refusal::conflict(format!(
            "{} lacks {ip}, which is leased: release the address first",
            network.overlay_cidr
        ))),
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
        self.pool().map_err(|why| {
            let allowed = format!("an IPv4 range like 10.42.0.0/24 ({why})");
            Refusal::invalid("overlay_cidr", self.overlay_cidr, allowed)
        })?;
        if let Some(node) = self.gateway_node_id
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
        keeps_leases(world, served(others().chain([(id, self)])))
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
        keeps_leases(world, served(others))
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
