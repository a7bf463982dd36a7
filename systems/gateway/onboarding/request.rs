//! Join requests.

use core::net::Ipv4Addr;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

pub use super::components::{
    CodeRefusal, Decision, JoinClaims, Registration, RegistrationId, RegistrationKind,
    RegistrationState,
};
use super::policy::{Admission, Evidence, Policy, admission};
use super::queue::{self, all};
use super::same_mac::SameMac;
use super::trust::{self, Trust};
use super::{ipam, join_key};
use crate::account;
use crate::fleet::{self, NodeRecord};
use crate::identity::find;
use groundwave_protocol::Proof;
use groundwave_protocol::PublicKey;
use groundwave_protocol::check_hostname;
use groundwave_simulation::site::{NodeId, NodeKind};

/// Requests to join with a key. A repeated request of the same key has the same result.
/// Safe to repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestJoin {
    /// Registration id, if the key has none yet.
    pub registration: RegistrationId,
    /// Node id, if the node is approved and was not known before.
    pub node: NodeId,
    /// Rule where another node has its hardware address.
    #[serde(default, skip_serializing_if = "SameMac::is_separate")]
    pub same_mac: SameMac,
    /// WireGuard public key.
    pub public_key: PublicKey,
    /// Claims of the request.
    #[serde(rename = "shown")]
    pub claims: JoinClaims,
}

/// Result of a join request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinOutcome {
    /// Registration of that key.
    pub registration: RegistrationId,
    pub state: RegistrationState,
    /// `true` if this request admitted the node.
    pub admitted: bool,
    /// Node, if admitted.
    pub node: Option<NodeId>,
    /// Overlay address, if admitted.
    pub overlay_ip: Option<Ipv4Addr>,
}

impl RequestJoin {
    /// Node registered ahead that this request matches.
    fn expected(&self, world: &World) -> Option<NodeId> {
        let now_ns = world.resource::<Clock>().wall_ns;
        let index = world.resource::<Index<NodeKind>>();
        let fits = |entity: Entity| {
            let expected = world.get::<NodeRecord>(entity)?.0.preregistration.as_ref()?;
            let by_key = expected.public_key == Some(self.public_key);
            let by_code = self.claims.code_sha256 == Some(expected.code_sha256);
            let same_mac = expected.mac == self.claims.mac;
            (same_mac && (by_key || by_code && now_ns <= expected.until_ns)).then_some(())
        };
        index.iter().find_map(|(id, entity)| fits(entity).map(|()| id))
    }

    /// Reason for which this code admits no node; `None` for one that does.
    fn code_refusal(&self, world: &World, code: [u8; 32]) -> Option<CodeRefusal> {
        let now_ns = world.resource::<Clock>().wall_ns;
        let index = world.resource::<Index<NodeKind>>();
        let is_late = |entity: Entity| {
            let record = world.get::<NodeRecord>(entity);
            let expected = record.and_then(|record| record.0.preregistration.as_ref());
            expected.is_some_and(|expected| {
                expected.code_sha256 == code
                    && expected.mac == self.claims.mac
                    && expected.until_ns < now_ns
            })
        };
        match index.iter().any(|(_, entity)| is_late(entity)) {
            true => Some(CodeRefusal::Expired),
            false => join_key::refusal(world, code),
        }
    }

    /// `true` if it is worth an alert that this hardware address came with another key before: a flood
    /// of keys must not displace other events.
    fn is_news(&self, world: &World, before: RegistrationId) -> bool {
        let admitted =
            |registration: &Registration| registration.state == RegistrationState::Approved;
        self.claims.key_proof.is_none()
            || find(world, before).is_ok_and(|(_, registration)| admitted(&registration))
    }

    /// Registration of a key that was not seen before.
    fn fresh(&self, world: &World) -> Registration {
        let now_ns = world.resource::<Clock>().wall_ns;
        let same_mac = all(world).filter(|(_, other)| other.claims.mac == self.claims.mac);
        let follows = same_mac.max_by_key(|(_, other)| other.asked_ns);
        Registration {
            public_key: self.public_key,
            state: RegistrationState::Expired,
            claims: self.claims.clone(),
            mac_listed: false,
            requested_ns: now_ns,
            asked_ns: now_ns,
            attempts: 0,
            decision: None,
            blocked: false,
            node: None,
            overlay_ip: None,
            follows: follows.map(|(id, _)| id),
            superseded_by: None,
            code_refusal: None,
            join_key: None,
            revision: 0,
        }
    }
}

