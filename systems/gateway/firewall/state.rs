//! Rulesets of the firewall: confirmed, awaiting confirmation, observed.

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Index, Kind, Section, StoredComponent};
use serde::{Deserialize, Serialize};

/// Kind of the entity that holds the rulesets.
pub struct FirewallKind;
impl Kind for FirewallKind {
    const NAME: &'static str = "firewall";
}

impl StoredComponent for Firewall {
    const TABLE: &'static str = "firewall";
    type Kind = FirewallKind;
}
/// Id of that entity.
pub type FirewallId = Id<FirewallKind>;

/// A compiled ruleset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ruleset {
    /// The transaction, in the JSON of nftables.
    pub nft: String,
    /// Revision of zones and rules it was compiled from.
    pub revision: String,
    /// Applying user.
    pub by: String,
}

/// A ruleset that awaits confirmation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pending {
    pub ruleset: Ruleset,
    /// SHA-256 of the token that confirms it.
    pub token_sha256: [u8; 32],
    /// Deadline, ns since the Unix epoch.
    pub confirm_by_ns: u64,
}

/// State of the kernel, as read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Observed {
    /// Time of the change of this state, ns since the Unix epoch.
    pub since_ns: u64,
    /// Pointers to what differs from the desired ruleset; none if it is in force.
    pub divergence: Vec<String>,
}

/// Firewall: desired and observed. Written by `firewall.*`.
#[derive(Component, Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Firewall {
    /// Ruleset that was confirmed last.
    pub confirmed: Option<Ruleset>,
    /// Ruleset that awaits confirmation.
    pub pending: Option<Pending>,
    /// Digest of the token of the last ruleset that was reverted.
    pub reverted: Option<[u8; 32]>,
    /// Last observation; none before the first ruleset.
    pub observed: Option<Observed>,
}

impl Firewall {
    /// `true` if there was never a ruleset.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        *self == Self::default()
    }

    /// Ruleset that should be in force.
    #[must_use]
    pub fn desired(&self) -> Option<&Ruleset> {
        let pending = self.pending.as_ref().map(|pending| &pending.ruleset);
        pending.or(self.confirmed.as_ref())
    }
}

/// Publishes the rulesets when they changed.
pub(super) fn publish_firewall(
    firewall: Query<&Firewall, Changed<Firewall>>,
    mut section: ResMut<Section<Firewall>>,
) {
    if let Some(firewall) = firewall.iter().next() {
        section.redraw(firewall.clone());
    }
}

/// The rulesets.
pub(super) fn get(world: &World) -> Firewall {
    let index = world.resource::<Index<FirewallKind>>();
    let firewall = index.iter().next().and_then(|(_, entity)| world.get::<Firewall>(entity));
    firewall.cloned().unwrap_or_default()
}

/// Replaces the rulesets.
pub(super) fn put(world: &mut World, firewall: Firewall) {
    let index = world.resource::<Index<FirewallKind>>();
    let entry = index.iter().next();
    match entry {
        Some((_, entity)) => {
            world.entity_mut(entity).insert(firewall);
        }
        None => {
            world.spawn((FirewallId::named("gateway"), firewall));
        }
    }
}
