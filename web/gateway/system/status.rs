//! Gateway status endpoints: health, capabilities, metrics, API document, tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_engine::{FaultKind, Health as WorldHealth};
use groundwave_files::wall::wall_ns;
use groundwave_http::{Json, Problem, tag};
use groundwave_io_gateway::camera::{find_ffmpeg, v4l2};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::{Anonymous, Viewer};
use crate::nodes::view::Origin;
use crate::services::firewall::FirewallService;
use crate::services::host::Host;
use crate::services::limits::{BATCH_BYTES_MAX, BODY_BYTES_MAX, HEARTBEAT_BYTES_MAX};
use crate::services::local_service::{ImpairmentDaemon, TestbedController};
use crate::services::metrics::{Metrics, plain_text};
use crate::services::nut::NutServer;
use crate::services::tasks::{BackgroundTasks, TaskView};
use crate::services::tls::{CertificateState, TlsCertificate};
use crate::services::tokens::TOKEN_S;
use crate::services::tunnel::TunnelState;
use crate::services::world::{World, blocking};
use crate::settings::Settings;
use crate::state::Gateway;

/// Result of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// Working.
    Ok,
    /// Partly working.
    Degraded,
    /// Absent.
    Absent,
    /// Without space: reads are served, writes are refused with 507.
    Full,
    /// Failing.
    Fail,
}

/// Health of the gateway.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GatewayHealth {
    /// `ok`, `degraded` or `fail`.
    pub status: CheckState,
    /// Gateway version.
    pub version: String,
    /// Git commit of the build, if known.
    pub git_commit: Option<String>,
    /// Time of the build, RFC 3339, if known.
    pub build_time: Option<String>,
    /// Uptime, s.
    pub uptime_s: u64,
    /// Checks by dependency.
    pub checks: BTreeMap<String, CheckState>,
}

/// Order of the states of disks: the worst comes last.
fn severity(state: CheckState) -> u8 {
    match state {
        CheckState::Ok => 0,
        CheckState::Degraded | CheckState::Absent => 1,
        CheckState::Full => 2,
        CheckState::Fail => 3,
    }
}

/// State of the tunnel; `None` unless it is required.
fn tunnel_state(settings: &Settings, tunnel: &TunnelState) -> Option<CheckState> {
    let interface = std::path::Path::new("/sys/class/net").join(&settings.tunnel_ifname);
    let state = match (settings.tunnel.is_some() && interface.exists(), tunnel.is_reachable()) {
        (true, true) => CheckState::Ok,
        // Nodes are connected, but nothing listens for them.
        (true, false) => CheckState::Fail,
        (false, _) => CheckState::Absent,
    };
    settings.tunnel_wanted.then_some(state)
}

/// Get the gateway health
#[utoipa::path(get, path = "/health", tag = "system",
    responses((status = 200, description = "Serving requests", body = GatewayHealth),
        (status = 503, description = "Not serving requests", body = GatewayHealth)))]
