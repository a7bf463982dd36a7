//! What can be done to accounts.

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{
    Account, AccountId, AccountKind, AccountRole, RevokedToken, RevokedTokenId, RevokedTokenKind,
    Secret,
};
use crate::site::{NODES_MAX, NodeId};

/// Accounts one world may hold: every node has one, and ten thousand people.
pub const ACCOUNTS_MAX: usize = NODES_MAX + 10_000;

/// Longest name to log in with, characters.
pub const USERNAME_CHARS_MAX: usize = 64;

/// Dead tokens one world remembers; with tokens of an hour, that many logouts in an hour.
const DENIALS_MAX: usize = 1_000_000;

/// Refuses names that cannot be typed or told apart.
///
/// # Errors
/// [`Refusal::Invalid`] unless `username` has 1 to [`USERNAME_CHARS_MAX`] characters of
/// `a-z A-Z 0-9 . _ @ -`.
pub fn check_username(username: &str) -> Result<(), Refusal> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    if !(1..=USERNAME_CHARS_MAX).contains(&username.len()) || !username.bytes().all(fits) {
        let allowed = format!("1 to {USERNAME_CHARS_MAX} characters of a-z A-Z 0-9 . _ @ -");
        return Err(Refusal::invalid(
            "username",
            format!("{username:?}"),
            allowed,
        ));
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

/// Refuses to lose the last admin that can still come in.
fn an_admin_is_left(world: &World, without: AccountId) -> Result<(), Refusal> {
    let rules = |account: &Account| account.role == AccountRole::Admin && !account.disabled;
    let (_, account) = find(world, without)?;
    if rules(&account) && !all(world).any(|(id, other)| id != without && rules(other)) {
        return Err(Refusal::conflict(
            "this is the last enabled admin: make another one first",
        ));
    }
    Ok(())
}

/// Makes an account of a person.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CreateAccount {
    /// Its id, minted by the caller.
    pub account: AccountId,
    /// The name to log in with.
    pub username: String,
    /// What it may do.
    pub role: AccountRole,
    /// The hashed password.
    pub secret: Secret,
    /// Whether the password must be changed first.
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
                "there are {ACCOUNTS_MAX} accounts, the most"
            )));
        }
        if all(world).any(|(_, other)| other.username == self.username) {
            return Err(Refusal::conflict(format!(
                "an account is called {:?} already",
                self.username
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

/// Changes what an account may do, or its password, as an admin does. Every change kills its
/// tokens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateAccount {
    /// Which account.
    pub account: AccountId,
    /// What it may do from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<AccountRole>,
    /// Whether it is shut out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disabled: Option<bool>,
    /// Another password, which must be changed at the next login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<Secret>,
}
impl Command for UpdateAccount {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, before) = find(world, self.account)?;
        let mut account = before.clone();
        if before.node.is_some() && (self.role.is_some() || self.secret.is_some()) {
            return Err(Refusal::conflict(
                "this is the credential of a node: rotate it there",
            ));
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

/// Takes an account away.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveAccount {
    /// Which account.
    pub account: AccountId,
}
impl Command for RemoveAccount {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let (entity, _) = find(world, self.account)?;
        an_admin_is_left(world, self.account)?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for RemoveAccount {
    const NAME: &'static str = "account.remove";
    type Reply = ();
}

/// Changes a password, as its owner does. All tokens of the account die.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChangePassword {
    /// Whose.
    pub account: AccountId,
    /// The hashed new password.
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

/// Kills all tokens of an account.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeTokens {
    /// Whose.
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

/// Notes that somebody logged in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordLogin {
    /// Who.
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

/// Kills one token.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RevokeToken {
    /// Its `jti`.
    pub token: RevokedTokenId,
    /// When it would have died by itself, ns since the Unix epoch.
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

/// Gives a node a new credential; an earlier one, and all its tokens, die.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IssueCredential {
    /// Id of the account, if the node has none yet.
    pub account: AccountId,
    /// The node.
    pub node: NodeId,
    /// The name it logs in with, if it has none yet.
    pub username: String,
    /// SHA-256 of the secret it was given.
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
        world
            .resource::<Index<AccountKind>>()
            .vacant(self.account)?;
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

/// Takes the account of a node away, if it has one.
pub(crate) fn remove_node_account(world: &mut World, node: NodeId) {
    let mine = all(world).find(|(_, account)| account.node == Some(node));
    if let Some((id, _)) = mine {
        let entity = world.resource::<Index<AccountKind>>().get(id);
        world.despawn(entity.expect("it was just there"));
    }
}
