//! The trust secret, the list of hardware addresses, the policy.

use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_io::hex::hex;
use groundwave_systems::onboarding::{
    AddMacs, Mac, Policy, RemoveMac, RotateSecret, SetPolicy, TrustedMac,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

use crate::gateway::access::{Admin, Operator, Viewer};
use crate::gateway::services::secrets::random;
use crate::gateway::services::world::{World, missing};
use crate::gateway::settings::Settings;
use crate::http::json_body::{OptionalJson, StrictJson};
use crate::http::page::{Page, Paging};
use crate::http::problem::FieldCode;
use crate::http::time::rfc3339;
use crate::http::{Json, Path, Problem, Query};

/// Trust as it is, without its secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TrustState {
    /// How strangers are met.
    pub policy: Policy,
    /// Whether there is a secret.
    pub secret_set: bool,
    /// Which one.
    pub key_id: Option<String>,
    /// When it was made, RFC 3339.
    pub rotated_at: Option<String>,
    /// Until when the one before it is good, RFC 3339.
    pub grace_until: Option<String>,
    /// Hardware addresses on the list.
    pub mac_count: usize,
}

/// Another policy.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPolicy {
    /// How strangers are met from now on; `open` only where the gateway was started for it.
    pub policy: Policy,
}

/// What may be known of the secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct SecretState {
    /// Which one it is.
    pub key_id: Option<String>,
    /// When it was made, RFC 3339.
    pub created_at: Option<String>,
    /// The first half of its SHA-256, hexadecimal: to compare two copies without telling either.
    pub fingerprint: Option<String>,
}

/// How to rotate the secret.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotation {
    /// How long the one until now is good, s, so that nodes that are away come back.
    #[serde(default)]
    #[schemars(range(max = 604_800))]
    pub grace_s: u32,
}

/// A new secret.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewSecret {
    /// The secret: 32 bytes in base64. It is told this once.
    pub secret: String,
    /// Which one it is.
    pub key_id: String,
}

/// A trusted hardware address.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TrustedMacEntry {
    /// The address.
    pub mac: Mac,
    /// What it belongs to.
    pub label: String,
    /// Who put it there.
    pub added_by: String,
    /// When, RFC 3339.
    pub added_at: String,
    /// When a request last came from it, RFC 3339.
    pub last_seen: Option<String>,
    /// From where.
    pub seen_at_ip: Option<String>,
}

impl From<&TrustedMac> for TrustedMacEntry {
    fn from(held: &TrustedMac) -> Self {
        Self {
            mac: held.mac,
            label: held.label.clone(),
            added_by: held.added_by.clone(),
            added_at: rfc3339(held.added_ns),
            last_seen: held.seen.map(|(at_ns, _)| rfc3339(at_ns)),
            seen_at_ip: held.seen.map(|(_, ip)| ip.to_string()),
        }
    }
}

/// A hardware address to trust.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrustedMac {
    /// The address.
    pub mac: Mac,
    /// What it belongs to, up to 64 characters.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub label: String,
}

/// Hardware addresses to trust. Entries are read one by one, so that one mistake does not lose the
/// rest.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacImport {
    /// Up to 1000 of them.
    #[schemars(length(max = 1000))]
    pub items: Vec<MacImportItem>,
}

/// A hardware address to trust, as somebody wrote it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MacImportItem {
    /// The address.
    pub mac: String,
    /// What it belongs to.
    #[serde(default)]
    pub label: String,
}

/// What became of an import.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct MacImported {
    /// New on the list.
    pub added: usize,
    /// On it already.
    pub existing: usize,
    /// Not taken.
    pub rejected: Vec<RejectedItem>,
}

/// An entry that was not taken.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct RejectedItem {
    /// Its place, from 0.
    pub index: usize,
    /// Why.
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
        grace_until: trust
            .previous
            .as_ref()
            .map(|(_, until_ns)| rfc3339(*until_ns)),
        mac_count: view.onboarding.macs.len(),
    }
}

/// How strangers are met
#[utoipa::path(get, path = "/v1/trust", tag = "trust",
    responses((status = 200, description = "Trust as it is")))]
pub async fn trust(_: Viewer, State(world): State<World>) -> Json<TrustState> {
    Json(state(&world))
}

/// Choose how strangers are met
#[utoipa::path(put, path = "/v1/trust/policy", tag = "trust",
    responses((status = 200, description = "Trust as it is now"),
        (status = 409, description = "There is no secret to prove, or the gateway was not started for that")))]
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

/// What may be known of the trust secret
#[utoipa::path(get, path = "/v1/trust/secret", tag = "trust",
    responses((status = 200, description = "Never the secret itself")))]
