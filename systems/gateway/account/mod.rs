//! Accounts: users and nodes that log in, their roles, API tokens, revoked tokens.
//!
//! Permissions of a role are not decided here but by the access rules of the interface; the world keeps
//! who has which role, and that one enabled admin remains.

mod api_token;
mod commands;
mod components;
mod document;
#[cfg(test)]
mod tests;
mod view;

use groundwave_engine::{Builder, ComponentDocument, Phase};

pub use api_token::{ApiToken, ApiTokenId, NoteTokenUse};
pub(crate) use commands::remove_node_account;
pub use commands::{
    ACCOUNTS_MAX, ChangePassword, CreateAccount, IssueCredential, RecordLogin, RemoveAccount,
    RevokeToken, RevokeTokens, SealPassword, USERNAME_CHARS_MAX, UpdateAccount, check_username,
};
pub use components::{
    Account, AccountId, AccountKind, AccountRole, RevokedToken, RevokedTokenId, RevokedTokenKind,
    Secret,
};
pub use view::Accounts;

/// Accounts and revoked tokens.
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
        .command::<SealPassword>()
        .command::<RecordLogin>()
        .command::<RevokeToken>()
        .command::<IssueCredential>()
        .command::<NoteTokenUse>()
        .document::<ComponentDocument<Account>>()
        .document::<ComponentDocument<RevokedToken>>()
        .systems(Phase::Plan, view::expire_revoked_tokens)
        .systems(Phase::Publish, view::publish_accounts);
}
