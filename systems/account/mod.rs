//! Accounts: who may speak to the gateway, as what, and which of their tokens are dead.
//!
//! People and nodes log in the same way. What a role may do is not decided here but in the table
//! of the frontend; the world keeps who has which role, and that an admin is always left.

mod commands;
mod components;
mod document;
#[cfg(test)]
mod tests;
mod view;

use groundwave_engine::{Builder, Phase};

pub(crate) use commands::remove_node_account;
pub use commands::{
    ACCOUNTS_MAX, ChangePassword, CreateAccount, IssueCredential, RecordLogin, RemoveAccount,
    RevokeToken, RevokeTokens, USERNAME_CHARS_MAX, UpdateAccount, check_username,
};
pub use components::{
    Account, AccountId, AccountKind, AccountRole, RevokedToken, RevokedTokenId, RevokedTokenKind,
    Secret,
};
pub use document::{AccountDocument, RevokedTokenDocument};
pub use view::Accounts;

/// Accounts and dead tokens.
pub fn account(engine: &mut Builder) {
    engine
        .kind::<AccountKind>()
        .kind::<RevokedTokenKind>()
        .section::<Accounts>()
        .command::<CreateAccount>()
        .command::<UpdateAccount>()
        .command::<RemoveAccount>()
        .command::<ChangePassword>()
        .command::<RevokeTokens>()
        .command::<RecordLogin>()
        .command::<RevokeToken>()
        .command::<IssueCredential>()
        .document::<AccountDocument>()
        .document::<RevokedTokenDocument>()
        .systems(Phase::Plan, view::expire_revoked_tokens)
        .systems(Phase::Publish, view::publish_accounts);
}
