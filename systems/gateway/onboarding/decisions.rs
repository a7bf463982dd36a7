//! Decisions of admins on registrations.

use core::net::Ipv4Addr;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

pub use super::components::{Registration, RegistrationId, RegistrationKind, RegistrationState};
use super::ipam;
use super::queue::all;
use super::request::{Admittance, admit, decide, put};
use super::same_mac::SameMac;
use crate::account;
use crate::dependents;
use crate::fleet::{self, EventBuffer, Preregistration};
use crate::identity::{STALE, find};
use groundwave_protocol::{Mac, PublicKey};
use groundwave_simulation::site::{NodeId, check_name};

/// Time until a pending registration expires.
const PENDING_NS: u64 = 24 * 3600 * 1_000_000_000;

/// Time until an expired registration is removed.
const EXPIRED_NS: u64 = 7 * 24 * 3600 * 1_000_000_000;

/// Validity of an enrollment code.
pub const CODE_NS: u64 = 24 * 3600 * 1_000_000_000;

fn wrong_state(registration: &Registration, target: &str) -> Refusal {
    let state = registration.state.word();
    Refusal::conflict(format!("a registration that is {state} cannot be {target}"))
}

/// `true` for an undecided registration without a proof of its key.
fn is_only_claimed(registration: &Registration) -> bool {
    let undecided = [RegistrationState::Pending, RegistrationState::Expired];
    registration.claims.is_doubtful() && undecided.contains(&registration.state)
}

/// Refuses an outdated revision.
fn unchanged(registration: &Registration, revision: Option<u64>) -> Result<(), Refusal> {
    if revision.is_some_and(|expected| expected != registration.revision) {
        return Err(Refusal::stale(STALE));
    }
    Ok(())
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApproveRegistration {
    pub registration: RegistrationId,
    /// Node to admit it as: planned, known before, or new.
    pub node: NodeId,
    /// Rule where another node has its hardware address.
    #[serde(default, skip_serializing_if = "SameMac::is_separate")]
    pub same_mac: SameMac,
    /// Name; the host name if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_id: Option<String>,
    /// Overlay address; a free one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// Deciding user.
    pub by: String,
    /// Expected revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}
impl Command for ApproveRegistration {
    type Out = Result<NodeId, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (_, mut registration) = find(world, self.registration)?;
        unchanged(&registration, self.revision)?;
        self.name.as_deref().map_or(Ok(()), |name| check_name("name", name))?;
        fleet::check_role(world, self.role_id.as_deref())?;
        if registration.blocked || matches!(registration.state, RegistrationState::Rejected) {
            return Err(wrong_state(&registration, "approved"));
        }
        if registration.state == RegistrationState::Approved {
            let node = registration.node.expect("an approved registration has a node");
            if self.overlay_ip.is_some_and(|ip| registration.overlay_ip != Some(ip)) {
                return Err(wrong_state(&registration, "given another address"));
            }
            if !fleet::is_named(world, node, self.name.as_deref(), self.role_id.as_deref()) {
                return Err(wrong_state(&registration, "given another name or role"));
            }
            return Ok(node);
        }
        // A key that was in before comes back as the node it was.
        let node = self.same_mac.node_of(world, self.registration, &registration, self.node)?;
        let decision = decide(world, &self.by, None);
        let admittance =
            Admittance { node, address: self.overlay_ip, decision, same_mac: self.same_mac };
        admit(world, self.registration, &mut registration, admittance)?;
        put(world, self.registration, registration);
        fleet::rename(world, node, self.name, self.role_id);
        Ok(node)
    }
}
impl Recorded for ApproveRegistration {
    const NAME: &'static str = "onboarding.approve";
    type Reply = NodeId;
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RejectRegistration {
    pub registration: RegistrationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `true` if it can never be reset.
    #[serde(default)]
    pub block: bool,
    /// Deciding user.
    pub by: String,
    /// Expected revision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
}
impl Command for RejectRegistration {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (_, mut registration) = find(world, self.registration)?;
        unchanged(&registration, self.revision)?;
        let open = RegistrationState::Pending;
        if registration.state != open && registration.state != RegistrationState::Expired {
            return Err(wrong_state(&registration, "rejected"));
        }
        registration.state = RegistrationState::Rejected;
        registration.blocked = self.block;
        registration.decision = Some(decide(world, &self.by, self.reason));
        fleet::rejected(world, self.registration, &registration);
        put(world, self.registration, registration);
        Ok(())
    }
}
impl Recorded for RejectRegistration {
    const NAME: &'static str = "onboarding.reject";
    type Reply = ();
}

/// Revokes a registration: peer, address and credential are removed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeRegistration {
    pub registration: RegistrationId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Deciding user.
    pub by: String,
    /// `true` if the node also leaves the fleet.
    #[serde(default)]
    pub forget: bool,
}
impl Command for RevokeRegistration {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (_, mut registration) = find(world, self.registration)?;
        if registration.state != RegistrationState::Approved {
            return Err(wrong_state(&registration, "revoked"));
        }
        if let Some(ip) = registration.overlay_ip.take() {
            ipam::release(world, ip);
        }
        let node = registration.node.expect("an approved registration has a node");
        account::remove_node_account(world, node);
        registration.state = RegistrationState::Revoked;
        registration.decision = Some(decide(world, &self.by, self.reason));
        if self.forget {
            registration.node = None;
            fleet::dismiss(world, node);
        } else {
            fleet::lock_out(world, node);
        }
        put(world, self.registration, registration);
        Ok(())
    }
}
impl Recorded for RevokeRegistration {
    const NAME: &'static str = "onboarding.revoke";
    type Reply = ();
}

