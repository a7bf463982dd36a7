//! Reachability probe endpoints.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_systems::fleet::FleetNode;
use groundwave_systems::onboarding::Mac;
use groundwave_systems::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::gateway::access::{Operator, Viewer};
use crate::gateway::services::probes::{Probe, ProbeKind, Probes};
use crate::gateway::services::world::{World, missing};
use crate::gateway::settings::Settings;
use crate::http::json_body::StrictJson;
use crate::http::problem::FieldCode;
use crate::http::{Json, Path, Problem};

/// Which of a node's addresses is probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Via {
    /// That in the tunnel.
    Overlay,
    /// That in the mesh.
    Underlay,
}

/// A probe wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProbe {
    /// The node: its id or its hardware address.
    #[schemars(length(min = 1, max = 64))]
    pub target: String,
    /// What to probe: `ping`.
    pub kind: ProbeKind,
    /// For how long, s; 3 if absent.
    #[serde(default)]
    #[schemars(range(min = 1, max = 10))]
    pub duration_s: Option<u32>,
    /// Which of its addresses; if absent that in the mesh, or where it has none that in the tunnel.
    #[serde(default)]
    pub via: Option<Via>,
}

/// Which probe it is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ProbeId {
    /// Its id.
    pub probe_id: Uuid,
}

/// The node that a target names.
fn node_of(world: &World, target: &str) -> Result<NodeId, Problem> {
    if let Ok(mac) = target.parse::<Mac>() {
        let found = world.view().fleet.with_mac(mac);
        return found.ok_or_else(|| missing("node", mac));
    }
    let id: Uuid = target.parse().map_err(|_| {
        let message = "invalid target: allowed a node id or a MAC address";
        Problem::field("/target", FieldCode::NotAllowed, message)
    })?;
    Ok(world.node(id)?.id)
}

/// The address to probe. What a node says of itself is only believed within the underlay: nobody
/// makes the gateway send packets anywhere else.
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
    let found = match via {
        Some(Via::Overlay) => overlay,
        Some(Via::Underlay) => underlay,
        None => underlay.or(overlay),
    };
    found.ok_or_else(|| {
        let message = "node without such an address";
        Problem::field("/target", FieldCode::NoAddress, message)
    })
}

/// Probe a node
#[utoipa::path(post, path = "/v1/mesh/probes", tag = "mesh",
    responses((status = 202, description = "It begins; ask for it by its id"),
        (status = 404, description = "No such node"),
        (status = 429, description = "So many run already")))]
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
        return Err(Problem::field(
            "/duration_s",
            FieldCode::NotAllowed,
            message,
        ));
    }
    let node = world.node(node_of(&world, &new.target)?.uuid())?;
    let address = address_of(&settings, &node, new.via)?;
    let duration = Duration::from_secs(u64::from(duration_s));
    let probe_id = probes.ping(node.id, address, duration, stop)?;
    Ok((StatusCode::ACCEPTED, Json(ProbeId { probe_id })))
}

/// A probe
#[utoipa::path(get, path = "/v1/mesh/probes/{probe_id}", tag = "mesh",
    params(("probe_id" = Uuid, Path, description = "Which probe")),
    responses((status = 200, description = "As far as it is"),
        (status = 404, description = "No such probe, or long ago")))]
pub async fn probe_fetch(
    _: Viewer,
    State(probes): State<Arc<Probes>>,
    Path(probe_id): Path<Uuid>,
) -> Result<Json<Probe>, Problem> {
    let found = probes.get(probe_id);
    found.map(Json).ok_or_else(|| missing("probe", probe_id))
}
