//! Registration endpoint of nodes.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_credentials::possession::{seal_credentials, verify_key_proof};
use groundwave_files::wall::wall_ns;
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::RecordAlert;
use groundwave_gateway::onboarding::{
    AddressPool, JoinClaims, JoinOutcome, Onboarding, QUEUE_FULL, RegistrationId, RequestJoin,
    SameMac, nodes_used,
};
use groundwave_http::admission::network;
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::{Json, Problem, id, time};
use groundwave_protocol::{
    Credentials, GatewayEnd, Proof, RegistrationState, WgChallenge, WgRegister, WgRegisterResult,
    proof_message,
};
use groundwave_simulation::site::NodeId;
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::{Digest, Sha256};

use crate::access::{Anonymous, ClientAddress};
use crate::services::addresses::verify_mac;
use crate::services::challenges::{CHALLENGE_S, Challenges, SKEW_S};
use crate::services::limits::{RateLimits, limited};
use crate::services::secrets::issue;
use crate::services::vault::Vault;
use crate::services::world::World;
use crate::settings::Settings;
use crate::state::Gateway;

/// Retry interval while pending, s.
const ASK_AGAIN_S: u32 = 10;

/// Retry interval while the queue of pending registrations is full, s.
const QUEUE_RETRY_S: u32 = 60;

/// WireGuard persistent keepalive, s.
const KEEPALIVE_S: u16 = 25;

/// Result of a proof under the present and the previous secret.
fn proven(vault: &Vault, onboarding: &Onboarding, request: &WgRegister, now_ns: u64) -> Proof {
    let Some(proof) = &request.proof else {
        return Proof::Absent;
    };
    let trust = &onboarding.trust;
    let earlier = trust.previous.as_ref().filter(|(_, until_ns)| now_ns <= *until_ns);
    let secrets = trust.secret.iter().chain(earlier.map(|(secret, _)| secret));
    let named = |key_id: &str| request.key_id.as_deref().is_none_or(|id| id == key_id);
    let (key, mac) = (request.public_key.to_string(), request.mac.to_string());
    let message = proof_message(fields(request, &key, &mac));
    let Ok(proof) = STANDARD.decode(proof) else {
        return Proof::Invalid;
    };
    for secret in secrets.filter(|secret| named(&secret.key_id)) {
        let Ok(bytes) = vault.open(secret).inspect_err(|problem| {
            tracing::error!("{}", problem.detail);
        }) else {
            continue;
        };
        let mut hmac = Hmac::<Sha256>::new_from_slice(&bytes).expect("a key of any length will do");
        hmac.update(&message);
        if hmac.verify_slice(&proof).is_ok() {
            return Proof::Valid;
        }
    }
    Proof::Invalid
}

/// Fields that proofs cover.
fn fields<'a>(request: &'a WgRegister, key: &'a str, mac: &'a str) -> [&'a str; 5] {
    [key, mac, &request.hostname, &request.nonce, &request.ts]
}

/// Refuses requests that were made at another time or before. A proof of possession needs a nonce of
/// this gateway.
fn check(challenges: &Challenges, request: &WgRegister, now_ns: u64) -> Result<(), Problem> {
    let nonce = STANDARD.decode(&request.nonce).unwrap_or_default();
    if !(16..=32).contains(&nonce.len()) {
        let message = "invalid length: allowed 16 to 32 bytes in base64";
        return Err(Problem::field("/nonce", FieldCode::Length, message));
    }
    let at_ns = time::read("/ts", &request.ts)?.as_nanosecond();
    let skew_ns = (i128::from(now_ns) - at_ns).unsigned_abs();
    if skew_ns > u128::from(SKEW_S) * 1_000_000_000 {
        let message = format!(
            "too far from the time of the gateway: allowed {SKEW_S} s; the `ts` of GET \
             /v1/mesh/wg-register/challenge will do"
        );
        return Err(Problem::field("/ts", FieldCode::NotAllowed, message));
    }
    let now_s = now_ns / 1_000_000_000;
    if request.key_proof.is_some() && !challenges.is_current(&nonce, now_s) {
        let message = "not of a current challenge: allowed a nonce of GET \
                       /v1/mesh/wg-register/challenge";
        return Err(Problem::field("/nonce", FieldCode::NotAllowed, message));
    }
    challenges.take(&nonce, now_s)
}

