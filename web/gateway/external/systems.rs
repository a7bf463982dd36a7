//! Definitions of external systems.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::account::AccountRole;
use groundwave_gateway::automation::shown_url;
use groundwave_gateway::config::{Expected, Versioned};
use groundwave_gateway::external::{AuthKind, Check, ExternalSystem, Preset, TlsTrust};
use groundwave_http::json_body::StrictJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, id};
use groundwave_outbound::Outbound;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Revision, objects};
use crate::services::external::auth::SystemCredentials;
use crate::services::external::probe::{check_base_url, place};
use crate::services::external::state::{ExternalStates, SystemState, SystemStatus};
use crate::services::outbound::unreached;
use crate::services::secrets::redacted;
use crate::services::vault::Vault;
use crate::services::world::World;

/// Kind of the credentials of a system.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AuthView {
    /// Kind; the credentials themselves are not shown.
    pub kind: AuthKind,
}

/// External system.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct System {
    /// System id.
    pub system_id: Uuid,
    /// Name.
    pub name: String,
    /// Kind of product.
    pub preset: Preset,
    /// Base URL; `(set)` for its path unless the caller is an admin.
    pub base_url: String,
    /// Credentials, without secrets.
    pub auth: AuthView,
    /// Time between two polls, s.
    pub poll_interval_s: u32,
    /// Time limit of a request, ms.
    pub timeout_ms: u32,
    /// Trust in the certificate.
    pub tls: TlsTrust,
    /// Checks; `redacted` for the queries of their paths unless the caller is an admin.
    pub checks: Vec<Check>,
    /// Number of imported endpoints.
    pub endpoint_count: usize,
    /// State.
    pub state: SystemState,
    /// Time of the last poll, RFC 3339.
    pub last_poll_at: Option<String>,
    /// Error of the last poll.
    pub last_error: Option<String>,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl System {
    /// The system as an account of this role sees it: secrets in paths and queries are for admins, who put
    /// them there.
    fn of_role(
        role: AccountRole,
        id: Uuid,
        versioned: &Versioned<ExternalSystem>,
        status: SystemStatus,
    ) -> Self {
        let mut system = Self::of(id, versioned, status);
        if role < AccountRole::Admin {
            let base_url = shown_url(&system.base_url);
            let mut hidden =
                vec![(std::mem::replace(&mut system.base_url, base_url.clone()), base_url)];
            for check in &mut system.checks {
                let path = redacted(&check.path);
                hidden.push((std::mem::replace(&mut check.path, path.clone()), path));
            }
            // Longer ones first: one may be the beginning of another.
            hidden.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
            for (text, form) in hidden.iter().filter(|(text, form)| text != form) {
                system.last_error = system.last_error.map(|error| error.replace(text, form));
            }
        }
        system
    }

    fn of(id: Uuid, versioned: &Versioned<ExternalSystem>, status: SystemStatus) -> Self {
        let system = &versioned.object;
        Self {
            system_id: id,
            name: system.name.clone(),
            preset: system.preset,
            base_url: system.base_url.clone(),
            auth: AuthView { kind: system.auth },
            poll_interval_s: system.poll_interval_s,
            timeout_ms: system.timeout_ms,
            tls: system.tls.clone(),
            checks: system.checks.clone(),
            endpoint_count: system.endpoints.len(),
            state: status.state,
            last_poll_at: status.last_poll_ns.map(rfc3339),
            last_error: status.last_error,
            revision: Revision::of(versioned),
        }
    }
}

/// Definition of an external system.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSystem {
    /// Name, unique.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Kind of product.
    pub preset: Preset,
    /// Base URL without query: http or https, icmp for `ping`, mqtt or mqtts for `meshtastic_mqtt`.
    #[schemars(length(min = 1, max = 1024))]
    pub base_url: String,
    /// Credentials, write-only. Absent in a replacement: those held stay, if host and port stay.
    #[serde(default)]
    pub auth: Option<SystemCredentials>,
    /// Time between two polls, s; default 60.
    #[serde(default)]
    #[schemars(range(min = 5, max = 86_400))]
    pub poll_interval_s: Option<u32>,
    /// Time limit of a request, ms; default 5000.
    #[serde(default)]
    #[schemars(range(min = 100, max = 10_000))]
    pub timeout_ms: Option<u32>,
    /// Trust in the certificate; default verified by the authorities of the operating system.
    #[serde(default)]
    pub tls: Option<TlsTrust>,
    /// Checks; default those of the preset.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub checks: Option<Vec<Check>>,
}

/// The system of a definition, and its credentials. `before` are the id, the system that is replaced
/// and its sealed credentials.
pub(super) fn system_of(
    new: NewSystem,
    vault: &Vault,
    id: Uuid,
    before: Option<&ExternalSystem>,
) -> Result<(ExternalSystem, SystemCredentials), Problem> {
    let credentials = match (new.auth, before) {
        (Some(credentials), _) => credentials,
        (None, Some(before)) => SystemCredentials::open(vault, id, before)?,
        (None, None) => SystemCredentials::None,
    };
    credentials.check()?;
    if let Some(pem) = new.tls.as_ref().and_then(|tls| tls.ca_pem.as_deref()) {
        let checked = groundwave_outbound::Trust::check_pem(pem);
        checked.map_err(|why| Problem::field("/tls/ca_pem", FieldCode::Format, why))?;
    }
    let system = ExternalSystem {
        name: new.name,
        preset: new.preset,
        base_url: new.base_url,
        auth: credentials.kind(),
        sealed_auth: credentials.seal(vault, id)?,
        poll_interval_s: new.poll_interval_s.unwrap_or(60),
        timeout_ms: new.timeout_ms.unwrap_or(5_000),
        tls: new.tls.unwrap_or_default(),
        checks: new.checks.unwrap_or_else(|| new.preset.default_checks()),
        endpoints: before.map(|before| before.endpoints.clone()).unwrap_or_default(),
    };
    check_base_url(&system)?;
    Ok((system, credentials))
}

