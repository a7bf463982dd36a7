//! Login and logout.

use std::sync::Arc;

use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use groundwave_gateway::account::{
    Account, AccountId, AccountRole, Accounts, ChangePassword, RecordLogin, RevokeToken,
    RevokedTokenId,
};
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem, id};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Anonymous, ClientAddress, Credential, LoginNote, Session, UserSession};
use crate::services::limits::RateLimits;
use crate::services::passwords::Passwords;
use crate::services::passwords::check_new;
use crate::services::tokens::TOKEN_S;
use crate::services::tokens::TokenKeys;
use crate::services::world::World;
use crate::state::Gateway;

/// Credentials of a login.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// Username; nodes may send their node id.
    #[schemars(length(min = 1, max = 64))]
    pub username: String,
    /// Password.
    #[schemars(length(min = 1, max = 1024))]
    pub password: String,
}

/// Access token.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Token {
    /// JWT.
    pub access_token: String,
    /// Always `bearer`.
    pub token_type: String,
    /// Lifetime, s.
    pub expires_in: u64,
    /// Role.
    pub role: AccountRole,
}

/// Account of the caller.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Me {
    /// Account id.
    pub sub: Uuid,
    /// Username.
    pub username: String,
    /// Role of the token.
    pub role: AccountRole,
    /// `user` or `node`.
    pub kind: String,
    /// Node id, for nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<Uuid>,
    /// Expiry of the token, RFC 3339; absent for API tokens that do not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exp: Option<String>,
    /// The password must be changed before anything else.
    pub must_change_password: bool,
    /// Name of the API token of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_name: Option<String>,
    /// Scopes of the API token of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

/// Password change.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPassword {
    /// Present password.
    #[schemars(length(min = 1, max = 1024))]
    pub current_password: String,
    /// New password.
    #[schemars(length(min = 12, max = 1024))]
    pub new_password: String,
}

/// Services of a login.
#[derive(Clone)]
pub struct Authenticator {
    world: World,
    passwords: Arc<Passwords>,
    tokens: Arc<TokenKeys>,
    limits: Arc<RateLimits>,
}

impl FromRef<Gateway> for Authenticator {
    fn from_ref(gateway: &Gateway) -> Self {
        Self {
            world: gateway.world.clone(),
            passwords: Arc::clone(&gateway.passwords),
            tokens: Arc::clone(&gateway.tokens),
            limits: Arc::clone(&gateway.limits),
        }
    }
}

/// Account with this username, in any case; that of a node also by its node id, which no other has.
fn account_of<'a>(accounts: &'a Accounts, username: &str) -> Option<(AccountId, &'a Arc<Account>)> {
    let node = username.parse().ok().map(NodeId::new);
    let by_node = node.and_then(|node| accounts.of_node(node));
    by_node.or_else(|| accounts.named_in_any_case(username))
}

/// Logs in with `wanted`, or with the role of the account.
async fn authenticate(
    services: Authenticator,
    client: ClientAddress,
    login: Login,
    requested_role: Option<AccountRole>,
) -> Result<Json<Token>, Problem> {
    let Authenticator { world, passwords, tokens, limits } = services;
    for (pointer, text, maximum) in
        [("/username", &login.username, 64), ("/password", &login.password, 1024)]
    {
        if !(1..=maximum).contains(&text.chars().count()) {
            let message = format!("invalid length: allowed 1 to {maximum} characters");
            return Err(Problem::field(pointer, FieldCode::Length, message));
        }
    }
    let now_s = world.now_s();
    let username = login.username.to_ascii_lowercase();
    let attempt = limits.logins.begin(&username, client.0, now_s)?;
    let view = world.view();
    let candidate =
        account_of(&view.accounts, &login.username).filter(|(_, account)| !account.disabled);
    let secret = candidate.map(|(_, account)| account.secret.clone());
    let fits = match passwords.check(secret.as_ref(), login.password).await {
        Ok(fits) => fits,
        Err(problem) => {
            attempt.not_checked();
            return Err(problem);
        }
    };
    let Some((account_id, account)) = candidate.filter(|_| fits) else {
        return Err(Problem::new(StatusCode::UNAUTHORIZED, "wrong username or password"));
    };
    attempt.succeeded();
    let role = requested_role.unwrap_or(account.role);
    if account.role < role {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            format!("insufficient role of the account: required {}", role.word()),
        ));
    }
    let note = RecordLogin { account: account_id };
    world.submit(note).await?;
    let token = tokens.issue(account_id, account, role, id::mint(), now_s);
    let (access_token, claims) = token.map_err(Problem::internal)?;
    Ok(Json(Token {
        access_token,
        token_type: "bearer".to_owned(),
        expires_in: TOKEN_S,
        role: claims.role,
    }))
}

/// Log in with the role of the account
#[utoipa::path(post, path = "/api/auth/login", tag = "system",
    responses((status = 200, description = "Access token"),
        (status = 401, description = "Wrong username or password"),
        (status = 429, description = "Too many failed logins")))]
pub async fn login(
    _: Anonymous,
    State(services): State<Authenticator>,
    client: ClientAddress,
    note: LoginNote,
    StrictJson(login): StrictJson<Login>,
) -> Result<Json<Token>, Problem> {
    note.tried(&login.username);
    authenticate(services, client, login, None).await
}

