//! Components of accounts, each with its writer.

use std::fmt;

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub struct AccountKind;
impl Kind for AccountKind {
    const NAME: &'static str = "account";
}
/// Stable id of an account.
pub type AccountId = Id<AccountKind>;

pub struct RevokedTokenKind;
impl Kind for RevokedTokenKind {
    const NAME: &'static str = "denial";
}
/// Id of a revoked token: its `jti`.
pub type RevokedTokenId = Id<RevokedTokenKind>;

/// Role of an account, in ascending order of permissions.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AccountRole {
    /// Read access.
    Viewer,
    /// Read access and some changes.
    Operator,
    /// Full access.
    Admin,
}

impl AccountRole {
    /// Name of the role in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// Verifier of a credential, never the credential itself.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// Password of a user, as an argon2id PHC string.
    Argon2id(String),
    /// SHA-256 of 32 random bytes held by a node: a random secret needs no slow hash.
    Sha256([u8; 32]),
    /// Password of a user, as an argon2id PHC string sealed with a key of the gateway, in base64.
    Sealed(String),
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// An account. Written by `account.*`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    /// Username, unique.
    pub username: String,
    pub role: AccountRole,
    /// Node whose credential this is; absent for users.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    /// Verifier of the credential.
    pub secret: Secret,
    /// `true` if it is disabled.
    pub disabled: bool,
    /// `true` if it may only change its password.
    pub must_change_password: bool,
    /// Token version: tokens of earlier versions are invalid.
    pub version: u64,
    /// Time of creation, ns since the Unix epoch.
    pub created_ns: u64,
    /// Time of the last login, ns since the Unix epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_login_ns: Option<u64>,
}

/// A token revoked before its expiry. Written by `token.deny` and `expire_revoked_tokens`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevokedToken {
    /// Expiry of the token, ns since the Unix epoch.
    pub until_ns: u64,
}
