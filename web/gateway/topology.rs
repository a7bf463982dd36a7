//! The mesh as a whole: who hears whom, how well, and how well it should be.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_io::wall::wall_ns;
use groundwave_systems::Snapshot;
use groundwave_systems::fleet::{
    Edge, EdgeKind, EdgeStatus, FleetNode, MeshLink, NodeState, ScoreComponent, mesh_score,
    topology,
};
use groundwave_systems::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Gateway;
use super::node::{NodePosition, Origin, position};
use super::predict::{Predicted, predict};
use crate::http::{Ask, Json, Problem};

/// What a node of the graph is beside its name.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphNodeProperties {
    /// Its id.
    pub node_id: Uuid,
    /// Whether it speaks.
    pub state: NodeState,
    /// What it is for.
    pub role: Option<String>,
    /// Its overlay address.
    pub overlay_ip: Option<String>,
    /// Its underlay address.
    pub underlay_ip: Option<String>,
    /// Latitude, WGS 84, degrees.
    pub lat: Option<f64>,
    /// Longitude, WGS 84, degrees.
    pub lon: Option<f64>,
    /// Since it was last heard, ms.
    pub last_seen_msecs: Option<u64>,
    /// Whether others reach the internet through it.
    pub is_gateway: bool,
    /// Where it is from.
    pub origin: Origin,
    /// Whether it is also planned.
    pub planned: bool,
}

/// A node of the graph.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphNode {
    /// Its hardware address, or its id where it has none.
    pub id: String,
    /// What people call it.
    pub label: String,
    /// Its addresses.
    pub local_addresses: Vec<String>,
    /// The rest.
    pub properties: GraphNodeProperties,
}

/// One direction of a link as its receiving end measured it.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Transmit quality of B.A.T.M.A.N. IV, of 255.
    pub tq: Option<u8>,
    /// Throughput of B.A.T.M.A.N. V, kbit/s.
    pub throughput_kbps: Option<u32>,
    /// Received level, dBm.
    pub signal_dbm: Option<f64>,
    /// Since it was last heard, ms.
    pub last_seen_msecs: Option<u64>,
}

impl From<&MeshLink> for Measured {
    fn from(link: &MeshLink) -> Self {
        Self {
            tq: link.tq,
            throughput_kbps: link.throughput_kbps,
            signal_dbm: link.signal_dbm,
            last_seen_msecs: link.last_seen_msecs,
        }
    }
}

/// What a link of the graph is beside its cost.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphLinkProperties {
    /// What makes it a link.
    pub kind: EdgeKind,
    /// Whether it carries traffic.
    pub status: EdgeStatus,
    /// Transmit quality of the worse direction, of 255.
    pub tq: Option<u8>,
    /// Throughput of the worse direction, kbit/s.
    pub throughput_kbps: Option<u32>,
    /// Received level of the worse direction, dBm.
    pub signal_dbm: Option<f64>,
    /// Since it was last heard by either end, ms.
    pub last_seen_msecs: Option<u64>,
    /// Whether either end routes over it.
    pub selected: Option<bool>,
    /// By how much the directions differ in quality, [0, 1].
    pub asymmetry: Option<f64>,
    /// What `source` measured of `target`.
    pub at_source: Option<Measured>,
    /// What `target` measured of `source`.
    pub at_target: Option<Measured>,
    /// What it should be by the plan, over the ground between.
    pub predicted: Option<Predicted>,
    /// Measured level above the predicted one, dB, where there are both.
    pub signal_above_prediction_db: Option<f64>,
}

/// A link of the graph.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    /// One end.
    pub source: String,
    /// The other.
    pub target: String,
    /// 255/TQ, or 10^6/throughput, of the worse direction; 1 where neither was measured.
    pub cost: f64,
    /// The same for people.
    pub cost_text: String,
    /// The rest.
    pub properties: GraphLinkProperties,
}

/// The mesh as a NetJSON NetworkGraph.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NetworkGraph {
    /// `NetworkGraph`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `batman-adv`.
    pub protocol: String,
    /// Version of what measured it.
    pub version: String,
    /// Revision of this document: a digest of what it shows.
    pub revision: String,
    /// `tq` or `throughput`.
    pub metric: String,
    /// Who shows it.
    pub router_id: String,
    /// Which mesh it is.
    pub topology_id: String,
    /// Its name.
    pub label: String,
    /// Nodes in order of their ids.
    pub nodes: Vec<GraphNode>,
    /// Links in order of their ends.
    pub links: Vec<GraphLink>,
    /// Neighbours heard that are no nodes here.
    pub strangers: usize,
    /// Links whose prediction is still to be computed: ask again.
    pub predictions_pending: usize,
}

/// How the topology is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopologyFormat {
    /// NetJSON NetworkGraph.
    #[default]
    Netjson,
    /// GeoJSON: nodes that have a place as points, links between them as lines.
    Geojson,
}