pub async fn health(
    _: Anonymous,
    State(gateway): State<Gateway>,
) -> (StatusCode, Json<GatewayHealth>) {
    let (world, host) = (&gateway.world, Arc::clone(&gateway.host));
    let now_ns = world.now_ns();
    let (view, images) = (world.view(), Arc::clone(&gateway.firmware));
    let probed = Arc::clone(&view);
    let probe = move || Ok((host.facilities(now_ns), images.damaged(&probed).is_empty()));
    let (backends, has_images) = blocking(probe).await.unwrap_or_default();
    let firmware = if has_images { CheckState::Ok } else { CheckState::Degraded };
    let store = match world.health() {
        WorldHealth::Ready => CheckState::Ok,
        WorldHealth::Full(_) => CheckState::Full,
        WorldHealth::Stopped | WorldHealth::Broken(_) => CheckState::Fail,
    };
    let scheduler = match gateway.background_tasks.failing() {
        false => CheckState::Ok,
        true => CheckState::Degraded,
    };
    // History and audit log have files of their own, which may be on another disk.
    let of = |kind: Option<FaultKind>| match kind {
        None => CheckState::Ok,
        Some(kind) if kind.may_pass() => CheckState::Full,
        Some(FaultKind::Full | FaultKind::ReadOnly | FaultKind::Failed) => CheckState::Fail,
    };
    let damaged = gateway.settings.damaged_history.as_deref();
    let history = match of(gateway.history.failure().map(|err| err.kind)) {
        CheckState::Ok if damaged.is_some_and(std::path::Path::exists) => CheckState::Degraded,
        state => state,
    };
    let audit = of(gateway.audit.failure());
    let all = [store, history, audit, firmware];
    let storage = *all.iter().max_by_key(|state| severity(**state)).unwrap_or(&store);
    let there = |word: &str| match word {
        "absent" => CheckState::Absent,
        _ => CheckState::Ok,
    };
    let backend = |name: &str| backends.get(name).map_or(CheckState::Absent, |word| there(word));
    let tunnel = tunnel_state(&gateway.settings, &gateway.tunnel);
    let mut checks = BTreeMap::from([
        ("store".to_owned(), store),
        ("history".to_owned(), history),
        ("audit".to_owned(), audit),
        ("storage".to_owned(), storage),
        ("netlink".to_owned(), CheckState::Ok),
        ("batman".to_owned(), backend("batman")),
        ("wireguard".to_owned(), backend("wireguard")),
        ("scheduler".to_owned(), scheduler),
    ]);
    let tls = gateway.tls.state(wall_ns()).map(|state| match state {
        CertificateState::Valid => CheckState::Ok,
        CertificateState::EndsSoon => CheckState::Degraded,
        CertificateState::Invalid => CheckState::Fail,
    });
    // Nodes cannot be given addresses of the underlay.
    let is_covered = view.onboarding.pool.overlaps(&gateway.settings.underlay);
    let overlay = is_covered.then_some(CheckState::Fail);
    let parts =
        [("tunnel", tunnel), ("tls", tls), ("firmware", Some(firmware)), ("overlay", overlay)];
    let parts = parts.into_iter().filter_map(|(name, state)| Some((name.to_owned(), state?)));
    let parts: BTreeMap<_, _> = parts.collect();
    let is_degraded =
        history == CheckState::Degraded || parts.values().any(|state| *state != CheckState::Ok);
    checks.extend(parts);
    let (code, status) = match (store, storage, scheduler) {
        (CheckState::Fail, ..) => (StatusCode::SERVICE_UNAVAILABLE, CheckState::Fail),
        (_, CheckState::Full | CheckState::Fail, _) | (.., CheckState::Degraded) => {
            (StatusCode::OK, CheckState::Degraded)
        }
        _ if is_degraded => (StatusCode::OK, CheckState::Degraded),
        _ => (StatusCode::OK, CheckState::Ok),
    };
    let health = GatewayHealth {
        status,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: option_env!("GROUNDWAVE_COMMIT").map(str::to_owned),
        build_time: option_env!("GROUNDWAVE_BUILD_TIME").map(str::to_owned),
        uptime_s: world.now_ns() / 1_000_000_000,
        checks,
    };
    (code, Json(health))
}

/// Address ranges.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ranges {
    /// Underlay addresses.
    pub underlay: String,
    /// Overlay addresses.
    pub overlay: String,
}

/// Limits for clients.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Heartbeat period, s.
    pub heartbeat_period_s: f64,
    /// Telemetry interval, s.
    pub telemetry_interval_s: f64,
    /// Lifetime of a token, s.
    pub token_ttl_s: u64,
    /// Maximum lengths of request bodies, bytes.
    pub max_body_bytes: BTreeMap<String, usize>,
}

/// Capabilities of the gateway.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// API version.
    pub api_version: String,
    /// Origin of the data.
    pub mode: Origin,
    /// Features.
    pub features: BTreeMap<String, bool>,
    /// Backends: `netlink`, `cli`, `device`, `fixture`, `configured` or `absent`.
    pub backends: BTreeMap<String, String>,
    /// Address ranges.
    pub ranges: Ranges,
    /// Limits for clients.
    pub limits: Limits,
}

/// Get gateway capabilities
#[utoipa::path(get, path = "/capabilities", tag = "system",
    responses((status = 200, description = "Probed capabilities")))]
