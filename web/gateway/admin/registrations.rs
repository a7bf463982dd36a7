//! Who is let in.

use axum::extract::State;
use axum::http::HeaderMap;
use groundwave_systems::onboarding::{
    ApproveRegistration, Mac, Proof, PublicKey, Registration, RegistrationId, RegistrationState,
    RejectRegistration, ResetRegistration, RevokeRegistration,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr};
use uuid::Uuid;

use crate::gateway::access::{Admin, Operator};
use crate::gateway::nodes::inventory::{if_match, planned};
use crate::gateway::services::world::{World, missing};
use crate::http::json_body::OptionalJson;
use crate::http::page::{Page, Paging};
use crate::http::problem::FieldCode;
use crate::http::tag::{Tag, tag};
use crate::http::time::rfc3339;
use crate::http::{Json, Path, Problem, Query};

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
        let decision = held.decision.as_ref();
        Self {
            registration_id: id.uuid(),
            state: held.state,
            mac: held.claims.mac,
            hostname: held.claims.hostname.clone(),
            public_key: held.public_key,
            requested_at: rfc3339(held.requested_ns),
            last_attempt_at: rfc3339(held.asked_ns),
            attempts: held.attempts,
            source_ip: held.claims.source_ip,
            underlay_ip: held.claims.underlay_ip,
            proof: held.claims.proof,
            mac_whitelisted: held.mac_listed,
            mac_verified: held.claims.mac_verified,
            decided_by: decision.map(|decision| decision.by.clone()),
            decided_at: decision.map(|decision| rfc3339(decision.at_ns)),
            reason: decision.and_then(|decision| decision.reason.clone()),
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
pub struct RegistrationQuery {
    /// Only in this state
    #[param(schema_with = crate::http::document::schema_ref::<RegistrationState>, required = false)]
    pub state: Option<RegistrationState>,
}

/// Who asked to be let in
#[utoipa::path(get, path = "/v1/admin/registrations", tag = "admin", params(RegistrationQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn registrations(
    _: Operator,
    State(world): State<World>,
    Query(asked): Query<RegistrationQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<RegistrationView>>, Problem> {
    let view = world.view();
    let all = view.onboarding.registrations.iter();
    let all = all.filter(|(_, held)| asked.state.is_none_or(|state| state == held.state));
    let all = all.map(|(id, held)| (id.uuid().to_string(), (*id, held)));
    Ok(Json(
        paging.of(all, |(id, held)| RegistrationView::of(id, held))?,
    ))
}

fn shown(world: &World, id: Uuid) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let view = world.view();
    let key = RegistrationId::new(id);
    let held = view.onboarding.registrations.get(&key);
    let held = held.ok_or_else(|| missing("registration", id))?;
    Ok((tag(held.revision), Json(RegistrationView::of(key, held))))
}

/// Somebody who asked to be let in
#[utoipa::path(get, path = "/v1/admin/registrations/{registration_id}", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Which registration")),
    responses((status = 200, description = "The registration",
            headers(("etag" = String, description = "Its revision"))),
        (status = 404, description = "No such registration")))]
pub async fn registration_fetch(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    shown(&world, id)
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
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/approve", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Which registration"),
        ("if-match" = Option<String>, Header, description = "The revision that was looked at")),
    responses((status = 200, description = "In from now on",
            headers(("etag" = String, description = "Its revision"))),
        (status = 404, description = "No such registration, or no such planned node"),
        (status = 409, description = "It was rejected, or the address is taken"),
        (status = 412, description = "It changed since"),
        (status = 503, description = "No address is free")))]
pub async fn registration_approve(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    OptionalJson(approval): OptionalJson<Approval>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let command = ApproveRegistration {
        registration: RegistrationId::new(id),
        node: planned(&world, approval.node_id)?,
        name: approval.name,
        role_id: approval.role_id,
        overlay_ip: approval.overlay_ip,
        by: caller.username.clone(),
        revision: if_match(&headers)?,
    };
    world.submit(command).await?;
    shown(&world, id)
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
            let message = "too long: allowed 0 to 256 characters";
            Err(Problem::field("/reason", FieldCode::Length, message))
        }
        _ => Ok(()),
    }
}

/// Turn somebody away
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/reject", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Which registration"),
        ("if-match" = Option<String>, Header, description = "The revision that was looked at")),
    responses((status = 200, description = "Turned away"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "It does not wait"),
        (status = 412, description = "It changed since")))]
pub async fn registration_reject(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    OptionalJson(rejection): OptionalJson<Rejection>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    reason(rejection.reason.as_ref())?;
    let command = RejectRegistration {
        registration: RegistrationId::new(id),
        reason: rejection.reason,
        block: rejection.block,
        by: caller.username.clone(),
        revision: if_match(&headers)?,
    };
    world.submit(command).await?;
    shown(&world, id)
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
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/revoke", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Which registration")),
    responses((status = 200, description = "Out from now on"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "It is not in")))]
pub async fn registration_revoke(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    OptionalJson(revocation): OptionalJson<Revocation>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    reason(revocation.reason.as_ref())?;
    let command = RevokeRegistration {
        registration: RegistrationId::new(id),
        reason: revocation.reason,
        by: caller.username.clone(),
        forget: false,
    };
    world.submit(command).await?;
    shown(&world, id)
}

/// Let somebody who was turned away ask again
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/reset", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Which registration")),
    responses((status = 200, description = "Waiting again"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "It was not turned away, or for good")))]
pub async fn registration_reset(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let command = ResetRegistration {
        registration: RegistrationId::new(id),
        by: caller.username.clone(),
    };
    world.submit(command).await?;
    shown(&world, id)
}
