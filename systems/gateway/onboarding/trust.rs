//! Trust settings: policy, trust secret, trusted hardware addresses.

use core::net::IpAddr;
use std::fmt;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Id, Index, Kind, Recorded, Refusal};
use groundwave_protocol::Mac;
use serde::{Deserialize, Serialize};

use super::policy::Policy;

/// Kind of the entity that holds policy and secret.
pub struct TrustKind;
impl Kind for TrustKind {
    const NAME: &'static str = "trust";
}
/// Id of that entity.
pub type TrustId = Id<TrustKind>;

/// Kind of a trusted hardware address.
pub struct TrustedMacKind;
impl Kind for TrustedMacKind {
    const NAME: &'static str = "trusted address";
}
/// Id of a trusted hardware address.
pub type TrustedMacId = Id<TrustedMacKind>;

/// Trusted hardware addresses at most.
pub const MACS_MAX: usize = 100_000;

/// Maximum grace period of a previous secret, s: a week.
pub const GRACE_S_MAX: u32 = 604_800;

#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SecretBytes {
    /// Sealed with a key of the gateway, in base64.
    Sealed(String),
    /// In clear, as recorded by earlier versions.
    Clear([u8; 32]),
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretBytes(..)")
    }
}

/// A shared secret of the mesh.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustSecret {
    pub key_id: String,
    pub secret: SecretBytes,
    /// Time of creation, ns since the Unix epoch.
    pub created_ns: u64,
}

impl fmt::Debug for TrustSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrustSecret({})", self.key_id)
    }
}

/// Policy and secret. Written by `trust.policy` and `trust.secret`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Trust {
    /// Policy for join requests.
    pub policy: Policy,
    /// Current secret, if any.
    pub secret: Option<TrustSecret>,
    /// Previous secret and the end of its grace period, ns since the Unix epoch.
    pub previous: Option<(TrustSecret, u64)>,
}

/// A trusted hardware address. Written by `trust.add_macs`, `trust.remove_mac` and by requests from
/// it.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedMac {
    /// Hardware address.
    pub mac: Mac,
    pub label: String,
    /// User who added it.
    pub added_by: String,
    /// Time of addition, ns since the Unix epoch.
    pub added_ns: u64,
    /// Time and source of the last request from it, ns since the Unix epoch.
    pub seen: Option<(u64, IpAddr)>,
}

/// Spawns the entity that holds policy and secret.
pub(super) fn spawn_trust(world: &mut World) {
    world.init_resource::<super::AddressPool>();
    world.init_resource::<Index<TrustKind>>();
    world.spawn((TrustId::named("trust"), Trust::default()));
}

fn entity(world: &World) -> Entity {
    let id = TrustId::named("trust");
    let index = world.resource::<Index<TrustKind>>();
    index.get(id).expect("a world has one")
}

pub(super) fn of(world: &World) -> Trust {
    let trust = world.get::<Trust>(entity(world));
    trust.expect("a world has one").clone()
}

pub(super) fn put(world: &mut World, trust: Trust) {
    let entity = entity(world);
    world.entity_mut(entity).insert(trust);
}

pub(super) fn lists(world: &World, mac: Mac) -> bool {
    let id = TrustedMacId::named(&mac.to_string());
    world.resource::<Index<TrustedMacKind>>().get(id).is_ok()
}

/// Records a request from `mac`, if it is trusted.
pub(super) fn record_request(world: &mut World, mac: Mac, from: IpAddr) {
    let now_ns = world.resource::<Clock>().wall_ns;
    let id = TrustedMacId::named(&mac.to_string());
    let Ok(entity) = world.resource::<Index<TrustedMacKind>>().get(id) else {
        return;
    };
    let mut entry = world.get_mut::<TrustedMac>(entity).expect("it has one");
    entry.seen = Some((now_ns, from));
}

/// Sets the policy for join requests.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetPolicy {
    pub policy: Policy,
}
impl Command for SetPolicy {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut trust = of(world);
        if self.policy == Policy::Trusted && trust.secret.is_none() {
            return Err(Refusal::conflict("there is no trust secret to prove: rotate it first"));
        }
        if trust.policy != self.policy {
            trust.policy = self.policy;
            put(world, trust);
        }
        Ok(())
    }
}
impl Recorded for SetPolicy {
    const NAME: &'static str = "trust.policy";
    type Reply = ();
}

