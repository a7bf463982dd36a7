//! Reachability probe endpoints.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::fleet::FleetNode;
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem};
use groundwave_protocol::Mac;
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::probes::{Probe, ProbeKind, Probes};
use crate::services::world::{World, missing};
use crate::settings::Settings;

/// Address of a node to probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// Overlay address.
    Overlay,
    /// Underlay address.
    Underlay,
}

/// New probe.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProbe {
    /// Node id or MAC address.
    #[schemars(length(min = 1, max = 64))]
    pub target: String,
    /// Kind: `ping`.
    pub kind: ProbeKind,
    /// Duration, s; default 3.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    pub duration_s: Option<u32>,
    /// Address to probe; default underlay, or overlay without an underlay address.
    #[serde(default)]
    pub via: Option<Via>,
}

/// Id of a probe.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProbeId {
    /// Probe id.
    pub probe_id: Uuid,
}

/// Node of a target.
fn node_of(world: &World, target: &str) -> Result<NodeId, Problem> {
    if let Ok(mac) = target.parse::<Mac>() {
        let node = world.view().fleet.with_mac(mac);
        return node.ok_or_else(|| missing("node", mac));
    }
    let id: Uuid = target.parse().map_err(|_| {
        let message = "invalid target: allowed a node id or a MAC address";
        Problem::field("/target", FieldCode::NotAllowed, message)
    })?;
    Ok(world.node(id)?.id)
}

/// Address to probe. Reported addresses outside the underlay are ignored, so that no node directs
/// packets of the gateway elsewhere.
fn address_of(
    settings: &Settings,
    node: &FleetNode,
    via: Option<Via>,
) -> Result<Ipv4Addr, Problem> {
    let received = node.last_heartbeat.as_deref();
    let claimed = received.and_then(|received| received.heartbeat.underlay_ip);
    let underlay = match claimed {
        Some(IpAddr::V4(ip)) if settings.underlay.holds(ip) => Some(ip),
        _ => None,
    };
    let overlay = node.record.overlay_ip;
    let address = match via {
        Some(Via::Overlay) => overlay,
        Some(Via::Underlay) => underlay,
        None => underlay.or(overlay),
    };
    address.ok_or_else(|| {
        let message = "node without such an address";
        Problem::field("/target", FieldCode::NoAddress, message)
    })
}

/// Start a reachability probe
#[utoipa::path(post, path = "/v1/mesh/probes", tag = "mesh",
    responses((status = 202, description = "Probe started"),
        (status = 404, description = "No such node"),
        (status = 429, description = "Too many running probes")))]
pub async fn probe_create(
    _: Operator,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(probes): State<Arc<Probes>>,
    State(stop): State<CancellationToken>,
    StrictJson(new): StrictJson<NewProbe>,
) -> Result<(StatusCode, Json<ProbeId>), Problem> {
    if new.kind != ProbeKind::Ping {
        let message = "only `ping` is offered: ways are at /v1/mesh/batman/originators, \
                       throughputs at /v1/mesh/batman/neighbors and /v1/mesh/plinks";
        return Err(Problem::field("/kind", FieldCode::NotOffered, message));
    }
    let duration_s = new.duration_s.unwrap_or(3);
    if !(1..=10).contains(&duration_s) {
        let message = format!("invalid duration: found {duration_s}, allowed 1 to 10");
        return Err(Problem::field("/duration_s", FieldCode::NotAllowed, message));
    }
    let node = world.node(node_of(&world, &new.target)?.uuid())?;
    let address = address_of(&settings, &node, new.via)?;
    let duration = Duration::from_secs(u64::from(duration_s));
    let probe_id = probes.ping(node.id, address, duration, stop)?;
    Ok((StatusCode::ACCEPTED, Json(ProbeId { probe_id })))
}

/// Get a reachability probe
#[utoipa::path(get, path = "/v1/mesh/probes/{probe_id}", tag = "mesh",
    params(("probe_id" = Uuid, Path, description = "Probe id")),
    responses((status = 200, description = "Progress and results"),
        (status = 404, description = "No such probe, or no longer kept")))]
pub async fn probe_fetch(
    _: Viewer,
    State(probes): State<Arc<Probes>>,
    Path(probe_id): Path<Uuid>,
) -> Result<Json<Probe>, Problem> {
    probes.get(probe_id).map(Json).ok_or_else(|| missing("probe", probe_id))
}
