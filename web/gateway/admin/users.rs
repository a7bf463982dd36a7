//! Account endpoints.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::account::{
    Account, AccountId, AccountRole, CreateAccount, RemoveAccount, RevokeTokens, UpdateAccount,
};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, id};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Admin;
use crate::services::passwords::Passwords;
use crate::services::passwords::check_new;
use crate::services::world::{World, missing};

/// Account, without its password.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// Account id.
    pub user_id: Uuid,
    /// Username.
    pub username: String,
    /// Role.
    pub role: AccountRole,
    /// Node id, for accounts of nodes.
    pub node_id: Option<Uuid>,
    /// Disabled accounts cannot log in.
    pub disabled: bool,
    /// Time of creation, RFC 3339.
    pub created_at: String,
    /// Time of the last login, RFC 3339.
    pub last_login_at: Option<String>,
    /// The password must be changed before anything else.
    pub must_change_password: bool,
}

impl User {
    fn of(id: AccountId, account: &Account) -> Self {
        Self {
            user_id: id.uuid(),
            username: account.username.clone(),
            role: account.role,
            node_id: account.node.map(|node| node.uuid()),
            disabled: account.disabled,
            created_at: rfc3339(account.created_ns),
            last_login_at: account.last_login_ns.map(rfc3339),
            must_change_password: account.must_change_password,
        }
    }
}

fn user(world: &World, id: Uuid) -> Result<User, Problem> {
    let view = world.view();
    let account =
        view.accounts.by_id.get(&AccountId::new(id)).ok_or_else(|| missing("account", id))?;
    Ok(User::of(AccountId::new(id), account))
}

/// List accounts
#[utoipa::path(get, path = "/v1/admin/users", tag = "admin", params(Paging),
    responses((status = 200, description = "Oldest first, accounts of nodes included")))]
pub async fn users(
    _: Admin,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<User>>, Problem> {
    let view = world.view();
    let all =
        view.accounts.by_id.iter().map(|(id, account)| (id.uuid().to_string(), (*id, account)));
    Ok(Json(paging.of(all, |(id, account)| User::of(id, account))?))
}

/// New account.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// Username: a-z A-Z 0-9 . _ @ -
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._@-]+$"))]
    pub username: String,
    /// First password; to be changed at the first login.
    #[schemars(length(min = 12, max = 1024))]
    pub password: String,
    /// Role.
    pub role: AccountRole,
}

/// Create an account
#[utoipa::path(post, path = "/v1/admin/users", tag = "admin",
    responses((status = 201, description = "The account"),
        (status = 409, description = "Username exists")))]
pub async fn user_create(
    _: Admin,
    State(world): State<World>,
    State(passwords): State<Arc<Passwords>>,
    StrictJson(new): StrictJson<NewUser>,
) -> Result<(StatusCode, Json<User>), Problem> {
    if new.username.parse::<Uuid>().is_ok() {
        let message = format!(
            "invalid username: found {:?}, allowed other names than ids: a node logs in with its id",
            new.username
        );
        return Err(Problem::field("/username", FieldCode::NotAllowed, message));
    }
    check_new("/password", &new.password, &new.username)?;
    let account = AccountId::new(id::mint());
    let command = CreateAccount {
        account,
        username: new.username,
        role: new.role,
        secret: passwords.hash(new.password).await?,
        must_change_password: true,
    };
    world.submit(command).await?;
    let view = user(&world, account.uuid())?;
    Ok((StatusCode::CREATED, Json(view)))
}

/// Changes of an account; absent fields stay.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    /// Role.
    #[serde(default)]
    pub role: Option<AccountRole>,
    /// Disabled accounts cannot log in.
    #[serde(default)]
    pub disabled: Option<bool>,
    /// New password; to be changed at the next login.
    #[serde(default)]
    #[schemars(length(min = 12, max = 1024))]
    pub password: Option<String>,
}

/// Update an account and revoke its tokens
#[utoipa::path(patch, path = "/v1/admin/users/{user_id}", tag = "admin",
    params(("user_id" = Uuid, Path, description = "Account id")),
    responses((status = 200, description = "Updated account"),
        (status = 404, description = "No such account"),
        (status = 409, description = "Last enabled admin account")))]
pub async fn user_patch(
    _: Admin,
    State(world): State<World>,
    State(passwords): State<Arc<Passwords>>,
    Path(id): Path<Uuid>,
    StrictJson(change): StrictJson<UserChange>,
) -> Result<Json<User>, Problem> {
    let before = user(&world, id)?;
    let secret = match change.password {
        Some(password) => {
            check_new("/password", &password, &before.username)?;
            Some(passwords.hash(password).await?)
        }
        None => None,
    };
    let command = UpdateAccount {
        account: AccountId::new(id),
        role: change.role,
        disabled: change.disabled,
        secret,
    };
    world.submit(command).await?;
    Ok(Json(user(&world, id)?))
}

/// Delete an account
#[utoipa::path(delete, path = "/v1/admin/users/{user_id}", tag = "admin",
    params(("user_id" = Uuid, Path, description = "Account id")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such account"),
        (status = 409, description = "Last enabled admin account")))]
pub async fn user_delete(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let account = AccountId::new(id);
    world.submit(RemoveAccount { account }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Revoke all tokens of an account
#[utoipa::path(post, path = "/v1/admin/users/{user_id}/revoke-tokens", tag = "admin",
    params(("user_id" = Uuid, Path, description = "Account id")),
    responses((status = 204, description = "Tokens revoked"),
        (status = 404, description = "No such account")))]
pub async fn user_revoke_tokens(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let account = AccountId::new(id);
    world.submit(RevokeTokens { account }).await?;
    Ok(StatusCode::NO_CONTENT)
}