/// Log in with the role viewer
#[utoipa::path(post, path = "/api/auth/login/viewer", tag = "system",
    responses((status = 200, description = "Access token with the role viewer"),
        (status = 401, description = "Wrong username or password"),
        (status = 429, description = "Too many failed logins")))]
pub async fn login_viewer(
    _: Anonymous,
    State(services): State<Authenticator>,
    client: ClientAddress,
    note: LoginNote,
    StrictJson(login): StrictJson<Login>,
) -> Result<Json<Token>, Problem> {
    note.tried(&login.username);
    authenticate(services, client, login, Some(AccountRole::Viewer)).await
}

/// Log in with the role operator
#[utoipa::path(post, path = "/api/auth/login/operator", tag = "system",
    responses((status = 200, description = "Access token with the role operator"),
        (status = 401, description = "Wrong username or password"),
        (status = 403, description = "Insufficient role of the account"),
        (status = 429, description = "Too many failed logins")))]
pub async fn login_operator(
    _: Anonymous,
    State(services): State<Authenticator>,
    client: ClientAddress,
    note: LoginNote,
    StrictJson(login): StrictJson<Login>,
) -> Result<Json<Token>, Problem> {
    note.tried(&login.username);
    authenticate(services, client, login, Some(AccountRole::Operator)).await
}

/// Log in with the role admin
#[utoipa::path(post, path = "/api/auth/login/admin", tag = "system",
    responses((status = 200, description = "Access token with the role admin"),
        (status = 401, description = "Wrong username or password"),
        (status = 403, description = "Insufficient role of the account"),
        (status = 429, description = "Too many failed logins")))]
pub async fn login_admin(
    _: Anonymous,
    State(services): State<Authenticator>,
    client: ClientAddress,
    note: LoginNote,
    StrictJson(login): StrictJson<Login>,
) -> Result<Json<Token>, Problem> {
    note.tried(&login.username);
    authenticate(services, client, login, Some(AccountRole::Admin)).await
}

/// Log out: revoke the token of the request
#[utoipa::path(post, path = "/api/auth/logout", tag = "system",
    responses((status = 204, description = "Logged out"),
        (status = 403, description = "API token")))]
pub async fn logout(
    Session(caller): Session,
    State(world): State<World>,
) -> Result<StatusCode, Problem> {
    match &caller.credential {
        Credential::Login(claims) => {
            let deny = RevokeToken {
                token: RevokedTokenId::new(claims.jti),
                until_ns: claims.exp.saturating_mul(1_000_000_000),
            };
            world.submit(deny).await?;
        }
        // A program that logs out at its end would end the token of all later runs.
        Credential::ApiToken(id, _) => {
            let what = format!("an API token is removed by DELETE /v1/tokens/{}", id.uuid());
            let problem = Problem::new(StatusCode::FORBIDDEN, what);
            return Err(problem.of_kind(ProblemKind::Forbidden));
        }
    }
    Ok(StatusCode::NO_CONTENT)
}

/// Get the caller's account
#[utoipa::path(get, path = "/api/auth/me", tag = "system",
    responses((status = 200, description = "Account of the caller")))]
pub async fn me(Session(caller): Session) -> Json<Me> {
    let scopes = match &caller.credential {
        Credential::Login(_) => None,
        Credential::ApiToken(_, token) => Some(token.object.scopes.clone()),
    };
    Json(Me {
        sub: caller.account.uuid(),
        username: caller.username.clone(),
        role: caller.role,
        kind: caller.kind().to_owned(),
        node_id: caller.node.map(|node| node.uuid()),
        exp: caller.credential.expires_ns().map(rfc3339),
        must_change_password: caller.must_change_password,
        token_name: caller.api_token().map(str::to_owned),
        scopes,
    })
}

/// Change the caller's password and revoke all tokens of the account
#[utoipa::path(post, path = "/api/auth/password", tag = "system",
    responses((status = 204, description = "Password changed")))]
pub async fn change_password(
    UserSession(caller): UserSession,
    State(world): State<World>,
    State(passwords): State<Arc<Passwords>>,
    State(limits): State<Arc<RateLimits>>,
    client: ClientAddress,
    StrictJson(new): StrictJson<NewPassword>,
) -> Result<StatusCode, Problem> {
    let now_s = world.now_s();
    check_new("/new_password", &new.new_password, &caller.username)?;
    if new.new_password == new.current_password {
        let message = "unchanged password";
        return Err(Problem::field("/new_password", FieldCode::Password, message));
    }
    let attempt = limits.logins.begin(&caller.username, client.0, now_s)?;
    let view = world.view();
    let secret = view.accounts.by_id.get(&caller.account).map(|account| account.secret.clone());
    let fits = match passwords.check(secret.as_ref(), new.current_password).await {
        Ok(fits) => fits,
        Err(problem) => {
            attempt.not_checked();
            return Err(problem);
        }
    };
    if !fits {
        return Err(Problem::new(StatusCode::FORBIDDEN, "wrong current password"));
    }
    attempt.succeeded();
    let secret = passwords.hash(new.new_password).await?;
    let change = ChangePassword { account: caller.account, secret };
    world.submit(change).await?;
    Ok(StatusCode::NO_CONTENT)
}