/// Replaces the secret. The previous one stays valid for a grace period, for nodes that were
/// away.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RotateSecret {
    /// Key id of the new secret.
    pub key_id: String,
    /// New secret.
    pub secret: SecretBytes,
    /// Grace period of the previous secret, s.
    pub grace_s: u32,
}
impl Command for RotateSecret {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        if self.grace_s > GRACE_S_MAX {
            let allowed = format!("0 to {GRACE_S_MAX}");
            return Err(Refusal::invalid("grace_s", self.grace_s, allowed));
        }
        let now_ns = world.resource::<Clock>().wall_ns;
        let mut trust = of(world);
        let until_ns = now_ns + u64::from(self.grace_s) * 1_000_000_000;
        let earlier = trust.secret.take().filter(|_| self.grace_s > 0);
        trust.previous = earlier.map(|earlier| (earlier, until_ns));
        trust.secret =
            Some(TrustSecret { key_id: self.key_id, secret: self.secret, created_ns: now_ns });
        put(world, trust);
        Ok(())
    }
}
impl Recorded for RotateSecret {
    const NAME: &'static str = "trust.secret";
    type Reply = ();
}

/// Replaces secrets in clear by the same secrets, sealed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealSecrets {
    /// Current secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Previous secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
}
impl Command for SealSecrets {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let mut trust = of(world);
        let previous = trust.previous.as_mut().map(|(secret, _)| secret);
        for (current, sealed) in [(trust.secret.as_mut(), self.secret), (previous, self.previous)] {
            match (current, sealed) {
                (_, None) => {}
                (Some(current), Some(sealed))
                    if matches!(current.secret, SecretBytes::Clear(_)) =>
                {
                    current.secret = SecretBytes::Sealed(sealed);
                }
                _ => return Err(Refusal::conflict("there is no such secret in clear")),
            }
        }
        put(world, trust);
        Ok(())
    }
}
impl Recorded for SealSecrets {
    const NAME: &'static str = "trust.seal";
    type Reply = ();
}

/// Adds trusted hardware addresses. Known ones keep their label.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddMacs {
    /// Addresses and labels, up to 64 characters each.
    pub macs: Vec<(Mac, String)>,
    /// User who adds them.
    pub by: String,
}
impl Command for AddMacs {
    type Out = Result<Vec<bool>, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        for (_, label) in &self.macs {
            let unfit = label.chars().count() > 64 || label.chars().any(char::is_control);
            if unfit {
                return Err(Refusal::invalid(
                    "label",
                    format!("{label:?}"),
                    "up to 64 characters, none of them a control character",
                ));
            }
        }
        let room = MACS_MAX.saturating_sub(world.resource::<Index<TrustedMacKind>>().len());
        if self.macs.len() > room {
            return Err(Refusal::conflict(format!("the list holds {MACS_MAX} addresses at most")));
        }
        let added_ns = world.resource::<Clock>().wall_ns;
        let mut added = Vec::with_capacity(self.macs.len());
        for (mac, label) in self.macs {
            let fresh = !lists(world, mac);
            added.push(fresh);
            if fresh {
                let entry =
                    TrustedMac { mac, label, added_by: self.by.clone(), added_ns, seen: None };
                world.spawn((TrustedMacId::named(&mac.to_string()), entry));
            }
        }
        Ok(added)
    }
}
impl Recorded for AddMacs {
    const NAME: &'static str = "trust.add_macs";
    type Reply = Vec<bool>;
}

/// Removes a trusted hardware address.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveMac {
    /// Hardware address.
    pub mac: Mac,
}
impl Command for RemoveMac {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let id = TrustedMacId::named(&self.mac.to_string());
        let missing =
            |_| Refusal::NotFound { kind: TrustedMacKind::NAME, id: self.mac.to_string() };
        let index = world.resource::<Index<TrustedMacKind>>();
        let entity = index.get(id).map_err(missing)?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for RemoveMac {
    const NAME: &'static str = "trust.remove_mac";
    type Reply = ();
}