/// Result of the proof of possession. A request through the tunnel needs none: the kernel admits
/// packets from an overlay address only under the key it belongs to.
fn possession(
    shared: Option<&[u8; 32]>,
    settings: &Settings,
    onboarding: &Onboarding,
    source: IpAddr,
    request: &WgRegister,
) -> Proof {
    if let Some(proof) = &request.key_proof {
        let (key, mac) = (request.public_key.to_string(), request.mac.to_string());
        let fits = |shared| verify_key_proof(shared, fields(request, &key, &mac), proof);
        return match shared.is_some_and(fits) {
            true => Proof::Valid,
            false => Proof::Invalid,
        };
    }
    let registration = onboarding.of_key(&request.public_key);
    let overlay_ip = registration.and_then(|(_, registration)| registration.overlay_ip);
    let inside = overlay_ip.is_some_and(|ip| source == IpAddr::V4(ip));
    match inside && settings.tunnel.is_some() {
        true => Proof::Valid,
        false => Proof::Absent,
    }
}

/// `true` if this code admits a node: a join key that has not expired and has a place, or that of a node
/// registered ahead.
fn has_code(view: &Snapshot, code_sha256: Option<[u8; 32]>, now_ns: u64) -> bool {
    let Some(code) = code_sha256 else { return false };
    let mut keys = view.config.join_keys.iter();
    let has_key = keys.any(|(id, versioned)| {
        let key = &versioned.object;
        let registrations = view.onboarding.registrations.values().map(AsRef::as_ref);
        key.key_sha256 == code
            && now_ns < key.expires_ns
            && nodes_used(id, key, registrations) < key.nodes_max as usize
    });
    let is_expected = || {
        view.fleet.nodes.values().any(|node| {
            let ahead = node.record.preregistration.as_ref();
            ahead.is_some_and(|ahead| ahead.code_sha256 == code && now_ns <= ahead.until_ns)
        })
    };
    has_key || is_expected()
}

/// Services of a registration.
#[derive(Clone)]
pub struct Registrar {
    world: World,
    settings: Arc<Settings>,
    limits: Arc<RateLimits>,
    challenges: Arc<Challenges>,
    vault: Vault,
}

impl FromRef<Gateway> for Registrar {
    fn from_ref(gateway: &Gateway) -> Self {
        Self {
            world: gateway.world.clone(),
            settings: Arc::clone(&gateway.settings),
            limits: Arc::clone(&gateway.limits),
            challenges: Arc::clone(&gateway.challenges),
            vault: gateway.vault.clone(),
        }
    }
}

/// Get a nonce to register with
///
/// For the proof that the requester holds the private key (`key_proof`).
#[utoipa::path(get, path = "/v1/mesh/wg-register/challenge", tag = "mesh",
    responses((status = 200, description = "Nonce for one request"),
        (status = 429, description = "Too many requests")))]
pub async fn wg_challenge(
    _: Anonymous,
    State(services): State<Registrar>,
    client: ClientAddress,
) -> Result<Json<WgChallenge>, Problem> {
    let Registrar { limits, challenges, .. } = services;
    limits.challenges.allow(&network(client.0), "challenge rate limit exceeded")?;
    let now_ns = wall_ns();
    Ok(Json(WgChallenge {
        nonce: STANDARD.encode(challenges.issue(now_ns / 1_000_000_000)?),
        public_key: challenges.public_key()?,
        ts: time::rfc3339(now_ns),
        expires_in_s: CHALLENGE_S,
    }))
}

