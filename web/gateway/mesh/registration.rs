//! Registration endpoint of nodes.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_io::wall::wall_ns;
use groundwave_systems::onboarding::{
    Credentials, JoinClaims, JoinOutcome, Onboarding, Proof, RegistrationId, RegistrationState,
    RequestJoin, WgRegister, WgRegisterResult, proof_message,
};
use groundwave_systems::site::NodeId;
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::{Digest, Sha256};

use crate::gateway::access::{Anonymous, ClientAddress};
use crate::gateway::services::addresses::verify_mac;
use crate::gateway::services::limits::RateLimits;
use crate::gateway::services::secrets::issue;
use crate::gateway::services::world::World;
use crate::gateway::settings::Settings;
use crate::http::json_body::StrictJson;
use crate::http::problem::{FieldCode, ProblemKind};
use crate::http::{Json, Problem, id, time};

/// Retry interval while pending, s.
const ASK_AGAIN_S: u32 = 10;

/// WireGuard persistent keepalive, s.
const KEEPALIVE_S: u16 = 25;

/// Result of a proof under the present and the previous secret.
fn proven(onboarding: &Onboarding, asked: &WgRegister, now_ns: u64) -> Proof {
    let Some(proof) = &asked.proof else {
        return Proof::Absent;
    };
    let trust = &onboarding.trust;
    let earlier = trust.previous.as_ref();
    let earlier = earlier.filter(|(_, until_ns)| now_ns <= *until_ns);
    let secrets = trust.secret.iter().chain(earlier.map(|(secret, _)| secret));
    let named = |key_id: &str| {
        asked
            .key_id
            .as_deref()
            .is_none_or(|wanted| wanted == key_id)
    };
    let (key, mac) = (asked.public_key.to_string(), asked.mac.to_string());
    let message = proof_message([&key, &mac, &asked.hostname, &asked.nonce, &asked.ts]);
    let Ok(proof) = STANDARD.decode(proof) else {
        return Proof::Invalid;
    };
    for secret in secrets.filter(|secret| named(&secret.key_id)) {
        let hmac = Hmac::<Sha256>::new_from_slice(&secret.secret);
        let mut hmac = hmac.expect("a key of any length will do");
        hmac.update(&message);
        if hmac.verify_slice(&proof).is_ok() {
            return Proof::Valid;
        }
    }
    Proof::Invalid
}

fn check(asked: &WgRegister) -> Result<(), Problem> {
    let nonce = STANDARD.decode(&asked.nonce).unwrap_or_default();
    if !(16..=32).contains(&nonce.len()) {
        let message = "invalid length: allowed 16 to 32 bytes in base64";
        return Err(Problem::field("/nonce", FieldCode::Length, message));
    }
    time::read("/ts", &asked.ts).map(|_| ())
}

/// Register a WireGuard key and get an overlay address
///
/// Idempotent per public key. Credentials are returned once, and only to requests through
/// the tunnel.
#[utoipa::path(post, path = "/v1/mesh/wg-register", tag = "mesh",
    responses(
        (status = 200, description = "Approved earlier"),
        (status = 201, description = "Approved"),
        (status = 202, description = "Pending"),
        (status = 403, description = "Rejected"),
        (status = 409, description = "Public key registered with another MAC address"),
        (status = 429, description = "Too many requests"),
        (status = 503, description = "No free address")))]
pub async fn wg_register(
    _: Anonymous,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(limits): State<Arc<RateLimits>>,
    client: ClientAddress,
    StrictJson(asked): StrictJson<WgRegister>,
) -> Result<(StatusCode, Json<WgRegisterResult>), Problem> {
    limits
        .registrations
        .allow(&client.0, "registration rate limit exceeded")?;
    check(&asked)?;
    let view = world.view();
    if view.onboarding.of_key(&asked.public_key).is_none() {
        limits
            .unknown_keys
            .allow(&(), "registration rate limit of unknown keys exceeded")?;
    }
    let mac_verified = verify_mac(&settings, client.0, asked.mac).await;
    let code_sha256 = asked.enrollment_code.as_ref();
    let command = RequestJoin {
        registration: RegistrationId::new(id::mint()),
        node: NodeId::new(id::mint()),
        public_key: asked.public_key,
        claims: JoinClaims {
            mac: asked.mac,
            hostname: asked.hostname.clone(),
            listen_port: asked.listen_port,
            source_ip: client.0,
            underlay_ip: asked.underlay_ip.unwrap_or(client.0),
            proof: proven(&view.onboarding, &asked, wall_ns()),
            mac_verified,
            code_sha256: code_sha256.map(|code| Sha256::digest(code.as_bytes()).into()),
        },
    };
    let done = world.submit(command).await.map_err(kind_of)?;
    let credentials = credentials(&world, &settings, client.0, &done, &asked).await?;
    let status = match done.state {
        RegistrationState::Approved if done.admitted => StatusCode::CREATED,
        RegistrationState::Approved => StatusCode::OK,
        _ => StatusCode::ACCEPTED,
    };
    Ok((status, Json(result(&settings, &done, credentials))))
}

/// The kind of a refusal here: which conflict, which no.
fn kind_of(problem: Problem) -> Problem {
    match problem.status {
        409 => problem.of_kind(ProblemKind::KeyConflict),
        403 => problem.of_kind(ProblemKind::RegistrationRejected),
        _ => problem,
    }
}

/// Credentials for a request through the tunnel: only the holder of the private key receives the
/// reply.
async fn credentials(
    world: &World,
    settings: &Settings,
    source: IpAddr,
    done: &JoinOutcome,
    asked: &WgRegister,
) -> Result<Option<Credentials>, Problem> {
    let through_tunnel = done.overlay_ip.is_some_and(|ip| source == IpAddr::V4(ip));
    let (Some(node), true) = (done.node, through_tunnel) else {
        return Ok(None);
    };
    if settings.tunnel.is_none() {
        return Ok(None);
    }
    issue(world, node, &asked.hostname).await.map(Some)
}

fn result(
    settings: &Settings,
    done: &JoinOutcome,
    credentials: Option<Credentials>,
) -> WgRegisterResult {
    let settings = &settings;
    let inside = done.state == RegistrationState::Approved;
    WgRegisterResult {
        registration_id: done.registration.uuid(),
        state: done.state,
        node_id: done.node.map(|node| node.uuid()),
        overlay_ip: done.overlay_ip,
        overlay_prefix_len: settings.overlay.prefix_len(),
        allowed_ips: vec![settings.overlay.to_string()],
        gateway: settings.tunnel.clone().filter(|_| inside),
        persistent_keepalive: KEEPALIVE_S,
        mtu: settings.tunnel_mtu,
        credentials,
        retry_after_s: (!inside).then_some(ASK_AGAIN_S),
    }
}
