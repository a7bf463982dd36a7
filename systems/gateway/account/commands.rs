//! Commands on accounts and tokens.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use groundwave_simulation::site::{NODES_MAX, NodeId};
use serde::{Deserialize, Serialize};

use super::api_token::remove_tokens;
use super::components::{
    Account, AccountId, AccountKind, AccountRole, RevokedToken, RevokedTokenId, RevokedTokenKind,
    Secret,
};

/// Accounts at most: one for each node, and ten thousand users.
pub const ACCOUNTS_MAX: usize = NODES_MAX + 10_000;

/// Maximum length of a username, characters.
pub const USERNAME_CHARS_MAX: usize = 64;

/// Revoked tokens at most; with tokens of an hour, that many logouts in an hour.
const DENIALS_MAX: usize = 1_000_000;

/// Checks a username.
///
/// # Errors
/// [`Refusal::Invalid`] unless `username` has 1 to [`USERNAME_CHARS_MAX`] characters of
/// `a-z A-Z 0-9 . _ @ -`.
pub fn check_username(username: &str) -> Result<(), Refusal> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    if !(1..=USERNAME_CHARS_MAX).contains(&username.len()) || !username.bytes().all(fits) {
        let allowed = format!("1 to {USERNAME_CHARS_MAX} characters of a-z A-Z 0-9 . _ @ -");
        return Err(Refusal::invalid("username", format!("{username:?}"), allowed));
    }
    Ok(())
}

fn find(world: &World, id: AccountId) -> Result<(Entity, Account), Refusal> {
    let entity = world.resource::<Index<AccountKind>>().get(id)?;
    let account = world.get::<Account>(entity).expect("an account has one");
    Ok((entity, account.clone()))
}

fn all(world: &World) -> impl Iterator<Item = (AccountId, &Account)> {
    let index = world.resource::<Index<AccountKind>>();
    index.iter().map(|(id, entity)| {
        let account = world.get::<Account>(entity).expect("an account has one");
        (id, account)
    })
}

/// Refuses to remove the last enabled admin.
fn an_admin_is_left(world: &World, without: AccountId) -> Result<(), Refusal> {
    let rules = |account: &Account| account.role == AccountRole::Admin && !account.disabled;
    let (_, account) = find(world, without)?;
    if rules(&account) && !all(world).any(|(id, other)| id != without && rules(other)) {
        return Err(Refusal::conflict("this is the last enabled admin: make another one first"));
    }
    Ok(())
}

/// Creates an account of a user.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateAccount {
    /// Account id, unique.
    pub account: AccountId,
    pub username: String,
    pub role: AccountRole,
    /// Password hash.
    pub secret: Secret,
    /// `true` if the password must be changed at the first login.
    pub must_change_password: bool,
}
impl Command for CreateAccount {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_username(&self.username)?;
        let index = world.resource::<Index<AccountKind>>();
        index.vacant(self.account)?;
        if index.len() >= ACCOUNTS_MAX {
            return Err(Refusal::conflict(format!(
                "there are {ACCOUNTS_MAX} accounts, the maximum"
            )));
        }
        let same = |other: &Account| other.username.eq_ignore_ascii_case(&self.username);
        if let Some((_, other)) = all(world).find(|(_, other)| same(other)) {
            return Err(Refusal::conflict(format!(
                "an account is called {:?} already",
                other.username
            )));
        }
        let account = Account {
            username: self.username,
            role: self.role,
            node: None,
            secret: self.secret,
            disabled: false,
            must_change_password: self.must_change_password,
            version: 1,
            created_ns: world.resource::<Clock>().wall_ns,
            last_login_ns: None,
        };
        world.spawn((self.account, account));
        Ok(())
    }
}
impl Recorded for CreateAccount {
    const NAME: &'static str = "account.create";
    type Reply = ();
}

/// Changes role, state or password of an account, as an admin does. Every change revokes its
/// tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateAccount {
    pub account: AccountId,
    /// New role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AccountRole>,
    /// New state: `true` to disable it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// New password hash; it must be changed at the next login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}
impl Command for UpdateAccount {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, before) = find(world, self.account)?;
        let mut account = before.clone();
        if before.node.is_some() && (self.role.is_some() || self.secret.is_some()) {
            return Err(Refusal::conflict("this is the credential of a node: rotate it there"));
        }
        account.role = self.role.unwrap_or(account.role);
        account.disabled = self.disabled.unwrap_or(account.disabled);
        if account.role < before.role || account.disabled {
            an_admin_is_left(world, self.account)?;
        }
        if let Some(secret) = self.secret {
            account.secret = secret;
            account.must_change_password = true;
            account.version += 1;
        }
        if account.role != before.role || account.disabled != before.disabled {
            account.version += 1;
        }
        if account != before {
            world.entity_mut(entity).insert(account);
        }
        Ok(())
    }
}
impl Recorded for UpdateAccount {
    const NAME: &'static str = "account.update";
    type Reply = ();
}

