//! Trust endpoints: policy, secret, trusted MAC addresses.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_files::hex::hex;
use groundwave_gateway::onboarding::{
    AddMacs, Policy, RemoveMac, RotateSecret, SecretBytes, SetPolicy, TrustedMac,
};
use groundwave_http::json_body::{OptionalJson, StrictJson};
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, name};
use groundwave_protocol::Mac;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::access::{Admin, Operator, Viewer};
use crate::services::secrets::random;
use crate::services::vault::Vault;
use crate::services::world::{World, missing};
use crate::settings::Settings;

/// Enrolment policy and state of the trust secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TrustState {
    /// Enrolment policy.
    pub policy: Policy,
    /// A trust secret is set.
    pub secret_set: bool,
    /// Id of the secret.
    pub key_id: Option<String>,
    /// Time of creation, RFC 3339.
    pub rotated_at: Option<String>,
    /// End of validity of the previous secret, RFC 3339.
    pub grace_until: Option<String>,
    /// Number of trusted MAC addresses.
    pub mac_count: usize,
}

/// New enrolment policy.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPolicy {
    /// Enrolment policy; `open` only with --insecure-open-onboarding.
    pub policy: Policy,
}

/// State of the trust secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct SecretState {
    /// Id of the secret.
    pub key_id: Option<String>,
    /// Time of creation, RFC 3339.
    pub created_at: Option<String>,
    /// First half of its SHA-256, hexadecimal.
    pub fingerprint: Option<String>,
}

/// Rotation of the trust secret.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// Remaining validity of the present secret, s, for nodes that are offline.
    #[serde(default)]
    #[schemars(range(max = 604_800))]
    pub grace_s: u32,
}

/// New trust secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewSecret {
    /// Secret, 32 bytes in base64, shown once.
    pub secret: String,
    /// Id of the secret.
    pub key_id: String,
}

/// Trusted MAC address.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TrustedMacEntry {
    /// MAC address.
    pub mac: Mac,
    /// Label.
    pub label: String,
    /// Account that added it.
    pub added_by: String,
    /// Time of addition, RFC 3339.
    pub added_at: String,
    /// Time of the last request from it, RFC 3339.
    pub last_seen: Option<String>,
    /// Source address of the last request.
    pub seen_at_ip: Option<String>,
}

impl From<&TrustedMac> for TrustedMacEntry {
    fn from(entry: &TrustedMac) -> Self {
        Self {
            mac: entry.mac,
            label: entry.label.clone(),
            added_by: entry.added_by.clone(),
            added_at: rfc3339(entry.added_ns),
            last_seen: entry.seen.map(|(at_ns, _)| rfc3339(at_ns)),
            seen_at_ip: entry.seen.map(|(_, ip)| ip.to_string()),
        }
    }
}

/// New trusted MAC address.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrustedMac {
    /// MAC address.
    pub mac: Mac,
    /// Label, up to 64 characters.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub label: String,
}

/// MAC addresses to trust. Invalid entries are rejected one by one.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacImport {
    /// Entries, up to 1000.
    #[schemars(length(max = 1000))]
    pub items: Vec<MacImportItem>,
}

/// MAC address to trust, unparsed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacImportItem {
    /// MAC address.
    pub mac: String,
    /// Label.
    #[serde(default)]
    pub label: String,
}

/// Result of an import.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MacImported {
    /// Added addresses.
    pub added: usize,
    /// Addresses trusted before.
    pub existing: usize,
    /// Rejected entries.
    pub rejected: Vec<RejectedItem>,
}

/// Rejected entry.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RejectedItem {
    /// Index, from 0.
    pub index: usize,
    /// Reason: `mac` or `label`.
    pub code: String,
}

fn state(world: &World) -> TrustState {
    let view = world.view();
    let trust = &view.onboarding.trust;
    let secret = trust.secret.as_ref();
    TrustState {
        policy: trust.policy,
        secret_set: secret.is_some(),
        key_id: secret.map(|secret| secret.key_id.clone()),
        rotated_at: secret.map(|secret| rfc3339(secret.created_ns)),
        grace_until: trust.previous.as_ref().map(|(_, until_ns)| rfc3339(*until_ns)),
        mac_count: view.onboarding.macs.len(),
    }
}

/// Get the enrolment policy and the trust secret's state
#[utoipa::path(get, path = "/v1/trust", tag = "trust",
    responses((status = 200, description = "Policy and secret state")))]
pub async fn trust(_: Viewer, State(world): State<World>) -> Json<TrustState> {
    Json(state(&world))
}

/// Set the enrolment policy
#[utoipa::path(put, path = "/v1/trust/policy", tag = "trust",
    responses((status = 200, description = "Updated policy and secret state"),
        (status = 409, description = "No trust secret set, or policy `open` not enabled at start")))]
pub async fn trust_policy_put(
    _: Admin,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    StrictJson(new): StrictJson<NewPolicy>,
) -> Result<Json<TrustState>, Problem> {
    if new.policy == Policy::Open && !settings.insecure_open {
        return Err(Problem::new(
            StatusCode::CONFLICT,
            "policy `open` needs the start option --insecure-open-onboarding",
        ));
    }
    let policy = new.policy;
    world.submit(SetPolicy { policy }).await?;
    Ok(Json(state(&world)))
}

/// Get the trust secret's id and fingerprint
#[utoipa::path(get, path = "/v1/trust/secret", tag = "trust",
    responses((status = 200, description = "Id, time and fingerprint")))]
