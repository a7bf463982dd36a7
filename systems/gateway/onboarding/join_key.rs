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

/// Number of nodes that a join key has admitted, of these registrations.
pub fn nodes_used<'r>(
    id: Id<JoinKey>,
    key: &JoinKey,
    registrations: impl Iterator<Item = &'r Registration>,
) -> usize {
    let by = decided_by(id, key);
    let decided = |registration: &&Registration| {
        registration.decision.as_ref().is_some_and(|one| one.by == by)
    };
    registrations.filter(decided).count()
}

/// `true` if a join key admitted as many nodes as it may.
fn is_used_up(world: &World, id: Id<JoinKey>, key: &JoinKey) -> bool {
    let used = nodes_used(id, key, all(world).map(|(_, registration)| registration));
    used >= key.nodes_max as usize
}

/// The join key with this digest, unless it has expired or is used up.
pub(super) fn valid(world: &World, code_sha256: Option<[u8; 32]>) -> Option<(String, JoinKey)> {
    let code = code_sha256?;
    let now_ns = world.resource::<Clock>().wall_ns;
    let mut keys = config::all::<JoinKey>(world);
    let (id, key) = keys.find(|(_, key)| key.key_sha256 == code && now_ns < key.expires_ns)?;
    (!is_used_up(world, id, key)).then(|| (decided_by(id, key), key.clone()))
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
