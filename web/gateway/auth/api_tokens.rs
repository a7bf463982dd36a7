//! API token endpoints.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::account::{AccountId, AccountRole, ApiToken, ApiTokenId};
use groundwave_gateway::config::{Expected, Put, Remove, Versioned};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Caller, LoggedIn, Scopes};
use crate::services::api_tokens::mint;
use crate::services::config_objects::objects;
use crate::services::world::{World, missing};

/// Validity of an API token, s: a minute to ten years.
const VALID_S: std::ops::RangeInclusive<u64> = 60..=315_360_000;

/// Maximum number of scopes in a request.
const SCOPES_MAX: usize = 64;

/// API token, without the token itself.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApiTokenView {
    /// Token id.
    pub token_id: Uuid,
    /// Name.
    pub name: String,
    /// Account that it acts for.
    pub user_id: Uuid,
    /// Name of the account.
    pub username: String,
    /// Role.
    pub role: AccountRole,
    /// Scopes.
    pub scopes: Vec<String>,
    /// Time of creation, RFC 3339.
    pub created_at: String,
    /// Expiry, RFC 3339; absent for tokens that do not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// It has expired.
    pub expired: bool,
    /// It ended with the other tokens of the account: new password or role, or disabled.
    pub revoked: bool,
    /// Time of the last use, RFC 3339, to the minute before; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_used_at: Option<String>,
}

fn view_of(world: &World, id: ApiTokenId, versioned: &Versioned<ApiToken>) -> ApiTokenView {
    let view = world.view();
    let token = &versioned.object;
    let account = view.accounts.by_id.get(&token.account);
    ApiTokenView {
        token_id: id.uuid(),
        name: token.name.clone(),
        user_id: token.account.uuid(),
        username: account.map_or_else(String::new, |account| account.username.clone()),
        role: token.role,
        scopes: token.scopes.clone(),
        created_at: rfc3339(versioned.created_ns),
        expires_at: token.expires_ns.map(rfc3339),
        expired: token.has_expired(world.wall_ns()),
        revoked: !account.is_some_and(|account| token.is_of(account)),
        last_used_at: token.last_used_ns.map(rfc3339),
    }
}

/// `true` if `caller` may see and revoke the token: its own, or any as an admin.
fn reaches(caller: &Caller, token: &ApiToken) -> bool {
    caller.role == AccountRole::Admin || token.account == caller.account
}

/// Token that the caller may see.
fn reached(world: &World, caller: &Caller, id: Uuid) -> Result<Arc<Versioned<ApiToken>>, Problem> {
    let tokens = objects::<ApiToken>(world);
    tokens
        .get(ApiTokenId::new(id))
        .filter(|token| reaches(caller, &token.object))
        .cloned()
        .ok_or_else(|| missing("API token", id))
}

/// List API tokens: those of the caller, of all accounts for admins
#[utoipa::path(get, path = "/v1/tokens", tag = "system", params(Paging),
    responses((status = 200, description = "Oldest first, expired and revoked ones included")))]
pub async fn api_tokens(
    LoggedIn(caller): LoggedIn,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<ApiTokenView>>, Problem> {
    let tokens = objects::<ApiToken>(&world);
    let all = tokens
        .iter()
        .filter(|(_, versioned)| reaches(&caller, &versioned.object))
        .map(|(id, versioned)| (id.uuid().to_string(), (id, versioned)));
    Ok(Json(paging.of(all, |(id, versioned)| view_of(&world, id, versioned))?))
}

/// Get an API token
#[utoipa::path(get, path = "/v1/tokens/{token_id}", tag = "system",
    params(("token_id" = Uuid, Path, description = "Token id")),
    responses((status = 200, description = "The API token, without its text"),
        (status = 404, description = "No such API token")))]
pub async fn api_token_fetch(
    LoggedIn(caller): LoggedIn,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<Json<ApiTokenView>, Problem> {
    let versioned = reached(&world, &caller, id)?;
    Ok(Json(view_of(&world, ApiTokenId::new(id), &versioned)))
}

/// New API token.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewApiToken {
    /// Name, unique among the tokens of the account.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Scopes: `CATEGORY:read` for GET, `CATEGORY:write` for other methods; the category of an
    /// operation is its tag.
    #[schemars(length(min = 1, max = 64))]
    pub scopes: Vec<String>,
    /// Role, at most that of the caller and of the account; by default the lower of both.
    #[serde(default)]
    pub role: Option<AccountRole>,
    /// Validity, s, up to ten years; absent for a token that does not expire.
    #[serde(default)]
    #[schemars(range(min = 60, max = 315_360_000))]
    pub valid_s: Option<u64>,
    /// Account that it acts for, by default the caller's; only admins name another one.
    #[serde(default)]
    pub user_id: Option<Uuid>,
}

