//! Registration endpoints.

use std::net::{IpAddr, Ipv4Addr};

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::Snapshot;
use groundwave_gateway::onboarding::{
    ApproveRegistration, CodeRefusal, Registration, RegistrationId, RejectRegistration,
    ResetRegistration, RevokeRegistration, SameMac,
};
use groundwave_http::json_body::OptionalJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, name};
use groundwave_protocol::{Mac, Proof, PublicKey, RegistrationState};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Operator};
use crate::nodes::inventory::planned;
use crate::services::world::{World, missing};

/// Registration of a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RegistrationView {
    /// Registration id.
    pub registration_id: Uuid,
    /// State.
    pub state: RegistrationState,
    /// Claimed MAC address.
    pub mac: Mac,
    /// Claimed host name.
    pub hostname: String,
    /// WireGuard public key.
    pub public_key: PublicKey,
    /// Time of the first request, RFC 3339.
    pub requested_at: String,
    /// Time of the last request, RFC 3339.
    pub last_attempt_at: String,
    /// Number of requests.
    pub attempts: u32,
    /// Source address of the last request.
    pub source_ip: IpAddr,
    /// Claimed underlay address.
    pub underlay_ip: IpAddr,
    /// Result of the proof of the trust secret.
    pub proof: Proof,
    /// Result of the proof that the requester holds the private key.
    pub key_proof: Proof,
    /// The MAC address is trusted.
    pub mac_whitelisted: bool,
    /// The kernel has learnt the MAC address for the source address.
    pub mac_verified: bool,
    /// Account of the last decision.
    pub decided_by: Option<String>,
    /// Time of the last decision, RFC 3339.
    pub decided_at: Option<String>,
    /// Reason of the last decision.
    pub reason: Option<String>,
    /// Blocked registrations cannot be reset.
    pub blocked: bool,
    /// Node id, once approved.
    pub node_id: Option<Uuid>,
    /// Overlay address, while approved.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Earlier registration with the same MAC address and another key.
    pub follows: Option<Uuid>,
    /// Registration whose key replaced this one at its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<Uuid>,
    /// Reason for which the code of the last request admitted no node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_refusal: Option<CodeRefusal>,
    /// Other node with this MAC address, which an approval admits it as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_mac_node_id: Option<Uuid>,
    /// Revision; also the `ETag`.
    pub revision: u64,
}

impl RegistrationView {
    fn of(id: RegistrationId, registration: &Registration, owner: Option<NodeId>) -> Self {
        let decision = registration.decision.as_ref();
        Self {
            registration_id: id.uuid(),
            state: registration.state,
            mac: registration.claims.mac,
            hostname: registration.claims.hostname.clone(),
            public_key: registration.public_key,
            requested_at: rfc3339(registration.requested_ns),
            last_attempt_at: rfc3339(registration.asked_ns),
            attempts: registration.attempts,
            source_ip: registration.claims.source_ip,
            underlay_ip: registration.claims.underlay_ip,
            proof: registration.claims.proof,
            key_proof: registration.claims.key_proof.unwrap_or(Proof::Absent),
            mac_whitelisted: registration.mac_listed,
            mac_verified: registration.claims.mac_verified,
            decided_by: decision.map(|decision| decision.by.clone()),
            decided_at: decision.map(|decision| rfc3339(decision.at_ns)),
            reason: decision.and_then(|decision| decision.reason.clone()),
            blocked: registration.blocked,
            node_id: registration.node.map(|node| node.uuid()),
            overlay_ip: registration.overlay_ip,
            follows: registration.follows.map(|id| id.uuid()),
            superseded_by: registration.superseded_by.map(|id| id.uuid()),
            code_refusal: registration.code_refusal,
            same_mac_node_id: owner.map(|node| node.uuid()),
            revision: registration.revision,
        }
    }
}

/// Node of the fleet that has the MAC address of a request under another registration.
fn owner(view: &Snapshot, id: RegistrationId, registration: &Registration) -> Option<NodeId> {
    let undecided = [RegistrationState::Pending, RegistrationState::Expired];
    if !undecided.contains(&registration.state) {
        return None;
    }
    let node = view.fleet.with_mac(registration.claims.mac)?;
    (view.fleet.nodes.get(&node)?.record.registration != Some(id)).then_some(node)
}

/// Node as which a registration was admitted, now or before.
fn own_node(view: &Snapshot, id: RegistrationId) -> Option<NodeId> {
    view.onboarding.registrations.get(&id)?.node
}

/// Filter of registrations.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RegistrationQuery {
    /// State
    #[param(schema_with = groundwave_http::document::schema_ref::<RegistrationState>, required = false)]
    pub state: Option<RegistrationState>,
}

