//! The mesh as `meshviewer.json`, the form of map pages of mesh communities (yanic, meshviewer).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use groundwave_files::wall::wall_ns;
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::{Edge, EdgeStatus, FleetNode};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem};
use groundwave_protocol::{MeshLink, NodeState, RegistrationState};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PRIVATE, permit};
use crate::access::Anonymous;
use crate::nodes::view::{position, registration};
use crate::services::world::World;
use crate::settings::Settings;

/// Position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshviewerLocation {
    /// Latitude, WGS 84, degrees.
    pub latitude: f64,
    /// Longitude, WGS 84, degrees.
    pub longitude: f64,
}

/// Firmware of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MeshviewerFirmware {
    /// Version.
    pub release: String,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshviewerNode {
    /// Node id, 32 hexadecimal digits.
    pub node_id: String,
    /// Name.
    pub hostname: String,
    /// Time of the first heartbeat, RFC 3339.
    pub firstseen: String,
    /// Time of the last heartbeat, RFC 3339.
    pub lastseen: String,
    /// `true` if it is online.
    pub is_online: bool,
    /// `true` if it offers internet access to others.
    pub is_gateway: bool,
    /// Clients, 0: the gateway counts none.
    pub clients: u32,
    /// Position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<MeshviewerLocation>,
    /// Board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Firmware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<MeshviewerFirmware>,
}

/// A link between two nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeshviewerLink {
    /// `wifi`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Node id of one end.
    pub source: String,
    /// Node id of the other end.
    pub target: String,
    /// Transmit quality as the source measures it, [0, 1].
    pub source_tq: f64,
    /// Transmit quality as the target measures it, [0, 1].
    pub target_tq: f64,
}

/// The mesh in the form of meshviewer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meshviewer {
    /// Time, RFC 3339.
    pub timestamp: String,
    /// Nodes in order of their ids.
    pub nodes: Vec<MeshviewerNode>,
    /// Links that a node which is online reports.
    pub links: Vec<MeshviewerLink>,
}

fn key(node: NodeId) -> String {
    node.uuid().simple().to_string()
}

fn is_public(view: &Snapshot, node: &FleetNode) -> bool {
    registration(view, node) == Some(RegistrationState::Approved)
        && !node.record.tags.iter().any(|tag| tag.eq_ignore_ascii_case(PRIVATE))
}

fn meshviewer_node(node: &FleetNode) -> MeshviewerNode {
    let received = node.last_heartbeat.as_deref();
    let firmware = node.record.firmware.values().next();
    MeshviewerNode {
        node_id: key(node.id),
        hostname: node.record.name.clone(),
        firstseen: rfc3339(received.map_or(node.record.created_ns, |received| received.first_ns)),
        lastseen: rfc3339(received.map_or(node.record.created_ns, |received| received.wall_ns)),
        is_online: node.liveness.state == NodeState::Online,
        is_gateway: received.is_some_and(|received| received.heartbeat.has_uplink()),
        clients: 0,
        location: position(node)
            .map(|place| MeshviewerLocation { latitude: place.lat, longitude: place.lon }),
        model: node.record.board.clone(),
        firmware: firmware.map(|release| MeshviewerFirmware { release: release.clone() }),
    }
}

fn link(edge: &Edge) -> Option<MeshviewerLink> {
    let worse = edge.quality()?;
    let rounded = |quality: f64| (quality * 1000.0).round() / 1000.0;
    let quality = |link: &Option<MeshLink>| {
        let tq = link.as_ref().and_then(|link| link.tq);
        rounded(tq.map_or(worse, |tq| f64::from(tq) / groundwave_gateway::fleet::TQ_FULL))
    };
    Some(MeshviewerLink {
        kind: "wifi".to_owned(),
        source: key(edge.a),
        target: key(edge.b),
        source_tq: quality(&edge.at_a),
        target_tq: quality(&edge.at_b),
    })
}

/// Nodes of the public part of the mesh.
pub(super) fn public_nodes(view: &Snapshot) -> BTreeMap<NodeId, &FleetNode> {
    let nodes = view.fleet.nodes.iter().filter(|(_, node)| is_public(view, node));
    nodes.map(|(id, node)| (*id, &**node)).collect()
}

/// The public part of the mesh.
pub fn meshviewer(view: &Snapshot, wall_ns: u64) -> Meshviewer {
    let nodes = public_nodes(view);
    let edges = view.fleet.edges().filter(|edge| {
        edge.status == EdgeStatus::Up && nodes.contains_key(&edge.a) && nodes.contains_key(&edge.b)
    });
    Meshviewer {
        timestamp: rfc3339(wall_ns),
        links: edges.filter_map(link).collect(),
        nodes: nodes.into_values().map(meshviewer_node).collect(),
    }
}

/// Header fields of public documents: kept for 30 s, readable by pages of any origin.
pub fn public_headers() -> [(HeaderName, HeaderValue); 2] {
    [
        (header::CACHE_CONTROL, HeaderValue::from_static("public, max-age=30")),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
    ]
}

/// Get the public mesh for map pages, in the form of meshviewer
#[utoipa::path(get, path = "/meshviewer.json", tag = "system",
    responses((status = 200, description = "Nodes with positions and states, links with their quality"),
        (status = 404, description = "No public map")))]
pub async fn public_meshviewer(
    _: Anonymous,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
) -> Result<([(HeaderName, HeaderValue); 2], Json<Meshviewer>), Problem> {
    permit(&settings)?;
    Ok((public_headers(), Json(meshviewer(&world.view(), wall_ns()))))
}
