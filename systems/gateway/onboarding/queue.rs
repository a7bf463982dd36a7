//! Queue of pending registrations: bounds, and which one yields when a bound is reached.
//!
//! A flood fills its own share of the queue. An address has [`PER_ADDRESS_MAX`] places and a network
//! [`PER_NETWORK_MAX`] of [`PENDING_MAX`]. At a bound a registration of lower standing, or of an
//! address with more of them, yields to a new one, so that a node with an address of its own or with a
//! proof always gets a place.

use core::cmp::Reverse;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal};

pub use super::components::{
    JoinClaims, Registration, RegistrationId, RegistrationKind, RegistrationState,
};
use groundwave_protocol::Proof;

/// Pending registrations at most: a bound on floods.
pub const PENDING_MAX: usize = 1_000;

/// Pending registrations of one source address (IPv6: one /64) at most, unless vouched for.
pub const PER_ADDRESS_MAX: usize = 16;

/// Pending registrations of one network (IPv4: /24, IPv6: /48) at most, unless vouched for; more than
/// the 254 nodes of a /24.
pub const PER_NETWORK_MAX: usize = 500;

/// Refusal of a request that finds no place.
pub const QUEUE_FULL: &str = "the queue of pending registrations is full: an admin decides on them, and a \
                              proof of the trust secret passes it";

/// Standing of a pending registration in the queue, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// Claims without a proof.
    Claimed,
    /// The requester holds the private key.
    Owned,
    /// The requester proved the trust secret, or has a trusted hardware address that the kernel
    /// confirms.
    Vouched,
}

impl Standing {
    /// Standing of these claims.
    #[must_use]
    pub fn of(claims: &JoinClaims, mac_listed: bool) -> Self {
        let vouched = claims.proof == Proof::Valid || mac_listed && claims.mac_verified;
        match (vouched, claims.owns_key()) {
            (true, _) => Self::Vouched,
            (false, true) => Self::Owned,
            (false, false) => Self::Claimed,
        }
    }
}

/// Address without the part that one host of IPv6 chooses itself.
fn address(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64))),
        ip => ip,
    }
}

fn network(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() & (u32::MAX << 8))),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 80))),
    }
}

/// All registrations, in id order.
pub(super) fn all(world: &World) -> impl Iterator<Item = (RegistrationId, &Registration)> {
    let index = world.resource::<Index<RegistrationKind>>();
    index.iter().map(|(id, entity)| {
        let registration = world.get::<Registration>(entity);
        (id, registration.expect("a registration has one"))
    })
}

/// Place in the queue.
#[derive(Clone, Copy)]
struct Place {
    id: RegistrationId,
    standing: Standing,
    address: IpAddr,
    network: IpAddr,
    attempts: u32,
    asked_ns: u64,
}

fn places(world: &World) -> Vec<Place> {
    let pending =
        all(world).filter(|(_, registration)| registration.state == RegistrationState::Pending);
    let place = |(id, registration): (RegistrationId, &Registration)| Place {
        id,
        standing: Standing::of(&registration.claims, registration.mac_listed),
        address: address(registration.claims.source_ip),
        network: network(registration.claims.source_ip),
        attempts: registration.attempts,
        asked_ns: registration.asked_ns,
    };
    pending.map(place).collect()
}

/// Frees a place for a registration with these claims; removes at most one other, `true` if it did.
///
/// # Errors
/// [`Refusal::Exhausted`] when none yields.
pub(super) fn evict_for(
    world: &mut World,
    claims: &JoinClaims,
    mac_listed: bool,
) -> Result<bool, Refusal> {
    let places = places(world);
    // As recorded before there were places.
    if claims.key_proof.is_none() {
        return match places.len() < PENDING_MAX {
            true => Ok(false),
            false => Err(Refusal::exhausted(QUEUE_FULL)),
        };
    }
    let Some(yields) = yields(&places, Standing::of(claims, mac_listed), claims.source_ip)? else {
        return Ok(false);
    };
    let entity = world.resource::<Index<RegistrationKind>>().get(yields)?;
    world.despawn(entity);
    Ok(true)
}

