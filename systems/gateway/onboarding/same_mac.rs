//! Identity of a node over time: its hardware address, not its key, which a new image replaces.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal};
use groundwave_protocol::{Mac, RegistrationState};
use groundwave_simulation::site::{NodeId, NodeKind};
use serde::{Deserialize, Serialize};

use super::components::{Registration, RegistrationId};
use crate::fleet::NodeRecord;
use crate::identity::find;

/// Rule for a request whose hardware address a node of the fleet has already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SameMac {
    /// A node of its own; the rule of commands that were recorded before there was one.
    #[default]
    Separate,
    /// The same node: an admin decides on its new key, which then replaces the earlier one.
    SameNode,
}

impl SameMac {
    pub(super) fn is_separate(&self) -> bool {
        *self == Self::Separate
    }

    /// Node that has `mac` under another registration than `own`: an approved one before others, then
    /// the latest.
    pub(super) fn owner(
        self,
        world: &World,
        mac: Mac,
        own: Option<RegistrationId>,
    ) -> Option<NodeId> {
        if self == Self::Separate {
            return None;
        }
        let index = world.resource::<Index<NodeKind>>();
        let candidates = index.iter().filter_map(|(id, entity)| {
            let record = &world.get::<NodeRecord>(entity)?.0;
            let is_other = own.is_none() || record.registration != own;
            let is_approved = record.registration.is_some_and(|registration| {
                find(world, registration)
                    .is_ok_and(|(_, one)| one.state == RegistrationState::Approved)
            });
            let rank = (is_approved, record.created_ns, id);
            (record.mac == Some(mac) && is_other).then_some(rank)
        });
        candidates.max().map(|(.., id)| id)
    }

    /// Node as which a registration is approved: `node` where no other has its hardware address.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] when `node` exists beside the one with the hardware address.
    pub(super) fn node_of(
        self,
        world: &World,
        id: RegistrationId,
        registration: &Registration,
        node: NodeId,
    ) -> Result<NodeId, Refusal> {
        let own = registration.node;
        let Some(owner) = self.owner(world, registration.claims.mac, Some(id)) else {
            return Ok(own.unwrap_or(node));
        };
        let exists = world.resource::<Index<NodeKind>>().get(node).is_ok();
        match own.or(exists.then_some(node)) {
            None => Ok(owner),
            Some(other) if other == owner => Ok(owner),
            Some(_) => Err(taken(owner, registration.claims.mac)),
        }
    }

    /// Refuses to register `node` ahead with the hardware address of another one.
    ///
    /// # Errors
    /// [`Refusal::Conflict`] naming the other node.
    pub(super) fn check_ahead(self, world: &World, mac: Mac, node: NodeId) -> Result<(), Refusal> {
        match self.owner(world, mac, None) {
            Some(owner) if owner != node => Err(taken(owner, mac)),
            _ => Ok(()),
        }
    }
}

fn taken(owner: NodeId, mac: Mac) -> Refusal {
    Refusal::conflict(format!(
        "node {owner} has the hardware address {mac}: name that node, remove it first, or approve the \
         request as a separate node"
    ))
}
