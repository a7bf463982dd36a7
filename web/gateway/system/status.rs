//! The gateway itself: whether it is well, what it can do, what it counts, what it is.

use std::collections::BTreeMap;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_engine::Health as WorldHealth;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::gateway::access::{Anonymous, Viewer};
use crate::gateway::nodes::view::Origin;
use crate::gateway::services::host::Host;
use crate::gateway::services::limits::{BATCH_BYTES_MAX, BODY_BYTES_MAX, HEARTBEAT_BYTES_MAX};
use crate::gateway::services::metrics::Metrics;
use crate::gateway::services::tasks::{BackgroundTasks, TaskView};
use crate::gateway::services::tokens::TOKEN_S;
use crate::gateway::services::world::{World, blocking};
use crate::gateway::settings::Settings;
use crate::http::{Json, Problem, tag};

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// It works.
    Ok,
    /// It works in part.
    Degraded,
    /// It is not there.
    Absent,
    /// It fails.
    Fail,
}

/// Whether the gateway is well.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GatewayHealth {
    /// `ok`, `degraded` or `fail`.
    pub status: CheckState,
    /// Version of the gateway.
    pub version: String,
    /// The commit it was built from, where that is known.
    pub git_commit: Option<String>,
    /// When it was built, RFC 3339, where that is known.
    pub build_time: Option<String>,
    /// Since it began, s.
    pub uptime_s: u64,
    /// What it depends on.
    pub checks: BTreeMap<String, CheckState>,
}

/// Whether the gateway is well
#[utoipa::path(get, path = "/health", tag = "system",
    responses((status = 200, description = "It takes requests", body = GatewayHealth),
        (status = 503, description = "It does not", body = GatewayHealth)))]
pub async fn health(
    _: Anonymous,
    State(world): State<World>,
    State(metrics): State<Arc<Metrics>>,
    State(host): State<Arc<Host>>,
) -> (StatusCode, Json<GatewayHealth>) {
    let now_ns = world.now_ns();
    let backends = blocking(move || Ok(host.facilities(now_ns)))
        .await
        .unwrap_or_default();
    let store = match world.health() {
        WorldHealth::Ready => CheckState::Ok,
        WorldHealth::Stopped | WorldHealth::Broken(_) => CheckState::Fail,
    };
    let faults = metrics.history_faults.get();
    let scheduler = match faults {
        0 => CheckState::Ok,
        _ => CheckState::Degraded,
    };
    let there = |word: &str| match word {
        "absent" => CheckState::Absent,
        _ => CheckState::Ok,
    };
    let backend = |name: &str| {
        backends
            .get(name)
            .map_or(CheckState::Absent, |word| there(word))
    };
    let checks = BTreeMap::from([
        ("store".to_owned(), store),
        ("netlink".to_owned(), CheckState::Ok),
        ("batman".to_owned(), backend("batman")),
        ("wireguard".to_owned(), backend("wireguard")),
        ("scheduler".to_owned(), scheduler),
    ]);
    let (code, status) = match (store, scheduler) {
        (CheckState::Fail, _) => (StatusCode::SERVICE_UNAVAILABLE, CheckState::Fail),
        (_, CheckState::Degraded) => (StatusCode::OK, CheckState::Degraded),
        _ => (StatusCode::OK, CheckState::Ok),
    };
    let told = GatewayHealth {
        status,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        git_commit: option_env!("GROUNDWAVE_COMMIT").map(str::to_owned),
        build_time: option_env!("GROUNDWAVE_BUILD_TIME").map(str::to_owned),
        uptime_s: world.now_ns() / 1_000_000_000,
        checks,
    };
    (code, Json(told))
}

/// The ranges of addresses.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Ranges {
    /// Underlay addresses.
    pub underlay: String,
    /// Overlay addresses.
    pub overlay: String,
}