/// Created API token.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatedApiToken {
    /// Token, shown once; send it as `Authorization: Bearer TOKEN`.
    pub token: String,
    /// API token.
    #[serde(flatten)]
    pub view: ApiTokenView,
}

/// Scopes of a new token, in order; each must be one of an operation.
fn checked(named: Vec<String>, allowed: &Scopes) -> Result<Vec<String>, Problem> {
    if named.len() > SCOPES_MAX {
        let message = format!("too many scopes: found {}, allowed 1 to {SCOPES_MAX}", named.len());
        return Err(Problem::field("/scopes", FieldCode::Length, message));
    }
    if let Some(at) = named.iter().position(|scope| !allowed.0.contains(scope)) {
        let message =
            format!("invalid scope: found {:?}, allowed {}", named[at], allowed.0.join(", "));
        let pointer = format!("/scopes/{at}");
        return Err(Problem::field(&pointer, FieldCode::NotAllowed, message));
    }
    let scopes: std::collections::BTreeSet<String> = named.into_iter().collect();
    Ok(scopes.into_iter().collect())
}

/// Account and role of a new token.
fn holder(
    world: &World,
    caller: &Caller,
    new: &NewApiToken,
) -> Result<(AccountId, u64, AccountRole), Problem> {
    let id = new.user_id.map_or(caller.account, AccountId::new);
    if id != caller.account && caller.role < AccountRole::Admin {
        let problem = Problem::new(
            StatusCode::FORBIDDEN,
            "API tokens of other accounts are created by admins",
        );
        return Err(problem.of_kind(ProblemKind::Forbidden));
    }
    let view = world.view();
    let account = view.accounts.by_id.get(&id).ok_or_else(|| missing("account", id))?;
    let maximum = caller.role.min(account.role);
    let role = new.role.unwrap_or(maximum);
    if role > maximum {
        let message =
            format!("invalid role: found {}, allowed at most {}", role.word(), maximum.word());
        return Err(Problem::field("/role", FieldCode::NotAllowed, message));
    }
    Ok((id, account.version, role))
}

/// Create an API token
///
/// It acts for its account, with its role, in its scopes, until it expires or is revoked. API tokens
/// cannot create, list or revoke API tokens, nor change passwords.
#[utoipa::path(post, path = "/v1/tokens", tag = "system",
    responses((status = 201, description = "The token, shown once"),
        (status = 404, description = "No such account"),
        (status = 409, description = "Name exists, too many tokens, or the account of a node")))]
pub async fn api_token_create(
    LoggedIn(caller): LoggedIn,
    State(world): State<World>,
    Extension(scopes): Extension<Arc<Scopes>>,
    StrictJson(new): StrictJson<NewApiToken>,
) -> Result<(StatusCode, Json<CreatedApiToken>), Problem> {
    if new.valid_s.is_some_and(|valid_s| !VALID_S.contains(&valid_s)) {
        let message = format!("invalid validity: allowed {} to {}", VALID_S.start(), VALID_S.end());
        return Err(Problem::field("/valid_s", FieldCode::NotAllowed, message));
    }
    name::check("/name", &new.name)?;
    let (account, account_version, role) = holder(&world, &caller, &new)?;
    let token = mint()?;
    let command = Put {
        id: token.id,
        object: ApiToken {
            name: new.name,
            account,
            account_version,
            role,
            scopes: checked(new.scopes, &scopes)?,
            token_sha256: token.sha256,
            expires_ns: new.valid_s.map(|valid_s| world.wall_ns() + valid_s * 1_000_000_000),
            last_used_ns: None,
        },
        expected: Expected::Absent,
    };
    let versioned = world.submit(command).await?;
    let created =
        CreatedApiToken { token: token.text, view: view_of(&world, token.id, &versioned) };
    Ok((StatusCode::CREATED, Json(created)))
}

/// Revoke an API token; its streams end
#[utoipa::path(delete, path = "/v1/tokens/{token_id}", tag = "system",
    params(("token_id" = Uuid, Path, description = "Token id")),
    responses((status = 204, description = "Revoked"),
        (status = 404, description = "No such API token")))]
pub async fn api_token_revoke(
    LoggedIn(caller): LoggedIn,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    reached(&world, &caller, id)?;
    let command = Remove::<ApiToken> { id: ApiTokenId::new(id), expected: Expected::Present };
    world.submit(command).await?;
    Ok(StatusCode::NO_CONTENT)
}
