//! API tokens: long-lived credentials of programs, each with a role and scopes of its own.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Clock, Id, Index, Kind, Recorded, Refusal};
use groundwave_simulation::site::check_name;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::components::{Account, AccountId, AccountKind, AccountRole};
use crate::config::{self, ConfigObject};

/// API tokens of an account at most.
const PER_ACCOUNT_MAX: usize = 100;

/// An API token of a user. Written by `api_token.put` and `api_token.note_use`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct ApiToken {
    /// Name, unique among the tokens of the account.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Account that it acts for.
    #[garde(skip)]
    #[schemars(with = "uuid::Uuid")]
    pub account: AccountId,
    /// Token version of the account at its creation: what revokes the tokens of the account revokes
    /// this one.
    #[garde(skip)]
    pub account_version: u64,
    /// Role; at most that of the account.
    #[garde(skip)]
    pub role: AccountRole,
    /// Scopes: `CATEGORY:read` and `CATEGORY:write`.
    #[garde(length(min = 1, max = 64), inner(length(chars, min = 1, max = 64)))]
    pub scopes: Vec<String>,
    /// SHA-256 of the token.
    #[garde(skip)]
    pub token_sha256: [u8; 32],
    /// Expiry, ns since the Unix epoch; absent for tokens that do not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub expires_ns: Option<u64>,
    /// Time of the last use that was noted, ns since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub last_used_ns: Option<u64>,
}

pub type ApiTokenId = Id<ApiToken>;

impl Kind for ApiToken {
    const NAME: &'static str = "API token";
}

impl ApiToken {
    /// `true` once it has expired.
    #[must_use]
    pub fn has_expired(&self, now_ns: u64) -> bool {
        self.expires_ns.is_some_and(|end_ns| end_ns <= now_ns)
    }

    /// `true` if the account that it acts for still has the tokens of its version.
    #[must_use]
    pub fn is_of(&self, account: &Account) -> bool {
        !account.disabled && account.version == self.account_version
    }
}

impl ConfigObject for ApiToken {
    const KIND: &'static str = "api_token";
    const COUNT_MAX: usize = 10_000;

    fn check(&self, id: Id<Self>, world: &World) -> Result<(), Refusal> {
        check_name("name", &self.name)?;
        let entity = world.resource::<Index<AccountKind>>().get(self.account)?;
        let account = world.get::<Account>(entity).expect("an account has one");
        if account.node.is_some() {
            return Err(Refusal::conflict(
                "this is the credential of a node: it has no API tokens",
            ));
        }
        if !self.is_of(account) {
            return Err(Refusal::conflict("the account is disabled or changed"));
        }
        if self.role > account.role {
            let allowed = format!("at most {}, the role of the account", account.role.word());
            return Err(Refusal::invalid("role", self.role.word(), allowed));
        }
        let others = || {
            config::all::<Self>(world)
                .filter(|(other, token)| *other != id && token.account == self.account)
        };
        // The name of one that is dead is free: programs renew theirs under one name.
        let now_ns = world.resource::<Clock>().wall_ns;
        let lives = |token: &Self| token.is_of(account) && !token.has_expired(now_ns);
        if others().any(|(_, token)| token.name == self.name && lives(token)) {
            return Err(Refusal::conflict(format!(
                "an API token of this account is called {:?} already",
                self.name
            )));
        }
        if others().count() >= PER_ACCOUNT_MAX {
            return Err(Refusal::conflict(format!(
                "there are {PER_ACCOUNT_MAX} API tokens of this account, the maximum"
            )));
        }
        Ok(())
    }
}

/// Notes that an API token was used.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoteTokenUse {
    /// API token.
    pub token: ApiTokenId,
}
impl Command for NoteTokenUse {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = world.resource::<Index<ApiToken>>().get(self.token)?;
        let now_ns = world.resource::<Clock>().wall_ns;
        let mut token = world.get_mut::<ApiToken>(entity).expect("an API token has one");
        token.last_used_ns = Some(now_ns);
        Ok(())
    }
}
impl Recorded for NoteTokenUse {
    const NAME: &'static str = "api_token.note_use";
    type Reply = ();
}

/// Removes the API tokens of an account.
pub(super) fn remove_tokens(world: &mut World, account: AccountId) {
    let own: Vec<ApiTokenId> = config::all::<ApiToken>(world)
        .filter(|(_, token)| token.account == account)
        .map(|(id, _)| id)
        .collect();
    for id in own {
        let entity = world.resource::<Index<ApiToken>>().get(id);
        world.despawn(entity.expect("it was just there"));
    }
}