/// What a client has to keep to.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// Time between two heartbeats, s.
    pub heartbeat_period_s: f64,
    /// Time between two reports of readings, s.
    pub telemetry_interval_s: f64,
    /// How long a token lives, s.
    pub token_ttl_s: u64,
    /// Longest bodies, bytes.
    pub max_body_bytes: BTreeMap<String, usize>,
}

/// What the gateway can do.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Capabilities {
    /// Version of this interface.
    pub api_version: String,
    /// Whether what it shows is there, was there or is computed.
    pub mode: Origin,
    /// What it offers.
    pub features: BTreeMap<String, bool>,
    /// How it reaches the machine: `netlink`, `cli`, `fixture` or `absent`.
    pub backends: BTreeMap<String, String>,
    /// Its ranges of addresses.
    pub ranges: Ranges,
    /// What a client has to keep to.
    pub limits: Limits,
}

/// What the gateway can do
#[utoipa::path(get, path = "/capabilities", tag = "system",
    responses((status = 200, description = "Probed, not promised")))]
pub async fn capabilities(
    _: Anonymous,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(host): State<Arc<Host>>,
) -> Json<Capabilities> {
    let now_ns = world.now_ns();
    let backends = blocking(move || Ok(host.facilities(now_ns)))
        .await
        .unwrap_or_default();
    let feature = |name: &str, there: bool| (name.to_owned(), there);
    let features = BTreeMap::from([
        feature("onboarding", true),
        feature("telemetry", true),
        feature("topology", true),
        feature("events", true),
        feature("tunnel", settings.tunnel.is_some()),
        feature("dhcp", settings.leases.is_some()),
        feature("camera", false),
        feature("power", false),
        feature("firewall", false),
        feature("model", false),
        feature("flows", false),
        feature("external", false),
        feature("sensors", false),
    ]);
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
            overlay: settings.overlay.to_string(),
        },
        limits: Limits {
            heartbeat_period_s: settings.heartbeat.as_secs_f64(),
            telemetry_interval_s: settings.telemetry.as_secs_f64(),
            token_ttl_s: TOKEN_S,
            max_body_bytes: bodies.map(|(name, most)| (name.to_owned(), most)).into(),
        },
    })
}

/// What the gateway counts, for Prometheus: sums, never names
#[utoipa::path(get, path = "/metrics", tag = "system",
    responses((status = 200, description = "Text of OpenMetrics", content((String = "text/plain"), (String = "application/openmetrics-text")))))]
pub async fn metrics(
    _: Anonymous,
    State(world): State<World>,
    State(metrics): State<Arc<Metrics>>,
    headers: HeaderMap,
) -> Response {
    let text = metrics.text(&world.view());
    let accepts = headers
        .get(header::ACCEPT)
        .and_then(|held| held.to_str().ok());
    let open = accepts.is_some_and(|accepts| accepts.contains("application/openmetrics-text"));
    let media = match open {
        true => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        false => "text/plain; version=0.0.4; charset=utf-8",
    };
    // The older text has no end mark.
    let text = match open {
        true => text,
        false => text.replace("# EOF\n", ""),
    };
    ([(header::CONTENT_TYPE, media)], text).into_response()
}

/// The document of this interface and its tag.
#[derive(Debug)]
pub struct OwnDocument {
    /// The document.
    pub text: String,
    /// Its revision.
    pub revision: String,
}

/// The document of this interface
#[utoipa::path(get, path = "/openapi.json", tag = "system",
    params(("if-none-match" = Option<String>, Header, description = "The tag of what the caller has")),
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value,
            headers(("etag" = String, description = "Its tag"))),
        (status = 304, description = "It is as it was")))]
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

/// What the gateway does again and again
#[utoipa::path(get, path = "/v1/system/tasks", tag = "system",
    responses((status = 200, description = "By name")))]
pub async fn system_tasks(
    _: Viewer,
    State(tasks): State<Arc<BackgroundTasks>>,
) -> Result<Json<Vec<TaskView>>, Problem> {
    Ok(Json(tasks.view()))
}

crate::schema_refs!(GatewayHealth);
