//! View of accounts.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Section};
use groundwave_simulation::site::NodeId;
use groundwave_values::persistent::PersistentMap;
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use super::components::{
    Account, AccountId, AccountKind, RevokedToken, RevokedTokenId, RevokedTokenKind,
};

/// Accounts and revoked tokens.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    /// Accounts in id order.
    pub by_id: PersistentMap<AccountId, Arc<Account>>,
    by_name: PersistentMap<String, AccountId>,
    by_node: PersistentMap<NodeId, AccountId>,
    denied: PersistentMap<RevokedTokenId, u64>,
}

impl Accounts {
    /// Account with this username.
    #[must_use]
    pub fn named(&self, username: &str) -> Option<(AccountId, &Arc<Account>)> {
        let id = *self.by_name.get(username)?;
        Some((id, self.by_id.get(&id)?))
    }

    /// Account with this username, in any case: those of accounts differ in more than that.
    #[must_use]
    pub fn named_in_any_case(&self, username: &str) -> Option<(AccountId, &Arc<Account>)> {
        let in_any_case = || {
            let mut accounts = self.by_id.iter();
            let entry =
                accounts.find(|(_, account)| account.username.eq_ignore_ascii_case(username));
            entry.map(|(id, account)| (*id, account))
        };
        self.named(username).or_else(in_any_case)
    }

    /// Account of a node.
    #[must_use]
    pub fn of_node(&self, node: NodeId) -> Option<(AccountId, &Arc<Account>)> {
        let id = *self.by_node.get(&node)?;
        Some((id, self.by_id.get(&id)?))
    }

    /// `true` if the token with this `jti` is revoked.
    #[must_use]
    pub fn denies(&self, token: RevokedTokenId) -> bool {
        self.denied.contains_key(&token)
    }

    /// `true` if there is no account and no revoked token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.denied.is_empty()
    }

    fn enter(&mut self, id: AccountId, account: &Account) {
        self.leave(id);
        self.by_name.insert(account.username.clone(), id);
        if let Some(node) = account.node {
            self.by_node.insert(node, id);
        }
        self.by_id.insert(id, Arc::new(account.clone()));
    }

    fn leave(&mut self, id: AccountId) {
        let Some(account) = self.by_id.remove(&id) else {
            return;
        };
        self.by_name.remove(&account.username);
        if let Some(node) = account.node {
            self.by_node.remove(&node);
        }
    }
}

/// Lists: the form of digests.
impl Serialize for Accounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let accounts: Vec<_> = self.by_id.iter().map(|(id, account)| (id, &**account)).collect();
        let denied: Vec<_> = self.denied.iter().collect();
        let mut out = serializer.serialize_struct("Accounts", 2)?;
        out.serialize_field("accounts", &accounts)?;
        out.serialize_field("denied", &denied)?;
        out.end()
    }
}

/// Removes revoked tokens that have expired.
pub(super) fn expire_revoked_tokens(
    clock: Res<Clock>,
    denials: Query<(Entity, &RevokedToken)>,
    mut commands: Commands,
) {
    for (entity, denial) in &denials {
        if denial.until_ns < clock.wall_ns {
            commands.entity(entity).despawn();
        }
    }
}

/// Publishes what changed, appeared or disappeared.
pub(super) fn publish_accounts(
    accounts: Query<(&AccountId, &Account), Changed<Account>>,
    denials: Query<(&RevokedTokenId, &RevokedToken), Changed<RevokedToken>>,
    indices: (Res<Index<AccountKind>>, Res<Index<RevokedTokenKind>>),
    mut section: ResMut<Section<Accounts>>,
) {
    let (departures, revoked) = (indices.0.departed(), indices.1.departed());
    if accounts.is_empty() && denials.is_empty() && departures.is_empty() && revoked.is_empty() {
        return;
    }
    let mut view = Accounts::clone(&section.share());
    departures.iter().for_each(|id| view.leave(*id));
    for id in revoked {
        view.denied.remove(id);
    }
    for (id, account) in &accounts {
        view.enter(*id, account);
    }
    for (id, denial) in &denials {
        view.denied.insert(*id, denial.until_ns);
    }
    section.redraw(view);
}