/// Removes a node from the fleet, with its registration, address and credential.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeregisterNode {
    pub node: NodeId,
    /// `true` if its sensors, cameras and scans go with it, and flows that need it are disabled.
    #[serde(default)]
    pub cascade: bool,
    /// Deciding user.
    pub by: String,
}
impl Command for DeregisterNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let registration = fleet::registration_of(world, self.node)?;
        let approved = registration.filter(|id| {
            find(world, *id)
                .is_ok_and(|(_, registration)| registration.state == RegistrationState::Approved)
        });
        match approved {
            Some(registration) => RevokeRegistration {
                registration,
                reason: Some("the node was taken out".to_owned()),
                by: self.by,
                forget: true,
            }
            .apply(world)?,
            None => {
                if let Some(id) = registration {
                    let (_, mut record) = find(world, id)?;
                    record.node = None;
                    put(world, id, record);
                }
                fleet::dismiss(world, self.node);
            }
        }
        if self.cascade {
            for name in dependents::remove(world, self.node) {
                let data = [("node_id", self.node.to_string()), ("object", name)];
                fleet::alert(world, "an object lacks a node that was removed", &data);
            }
        }
        Ok(())
    }
}
impl Recorded for DeregisterNode {
    const NAME: &'static str = "onboarding.dismiss";
    type Reply = ();
}

/// Allows a rejected node to request again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResetRegistration {
    pub registration: RegistrationId,
    /// Deciding user.
    pub by: String,
}
impl Command for ResetRegistration {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (_, mut registration) = find(world, self.registration)?;
        if registration.state != RegistrationState::Rejected || registration.blocked {
            return Err(wrong_state(&registration, "reset"));
        }
        registration.state = RegistrationState::Pending;
        registration.asked_ns = world.resource::<Clock>().wall_ns;
        registration.decision = Some(decide(world, &self.by, None));
        fleet::waits(world, self.registration, &registration);
        put(world, self.registration, registration);
        Ok(())
    }
}
impl Recorded for ResetRegistration {
    const NAME: &'static str = "onboarding.reset";
    type Reply = ();
}

/// Registers a node ahead of its request: a request with its hardware address and its key, or the
/// code, is admitted as it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreregisterNode {
    /// Node: planned, or new.
    pub node: NodeId,
    pub name: String,
    /// Hardware address.
    pub mac: Mac,
    /// Rule where another node has its hardware address.
    #[serde(default, skip_serializing_if = "SameMac::is_separate")]
    pub same_mac: SameMac,
    /// WireGuard public key, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<PublicKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_id: Option<String>,
    #[serde(default)]
    pub tags: Vec<String>,
    /// Overlay address that it gets; a free one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay_ip: Option<Ipv4Addr>,
    /// SHA-256 of the enrollment code.
    pub code_sha256: [u8; 32],
}
impl Command for PreregisterNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_name("name", &self.name)?;
        fleet::check_role(world, self.role_id.as_deref())?;
        fleet::check_tags(&self.tags)?;
        self.same_mac.check_ahead(world, self.mac, self.node)?;
        if let Some(key) = self.public_key
            && all(world).any(|(_, other)| other.public_key == key && !is_only_claimed(other))
        {
            return Err(Refusal::conflict("a node has registered with this key"));
        }
        if let Some(key) = self.public_key
            && let Some(other) = fleet::expected_with_key(world, key)
            && other != self.node
        {
            let what = format!("the node {other} is registered ahead with this key");
            return Err(Refusal::conflict(what));
        }
        if let Some(ip) = self.overlay_ip {
            ipam::check_free(world, ip, self.node)?;
        }
        let expected = Preregistration {
            mac: self.mac,
            public_key: self.public_key,
            overlay_ip: self.overlay_ip,
            code_sha256: self.code_sha256,
            until_ns: world.resource::<Clock>().wall_ns + CODE_NS,
        };
        fleet::expect(world, self.node, self.name, self.role_id, self.tags, expected)
    }
}
impl Recorded for PreregisterNode {
    const NAME: &'static str = "onboarding.expect";
    type Reply = ();
}

/// Expires pending registrations without a decision, and removes expired ones a week later. Those
/// recorded before requests had proofs of their keys stay, as they did then.
pub(super) fn expire(
    clock: Res<Clock>,
    index: Res<Index<RegistrationKind>>,
    mut registrations: Query<&mut Registration>,
    mut events: ResMut<EventBuffer>,
    mut commands: Commands,
) {
    for (id, entity) in index.iter() {
        let Ok(mut registration) = registrations.get_mut(entity) else { continue };
        let idle_ns = clock.wall_ns.saturating_sub(registration.asked_ns);
        if registration.state == RegistrationState::Pending && idle_ns > PENDING_NS {
            registration.state = RegistrationState::Expired;
            registration.revision += 1;
            fleet::expired(&mut events, clock.wall_ns, id, &registration);
        }
        let of_use = registration.node.is_some() || registration.claims.key_proof.is_none();
        let over = registration.state == RegistrationState::Expired && idle_ns > EXPIRED_NS;
        if over && !of_use {
            commands.entity(entity).despawn();
        }
    }
}