/// Registration that yields to a new one; `None` while a place is free.
fn yields(
    places: &[Place],
    standing: Standing,
    source: IpAddr,
) -> Result<Option<RegistrationId>, Refusal> {
    let (address, network) = (address(source), network(source));
    let mut shares = BTreeMap::<IpAddr, usize>::new();
    for place in places {
        *shares.entry(place.address).or_default() += 1;
    }
    let own = shares.get(&address).copied().unwrap_or(0);
    let beside = places.iter().filter(|place| place.network == network);
    let bounded = standing < Standing::Vouched;
    let (same_address, same_network) = if bounded && own >= PER_ADDRESS_MAX {
        (true, true)
    } else if bounded && beside.count() >= PER_NETWORK_MAX {
        (false, true)
    } else if places.len() >= PENDING_MAX {
        (false, false)
    } else {
        return Ok(None);
    };
    let candidates = places.iter().filter(|place| {
        (!same_address || place.address == address)
            && (!same_network || place.network == network)
            && (place.standing < standing
                || place.standing == standing && (same_address || shares[&place.address] > own + 1))
    });
    // A waiting node repeats its request; a flood sends one for each key.
    let first = candidates.min_by_key(|place| {
        let share = Reverse(shares[&place.address]);
        (place.standing, share, place.attempts, place.asked_ns, place.id)
    });
    first.map(|place| Some(place.id)).ok_or_else(|| Refusal::exhausted(QUEUE_FULL))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u32, source: [u8; 4], standing: Standing) -> Place {
        let source = IpAddr::from(source);
        Place {
            id: RegistrationId::from_u128(u128::from(number)),
            standing,
            address: address(source),
            network: network(source),
            attempts: 1,
            asked_ns: u64::from(number),
        }
    }

    fn flood(count: u32, addresses: u32, standing: Standing) -> Vec<Place> {
        let source = |number: u32| {
            let [_, _, a, b] = (number % addresses).to_be_bytes();
            [10, 41, a, b]
        };
        let one = |number| place(number, source(number), standing);
        (0..count).map(one).collect()
    }

    #[test]
    fn an_honest_address_always_gets_a_place() {
        let (beside, elsewhere) = ([10, 41, 0, 250], [10, 41, 9, 1]);
        let honest = IpAddr::from(beside);
        for standing in [Standing::Claimed, Standing::Owned] {
            // From one network, up to its bound; from several, up to that of the queue.
            for (count, addresses, from) in [
                (500, 100, beside),
                (500, 240, beside),
                (1_000, 300, elsewhere),
                (1_000, 400, elsewhere),
            ] {
                let full = flood(count, addresses, standing);
                let removed = yields(&full, standing, from.into()).unwrap().unwrap();
                assert!(full.iter().any(|place| place.id == removed));
            }
        }
        assert_eq!(yields(&flood(15, 1, Standing::Owned), Standing::Owned, honest), Ok(None));
    }

    #[test]
    fn an_address_that_has_its_share_replaces_its_own() {
        let full = flood(16, 1, Standing::Owned);
        let same = IpAddr::from([10, 41, 0, 0]);
        let removed = yields(&full, Standing::Owned, same).unwrap();
        assert_eq!(removed, Some(RegistrationId::from_u128(0)), "the oldest");
        // What only claims does not replace what proved its key.
        assert_eq!(yields(&full, Standing::Claimed, same), Err(Refusal::exhausted(QUEUE_FULL)));
    }

    #[test]
    fn who_is_vouched_for_passes_a_queue_of_single_addresses() {
        let full = flood(1_000, 1_000, Standing::Owned);
        let source = IpAddr::from([10, 41, 0, 250]);
        assert_eq!(yields(&full, Standing::Owned, source), Err(Refusal::exhausted(QUEUE_FULL)));
        assert!(yields(&full, Standing::Vouched, source).unwrap().is_some());
        // A waiting node with a proof yields to no node without one.
        let mut one_vouched = full;
        one_vouched[0].standing = Standing::Vouched;
        for _ in 0..999 {
            let removed = yields(&one_vouched, Standing::Vouched, source).unwrap().unwrap();
            assert_ne!(removed, one_vouched[0].id);
            one_vouched.retain(|place| place.id != removed);
            one_vouched.push(place(2_000, [192, 0, 2, 1], Standing::Vouched));
        }
    }
}