impl RequestJoin {
    /// `true` for a request of the owner of the key where the registration may be of another.
    fn reclaims(&self, registration: &Registration) -> bool {
        let undecided = match registration.state {
            RegistrationState::Pending | RegistrationState::Expired => true,
            // Another was rejected.
            RegistrationState::Rejected => !registration.blocked,
            RegistrationState::Approved | RegistrationState::Revoked => false,
        };
        undecided && self.claims.owns_key() && !registration.claims.owns_key()
    }

    /// `true` for a request of the owner of a key that another key replaced, as after a return to an
    /// earlier image: an admin decides anew.
    fn returns(&self, registration: &Registration) -> bool {
        let is_superseded = registration.superseded_by.is_some();
        self.same_mac == SameMac::SameNode
            && registration.state == RegistrationState::Revoked
            && is_superseded
            && !registration.blocked
            && self.claims.owns_key()
    }

    /// `true` if the claims of this request may replace the earlier ones: those with a proof of the key
    /// only with a proof, others only from the same address.
    fn may_replace(&self, registration: &Registration) -> bool {
        let same_source = registration.claims.source_ip == self.claims.source_ip;
        let over = registration.state == RegistrationState::Expired;
        !self.claims.is_doubtful() || over || !registration.claims.owns_key() && same_source
    }
}

impl Command for RequestJoin {
    type Out = Result<JoinOutcome, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_hostname(&self.claims.hostname)?;
        let of_key = all(world)
            .find(|(_, other)| other.public_key == self.public_key)
            .map(|(id, registration)| (id, registration.clone()));
        let (id, mut registration) = match of_key {
            Some((id, registration))
                if registration.claims.mac != self.claims.mac && self.reclaims(&registration) =>
            {
                let mut requested = self.fresh(world);
                // It keeps its place in the queue.
                if registration.state == RegistrationState::Pending {
                    requested.state = registration.state;
                }
                requested.revision = registration.revision;
                (id, requested)
            }
            Some((_, registration)) if registration.claims.mac != self.claims.mac => {
                return Err(Refusal::conflict(format!(
                    "this key was registered for another hardware address than {}: a copied image \
                     and other hardware need a key of their own",
                    self.claims.mac
                )));
            }
            Some(existing) => existing,
            None => {
                let index = world.resource::<Index<RegistrationKind>>();
                index.vacant(self.registration)?;
                (self.registration, self.fresh(world))
            }
        };
        let shut_out = registration.blocked
            || matches!(
                registration.state,
                RegistrationState::Rejected | RegistrationState::Revoked
            );
        let returns = shut_out && self.returns(&registration);
        if shut_out && !returns {
            return Err(denial_of(&registration));
        }
        if registration.attempts > 0 && !self.may_replace(&registration) {
            return Ok(JoinOutcome {
                registration: id,
                state: registration.state,
                admitted: false,
                node: registration.node,
                overlay_ip: registration.overlay_ip,
            });
        }
        let trust = trust::of(world);
        let mac_listed = trust::lists(world, self.claims.mac);
        let expected = self.expected(world);
        // A known hardware address with another key waits for an admin.
        let join_key = match registration.follows {
            None => join_key::valid(world, self.claims.code_sha256),
            Some(_) => None,
        };
        let evidence = Evidence {
            expected: expected.is_some() || join_key.is_some(),
            proof: self.claims.proof == Proof::Valid,
            mac_listed,
            mac_verified: self.claims.mac_verified,
        };
        let owner = self.same_mac.owner(world, self.claims.mac, Some(id));
        let is_of_other = owner.is_some() && owner != expected;
        let verdict = match registration.state {
            RegistrationState::Approved => Admission::Approved,
            _ => match admission(trust.policy, evidence) {
                // The hardware address of a node with another key is not taken over by policy.
                Admission::Approved if is_of_other => Admission::Pending,
                verdict => verdict,
            },
        };
        registration.code_refusal = match self.claims.code_sha256 {
            Some(code) if verdict == Admission::Pending && expected.is_none() => {
                self.code_refusal(world, code)
            }
            _ => None,
        };
        let was_in = registration.state == RegistrationState::Approved;
        registration.claims = self.claims.clone();
        registration.mac_listed = mac_listed;
        registration.asked_ns = world.resource::<Clock>().wall_ns;
        registration.attempts = registration.attempts.saturating_add(1);
        match verdict {
            Admission::Denied => {
                return Err(Refusal::Denied { what: denial(&trust) });
            }
            Admission::Pending => {
                if registration.state != RegistrationState::Pending {
                    let has_evicted = queue::evict_for(world, &self.claims, mac_listed)?;
                    registration.state = RegistrationState::Pending;
                    // Of a flood, which evicts, events would displace others.
                    if !has_evicted {
                        fleet::waits(world, id, &registration);
                    }
                }
            }
            Admission::Approved if !was_in => {
                let used = join_key.filter(|_| expected.is_none());
                let by = match (expected, &used) {
                    (Some(_), _) => "registration ahead".to_owned(),
                    (None, Some((id, key))) => join_key::decided_by(*id, key),
                    (None, None) => "policy".to_owned(),
                };
                let node = expected.unwrap_or(self.node);
                let decision = decide(world, &by, None);
                let same_mac = self.same_mac;
                let admittance = Admittance { node, address: None, decision, same_mac };
                admit(world, id, &mut registration, admittance)?;
                if let Some((used, key)) = used {
                    registration.join_key = Some(used.uuid());
                    fleet::tag(world, node, &key.tags)?;
                }
            }
            Admission::Approved => {
                if let Some(node) = registration.node {
                    fleet::rename_host(world, node, &self.claims.hostname);
                }
            }
        }
        trust::record_request(world, self.claims.mac, self.claims.source_ip);
        put(world, id, registration.clone());
        let before = match returns {
            true => registration.superseded_by,
            false => registration.follows.filter(|_| registration.attempts == 1),
        };
        if let Some(before) = before
            && self.is_news(world, before)
        {
            let data = [
                ("registration_id", id.to_string()),
                ("follows", before.to_string()),
                ("mac", self.claims.mac.to_string()),
            ];
            fleet::alert(world, "a known hardware address comes with another key", &data);
        }
        Ok(JoinOutcome {
            registration: id,
            state: registration.state,
            admitted: !was_in && registration.state == RegistrationState::Approved,
            node: registration.node,
            overlay_ip: registration.overlay_ip,
        })
    }
}
impl Recorded for RequestJoin {
    const NAME: &'static str = "onboarding.request";
    type Reply = JoinOutcome;
}

