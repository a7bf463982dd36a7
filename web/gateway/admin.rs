//! Admins: who is let in, who logs in, who did what.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_io::gateway::{AuditEntry, AuditQuery};
use groundwave_systems::account::{
    Account, AccountId, AccountRole, CreateAccount, RemoveAccount, RevokeTokens, UpdateAccount,
};
use groundwave_systems::onboarding::{
    Approve, Mac, Proof, PublicKey, Registration, RegistrationId, RegistrationState, Reject,
    ResetRegistration, Revoke,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};
use uuid::Uuid;

use super::Gateway;
use super::body::{Perhaps, Taken};
use super::guard::Who;
use super::nodes::{Tag, if_match, planned, tag};
use super::page::{Page, Paging};
use super::passwords::check_new;
use super::state::missing;
use crate::http::time::rfc3339;
use crate::http::{Ask, At, Json, Problem, id};

/// Somebody who asked to be let in.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegistrationView {
    /// Its id.
    pub registration_id: Uuid,
    /// Where it stands.
    pub state: RegistrationState,
    /// Hardware address it claims.
    pub mac: Mac,
    /// Name it claims.
    pub hostname: String,
    /// Its key.
    pub public_key: PublicKey,
    /// When it first asked, RFC 3339.
    pub requested_at: String,
    /// When it last asked, RFC 3339.
    pub last_attempt_at: String,
    /// How often it asked.
    pub attempts: u32,
    /// Where it asks from.
    pub source_ip: IpAddr,
    /// Underlay address it claims.
    pub underlay_ip: IpAddr,
    /// What became of its proof of the trust secret.
    pub proof: Proof,
    /// Whether its hardware address is on the list.
    pub mac_whitelisted: bool,
    /// Whether the kernel learnt that hardware address for where it asks from.
    pub mac_verified: bool,
    /// Who decided last.
    pub decided_by: Option<String>,
    /// When, RFC 3339.
    pub decided_at: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Whether it may never be reset.
    pub blocked: bool,
    /// The node it is, once approved.
    pub node_id: Option<Uuid>,
    /// Its overlay address, while approved.
    pub overlay_ip: Option<Ipv4Addr>,
    /// An earlier registration with the same hardware address and another key.
    pub follows: Option<Uuid>,
    /// Counts changes; also its `ETag`.
    pub revision: u64,
}

impl RegistrationView {
    fn of(id: RegistrationId, held: &Registration) -> Self {
        let settled = held.settled.as_ref();
        Self {
            registration_id: id.uuid(),
            state: held.state,
            mac: held.shown.mac,
            hostname: held.shown.hostname.clone(),
            public_key: held.public_key,
            requested_at: rfc3339(held.requested_ns),
            last_attempt_at: rfc3339(held.asked_ns),
            attempts: held.attempts,
            source_ip: held.shown.source_ip,
            underlay_ip: held.shown.underlay_ip,
            proof: held.shown.proof,
            mac_whitelisted: held.mac_listed,
            mac_verified: held.shown.mac_verified,
            decided_by: settled.map(|settled| settled.by.clone()),
            decided_at: settled.map(|settled| rfc3339(settled.at_ns)),
            reason: settled.and_then(|settled| settled.reason.clone()),
            blocked: held.blocked,
            node_id: held.node.map(|node| node.uuid()),
            overlay_ip: held.overlay_ip,
            follows: held.follows.map(|id| id.uuid()),
            revision: held.revision,
        }
    }
}

/// Which registrations are wanted.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RegistrationQuestion {
    /// Only in this state
    #[param(schema_with = super::wire::registration_state, required = false)]
    pub state: Option<RegistrationState>,
    /// How many, 1 to 1000; 100 if absent
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before
    pub cursor: Option<String>,
}

/// Who asked to be let in
#[utoipa::path(get, path = "/v1/admin/registrations", tag = "admin", operation_id = "registrations", params(RegistrationQuestion),
    responses((status = 200, description = "Oldest first", body = ref("#/components/schemas/Page_for_RegistrationView"), content_type = "application/json")))]
pub async fn registrations(
    State(gateway): State<Gateway>,
    Ask(asked): Ask<RegistrationQuestion>,
) -> Result<Json<Page<RegistrationView>>, Problem> {
    let view = gateway.world.view();
    let all = view.onboarding.registrations.iter();
    let all = all.filter(|(_, held)| asked.state.is_none_or(|state| state == held.state));
    let all = all.map(|(id, held)| (id.uuid().to_string(), (*id, held)));
    let paging = Paging {
        limit: asked.limit,
        cursor: asked.cursor,
    };
    Ok(Json(
        paging.of(all, |(id, held)| RegistrationView::of(id, held))?,
    ))
}