pub async fn capabilities(
    _: Anonymous,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(host): State<Arc<Host>>,
    State(firewall): State<Arc<FirewallService>>,
    State(nut): State<Arc<NutServer>>,
    State(impairment): State<Arc<ImpairmentDaemon>>,
    State(testbed): State<Arc<TestbedController>>,
) -> Json<Capabilities> {
    let now_ns = world.now_ns();
    let probe = move || {
        let mut capabilities = host.facilities(now_ns);
        let mut add = |name: &str, word: &str, is_there: bool| {
            let word = if is_there { word } else { "absent" };
            capabilities.insert(name.to_owned(), word.to_owned());
        };
        add("ffmpeg", "cli", find_ffmpeg().is_some());
        add("v4l2", "device", v4l2::is_present());
        Ok(capabilities)
    };
    let mut backends = blocking(probe).await.unwrap_or_default();
    let has_nft = firewall.is_present(now_ns).await;
    let word = if has_nft { "cli" } else { "absent" };
    backends.insert("nft".to_owned(), word.to_owned());
    if nut.is_configured() {
        let word = if nut.answers() { "cli" } else { "absent" };
        backends.insert("nut".to_owned(), word.to_owned());
    }
    let feature = |name: &str, there: bool| (name.to_owned(), there);
    let features = BTreeMap::from([
        feature("onboarding", true),
        feature("telemetry", true),
        feature("topology", true),
        feature("events", true),
        feature("tunnel", settings.tunnel.is_some()),
        feature("dhcp", settings.leases.is_some()),
        feature("camera", true),
        feature("power", true),
        feature("firewall", has_nft),
        feature("model", true),
        feature("flows", true),
        feature("external", true),
        feature("sensors", true),
        feature("impairment", impairment.is_configured()),
        feature("testbed", testbed.is_configured()),
    ]);
    backends.extend(settings.flow_servers.names());
    for (name, answers) in
        [("impaird", impairment.answers().await), ("testbed", testbed.answers().await)]
    {
        let word = if answers { "configured" } else { "absent" };
        backends.insert(name.to_owned(), word.to_owned());
    }
    let bodies = [
        ("default", BODY_BYTES_MAX),
        ("heartbeat", HEARTBEAT_BYTES_MAX),
        ("telemetry", BATCH_BYTES_MAX),
    ];
    Json(Capabilities {
        api_version: "1".to_owned(),
        mode: Origin::Live,
        features,
        backends,
        ranges: Ranges {
            underlay: settings.underlay.to_string(),
            overlay: world.view().onboarding.pool.to_string(),
        },
        limits: Limits {
            heartbeat_period_s: settings.heartbeat.as_secs_f64(),
            telemetry_interval_s: settings.telemetry.as_secs_f64(),
            token_ttl_s: TOKEN_S,
            max_body_bytes: bodies.map(|(name, maximum)| (name.to_owned(), maximum)).into(),
        },
    })
}

/// Get Prometheus metrics: sums, without names
#[utoipa::path(get, path = "/metrics", tag = "system",
    responses((status = 200, description = "OpenMetrics text", content((String = "text/plain"), (String = "application/openmetrics-text")))))]
pub async fn metrics(
    _: Anonymous,
    State(world): State<World>,
    State(metrics): State<Arc<Metrics>>,
    State(certificate): State<Arc<TlsCertificate>>,
    headers: HeaderMap,
) -> Response {
    let text = metrics.text(&world.view(), &certificate);
    let accepts = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let open = accepts.is_some_and(|accepts| accepts.contains("application/openmetrics-text"));
    let media = match open {
        true => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        false => "text/plain; version=0.0.4; charset=utf-8",
    };
    let text = match open {
        true => text,
        false => plain_text(&text),
    };
    ([(header::CONTENT_TYPE, media)], text).into_response()
}

/// OpenAPI document and its ETag.
#[derive(Debug)]
pub struct OwnDocument {
    /// Document.
    pub text: String,
    pub revision: String,
}

/// Get the OpenAPI document
#[utoipa::path(get, path = "/openapi.json", tag = "system",
    params(("if-none-match" = Option<String>, Header, description = "ETag of the caller's copy")),
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value,
            headers(("etag" = String, description = "ETag"))),
        (status = 304, description = "Not modified")))]
pub async fn openapi(
    _: Anonymous,
    Extension(document): Extension<Arc<OwnDocument>>,
    headers: HeaderMap,
) -> Response {
    let tag = tag::tag(&document.revision);
    if tag::is_known(&headers, &document.revision) {
        return (tag, StatusCode::NOT_MODIFIED).into_response();
    }
    let media = [(header::CONTENT_TYPE, "application/json")];
    (tag, media, document.text.clone()).into_response()
}

/// List background tasks
#[utoipa::path(get, path = "/v1/system/tasks", tag = "system",
    responses((status = 200, description = "Sorted by name")))]
pub async fn system_tasks(
    _: Viewer,
    State(tasks): State<Arc<BackgroundTasks>>,
) -> Result<Json<Vec<TaskView>>, Problem> {
    Ok(Json(tasks.view()))
}

groundwave_http::schema_refs!(GatewayHealth);
