//! Decisions of admins on leases of overlay addresses.

use core::net::Ipv4Addr;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Lease, LeaseId, LeaseKind, LeaseState};
use super::ipam;
use super::queue::all;

/// The lease of an address.
fn find(world: &World, ip: Ipv4Addr) -> Result<(Entity, Lease), Refusal> {
    let missing = |_| Refusal::NotFound { kind: "lease", id: ip.to_string() };
    let index = world.resource::<Index<LeaseKind>>();
    let entity = index.get(LeaseId::named(&ip.to_string())).map_err(missing)?;
    Ok((entity, *world.get::<Lease>(entity).expect("a lease has one")))
}

/// Puts an unused overlay address into quarantine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReleaseLease {
    /// Address.
    pub ip: Ipv4Addr,
}
impl Command for ReleaseLease {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (_, lease) = find(world, self.ip)?;
        let in_use = all(world).any(|(_, registration)| registration.overlay_ip == Some(self.ip));
        if in_use {
            return Err(Refusal::conflict(format!(
                "{} belongs to an approved node: revoke it instead",
                self.ip
            )));
        }
        if lease.state == LeaseState::Quarantined {
            return Err(Refusal::conflict(format!("{} is in quarantine already", self.ip)));
        }
        ipam::release(world, self.ip);
        Ok(())
    }
}
impl Recorded for ReleaseLease {
    const NAME: &'static str = "onboarding.release_lease";
    type Reply = ();
}

/// Ends the quarantine of an overlay address, so that it can be assigned at once.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreeLease {
    /// Address.
    pub ip: Ipv4Addr,
}
impl Command for FreeLease {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, lease) = find(world, self.ip)?;
        if lease.state != LeaseState::Quarantined {
            return Err(Refusal::conflict(format!(
                "{} is not in quarantine: revoke its node, or delete the lease",
                self.ip
            )));
        }
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for FreeLease {
    const NAME: &'static str = "onboarding.free_lease";
    type Reply = ();
}