fn shown(gateway: &Gateway, id: Uuid) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let view = gateway.world.view();
    let key = RegistrationId::new(id);
    let held = view.onboarding.registrations.get(&key);
    let held = held.ok_or_else(|| missing("registration", id))?;
    Ok((tag(held.revision), Json(RegistrationView::of(key, held))))
}

/// Somebody who asked to be let in
#[utoipa::path(get, path = "/v1/admin/registrations/{registration_id}", tag = "admin", operation_id = "registration_fetch",
    params(("registration_id" = Uuid, Path, description = "Which registration")),
    responses((status = 200, description = "The registration", body = RegistrationView,
            headers(("etag" = String, description = "Its revision"))),
        (status = 404, description = "No such registration", body = Problem, content_type = "application/problem+json")))]
pub async fn registration(
    State(gateway): State<Gateway>,
    At(id): At<Uuid>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    shown(&gateway, id)
}

/// As what somebody is let in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What people call it; its hostname if absent.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
    /// What it is for.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub role_id: Option<String>,
    /// Its overlay address; a free one if absent.
    #[serde(default)]
    pub overlay_ip: Option<Ipv4Addr>,
    /// The planned node it is; absent, it is a new one.
    #[serde(default)]
    pub node_id: Option<Uuid>,
}

/// Let somebody in
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/approve", tag = "admin", operation_id = "registration_approve", request_body = Option<Approval>,
    params(("registration_id" = Uuid, Path, description = "Which registration"),
        ("if-match" = Option<String>, Header, description = "The revision that was looked at")),
    responses((status = 200, description = "In from now on", body = RegistrationView,
            headers(("etag" = String, description = "Its revision"))),
        (status = 404, description = "No such registration, or no such planned node", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It was rejected, or the address is taken", body = Problem, content_type = "application/problem+json"),
        (status = 412, description = "It changed since", body = Problem, content_type = "application/problem+json"),
        (status = 503, description = "No address is free", body = Problem, content_type = "application/problem+json")))]
pub async fn approve(
    State(gateway): State<Gateway>,
    Who(caller): Who,
    At(id): At<Uuid>,
    headers: HeaderMap,
    Perhaps(approval): Perhaps<Approval>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let command = Approve {
        registration: RegistrationId::new(id),
        node: planned(&gateway, approval.node_id)?,
        name: approval.name,
        role_id: approval.role_id,
        overlay_ip: approval.overlay_ip,
        by: caller.username.clone(),
        revision: if_match(&headers)?,
    };
    gateway.submit(command).await?;
    shown(&gateway, id)
}

/// Why somebody is not let in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// In words.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub reason: Option<String>,
    /// Whether it may never be reset.
    #[serde(default)]
    pub block: bool,
}

fn reason(reason: Option<&String>) -> Result<(), Problem> {
    match reason {
        Some(reason) if reason.chars().count() > 256 => {
            let message = "up to 256 characters are allowed";
            Err(Problem::field("/reason", "length", message))
        }
        _ => Ok(()),
    }
}

/// Turn somebody away
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/reject", tag = "admin", operation_id = "registration_reject", request_body = Option<Rejection>,
    params(("registration_id" = Uuid, Path, description = "Which registration"),
        ("if-match" = Option<String>, Header, description = "The revision that was looked at")),
    responses((status = 200, description = "Turned away", body = RegistrationView),
        (status = 404, description = "No such registration", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It does not wait", body = Problem, content_type = "application/problem+json"),
        (status = 412, description = "It changed since", body = Problem, content_type = "application/problem+json")))]
pub async fn reject(
    State(gateway): State<Gateway>,
    Who(caller): Who,
    At(id): At<Uuid>,
    headers: HeaderMap,
    Perhaps(rejection): Perhaps<Rejection>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    reason(rejection.reason.as_ref())?;
    let command = Reject {
        registration: RegistrationId::new(id),
        reason: rejection.reason,
        block: rejection.block,
        by: caller.username.clone(),
        revision: if_match(&headers)?,
    };
    gateway.submit(command).await?;
    shown(&gateway, id)
}

/// Why somebody is put out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// In words.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub reason: Option<String>,
}

