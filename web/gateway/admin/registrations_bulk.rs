//! Registration endpoints for many at once, and deletion.

use std::collections::BTreeSet;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::onboarding::{
    ApproveRegistrations, ForgetRegistrations, RegistrationId, RejectRegistrations,
};
use groundwave_http::json_body::StrictJson;
use groundwave_http::{Json, Path, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::registrations::reason;
use super::selection::{Selected, Selection};
use crate::access::Admin;
use crate::nodes::inventory::planned;
use crate::services::world::{World, missing};

/// Approval of many registrations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkApproval {
    /// Registrations.
    pub select: Selection,
    /// Role id of all of them.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub role_id: Option<String>,
}

/// Registration that was approved.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ApprovedRegistration {
    /// Registration id.
    pub registration_id: Uuid,
    /// Node id.
    pub node_id: Uuid,
}

/// Registration that could not be changed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RefusedRegistration {
    /// Registration id.
    pub registration_id: Uuid,
    /// Reason.
    pub reason: String,
}

impl RefusedRegistration {
    fn unknown(registration_id: Uuid) -> Self {
        let reason = missing("registration", registration_id).detail;
        Self { registration_id, reason }
    }
}

/// Outcome of an approval of many registrations.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BulkApprovalOutcome {
    /// Approved registrations.
    pub approved: Vec<ApprovedRegistration>,
    /// Registrations that could not be approved; they stay as they are. Ids that no registration has.
    pub refused: Vec<RefusedRegistration>,
    /// Selected registrations that are neither pending nor expired.
    pub skipped: Vec<Uuid>,
    /// Number of selected registrations beyond the first 1000: send the request again.
    pub remaining: usize,
}

/// Rejection of many registrations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkRejection {
    /// Registrations.
    pub select: Selection,
    /// Reason.
    #[serde(default)]
    #[schemars(length(max = 256))]
    pub reason: Option<String>,
    /// Blocked registrations cannot be reset.
    #[serde(default)]
    pub block: bool,
}

/// Deletion of many registrations.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkDeletion {
    /// Registrations.
    pub select: Selection,
}

/// Outcome of a change of many registrations.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BulkOutcome {
    /// Changed registrations.
    pub changed: Vec<Uuid>,
    /// Ids that no registration has.
    #[serde(default)]
    pub refused: Vec<RefusedRegistration>,
    /// Selected registrations whose state does not allow the change.
    pub skipped: Vec<Uuid>,
    /// Number of selected registrations beyond the first 1000: send the request again.
    pub remaining: usize,
}

fn outcome(selected: Selected, changed: Vec<RegistrationId>) -> Json<BulkOutcome> {
    let set: BTreeSet<_> = changed.iter().collect();
    let skipped = selected.ids.iter().filter(|id| !set.contains(id));
    Json(BulkOutcome {
        skipped: skipped.map(|id| id.uuid()).collect(),
        changed: changed.iter().map(|id| id.uuid()).collect(),
        refused: selected.unknown.into_iter().map(RefusedRegistration::unknown).collect(),
        remaining: selected.remaining,
    })
}

/// Approve many registrations
///
/// Approves the selected ones that are pending or expired, each as its own approval would: its node is the
/// one with its MAC address, else a new one with its host name and a free overlay address.
#[utoipa::path(post, path = "/v1/admin/registrations/approve", tag = "admin",
    responses((status = 200, description = "Approved, refused and skipped registrations")))]
pub async fn registrations_approve(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(approval): StrictJson<BulkApproval>,
) -> Result<Json<BulkApprovalOutcome>, Problem> {
    let Selected { ids, remaining, unknown } = approval.select.of(&world)?;
    let mut registrations = Vec::with_capacity(ids.len());
    for id in &ids {
        registrations.push((*id, planned(&world, None)?));
    }
    let command = ApproveRegistrations {
        registrations,
        role_id: approval.role_id,
        by: caller.username.clone(),
    };
    let results = world.submit(command).await?;
    let with_result: BTreeSet<_> = results.iter().map(|(id, _)| *id).collect();
    let mut approved = Vec::new();
    let mut refused: Vec<_> = unknown.into_iter().map(RefusedRegistration::unknown).collect();
    for (id, result) in results {
        let registration_id = id.uuid();
        match result {
            Ok(node) => {
                approved.push(ApprovedRegistration { registration_id, node_id: node.uuid() });
            }
            Err(refusal) => {
                let reason = refusal.to_string();
                refused.push(RefusedRegistration { registration_id, reason });
            }
        }
    }
    let skipped = ids.iter().filter(|id| !with_result.contains(id)).map(|id| id.uuid());
    Ok(Json(BulkApprovalOutcome { approved, refused, skipped: skipped.collect(), remaining }))
}

/// Reject many registrations
///
/// Rejects the selected ones that are pending or expired.
#[utoipa::path(post, path = "/v1/admin/registrations/reject", tag = "admin",
    responses((status = 200, description = "Rejected and skipped registrations")))]
pub async fn registrations_reject(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(rejection): StrictJson<BulkRejection>,
) -> Result<Json<BulkOutcome>, Problem> {
    reason(rejection.reason.as_ref())?;
    let selected = rejection.select.of(&world)?;
    let command = RejectRegistrations {
        registrations: selected.ids.clone(),
        reason: rejection.reason,
        block: rejection.block,
        by: caller.username.clone(),
    };
    let changed = world.submit(command).await?;
    Ok(outcome(selected, changed))
}

/// Delete many registrations
///
/// Deletes the selected ones that are neither approved nor of a node; their keys may request again.
#[utoipa::path(post, path = "/v1/admin/registrations/delete", tag = "admin",
    responses((status = 200, description = "Deleted and skipped registrations")))]
pub async fn registrations_delete(
    _: Admin,
    State(world): State<World>,
    StrictJson(deletion): StrictJson<BulkDeletion>,
) -> Result<Json<BulkOutcome>, Problem> {
    let selected = deletion.select.of(&world)?;
    let registrations = selected.ids.clone();
    let changed = world.submit(ForgetRegistrations { registrations }).await?;
    Ok(outcome(selected, changed))
}

/// Delete a registration; its key may request again
#[utoipa::path(delete, path = "/v1/admin/registrations/{registration_id}", tag = "admin",
    params(("registration_id" = Uuid, Path, description = "Registration id")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such registration"),
        (status = 409, description = "Approved, or of a node")))]
pub async fn registration_delete(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<StatusCode, Problem> {
    let id = RegistrationId::new(id);
    if !world.view().onboarding.registrations.contains_key(&id) {
        return Err(missing("registration", id.uuid()));
    }
    let registrations = vec![id];
    let deleted = world.submit(ForgetRegistrations { registrations }).await?;
    match deleted.is_empty() {
        false => Ok(StatusCode::NO_CONTENT),
        true => Err(Problem::new(
            StatusCode::CONFLICT,
            "the registration is approved or of a node: revoke it or delete the node",
        )),
    }
}