/// Refuses to send credentials that were not given anew to another host.
fn check_same_host(new: &ExternalSystem, before: &ExternalSystem) -> Result<(), Problem> {
    let scheme = |system: &ExternalSystem| system.base_url.split(':').next().map(str::to_owned);
    let is_same = place(new)? == place(before)? && scheme(new) == scheme(before);
    match is_same || before.auth == AuthKind::None {
        true => Ok(()),
        false => {
            let message = "missing credentials: those held are not sent to another host or port";
            Err(Problem::field("/auth", FieldCode::Missing, message))
        }
    }
}

/// Refuses an address that no poll would reach. Names are judged again when they are resolved.
fn check_target(outbound: &Outbound, system: &ExternalSystem) -> Result<(), Problem> {
    let (host, port) = place(system)?;
    outbound.judge(&host, port).map_err(|err| unreached("/base_url", &err))
}

/// List external systems
#[utoipa::path(get, path = "/v1/external-systems", tag = "external", params(Paging),
    responses((status = 200, description = "Oldest first, with their states")))]
pub async fn external_systems(
    Viewer(caller): Viewer,
    State(world): State<World>,
    State(states): State<Arc<ExternalStates>>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<System>>, Problem> {
    let systems = objects::<ExternalSystem>(&world);
    let all = systems.iter().map(|(id, versioned)| (id.uuid().to_string(), (id.uuid(), versioned)));
    Ok(Json(paging.of(all, |(id, versioned)| {
        System::of_role(caller.role, id, versioned, states.status(id))
    })?))
}

/// Define an external system
#[utoipa::path(post, path = "/v1/external-systems", tag = "external",
    responses((status = 201, description = "The system, without secrets",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists")))]
pub async fn external_system_create(
    _: Admin,
    State(world): State<World>,
    State(vault): State<Vault>,
    State(states): State<Arc<ExternalStates>>,
    State(outbound): State<Outbound>,
    StrictJson(new): StrictJson<NewSystem>,
) -> Result<(StatusCode, Tag, Json<System>), Problem> {
    let id = id::mint();
    let (object, _) = system_of(new, &vault, id, None)?;
    check_target(&outbound, &object)?;
    let expected = Expected::Absent;
    let versioned = config_objects::write(&world, id, object, expected).await?;
    let view = System::of(id, &versioned, states.status(id));
    Ok((StatusCode::CREATED, tag(versioned.revision), Json(view)))
}

/// Get an external system
#[utoipa::path(get, path = "/v1/external-systems/{system_id}", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id")),
    responses((status = 200, description = "The system, without secrets",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such system")))]
pub async fn external_system_fetch(
    Viewer(caller): Viewer,
    State(world): State<World>,
    State(states): State<Arc<ExternalStates>>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<System>), Problem> {
    let versioned = config_objects::find(&world, id)?;
    let view = System::of_role(caller.role, id, &versioned, states.status(id));
    Ok((tag(versioned.revision), Json(view)))
}

/// Replace an external system; imported endpoints stay
#[utoipa::path(put, path = "/v1/external-systems/{system_id}", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "The system, without secrets",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such system"),
        (status = 409, description = "Name exists"),
        (status = 412, description = "Changed since that revision")))]
pub async fn external_system_replace(
    _: Admin,
    State(world): State<World>,
    State(vault): State<Vault>,
    State(states): State<Arc<ExternalStates>>,
    State(outbound): State<Outbound>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(new): StrictJson<NewSystem>,
) -> Result<(Tag, Json<System>), Problem> {
    let before = config_objects::find(&world, id)?;
    let keeps = new.auth.is_none();
    let (object, _) = system_of(new, &vault, id, Some(&before.object))?;
    if keeps {
        check_same_host(&object, &before.object)?;
    }
    // One of an earlier start with other flags stays editable.
    if place(&object)? != place(&before.object)? {
        check_target(&outbound, &object)?;
    }
    // Endpoints are taken from this revision: another one in between is not overwritten.
    let expected = match if_match_revision(&headers)? {
        Some(revision) => Expected::Revision(revision),
        None => Expected::Revision(before.revision),
    };
    let versioned = config_objects::write(&world, id, object, expected).await?;
    states.forget(id);
    Ok((tag(versioned.revision), Json(System::of(id, &versioned, states.status(id)))))
}

/// Remove an external system, its credentials and endpoints
#[utoipa::path(delete, path = "/v1/external-systems/{system_id}", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id"),
        ("if-match" = Option<String>, Header, description = "Revision to remove")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such system"),
        (status = 409, description = "In use"),
        (status = 412, description = "Changed since that revision")))]
pub async fn external_system_remove(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    config_objects::remove::<ExternalSystem>(&world, id, &headers).await
}
