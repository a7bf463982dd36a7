//! Registration endpoints for many at once, and deletion.

use std::collections::BTreeSet;
use std::net::IpAddr;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::onboarding::{
    ForgetRegistrations, Registration, RegistrationId, RejectRegistrations, SELECTION_MAX,
};
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem};
use groundwave_protocol::{Proof, RegistrationState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::registrations::reason;
use crate::access::Admin;
use crate::services::world::{World, missing};

/// Selection of registrations: those that fit all given criteria, at least one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Registration ids, up to 1000.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub registration_ids: Option<Vec<Uuid>>,
    /// State.
    #[serde(default)]
    pub state: Option<RegistrationState>,
    /// Source of the last request: address or CIDR.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub source: Option<String>,
    /// Result of the proof of possession.
    #[serde(default)]
    pub key_proof: Option<Proof>,
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
    /// Selected registrations whose state does not allow the change.
    pub skipped: Vec<Uuid>,
    /// Number of selected registrations beyond the first 1000: send the request again.
    pub remaining: usize,
}

/// Network of addresses.
struct Network {
    ip: IpAddr,
    prefix_len: u32,
}

fn bits(ip: IpAddr) -> (u128, u32) {
    match ip.to_canonical() {
        IpAddr::V4(ip) => (u128::from(ip.to_bits()), 32),
        IpAddr::V6(ip) => (ip.to_bits(), 128),
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (ip, prefix_len) = match text.split_once('/') {
            Some((ip, prefix_len)) => (ip, Some(prefix_len.parse().ok()?)),
            None => (text, None),
        };
        let ip: IpAddr = ip.parse().ok()?;
        let (_, width) = bits(ip);
        let prefix_len = prefix_len.unwrap_or(width);
        (prefix_len <= width).then_some(Self { ip, prefix_len })
    }

    fn holds(&self, ip: IpAddr) -> bool {
        let ((own, width), (other, other_width)) = (bits(self.ip), bits(ip));
        let shift = width - self.prefix_len;
        let head = |bits: u128| bits.checked_shr(shift).unwrap_or(0);
        width == other_width && head(own) == head(other)
    }
}

impl Selection {
    /// Selected registrations, the first 1000, and the number of others.
    fn of(self, world: &World) -> Result<(Vec<RegistrationId>, usize), Problem> {
        let Self { registration_ids, state, source, key_proof } = self;
        let is_empty = registration_ids.is_none()
            && state.is_none()
            && source.is_none()
            && key_proof.is_none();
        if is_empty {
            let message = "no criterion: allowed registration_ids, state, source, key_proof";
            return Err(Problem::field("/select", FieldCode::Missing, message));
        }
        let ids: Option<BTreeSet<_>> =
            registration_ids.map(|ids| ids.into_iter().map(RegistrationId::new).collect());
        if ids.as_ref().is_some_and(|ids| ids.len() > SELECTION_MAX) {
            let message = format!("too many: allowed 0 to {SELECTION_MAX}");
            let pointer = "/select/registration_ids";
            return Err(Problem::field(pointer, FieldCode::Length, message));
        }
        let network = source
            .map(|source| {
                Network::parse(&source).ok_or_else(|| {
                    let message = "invalid source: allowed an IP address or CIDR";
                    Problem::field("/select/source", FieldCode::Format, message)
                })
            })
            .transpose()?;
        let fits = |id: &RegistrationId, registration: &Registration| {
            let proof = registration.claims.key_proof.unwrap_or(Proof::Absent);
            ids.as_ref().is_none_or(|ids| ids.contains(id))
                && state.is_none_or(|state| state == registration.state)
                && key_proof.is_none_or(|key_proof| key_proof == proof)
                && network
                    .as_ref()
                    .is_none_or(|network| network.holds(registration.claims.source_ip))
        };
        let view = world.view();
        let mut selected: Vec<RegistrationId> = view
            .onboarding
            .registrations
            .iter()
            .filter(|(id, registration)| fits(id, registration))
            .map(|(id, _)| *id)
            .collect();
        let remaining = selected.len().saturating_sub(SELECTION_MAX);
        selected.truncate(SELECTION_MAX);
        Ok((selected, remaining))
    }
}

fn outcome(
    selected: &[RegistrationId],
    changed: Vec<RegistrationId>,
    remaining: usize,
) -> Json<BulkOutcome> {
    let set: BTreeSet<_> = changed.iter().collect();
    let skipped = selected.iter().filter(|id| !set.contains(id));
    Json(BulkOutcome {
        skipped: skipped.map(|id| id.uuid()).collect(),
        changed: changed.iter().map(|id| id.uuid()).collect(),
        remaining,
    })
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
    let (selected, remaining) = rejection.select.of(&world)?;
    let command = RejectRegistrations {
        registrations: selected.clone(),
        reason: rejection.reason,
        block: rejection.block,
        by: caller.username.clone(),
    };
    let changed = world.submit(command).await?;
    Ok(outcome(&selected, changed, remaining))
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
    let (selected, remaining) = deletion.select.of(&world)?;
    let registrations = selected.clone();
    let changed = world.submit(ForgetRegistrations { registrations }).await?;
    Ok(outcome(&selected, changed, remaining))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses() {
        let network = Network::parse("10.41.0.0/24").unwrap();
        assert!(network.holds("10.41.0.9".parse().unwrap()));
        assert!(network.holds("::ffff:10.41.0.9".parse().unwrap()));
        assert!(!network.holds("10.41.1.9".parse().unwrap()));
        assert!(!network.holds("::1".parse().unwrap()));
        let one = Network::parse("2001:db8::1").unwrap();
        assert!(one.holds("2001:db8::1".parse().unwrap()));
        assert!(!one.holds("2001:db8::2".parse().unwrap()));
        assert!(Network::parse("0.0.0.0/0").unwrap().holds("192.0.2.1".parse().unwrap()));
        assert!(Network::parse("::/0").unwrap().holds("2001:db8::2".parse().unwrap()));
        for bad in ["", "10.41.0.0/33", "10.41.0", "::/129", "10.41.0.0/-1"] {
            assert!(Network::parse(bad).is_none(), "{bad}");
        }
    }
}