/// Which topology is wanted.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TopologyQuestion {
    /// `netjson` if absent
    #[serde(default)]
    #[param(inline, required = false)]
    pub format: TopologyFormat,
    /// Only of this origin; `live` if absent
    #[param(value_type = Option<Origin>)]
    pub origin: Option<Origin>,
}

fn name_of(node: &FleetNode) -> String {
    let mac = node.member.mac;
    mac.map_or_else(|| node.id.uuid().to_string(), |mac| mac.to_string())
}

fn graph_node(node: &FleetNode, place: Option<NodePosition>, wall_ns: u64) -> GraphNode {
    let said = node.said.as_deref();
    let beat = said.map(|said| &said.beat);
    let underlay_ip = beat
        .and_then(|beat| beat.underlay_ip)
        .map(|ip| ip.to_string());
    let overlay_ip = node.member.overlay_ip.map(|ip| ip.to_string());
    let mac = node.member.mac.map(|mac| mac.to_string());
    let capable = |word: &String| word == "gateway" || word == "internet";
    GraphNode {
        id: name_of(node),
        label: node.member.name.clone(),
        local_addresses: [mac, underlay_ip.clone(), overlay_ip.clone()]
            .into_iter()
            .flatten()
            .collect(),
        properties: GraphNodeProperties {
            node_id: node.id.uuid(),
            state: node.condition.state,
            role: node.member.role_id.clone(),
            overlay_ip,
            underlay_ip,
            lat: place.map(|place| place.lat),
            lon: place.map(|place| place.lon),
            last_seen_msecs: said.map(|said| wall_ns.saturating_sub(said.wall_ns) / 1_000_000),
            is_gateway: beat.is_some_and(|beat| beat.capabilities.iter().any(capable)),
            origin: Origin::Live,
            planned: node.planned_at.is_some(),
        },
    }
}

fn graph_link(
    edge: &Edge,
    [source, target]: [String; 2],
    predicted: Option<Predicted>,
) -> GraphLink {
    let both = || edge.at_a.iter().chain(&edge.at_b);
    let tq = both().filter_map(|link| link.tq).min();
    let throughput_kbps = both().filter_map(|link| link.throughput_kbps).min();
    let signals = both().filter_map(|link| link.signal_dbm);
    let signal_dbm = signals.min_by(f64::total_cmp);
    let cost_text = match (tq, throughput_kbps) {
        (Some(tq), _) => format!("TQ {tq}"),
        (None, Some(rate)) => format!("{:.1} Mbit/s", f64::from(rate) / 1e3),
        (None, None) => "not measured".to_owned(),
    };
    GraphLink {
        source,
        target,
        cost: edge.cost().unwrap_or(1.0),
        cost_text,
        properties: GraphLinkProperties {
            kind: EdgeKind::Batman,
            status: edge.status,
            tq,
            throughput_kbps,
            signal_dbm,
            last_seen_msecs: both().filter_map(|link| link.last_seen_msecs).min(),
            selected: both().filter_map(|link| link.selected).max(),
            asymmetry: edge.asymmetry(),
            at_source: edge.at_a.as_ref().map(Measured::from),
            at_target: edge.at_b.as_ref().map(Measured::from),
            predicted,
            signal_above_prediction_db: signal_dbm
                .zip(predicted)
                .map(|(signal_dbm, predicted)| signal_dbm - predicted.rx_power_dbm),
        },
    }
}

/// The graph of `view` as of `wall_ns`, ns since the Unix epoch.
///
/// # Errors
/// When predictions fail as a whole.
pub async fn graph(
    gateway: &Gateway,
    view: &Snapshot,
    revision: String,
    wall_ns: u64,
) -> Result<NetworkGraph, Problem> {
    let found = topology(&view.fleet);
    let ends: Vec<(NodeId, NodeId)> = found.edges.iter().map(|edge| (edge.a, edge.b)).collect();
    let (predicted, predictions_pending) = predict(gateway, &ends).await?;
    let name = |id: NodeId| {
        view.fleet
            .nodes
            .get(&id)
            .map_or_else(String::new, |node| name_of(node))
    };
    let by_rate = |link: &&GraphLink| link.properties.throughput_kbps.is_some();
    let links: Vec<GraphLink> = found
        .edges
        .iter()
        .map(|edge| {
            let predicted = predicted.get(&(edge.a, edge.b)).copied();
            graph_link(edge, [name(edge.a), name(edge.b)], predicted)
        })
        .collect();
    let by_rate = links.iter().filter(by_rate).count();
    let nodes = view.fleet.nodes.values();
    Ok(NetworkGraph {
        kind: "NetworkGraph".to_owned(),
        protocol: "batman-adv".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision,
        metric: if by_rate * 2 > links.len() {
            "throughput"
        } else {
            "tq"
        }
        .to_owned(),
        router_id: gateway.settings.overlay.gateway().to_string(),
        topology_id: "fleet".to_owned(),
        label: "groundwave".to_owned(),
        nodes: nodes
            .map(|node| graph_node(node, position(node), wall_ns))
            .collect(),
        links,
        strangers: found.strangers,
        predictions_pending,
    })
}