pub async fn trust_secret(
    _: Admin,
    State(world): State<World>,
    State(vault): State<Vault>,
) -> Result<Json<SecretState>, Problem> {
    let view = world.view();
    let secret = view.onboarding.trust.secret.as_ref();
    let print = |secret: [u8; 32]| hex(&Sha256::digest(secret)[..16]);
    let bytes = secret.map(|secret| vault.open(secret)).transpose()?;
    Ok(Json(SecretState {
        key_id: secret.map(|secret| secret.key_id.clone()),
        created_at: secret.map(|secret| rfc3339(secret.created_ns)),
        fingerprint: bytes.map(print),
    }))
}

/// Rotate the trust secret
#[utoipa::path(post, path = "/v1/trust/secret/rotate", tag = "trust",
    responses((status = 201, description = "New secret, shown once")))]
pub async fn trust_secret_rotate(
    _: Admin,
    State(world): State<World>,
    State(vault): State<Vault>,
    OptionalJson(rotation): OptionalJson<Rotation>,
) -> Result<(StatusCode, Json<NewSecret>), Problem> {
    let secret: [u8; 32] = random()?;
    let name: [u8; 4] = random()?;
    let key_id = hex(&name);
    let rotate = RotateSecret {
        key_id: key_id.clone(),
        secret: SecretBytes::Sealed(vault.seal(&secret).map_err(Problem::internal)?),
        grace_s: rotation.grace_s,
    };
    world.submit(rotate).await?;
    let secret = STANDARD.encode(secret);
    Ok((StatusCode::CREATED, Json(NewSecret { secret, key_id })))
}

/// List trusted MAC addresses
#[utoipa::path(get, path = "/v1/trust/macs", tag = "trust", params(Paging),
    responses((status = 200, description = "Sorted by address")))]
pub async fn trust_macs(
    _: Operator,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<TrustedMacEntry>>, Problem> {
    let view = world.view();
    let all = view.onboarding.macs.iter().map(|(mac, entry)| (mac.to_string(), entry));
    Ok(Json(paging.of(all, |entry| TrustedMacEntry::from(&**entry))?))
}

fn entry(world: &World, mac: Mac) -> Result<TrustedMacEntry, Problem> {
    let view = world.view();
    let mac_entry =
        view.onboarding.macs.get(&mac).ok_or_else(|| missing("trusted address", mac))?;
    Ok(TrustedMacEntry::from(&**mac_entry))
}

/// Add a trusted MAC address
#[utoipa::path(post, path = "/v1/trust/macs", tag = "trust",
    responses((status = 201, description = "Added"),
        (status = 200, description = "Already trusted; the label stays")))]
pub async fn trust_mac_add(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(new): StrictJson<NewTrustedMac>,
) -> Result<(StatusCode, Json<TrustedMacEntry>), Problem> {
    name::check("/label", &new.label)?;
    let add = AddMacs { macs: vec![(new.mac, new.label)], by: caller.username.clone() };
    let added = world.submit(add).await?;
    let status = match added[0] {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, Json(entry(&world, new.mac)?)))
}

/// Get a trusted MAC address
#[utoipa::path(get, path = "/v1/trust/macs/{mac}", tag = "trust",
    params(("mac" = String, Path, description = "Address", pattern = "^(?!00(:00){5}$)[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")),
    responses((status = 200, description = "Trusted address"),
        (status = 404, description = "No such trusted address")))]
pub async fn trust_mac_fetch(
    _: Operator,
    State(world): State<World>,
    Path(mac): Path<Mac>,
) -> Result<Json<TrustedMacEntry>, Problem> {
    Ok(Json(entry(&world, mac)?))
}

/// Delete a trusted MAC address
#[utoipa::path(delete, path = "/v1/trust/macs/{mac}", tag = "trust",
    params(("mac" = String, Path, description = "Address", pattern = "^(?!00(:00){5}$)[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such trusted address")))]
pub async fn trust_mac_delete(
    _: Admin,
    State(world): State<World>,
    Path(mac): Path<Mac>,
) -> Result<StatusCode, Problem> {
    world.submit(RemoveMac { mac }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Import trusted MAC addresses
#[utoipa::path(post, path = "/v1/trust/macs/import", tag = "trust",
    responses((status = 200, description = "Accepted and rejected entries")))]
pub async fn trust_macs_import(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(import): StrictJson<MacImport>,
) -> Result<Json<MacImported>, Problem> {
    if import.items.len() > 1000 {
        return Err(Problem::field(
            "/items",
            FieldCode::Length,
            "too many entries: allowed 0 to 1000",
        ));
    }
    let mut macs = Vec::new();
    let mut rejected = Vec::new();
    for (index, item) in import.items.into_iter().enumerate() {
        let bad_label = item.label.chars().count() > 64 || !name::can_be_seen(&item.label);
        match item.mac.parse::<Mac>() {
            Ok(mac) if !bad_label => macs.push((mac, item.label)),
            label => rejected
                .push(RejectedItem { index, code: label.map_or("mac", |_| "label").to_owned() }),
        }
    }
    let by = caller.username.clone();
    let added = world.submit(AddMacs { macs, by }).await?;
    let fresh = added.iter().filter(|fresh| **fresh).count();
    Ok(Json(MacImported { added: fresh, existing: added.len() - fresh, rejected }))
}
