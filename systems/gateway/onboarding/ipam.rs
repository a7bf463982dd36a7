//! Overlay addresses: pool, leases, quarantine.

use core::net::Ipv4Addr;
use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Refusal, State};
use groundwave_protocol::PublicKey;
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use super::components::{Lease, LeaseId, LeaseKind, LeaseState};
use crate::fleet;

/// Addresses after the gateway's own that are assigned manually only.
const BY_HAND: u32 = 8;

/// Quarantine of a released address, ns: peers still configured with the released address would send
/// their packets to the next owner.
pub const QUARANTINE_NS: u64 = 24 * 3600 * 1_000_000_000;

/// An address range, `network/prefix_len`.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressPool {
    network: Ipv4Addr,
    prefix_len: u8,
}

impl Default for AddressPool {
    /// 10.42.0.0/24.
    fn default() -> Self {
        Self { network: Ipv4Addr::new(10, 42, 0, 0), prefix_len: 24 }
    }
}

impl AddressPool {
    /// Range whose first address is `network`.
    ///
    /// # Errors
    /// When `prefix_len` is not in 8 to 28, or `network` is not the range's first address.
    pub fn new(network: Ipv4Addr, prefix_len: u8) -> Result<Self, String> {
        if !(8..=28).contains(&prefix_len) {
            return Err(format!("invalid prefix length: found {prefix_len} bits, allowed 8 to 28"));
        }
        let first = network.to_bits() & (u32::MAX << (32 - prefix_len));
        if first != network.to_bits() {
            return Err(format!(
                "invalid range: found {network}/{prefix_len}, allowed the first address of its range, {}",
                Ipv4Addr::from_bits(first)
            ));
        }
        Ok(Self { network, prefix_len })
    }

    /// Parses `10.42.0.0/24`.
    ///
    /// # Errors
    /// A message with the text found and an example.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid range: found {text:?}, allowed a range like 10.42.0.0/24");
        let (network, prefix_len) = text.split_once('/').ok_or_else(wrong)?;
        let network = network.parse().map_err(|_| wrong())?;
        Self::new(network, prefix_len.parse().map_err(|_| wrong())?)
    }

    /// First address.
    #[must_use]
    pub const fn network(&self) -> Ipv4Addr {
        self.network
    }

    /// Prefix length, bits.
    #[must_use]
    pub const fn prefix_len(&self) -> u8 {
        self.prefix_len
    }

    /// Address of the gateway.
    #[must_use]
    pub fn gateway(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.network.to_bits() + 1)
    }

    /// Number of addresses of nodes.
    #[must_use]
    pub fn usable(&self) -> u32 {
        (1 << (32 - self.prefix_len)) - 3
    }

    /// Number of addresses assigned manually only.
    #[must_use]
    pub fn reserved(&self) -> u32 {
        BY_HAND
    }

    /// `true` if the ranges have an address in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let bits = 32 - u32::from(self.prefix_len.min(other.prefix_len));
        let start = |pool: &Self| u64::from(pool.network.to_bits()) >> bits;
        start(self) == start(other)
    }

    /// Special range of IPv4 that this one overlaps, if there is one: no interface of an overlay has
    /// addresses of it.
    #[must_use]
    pub fn special(&self) -> Option<&'static str> {
        let overlaps = |first: [u8; 4], prefix_len| {
            self.overlaps(&Self { network: Ipv4Addr::from(first), prefix_len })
        };
        let special = [
            ([0, 0, 0, 0], 8, "0.0.0.0/8, this network"),
            ([127, 0, 0, 0], 8, "127.0.0.0/8, loopback"),
            ([169, 254, 0, 0], 16, "169.254.0.0/16, link-local"),
            ([224, 0, 0, 0], 4, "224.0.0.0/4, multicast"),
            ([240, 0, 0, 0], 4, "240.0.0.0/4, reserved"),
        ];
        let mut overlapped = special.into_iter().filter(|(first, bits, _)| overlaps(*first, *bits));
        overlapped.next().map(|(_, _, name)| name)
    }

    /// `true` if a node can have this address.
    #[must_use]
    pub fn holds(&self, ip: Ipv4Addr) -> bool {
        let place = ip.to_bits().wrapping_sub(self.network.to_bits());
        (2..self.usable() + 2).contains(&place)
    }

    /// Free address of `key`: the first that is not taken, from a position that the key determines. The
    /// same key gets the same address again, even without its lease.
    #[must_use]
    pub fn pick(&self, key: &PublicKey, in_use: &BTreeSet<Ipv4Addr>) -> Option<Ipv4Addr> {
        let first = self.network.to_bits() + 2 + BY_HAND;
        let size = self.usable() - BY_HAND;
        // Keys are as good as random: their first bytes are a hash.
        let place =
            u64::from_be_bytes(key.bytes()[..8].try_into().expect("8 of 32")) % u64::from(size);
        let places = (0..size).map(|step| first + ((place as u32 + step) % size));
        places.map(Ipv4Addr::from_bits).find(|ip| !in_use.contains(ip))
    }

    /// Number of addresses that [`Self::pick`] can give: those assigned manually only are not among them.
    #[must_use]
    pub fn free(&self, in_use: &BTreeSet<Ipv4Addr>) -> u32 {
        let first = self.network.to_bits() + 2 + BY_HAND;
        let last = first + (self.usable() - BY_HAND - 1);
        let count = in_use.range(Ipv4Addr::from_bits(first)..=Ipv4Addr::from_bits(last)).count();
        self.usable() - BY_HAND - u32::try_from(count).unwrap_or(u32::MAX)
    }
}

/// The pool decides on assignments: it is part of the state of a log.
impl State for AddressPool {
    const TABLE: &'static str = "overlay";