/// Register a WireGuard key and get an overlay address
///
/// Idempotent per public key. Credentials are returned only to requests through the tunnel, or sealed
/// to the key. With a proof of possession (`key_proof`) the request replaces what others claimed for
/// the key; without one it changes nothing that another address or the holder of the key requested.
#[utoipa::path(post, path = "/v1/mesh/wg-register", tag = "mesh",
    responses(
        (status = 200, description = "Approved earlier"),
        (status = 201, description = "Approved"),
        (status = 202, description = "Pending"),
        (status = 403, description = "Rejected"),
        (status = 409, description = "Public key registered with another MAC address"),
        (status = 429, description = "Too many requests, or too many pending registrations"),
        (status = 503, description = "No free address")))]
pub async fn wg_register(
    _: Anonymous,
    State(services): State<Registrar>,
    client: ClientAddress,
    StrictJson(request): StrictJson<WgRegister>,
) -> Result<(StatusCode, Json<WgRegisterResult>), Problem> {
    let Registrar { world, settings, limits, challenges, vault } = services;
    let now_ns = wall_ns();
    let view = world.view();
    let proof = proven(&vault, &view.onboarding, &request, now_ns);
    let code_sha256 =
        request.enrollment_code.as_ref().map(|code| Sha256::digest(code.as_bytes()).into());
    let is_vouched = proof == Proof::Valid || has_code(&view, code_sha256, now_ns);
    let is_known = view.onboarding.of_key(&request.public_key).is_some();
    let possession_of = |shared: Option<&[u8; 32]>| {
        possession(shared, &settings, &view.onboarding, client.0, &request)
    };
    let shared_secret = || challenges.shared_secret(&request.public_key);
    let known_secret = is_known.then(shared_secret).flatten();
    let is_owner = is_known && possession_of(known_secret.as_ref()) == Proof::Valid;
    let what = "registration rate limit exceeded";
    if is_vouched || is_owner {
        // A proof covers the nonce: copies of the request take no token of its key.
        check(&challenges, &request, now_ns)?;
        limits.vouched_keys.allow(&request.public_key, what)?;
    } else {
        limits.registrations.allow(&network(client.0), what)?;
        check(&challenges, &request, now_ns)?;
    }
    let shared = known_secret.or_else(shared_secret);
    let key_proof = possession_of(shared.as_ref());
    if !is_known {
        limits.unknown_key(client.0, is_vouched)?;
    }
    let mac_verified = verify_mac(&settings, client.0, request.mac).await;
    let command = RequestJoin {
        registration: RegistrationId::new(id::mint()),
        node: NodeId::new(id::mint()),
        same_mac: SameMac::SameNode,
        public_key: request.public_key,
        claims: JoinClaims {
            mac: request.mac,
            hostname: request.hostname.clone(),
            listen_port: request.listen_port,
            source_ip: client.0,
            underlay_ip: request.underlay_ip.unwrap_or(client.0),
            proof,
            mac_verified,
            code_sha256,
            key_proof: Some(key_proof),
        },
    };
    let outcome = match world.submit(command).await {
        Ok(outcome) => outcome,
        Err(problem) => {
            if problem.status == 409 && key_proof == Proof::Valid {
                report_key_conflict(&world, &limits, client.0, &request).await;
            }
            return Err(kind_of(problem));
        }
    };
    let credentials = credentials(&world, &settings, client.0, &outcome, &request).await?;
    let sealed = match shared.filter(|_| key_proof == Proof::Valid && request.seal_credentials) {
        Some(shared) => sealed(&world, &outcome, &request, &shared).await?,
        None => None,
    };
    let status = match outcome.state {
        RegistrationState::Approved if outcome.admitted => StatusCode::CREATED,
        RegistrationState::Approved => StatusCode::OK,
        _ => StatusCode::ACCEPTED,
    };
    let pool = world.view().onboarding.pool;
    let mut result = result(&settings, pool, &outcome, credentials);
    result.sealed_credentials = sealed;
    Ok((status, Json(result)))
}