/// A digest of what the graph shows but the passing of time: who is there, and what they said.
fn revision(view: &Snapshot) -> String {
    let mut digest = Sha256::new();
    for node in view.fleet.nodes.values() {
        digest.update(node.id.as_u128().to_be_bytes());
        digest.update(node.member.revision.to_be_bytes());
        digest.update([node.condition.state as u8]);
        let heard_ns = node.said.as_ref().map_or(0, |said| said.wall_ns);
        digest.update(heard_ns.to_be_bytes());
    }
    digest.finalize()[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// The graph as GeoJSON (RFC 7946): what has a place.
fn geojson(graph: &NetworkGraph) -> serde_json::Value {
    use serde_json::json;
    let places: std::collections::BTreeMap<&str, [f64; 2]> = graph
        .nodes
        .iter()
        .filter_map(|node| {
            let at = [node.properties.lon?, node.properties.lat?];
            Some((node.id.as_str(), at))
        })
        .collect();
    let place = |id: &str| places.get(id).copied();
    let points = graph.nodes.iter().filter_map(|node| {
        let at = [node.properties.lon?, node.properties.lat?];
        Some(json!({ "type": "Feature", "id": node.id,
            "geometry": { "type": "Point", "coordinates": at },
            "properties": { "label": node.label, "state": node.properties.state } }))
    });
    let lines = graph.links.iter().filter_map(|link| {
        let ends = [place(&link.source)?, place(&link.target)?];
        Some(json!({ "type": "Feature",
            "geometry": { "type": "LineString", "coordinates": ends },
            "properties": { "source": link.source, "target": link.target, "cost": link.cost,
                "status": link.properties.status, "tq": link.properties.tq } }))
    });
    json!({ "type": "FeatureCollection", "features": points.chain(lines).collect::<Vec<_>>() })
}

/// The mesh: who hears whom, measured and predicted side by side
#[utoipa::path(get, path = "/v1/mesh/topology", tag = "mesh", operation_id = "mesh_topology", params(TopologyQuestion,
        ("if-none-match" = Option<String>, Header, description = "The revision the caller has")),
    responses((status = 200, description = "NetJSON NetworkGraph, or GeoJSON", content((NetworkGraph = "application/json"), (serde_json::Value = "application/geo+json")),
            headers(("etag" = String, description = "Its revision"))),
        (status = 304, description = "It is as it was")))]
pub async fn mesh_topology(
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Ask(asked): Ask<TopologyQuestion>,
) -> Result<Response, Problem> {
    let view = gateway.world.view();
    let empty;
    let shown: &Snapshot = match asked.origin {
        // What is computed or replayed is not mixed with what is there.
        Some(Origin::Replay | Origin::Sim) => {
            empty = Snapshot::default();
            &empty
        }
        _ => &view,
    };
    let revision = revision(shown);
    let tag = format!("\"{revision}\"");
    let known = headers
        .get(header::IF_NONE_MATCH)
        .and_then(|held| held.to_str().ok());
    let same = known.is_some_and(|known| known.split(',').any(|one| one.trim() == tag));
    let mut answer = if same {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let graph = graph(&gateway, shown, revision, wall_ns()).await?;
        match asked.format {
            TopologyFormat::Netjson => Json(graph).into_response(),
            TopologyFormat::Geojson => {
                let mut answer = Json(geojson(&graph)).into_response();
                let media = HeaderValue::from_static("application/geo+json");
                answer.headers_mut().insert(header::CONTENT_TYPE, media);
                answer
            }
        }
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        answer.headers_mut().insert(header::ETAG, tag);
    }
    Ok(answer)
}

/// How well the mesh is.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MeshHealth {
    /// 0 to 100.
    pub score: f64,
    /// `A` to `F`.
    pub grade: String,
    /// What the score is made of: each weight times its score.
    pub components: Vec<ScoreComponent>,
    /// Parts of the mesh that do not reach each other.
    pub partitions: usize,
    /// Nodes without which some part would be cut off.
    pub articulation_nodes: Vec<Uuid>,
}

/// How well the mesh is, in one number that can be checked
#[utoipa::path(get, path = "/v1/mesh/health", tag = "mesh", operation_id = "mesh_health",
    responses((status = 200, description = "The score and what it is made of", body = MeshHealth)))]
pub async fn mesh_health(State(gateway): State<Gateway>) -> Json<MeshHealth> {
    let view = gateway.world.view();
    let score = mesh_score(&view.fleet, &topology(&view.fleet));
    Json(MeshHealth {
        score: score.score,
        grade: score.grade.to_owned(),
        components: score.components,
        partitions: score.partitions,
        articulation_nodes: score
            .articulation_nodes
            .iter()
            .map(|id| id.uuid())
            .collect(),
    })
}