    fn save(world: &World) -> Self {
        *world.resource::<Self>()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self);
        Ok(())
    }
}

impl std::fmt::Display for AddressPool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.network, self.prefix_len)
    }
}

fn leases(world: &World) -> impl Iterator<Item = (Entity, &Lease)> {
    let index = world.resource::<Index<LeaseKind>>();
    index.iter().map(|(_, entity)| {
        let lease = world.get::<Lease>(entity).expect("a lease has one");
        (entity, lease)
    })
}

/// Number of addresses that are leased or in quarantine.
pub(crate) fn leases_count(world: &World) -> usize {
    leases(world).count()
}

/// Number of leased addresses of `pool`.
pub(crate) fn leased(world: &World, pool: AddressPool) -> usize {
    let ips = leases(world).map(|(_, lease)| lease.ip);
    ips.filter(|ip| pool.holds(*ip)).count()
}

/// Conflict of a request that finds no free address.
pub const EXHAUSTED: &str = "every overlay address is taken";

/// Refuses an address that a node registered ahead cannot get.
pub(super) fn check_free(world: &World, ip: Ipv4Addr, node: NodeId) -> Result<(), Refusal> {
    let pool = world.resource::<AddressPool>();
    if !pool.holds(ip) {
        let allowed = format!("an address of {pool} but its first two and its last");
        return Err(Refusal::invalid("overlay_ip", ip, allowed));
    }
    if let Some((_, lease)) = leases(world).find(|(_, lease)| lease.ip == ip) {
        return Err(Refusal::conflict(match lease.state {
            LeaseState::Allocated => format!("{ip} is taken by another node"),
            LeaseState::Quarantined => {
                format!("{ip} is in quarantine for a day after its last use: free it first")
            }
        }));
    }
    match fleet::reserved_ips(world).find(|(other, owner)| *other == ip && *owner != node) {
        Some((_, owner)) => {
            Err(Refusal::conflict(format!("{ip} is reserved for the node {owner}")))
        }
        None => Ok(()),
    }
}

/// Address that was fixed for a node registered ahead, if the node can still get it.
fn reserved_for(world: &World, node: NodeId) -> Option<Ipv4Addr> {
    let mut own = fleet::reserved_ips(world).filter(|(_, owner)| *owner == node);
    own.next().map(|(ip, _)| ip).filter(|ip| check_free(world, *ip, node).is_ok())
}

/// Address for `key` of `node`: its own, the requested one, the one fixed ahead, or a free one.
pub(super) fn choose(
    world: &World,
    key: &PublicKey,
    node: NodeId,
    requested: Option<Ipv4Addr>,
) -> Result<Ipv4Addr, Refusal> {
    let pool = world.resource::<AddressPool>();
    let own = leases(world).find(|(_, lease)| lease.public_key == *key);
    if let Some((_, lease)) = own
        && requested.is_none_or(|ip| ip == lease.ip)
    {
        return Ok(lease.ip);
    }
    if let Some(ip) = requested {
        check_free(world, ip, node)?;
        return Ok(ip);
    }
    if let Some(ip) = reserved_for(world, node) {
        return Ok(ip);
    }
    pool.pick(key, &in_use(world)).ok_or_else(|| Refusal::exhausted(EXHAUSTED))
}

/// Addresses that are leased, in quarantine, or fixed for nodes registered ahead.
fn in_use(world: &World) -> BTreeSet<Ipv4Addr> {
    let reserved = fleet::reserved_ips(world).map(|(ip, _)| ip);
    leases(world).map(|(_, lease)| lease.ip).chain(reserved).collect()
}

/// Assigns `ip`, chosen by [`choose`], to `key`. Other addresses of the key go into quarantine.
pub(super) fn give(world: &mut World, key: PublicKey, ip: Ipv4Addr, node: NodeId) {
    let since_ns = world.resource::<Clock>().wall_ns;
    let others: Vec<_> = leases(world)
        .filter(|(_, lease)| lease.public_key == key && lease.ip != ip)
        .map(|(_, lease)| lease.ip)
        .collect();
    others.into_iter().for_each(|other| release(world, other));
    let lease =
        Lease { ip, public_key: key, node: Some(node), state: LeaseState::Allocated, since_ns };
    let id = LeaseId::named(&ip.to_string());
    match world.resource::<Index<LeaseKind>>().get(id) {
        Ok(entity) => {
            world.entity_mut(entity).insert(lease);
        }
        Err(_) => {
            world.spawn((id, lease));
        }
    }
}

/// Number of addresses that can be assigned automatically.
pub(super) fn free(world: &World) -> u32 {
    world.resource::<AddressPool>().free(&in_use(world))
}

/// Puts an address into quarantine.
pub(super) fn release(world: &mut World, ip: Ipv4Addr) {
    let since_ns = world.resource::<Clock>().wall_ns;
    let id = LeaseId::named(&ip.to_string());
    let Ok(entity) = world.resource::<Index<LeaseKind>>().get(id) else {
        return;
    };
    let mut lease = world.get_mut::<Lease>(entity).expect("a lease has one");
    if lease.state == LeaseState::Allocated {
        lease.state = LeaseState::Quarantined;
        lease.node = None;
        lease.since_ns = since_ns;
    }
}

/// Releases addresses whose quarantine has ended.
pub(super) fn free_quarantined(
    clock: Res<Clock>,
    leases: Query<(Entity, &Lease)>,
    mut commands: Commands,
) {
    for (entity, lease) in &leases {
        let over = clock.wall_ns.saturating_sub(lease.since_ns) > QUARANTINE_NS;
        if lease.state == LeaseState::Quarantined && over {
            commands.entity(entity).despawn();
        }
    }
}