pub async fn trust_secret(_: Admin, State(world): State<World>) -> Json<SecretState> {
    let view = world.view();
    let secret = view.onboarding.trust.secret.as_ref();
    let print = |secret: &[u8; 32]| hex(&Sha256::digest(secret)[..16]);
    Json(SecretState {
        key_id: secret.map(|secret| secret.key_id.clone()),
        created_at: secret.map(|secret| rfc3339(secret.created_ns)),
        fingerprint: secret.map(|secret| print(&secret.secret)),
    })
}

/// Make a new trust secret
#[utoipa::path(post, path = "/v1/trust/secret/rotate", tag = "trust",
    responses((status = 201, description = "The new secret, told this once")))]
pub async fn trust_secret_rotate(
    _: Admin,
    State(world): State<World>,
    OptionalJson(rotation): OptionalJson<Rotation>,
) -> Result<(StatusCode, Json<NewSecret>), Problem> {
    let secret: [u8; 32] = random()?;
    let name: [u8; 4] = random()?;
    let key_id = hex(&name);
    let rotate = RotateSecret {
        key_id: key_id.clone(),
        secret,
        grace_s: rotation.grace_s,
    };
    world.submit(rotate).await?;
    let secret = STANDARD.encode(secret);
    Ok((StatusCode::CREATED, Json(NewSecret { secret, key_id })))
}

/// Trusted hardware addresses
#[utoipa::path(get, path = "/v1/trust/macs", tag = "trust", params(Paging),
    responses((status = 200, description = "In order of the address")))]
pub async fn trust_macs(
    _: Operator,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<TrustedMacEntry>>, Problem> {
    let view = world.view();
    let all = view.onboarding.macs.iter();
    let all = all.map(|(mac, held)| (mac.to_string(), held));
    Ok(Json(paging.of(all, |held| TrustedMacEntry::from(&**held))?))
}

fn entry(world: &World, mac: Mac) -> Result<TrustedMacEntry, Problem> {
    let view = world.view();
    let held = view.onboarding.macs.get(&mac);
    let held = held.ok_or_else(|| missing("trusted address", mac))?;
    Ok(TrustedMacEntry::from(&**held))
}

/// Trust a hardware address
#[utoipa::path(post, path = "/v1/trust/macs", tag = "trust",
    responses((status = 201, description = "On the list from now on"),
        (status = 200, description = "On the list since before; its label stays")))]
pub async fn trust_mac_add(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(new): StrictJson<NewTrustedMac>,
) -> Result<(StatusCode, Json<TrustedMacEntry>), Problem> {
    let add = AddMacs {
        macs: vec![(new.mac, new.label)],
        by: caller.username.clone(),
    };
    let added = world.submit(add).await?;
    let status = match added[0] {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    };
    Ok((status, Json(entry(&world, new.mac)?)))
}

/// A trusted hardware address
#[utoipa::path(get, path = "/v1/trust/macs/{mac}", tag = "trust",
    params(("mac" = String, Path, description = "Which address", pattern = "^(?!00(:00){5}$)[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")),
    responses((status = 200, description = "The entry"),
        (status = 404, description = "It is not on the list")))]
pub async fn trust_mac_fetch(
    _: Operator,
    State(world): State<World>,
    Path(mac): Path<Mac>,
) -> Result<Json<TrustedMacEntry>, Problem> {
    Ok(Json(entry(&world, mac)?))
}

/// Trust a hardware address no longer
#[utoipa::path(delete, path = "/v1/trust/macs/{mac}", tag = "trust",
    params(("mac" = String, Path, description = "Which address", pattern = "^(?!00(:00){5}$)[0-9a-fA-F][02468aceACE](:[0-9a-fA-F]{2}){5}$")),
    responses((status = 204, description = "Gone"),
        (status = 404, description = "It is not on the list")))]
pub async fn trust_mac_delete(
    _: Admin,
    State(world): State<World>,
    Path(mac): Path<Mac>,
) -> Result<StatusCode, Problem> {
    world.submit(RemoveMac { mac }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Trust many hardware addresses
#[utoipa::path(post, path = "/v1/trust/macs/import", tag = "trust",
    responses((status = 200, description = "What became of them")))]
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
        let bad_label = item.label.chars().count() > 64 || item.label.chars().any(char::is_control);
        match item.mac.parse::<Mac>() {
            Ok(mac) if !bad_label => macs.push((mac, item.label)),
            found => rejected.push(RejectedItem {
                index,
                code: found.map_or("mac", |_| "label").to_owned(),
            }),
        }
    }
    let by = caller.username.clone();
    let added = world.submit(AddMacs { macs, by }).await?;
    let fresh = added.iter().filter(|fresh| **fresh).count();
    Ok(Json(MacImported {
        added: fresh,
        existing: added.len() - fresh,
        rejected,
    }))
}