/// Records an alert of a registered key that its holder uses with another hardware address: after a change of its
/// radio or of the machine an admin has to know why the node stays away.
async fn report_key_conflict(
    world: &World,
    limits: &RateLimits,
    source_ip: IpAddr,
    request: &WgRegister,
) {
    let view = world.view();
    let Some((_, registration)) = view.onboarding.of_key(&request.public_key) else {
        return;
    };
    let is_other = registration.claims.mac != request.mac;
    if !is_other || limits.key_conflicts.allow(&request.public_key, "alert").is_err() {
        return;
    }
    let node = registration.node.map(|node| ("node_id", node.to_string()));
    let data = [
        ("mac", request.mac.to_string()),
        ("registered_mac", registration.claims.mac.to_string()),
        ("hostname", request.hostname.clone()),
        ("source_ip", source_ip.to_string()),
    ];
    let data = data.into_iter().chain(node).map(|(name, text)| (name.to_owned(), text)).collect();
    let about = "a registered key comes with another hardware address".to_owned();
    if let Err(problem) = world.submit(RecordAlert { about, data }).await {
        tracing::warn!(detail = problem.detail, "an alert of a key conflict is not recorded");
    }
}

/// The kind of a refusal here: which conflict, which no.
fn kind_of(problem: Problem) -> Problem {
    match problem.status {
        409 => problem.of_kind(ProblemKind::KeyConflict),
        403 => problem.of_kind(ProblemKind::RegistrationRejected),
        // Not the addresses: an admin has to decide on what waits.
        503 if problem.detail == QUEUE_FULL => limited(QUEUE_FULL, QUEUE_RETRY_S),
        _ => problem,
    }
}

/// Credentials for a request through the tunnel: only the holder of the private key receives the
/// reply.
async fn credentials(
    world: &World,
    settings: &Settings,
    source: IpAddr,
    outcome: &JoinOutcome,
    request: &WgRegister,
) -> Result<Option<Credentials>, Problem> {
    let through_tunnel = outcome.overlay_ip.is_some_and(|ip| source == IpAddr::V4(ip));
    let (Some(node), true) = (outcome.node, through_tunnel) else {
        return Ok(None);
    };
    if settings.tunnel.is_none() {
        return Ok(None);
    }
    issue(world, node, &request.hostname).await.map(Some)
}

/// Credentials for a request with a proof of possession, sealed to its key.
async fn sealed(
    world: &World,
    outcome: &JoinOutcome,
    request: &WgRegister,
    shared: &[u8; 32],
) -> Result<Option<String>, Problem> {
    let admitted = outcome.state == RegistrationState::Approved;
    let Some(node) = outcome.node.filter(|_| admitted) else {
        return Ok(None);
    };
    let credentials = issue(world, node, &request.hostname).await?;
    let sealed = seal_credentials(shared, &request.nonce, &credentials);
    sealed.map(Some).map_err(|err| Problem::internal(err.to_string()))
}

fn result(
    settings: &Settings,
    pool: AddressPool,
    outcome: &JoinOutcome,
    credentials: Option<Credentials>,
) -> WgRegisterResult {
    let settings = &settings;
    let inside = outcome.state == RegistrationState::Approved;
    WgRegisterResult {
        registration_id: outcome.registration.uuid(),
        state: outcome.state,
        node_id: outcome.node.map(|node| node.uuid()),
        overlay_ip: outcome.overlay_ip,
        overlay_prefix_len: pool.prefix_len(),
        allowed_ips: vec![pool.to_string()],
        gateway: settings
            .tunnel
            .clone()
            .filter(|_| inside)
            .map(|end| GatewayEnd { overlay_ip: pool.gateway(), ..end }),
        persistent_keepalive: KEEPALIVE_S,
        mtu: settings.tunnel_mtu,
        credentials,
        sealed_credentials: None,
        retry_after_s: (!inside).then_some(ASK_AGAIN_S),
    }
}