/// Put somebody out: no peer, no address, no credential
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/revoke", tag = "admin", operation_id = "registration_revoke", request_body = Option<Revocation>,
    params(("registration_id" = Uuid, Path, description = "Which registration")),
    responses((status = 200, description = "Out from now on", body = RegistrationView),
        (status = 404, description = "No such registration", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is not in", body = Problem, content_type = "application/problem+json")))]
pub async fn revoke(
    State(gateway): State<Gateway>,
    Who(caller): Who,
    At(id): At<Uuid>,
    Perhaps(revocation): Perhaps<Revocation>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    reason(revocation.reason.as_ref())?;
    let command = Revoke {
        registration: RegistrationId::new(id),
        reason: revocation.reason,
        by: caller.username.clone(),
        forget: false,
    };
    gateway.submit(command).await?;
    shown(&gateway, id)
}

/// Let somebody who was turned away ask again
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/reset", tag = "admin", operation_id = "registration_reset",
    params(("registration_id" = Uuid, Path, description = "Which registration")),
    responses((status = 200, description = "Waiting again", body = RegistrationView),
        (status = 404, description = "No such registration", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It was not turned away, or for good", body = Problem, content_type = "application/problem+json")))]
pub async fn reset(
    State(gateway): State<Gateway>,
    Who(caller): Who,
    At(id): At<Uuid>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let command = ResetRegistration {
        registration: RegistrationId::new(id),
        by: caller.username.clone(),
    };
    gateway.submit(command).await?;
    shown(&gateway, id)
}

/// An account. What it proves itself with is never shown.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct User {
    /// Its id.
    pub user_id: Uuid,
    /// The name it logs in with.
    pub username: String,
    /// What it may do.
    pub role: AccountRole,
    /// The node whose credential it is.
    pub node_id: Option<Uuid>,
    /// Whether it is shut out.
    pub disabled: bool,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it last logged in, RFC 3339.
    pub last_login_at: Option<String>,
    /// Whether it may only change its password.
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

fn user(gateway: &Gateway, id: Uuid) -> Result<User, Problem> {
    let view = gateway.world.view();
    let account = view.accounts.by_id.get(&AccountId::new(id));
    let account = account.ok_or_else(|| missing("account", id))?;
    Ok(User::of(AccountId::new(id), account))
}

/// Who logs in
#[utoipa::path(get, path = "/v1/admin/users", tag = "admin", operation_id = "users", params(Paging),
    responses((status = 200, description = "Oldest first, nodes included", body = ref("#/components/schemas/Page_for_User"), content_type = "application/json")))]
pub async fn users(
    State(gateway): State<Gateway>,
    Ask(paging): Ask<Paging>,
) -> Result<Json<Page<User>>, Problem> {
    let view = gateway.world.view();
    let all = view.accounts.by_id.iter();
    let all = all.map(|(id, account)| (id.uuid().to_string(), (*id, account)));
    Ok(Json(paging.of(all, |(id, account)| User::of(id, account))?))
}

/// An account to make.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewUser {
    /// The name to log in with: a-z A-Z 0-9 . _ @ -
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._@-]+$"))]
    pub username: String,
    /// Its first password; it must be changed at the first login.
    #[schemars(length(min = 12, max = 1024))]
    pub password: String,
    /// What it may do.
    pub role: AccountRole,
}

/// Make an account
#[utoipa::path(post, path = "/v1/admin/users", tag = "admin", operation_id = "user_create", request_body = NewUser,
    responses((status = 201, description = "The account", body = User),
        (status = 409, description = "The name is taken", body = Problem, content_type = "application/problem+json")))]
pub async fn user_create(
    State(gateway): State<Gateway>,
    Taken(new): Taken<NewUser>,
) -> Result<(StatusCode, Json<User>), Problem> {
    check_new("/password", &new.password, &new.username)?;
    let account = AccountId::new(id::mint());
    let command = CreateAccount {
        account,
        username: new.username,
        role: new.role,
        secret: gateway.passwords.hash(new.password).await?,
        must_change_password: true,
    };
    gateway.submit(command).await?;
    let made = user(&gateway, account.uuid())?;
    Ok((StatusCode::CREATED, Json(made)))
}

/// What to change of an account; what is left out stays.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserChange {
    /// What it may do.
    #[serde(default)]
    pub role: Option<AccountRole>,
    /// Whether it is shut out.
    #[serde(default)]
    pub disabled: Option<bool>,
    /// Another password, to be changed at the next login.
    #[serde(default)]
    #[schemars(length(min = 12, max = 1024))]
    pub password: Option<String>,
}