/// Denial of a key that was rejected or revoked, with the reason of the decision.
fn denial_of(registration: &Registration) -> Refusal {
    let decision = registration.decision.as_ref();
    let reason = decision.and_then(|decision| decision.reason.as_deref());
    let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
    Refusal::Denied { what: format!("this key was {}{reason}", registration.state.word()) }
}

fn denial(trust: &Trust) -> String {
    match trust.policy {
        Policy::Closed => "only nodes that were registered before come in".to_owned(),
        _ => "come with a proof of the trust secret, or from a listed address".to_owned(),
    }
}

/// A decision at the wall time of this tick.
pub(super) fn decide(world: &World, by: &str, reason: Option<String>) -> Decision {
    Decision { by: by.to_owned(), at_ns: world.resource::<Clock>().wall_ns, reason }
}

/// Node, overlay address and decision with which a registration is admitted.
pub(super) struct Admittance {
    pub node: NodeId,
    /// Requested overlay address.
    pub address: Option<Ipv4Addr>,
    pub decision: Decision,
    /// Rule where the node had another key before.
    pub same_mac: SameMac,
}

/// Admits a registration: overlay address and fleet record. Changes nothing when that fails.
pub(super) fn admit(
    world: &mut World,
    id: RegistrationId,
    registration: &mut Registration,
    admittance: Admittance,
) -> Result<(), Refusal> {
    let Admittance { node, address, decision, same_mac } = admittance;
    let ip = ipam::choose(world, &registration.public_key, node, address)?;
    let before = fleet::admit(world, node, id, registration, ip)?;
    // The node had another key before: that key is out.
    if let Some(earlier) = before.filter(|earlier| *earlier != id)
        && let Ok((_, mut other)) = find(world, earlier)
    {
        if let Some(ip) = other.overlay_ip.take() {
            ipam::release(world, ip);
        }
        other.state = RegistrationState::Revoked;
        other.node = None;
        other.decision = Some(decision.clone());
        if same_mac == SameMac::SameNode {
            let reason = format!("its node {node} has another key, registration {id}");
            other.decision = Some(Decision { reason: Some(reason), ..decision.clone() });
            other.superseded_by = Some(id);
            account::remove_node_account(world, node);
        }
        put(world, earlier, other);
    }
    ipam::give(world, registration.public_key, ip, node);
    if ipam::free(world) == 0 {
        let pool = world.resource::<ipam::AddressPool>().to_string();
        fleet::alert(world, "no overlay address is free any more", &[("pool", pool)]);
    }
    registration.state = RegistrationState::Approved;
    registration.node = Some(node);
    registration.superseded_by = None;
    registration.overlay_ip = Some(ip);
    registration.decision = Some(decision);
    Ok(())
}

/// Writes a registration and counts its revision.
pub(super) fn put(world: &mut World, id: RegistrationId, mut registration: Registration) {
    registration.revision += 1;
    match world.resource::<Index<RegistrationKind>>().get(id) {
        Ok(entity) => {
            world.entity_mut(entity).insert(registration);
        }
        Err(_) => {
            world.spawn((id, registration));
        }
    }
}