/// List registrations
#[utoipa::path(get, path = "/v1/admin/registrations", tag = "admin", params(RegistrationQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn registrations(
    _: Operator,
    State(world): State<World>,
    Query(query): Query<RegistrationQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<RegistrationView>>, Problem> {
    let view = world.view();
    let all = view
        .onboarding
        .registrations
        .iter()
        .filter(|(_, registration)| query.state.is_none_or(|state| state == registration.state))
        .map(|(id, registration)| (id.uuid().to_string(), (*id, registration)));
    let page = paging.of(all, |(id, registration)| {
        RegistrationView::of(id, registration, owner(&view, id, registration))
    })?;
    Ok(Json(page))
}

fn response(world: &World, id: Uuid) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let view = world.view();
    let key = RegistrationId::new(id);
    let registration =
        view.onboarding.registrations.get(&key).ok_or_else(|| missing("registration", id))?;
    let owner = owner(&view, key, registration);
    Ok((tag(registration.revision), Json(RegistrationView::of(key, registration, owner))))
}

/// Get a registration
#[utoipa::path(get, path = "/v1/admin/registrations/{registration_id}", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Registration id")),
    responses((status = 200, description = "The registration",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such registration")))]
pub async fn registration_fetch(
    _: Operator,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    response(&world, id)
}

/// Approval of a registration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Node name; default host name.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
    /// Role id.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub role_id: Option<String>,
    /// Overlay address; default a free one.
    #[serde(default)]
    pub overlay_ip: Option<Ipv4Addr>,
    /// Planned or known node; default the node with this MAC address, else a new node.
    #[serde(default)]
    pub node_id: Option<Uuid>,
    /// A node of its own, although another node has the MAC address.
    #[serde(default)]
    pub separate: bool,
}

/// Approve a registration
///
/// A request with the MAC address of a node is admitted as that node: its new key replaces the earlier
/// one, whose peer, address and credential are removed.
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/approve", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Registration id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "Approved",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such registration, or no such planned node"),
        (status = 409, description = "Rejected registration, address in use, or MAC address of another node"),
        (status = 412, description = "Changed since that revision"),
        (status = 503, description = "No free address")))]
pub async fn registration_approve(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    OptionalJson(approval): OptionalJson<Approval>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    approval.name.as_deref().map_or(Ok(()), |text| name::check("/name", text))?;
    let registration = RegistrationId::new(id);
    let node = planned(&world, approval.node_id)?;
    if let Some(own) = own_node(&world.view(), registration).filter(|own| *own != node)
        && approval.node_id.is_some()
    {
        let message = format!(
            "the registration is of node {own}: approve it without `node_id`, or delete that node first"
        );
        return Err(Problem::new(StatusCode::CONFLICT, message));
    }
    let command = ApproveRegistration {
        registration,
        node,
        same_mac: match approval.separate {
            true => SameMac::Separate,
            false => SameMac::SameNode,
        },
        name: approval.name,
        role_id: approval.role_id,
        overlay_ip: approval.overlay_ip,
        by: caller.username.clone(),
        revision: if_match_revision(&headers)?,
    };
    world.submit(command).await?;
    response(&world, id)
}

/// Rejection of a registration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// Reason.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub reason: Option<String>,
    /// Blocked registrations cannot be reset.
    #[serde(default)]
    pub block: bool,
}

pub(super) fn reason(reason: Option<&String>) -> Result<(), Problem> {
    match reason {
        Some(reason) if reason.chars().count() > 256 => {
            let message = "too long: allowed 0 to 256 characters";
            Err(Problem::field("/reason", FieldCode::Length, message))
        }
        Some(reason) => name::check_line("/reason", reason),
        None => Ok(()),
    }
}

/// Reject a registration
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/reject", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Registration id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "Rejected"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "Not pending"),
        (status = 412, description = "Changed since that revision")))]
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
        revision: if_match_revision(&headers)?,
    };
    world.submit(command).await?;
    response(&world, id)
}

/// Revocation of a registration.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Revocation {
    /// Reason.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub reason: Option<String>,
}

/// Revoke a registration: remove peer, address and credential
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/revoke", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Registration id")),
    responses((status = 200, description = "Revoked"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "Not approved")))]
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
    response(&world, id)
}

/// Reset a rejected registration to pending
#[utoipa::path(post, path = "/v1/admin/registrations/{registration_id}/reset", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Registration id")),
    responses((status = 200, description = "Pending"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "Not rejected, or blocked")))]
pub async fn registration_reset(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RegistrationView>), Problem> {
    let command =
        ResetRegistration { registration: RegistrationId::new(id), by: caller.username.clone() };
    world.submit(command).await?;
    response(&world, id)
}
