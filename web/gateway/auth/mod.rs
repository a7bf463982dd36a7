//! Authentication endpoints: login, logout, caller, password, API tokens.

pub mod api_tokens;
pub mod sessions;

use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        sessions::login,
        sessions::login_viewer,
        sessions::login_operator,
        sessions::login_admin,
        sessions::logout,
        sessions::me,
        sessions::change_password,
        api_tokens::api_tokens,
        api_tokens::api_token_fetch,
        api_tokens::api_token_create,
        api_tokens::api_token_revoke,
    ))
}
