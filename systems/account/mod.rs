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

pub(crate) use commands::forget_node;
pub use commands::{
    ACCOUNTS_MAX, ChangePassword, CreateAccount, DenyToken, IssueCredential, NoteLogin,
    RemoveAccount, RevokeTokens, USERNAME_CHARS_MAX, UpdateAccount, check_username,
};
pub use components::{
    Account, AccountId, AccountKind, AccountRole, Denial, DenialId, DenialKind, Secret,
};
pub use document::{AccountDocument, DenialDocument};
pub use view::Accounts;

/// Accounts and dead tokens.
pub fn account(engine: &mut Builder) {
    engine
        .kind::<AccountKind>()
        .kind::<DenialKind>()
        .section::<Accounts>()
        .command::<CreateAccount>()
        .command::<UpdateAccount>()
        .command::<RemoveAccount>()
        .command::<ChangePassword>()
        .command::<RevokeTokens>()
        .command::<NoteLogin>()
        .command::<DenyToken>()
        .command::<IssueCredential>()
        .document::<AccountDocument>()
        .document::<DenialDocument>()
        .systems(Phase::Plan, view::forget_denials)
        .systems(Phase::Publish, view::publish_accounts);
}