/// Removes an account with its API tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveAccount {
    pub account: AccountId,
}
impl Command for RemoveAccount {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, _) = find(world, self.account)?;
        an_admin_is_left(world, self.account)?;
        remove_tokens(world, self.account);
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for RemoveAccount {
    const NAME: &'static str = "account.remove";
    type Reply = ();
}

/// Changes a password, as its owner does. All tokens of the account are revoked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    pub account: AccountId,
    /// New password hash.
    pub secret: Secret,
}
impl Command for ChangePassword {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, mut account) = find(world, self.account)?;
        account.secret = self.secret;
        account.must_change_password = false;
        account.version += 1;
        world.entity_mut(entity).insert(account);
        Ok(())
    }
}
impl Recorded for ChangePassword {
    const NAME: &'static str = "account.password";
    type Reply = ();
}

/// Replaces the verifier of a password by the same verifier, sealed. Tokens stay valid.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealPassword {
    pub account: AccountId,
    /// Sealed verifier.
    pub sealed: String,
}
impl Command for SealPassword {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, mut account) = find(world, self.account)?;
        if !matches!(account.secret, Secret::Argon2id(_)) {
            return Err(Refusal::conflict("this account has no password in clear"));
        }
        account.secret = Secret::Sealed(self.sealed);
        world.entity_mut(entity).insert(account);
        Ok(())
    }
}
impl Recorded for SealPassword {
    const NAME: &'static str = "account.seal";
    type Reply = ();
}

/// Revokes all tokens of an account.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeTokens {
    pub account: AccountId,
}
impl Command for RevokeTokens {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, mut account) = find(world, self.account)?;
        account.version += 1;
        world.entity_mut(entity).insert(account);
        Ok(())
    }
}
impl Recorded for RevokeTokens {
    const NAME: &'static str = "account.revoke_tokens";
    type Reply = ();
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordLogin {
    pub account: AccountId,
}
impl Command for RecordLogin {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, mut account) = find(world, self.account)?;
        account.last_login_ns = Some(world.resource::<Clock>().wall_ns);
        world.entity_mut(entity).insert(account);
        Ok(())
    }
}
impl Recorded for RecordLogin {
    const NAME: &'static str = "account.note_login";
    type Reply = ();
}

/// Revokes one token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// `jti` of the token.
    pub token: RevokedTokenId,
    /// Expiry of the token, ns since the Unix epoch.
    pub until_ns: u64,
}
impl Command for RevokeToken {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let index = world.resource::<Index<RevokedTokenKind>>();
        if index.get(self.token).is_ok() {
            return Ok(());
        }
        if index.len() >= DENIALS_MAX {
            return Err(Refusal::Busy);
        }
        let until_ns = self.until_ns;
        world.spawn((self.token, RevokedToken { until_ns }));
        Ok(())
    }
}
impl Recorded for RevokeToken {
    const NAME: &'static str = "token.deny";
    type Reply = ();
}

/// Issues a credential to a node; a previous one and its tokens are revoked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueCredential {
    /// Account id, if the node has no account yet.
    pub account: AccountId,
    pub node: NodeId,
    /// Username, if the node has no account yet.
    pub username: String,
    /// SHA-256 of the secret.
    pub secret_sha256: [u8; 32],
}
impl Command for IssueCredential {
    type Out = Result<String, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_username(&self.username)?;
        crate::fleet::approved_node(world, self.node)?;
        let secret = Secret::Sha256(self.secret_sha256);
        let mine = all(world).find(|(_, account)| account.node == Some(self.node));
        if let Some((id, _)) = mine {
            let (entity, mut account) = find(world, id)?;
            account.secret = secret;
            account.disabled = false;
            account.version += 1;
            let username = account.username.clone();
            world.entity_mut(entity).insert(account);
            return Ok(username);
        }
        if all(world).any(|(_, other)| other.username == self.username) {
            return Err(Refusal::conflict(format!(
                "an account is called {:?} already",
                self.username
            )));
        }
        world.resource::<Index<AccountKind>>().vacant(self.account)?;
        let account = Account {
            username: self.username.clone(),
            role: AccountRole::Operator,
            node: Some(self.node),
            secret,
            disabled: false,
            must_change_password: false,
            version: 1,
            created_ns: world.resource::<Clock>().wall_ns,
            last_login_ns: None,
        };
        world.spawn((self.account, account));
        Ok(self.username)
    }
}
impl Recorded for IssueCredential {
    const NAME: &'static str = "account.issue";
    type Reply = String;
}

/// Removes the account of a node, if it has one.
pub(crate) fn remove_node_account(world: &mut World, node: NodeId) {
    let mine = all(world).find(|(_, account)| account.node == Some(node));
    if let Some((id, _)) = mine {
        let entity = world.resource::<Index<AccountKind>>().get(id);
        world.despawn(entity.expect("it was just there"));
    }
}