/// Change an account; its tokens die
#[utoipa::path(patch, path = "/v1/admin/users/{user_id}", tag = "admin", operation_id = "user_patch", request_body = UserChange,
    params(("user_id" = Uuid, Path, description = "Which account")),
    responses((status = 200, description = "The account as it is now", body = User),
        (status = 404, description = "No such account", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is the last admin", body = Problem, content_type = "application/problem+json")))]
pub async fn user_patch(
    State(gateway): State<Gateway>,
    At(id): At<Uuid>,
    Taken(change): Taken<UserChange>,
) -> Result<Json<User>, Problem> {
    let before = user(&gateway, id)?;
    let secret = match change.password {
        Some(password) => {
            check_new("/password", &password, &before.username)?;
            Some(gateway.passwords.hash(password).await?)
        }
        None => None,
    };
    let command = UpdateAccount {
        account: AccountId::new(id),
        role: change.role,
        disabled: change.disabled,
        secret,
    };
    gateway.submit(command).await?;
    Ok(Json(user(&gateway, id)?))
}

/// Take an account away
#[utoipa::path(delete, path = "/v1/admin/users/{user_id}", tag = "admin", operation_id = "user_delete",
    params(("user_id" = Uuid, Path, description = "Which account")),
    responses((status = 204, description = "Gone"),
        (status = 404, description = "No such account", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It is the last admin", body = Problem, content_type = "application/problem+json")))]
pub async fn user_delete(
    State(gateway): State<Gateway>,
    At(id): At<Uuid>,
) -> Result<StatusCode, Problem> {
    let account = AccountId::new(id);
    gateway.submit(RemoveAccount { account }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Kill all tokens of an account
#[utoipa::path(post, path = "/v1/admin/users/{user_id}/revoke-tokens", tag = "admin", operation_id = "user_revoke_tokens",
    params(("user_id" = Uuid, Path, description = "Which account")),
    responses((status = 204, description = "Dead"),
        (status = 404, description = "No such account", body = Problem, content_type = "application/problem+json")))]
pub async fn user_revoke_tokens(
    State(gateway): State<Gateway>,
    At(id): At<Uuid>,
) -> Result<StatusCode, Problem> {
    let account = AccountId::new(id);
    gateway.submit(RevokeTokens { account }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Which deeds are wanted.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuestion {
    /// Only of this account
    pub actor: Option<String>,
    /// Only this operation
    pub action: Option<String>,
    /// Not before, RFC 3339
    pub from: Option<String>,
    /// Not after, RFC 3339
    pub to: Option<String>,
    /// How many, 1 to 1000; 100 if absent
    #[param(minimum = 1, maximum = 1000)]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before
    pub cursor: Option<String>,
}

/// Something somebody did.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct DeedView {
    /// Its number, from 1.
    pub number: u64,
    /// When, RFC 3339.
    pub ts: String,
    /// Who.
    pub actor: String,
    /// `user`, `node` or `none`.
    pub kind: String,
    /// Which operation.
    pub action: String,
    /// To what.
    pub target: String,
    /// The status it got.
    pub outcome: u16,
    /// Where it came from.
    pub source_ip: String,
    /// Which request it was.
    pub request_id: String,
    /// SHA-256 of the line before it.
    pub follows: String,
}

impl From<AuditEntry> for DeedView {
    fn from(entry: AuditEntry) -> Self {
        let deed = entry.deed;
        Self {
            number: entry.number,
            ts: rfc3339(deed.at_ns),
            actor: deed.actor,
            kind: deed.kind,
            action: deed.action,
            target: deed.target,
            outcome: deed.outcome,
            source_ip: deed.source_ip,
            request_id: deed.request_id,
            follows: entry.follows,
        }
    }
}

/// Who did what
#[utoipa::path(get, path = "/v1/admin/audit", tag = "admin", operation_id = "audit", params(AuditQuestion),
    responses((status = 200, description = "Latest first", body = ref("#/components/schemas/Page_for_DeedView"), content_type = "application/json")))]
pub async fn audit(
    State(gateway): State<Gateway>,
    Ask(asked): Ask<AuditQuestion>,
) -> Result<Json<Page<DeedView>>, Problem> {
    let time = |key: &str, text: Option<&String>, absent: u64| -> Result<u64, Problem> {
        let Some(text) = text else { return Ok(absent) };
        let time: Result<jiff::Timestamp, _> = text.parse();
        let message = "write the time as RFC 3339 does";
        let time = time.map_err(|_| Problem::field(key, "format", message))?;
        Ok(u64::try_from(time.as_nanosecond()).unwrap_or(0))
    };
    let cursor = asked.cursor.as_deref().map(str::parse::<u64>);
    let cursor = cursor.transpose().map_err(|_| {
        Problem::field("/cursor", "format", "send `next_cursor` of the page before")
    })?;
    let paging = Paging {
        limit: asked.limit,
        cursor: None,
    };
    let size = paging.size()?;
    let query = AuditQuery {
        actor: asked.actor,
        action: asked.action,
        from_ns: time("/from", asked.from.as_ref(), 0)?,
        to_ns: time("/to", asked.to.as_ref(), u64::MAX)?,
        before: cursor.unwrap_or(u64::MAX),
        limit: size + 1,
    };
    let reader = gateway.clone();
    let found = gateway.block(move || {
        let found = reader.audit.find(&query);
        found.map_err(|err| Problem::internal(err.to_string()))
    });
    let mut found = found.await?;
    let more = found.len() > size;
    found.truncate(size);
    let last = found.last().map(|entry| entry.number.to_string());
    Ok(Json(Page {
        items: found.into_iter().map(DeedView::from).collect(),
        next_cursor: last.filter(|_| more),
        total: usize::try_from(gateway.audit.len()).unwrap_or(usize::MAX),
    }))
}
