//! Components of accounts. Each says who writes it.

use std::fmt;

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::site::NodeId;

/// The kind of thing that logs in.
pub struct AccountKind;
impl Kind for AccountKind {
    const NAME: &'static str = "account";
}
/// Stable id of an account.
pub type AccountId = Id<AccountKind>;

/// The kind of thing that says a token is dead before its time.
pub struct RevokedTokenKind;
impl Kind for RevokedTokenKind {
    const NAME: &'static str = "denial";
}
/// Id of a dead token: its `jti`.
pub type RevokedTokenId = Id<RevokedTokenKind>;

/// What an account may do, from least to most.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AccountRole {
    /// Reads.
    Viewer,
    /// Reads, and writes a little.
    Operator,
    /// Everything.
    Admin,
}

impl AccountRole {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// What proves who somebody is, never in the clear.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// A password of a person, as an argon2id PHC string.
    Argon2id(String),
    /// SHA-256 of 32 random bytes that a node holds: a secret nobody can guess needs no slow hash.
    Sha256([u8; 32]),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Somebody who logs in. Written by `account.*`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// The name they log in with, unique.
    pub username: String,
    /// The most they may do.
    pub role: AccountRole,
    /// The node whose credential this is; absent for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// What they prove themselves with.
    pub secret: Secret,
    /// Whether they are shut out.
    pub disabled: bool,
    /// Whether they may only change their password.
    pub must_change_password: bool,
    /// Version of their tokens: tokens of earlier ones are dead.
    pub version: u64,
    /// When it was made, ns since the Unix epoch.
    pub created_ns: u64,
    /// When they last logged in, ns since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_login_ns: Option<u64>,
}

/// A token that is dead before its time. Written by `token.deny` and `expire_revoked_tokens`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedToken {
    /// When it would have died by itself, ns since the Unix epoch.
    pub until_ns: u64,
}
