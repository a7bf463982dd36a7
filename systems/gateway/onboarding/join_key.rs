//! Join keys: codes that admit several nodes, until they expire or are used up.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Clock, Id, Kind, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::components::{CodeRefusal, Registration};
use super::queue::all;
use crate::config::{self, ConfigObject};
use crate::fleet::check_tags;

/// A join key. Written by `join_key.put`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct JoinKey {
    /// Name, unique.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// SHA-256 of the key.
    #[garde(skip)]
    pub key_sha256: [u8; 32],
    /// Expiry, ns since the Unix epoch.
    #[garde(skip)]
    pub expires_ns: u64,
    /// Maximum number of nodes that it admits.
    #[garde(range(min = 1, max = 10_000))]
    pub nodes_max: u32,
    /// Tags of the nodes that it admits.
    #[serde(default)]
    #[garde(skip)]
    pub tags: Vec<String>,
}

impl Kind for JoinKey {
    const NAME: &'static str = "join key";
}

impl ConfigObject for JoinKey {
    const KIND: &'static str = "join_key";

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn check(&self, _: Id<Self>, _: &World) -> Result<(), Refusal> {
        check_tags(&self.tags)
    }
}

/// Decision of a join key in a registration.
#[must_use]
pub fn decided_by(id: Id<JoinKey>, key: &JoinKey) -> String {
    format!("join key {} {id}", key.name)
}

/// Number of nodes that a join key has admitted, of these registrations; later decisions on them make no place
/// for others.
pub fn nodes_used<'r>(
    id: Id<JoinKey>,
    key: &JoinKey,
    registrations: impl Iterator<Item = &'r Registration>,
) -> usize {
    let by = decided_by(id, key);
    let is_used = |registration: &&Registration| {
        // Recorded before registrations had their join keys.
        let is_decided = || registration.decision.as_ref().is_some_and(|one| one.by == by);
        registration.join_key.map_or_else(is_decided, |used| used == id.uuid())
    };
    registrations.filter(is_used).count()
}

/// `true` if a join key admitted as many nodes as it may.
fn is_used_up(world: &World, id: Id<JoinKey>, key: &JoinKey) -> bool {
    let used = nodes_used(id, key, all(world).map(|(_, registration)| registration));
    used >= key.nodes_max as usize
}

/// The join key with this digest, unless it has expired or is used up.
pub(super) fn valid(
    world: &World,
    code_sha256: Option<[u8; 32]>,
) -> Option<(Id<JoinKey>, JoinKey)> {
    let code = code_sha256?;
    let now_ns = world.resource::<Clock>().wall_ns;
    let mut keys = config::all::<JoinKey>(world);
    let (id, key) = keys.find(|(_, key)| key.key_sha256 == code && now_ns < key.expires_ns)?;
    (!is_used_up(world, id, key)).then(|| (id, key.clone()))
}

/// Reason for which no join key admits by this digest; `None` where one does.
pub(super) fn refusal(world: &World, code: [u8; 32]) -> Option<CodeRefusal> {
    let now_ns = world.resource::<Clock>().wall_ns;
    let keys: Vec<_> =
        config::all::<JoinKey>(world).filter(|(_, key)| key.key_sha256 == code).collect();
    match keys.iter().find(|(_, key)| now_ns < key.expires_ns) {
        Some((id, key)) => is_used_up(world, *id, key).then_some(CodeRefusal::Used),
        None if keys.is_empty() => Some(CodeRefusal::Wrong),
        None => Some(CodeRefusal::Expired),
    }
}

#[cfg(test)]
mod tests {
    use groundwave_engine::Engine;
    use groundwave_protocol::RegistrationState;

    use super::super::RevokeRegistration;
    use super::super::tests::{does, request};
    use super::*;
    use crate::Snapshot;
    use crate::config::{Expected, Put};
    use crate::test_world::engine;

    #[test]
    fn later_decisions_on_admitted_nodes_make_no_place_for_others() {
        let mut engine = engine();
        let id = Id::named("site a");
        let object = JoinKey {
            name: "site a".to_owned(),
            key_sha256: [7; 32],
            expires_ns: 1_000_000,
            nodes_max: 1,
            tags: Vec::new(),
        };
        does(&mut engine, Put { id, object: object.clone(), expected: Expected::Absent }).unwrap();
        let ask = |engine: &mut Engine<Snapshot>, number: u32| {
            let mut join = request(number);
            join.claims.code_sha256 = Some([7; 32]);
            does(engine, join).unwrap()
        };
        let first = ask(&mut engine, 1);
        assert_eq!(first.state, RegistrationState::Approved);
        assert_eq!(ask(&mut engine, 2).state, RegistrationState::Pending);
        let revoke = RevokeRegistration {
            registration: first.registration,
            reason: None,
            by: "ada".to_owned(),
            forget: true,
        };
        does(&mut engine, revoke).unwrap();
        assert_eq!(ask(&mut engine, 3).state, RegistrationState::Pending);
        let view = engine.view();
        let registrations = view.onboarding.registrations.values().map(AsRef::as_ref);
        assert_eq!(nodes_used(id, &object, registrations), 1);
    }
}
