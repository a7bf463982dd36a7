//! Mesh graph: made by all threads, written as NetJSON and GeoJSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use groundwave_files::hex::hex;
use groundwave_gateway::Snapshot;
use groundwave_gateway::fleet::{Edge, EdgeKind, EdgeStatus, FleetNode, PredictedLink};
use groundwave_http::time::rfc3339;
use groundwave_protocol::{MeshLink, NodeState};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::task::block_in_place;
use uuid::Uuid;

use crate::nodes::view::{NodePosition, Origin, position};

/// Properties of a node of the graph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GraphNodeProperties {
    /// Node id.
    pub node_id: Uuid,
    /// Liveness state.
    pub state: NodeState,
    /// Role.
    pub role: Option<String>,
    /// Overlay address.
    pub overlay_ip: Option<String>,
    /// Underlay address.
    pub underlay_ip: Option<String>,
    /// Latitude, WGS 84, degrees.
    pub lat: Option<f64>,
    /// Longitude, WGS 84, degrees.
    pub lon: Option<f64>,
    /// Time since the last heartbeat, ms.
    pub last_seen_msecs: Option<u64>,
    /// `true` if the node offers internet access to others.
    pub is_gateway: bool,
    /// Origin of the data.
    pub origin: Origin,
    /// `true` if the node is also planned.
    pub planned: bool,
}

/// A node of the graph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GraphNode {
    /// Hardware address, or node id where there is none.
    pub id: String,
    /// Name.
    pub label: String,
    /// Addresses.
    pub local_addresses: Vec<String>,
    /// Properties.
    pub properties: GraphNodeProperties,
}

/// Measurement of one direction of a link by its receiving end.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Transmit quality of B.A.T.M.A.N. IV, of 255.
    pub tq: Option<u8>,
    /// Throughput of B.A.T.M.A.N. V, kbit/s.
    pub throughput_kbps: Option<u32>,
    /// Received signal level, dBm.
    pub signal_dbm: Option<f64>,
    /// Time since its last heartbeat, ms.
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

/// Properties of a link of the graph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GraphLinkProperties {
    /// Source of the link.
    pub kind: EdgeKind,
    /// State of the link.
    pub status: EdgeStatus,
    /// Transmit quality of the worse direction, of 255.
    pub tq: Option<u8>,
    /// Throughput of the worse direction, kbit/s.
    pub throughput_kbps: Option<u32>,
    /// Received signal level of the worse direction, dBm.
    pub signal_dbm: Option<f64>,
    /// Time since either end last received from the other, ms.
    pub last_seen_msecs: Option<u64>,
    /// `true` if either node routes over the link.
    pub selected: Option<bool>,
    /// Difference in quality between the directions, [0, 1].
    pub asymmetry: Option<f64>,
    /// Measurement of `target` by `source`.
    pub at_source: Option<Measured>,
    /// Measurement of `source` by `target`.
    pub at_target: Option<Measured>,
    /// Prediction of the plan over the terrain, where both ends are planned.
    pub predicted: Option<PredictedLink>,
    /// Measured minus predicted signal level, dB, where there are both.
    pub signal_above_prediction_db: Option<f64>,
}

/// A link of the graph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct GraphLink {
    /// One end.
    pub source: String,
    /// Other end.
    pub target: String,
    /// 255/TQ, or 10^6/throughput, of the worse direction; 1 where neither was measured.
    pub cost: f64,
    /// Cost as text.
    pub cost_text: String,
    /// Properties.
    pub properties: GraphLinkProperties,
}

/// Mesh as a NetJSON NetworkGraph.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct NetworkGraph {
    /// `NetworkGraph`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `batman-adv`.
    pub protocol: String,
    /// Version of the gateway.
    pub version: String,
    /// Revision: a digest of the content.
    pub revision: String,
    /// Time of the content, RFC 3339.
    pub at: String,
    /// `tq` or `throughput`.
    pub metric: String,
    /// Overlay address of the gateway.
    pub router_id: String,
    /// Topology id.
    pub topology_id: String,
    /// Label.
    pub label: String,
    /// Nodes in order of their ids.
    pub nodes: Vec<GraphNode>,
    /// Links in order of their ends.
    pub links: Vec<GraphLink>,
    /// Reported neighbors outside this mesh.
    #[serde(rename = "strangers")]
    pub unknown_neighbors: usize,
    /// Links whose prediction is still to be evaluated; it follows within seconds.
    pub predictions_pending: usize,
}

fn name_of(node: &FleetNode) -> String {
    let mac = node.record.mac;
    mac.map_or_else(|| node.id.uuid().to_string(), |mac| mac.to_string())
}

fn graph_node(
    node: &FleetNode,
    id: String,
    place: Option<NodePosition>,
    wall_ns: u64,
) -> GraphNode {
    let received = node.last_heartbeat.as_deref();
    let heartbeat = received.map(|received| &received.heartbeat);
    let underlay_ip =
        heartbeat.and_then(|heartbeat| heartbeat.underlay_ip).map(|ip| ip.to_string());
    let overlay_ip = node.record.overlay_ip.map(|ip| ip.to_string());
    let mac = node.record.mac.map(|mac| mac.to_string());
    GraphNode {
        id,
        label: node.record.name.clone(),
        local_addresses: [mac, underlay_ip.clone(), overlay_ip.clone()]
            .into_iter()
            .flatten()
            .collect(),
        properties: GraphNodeProperties {
            node_id: node.id.uuid(),
            state: node.liveness.state,
            role: node.record.role_id.clone(),
            overlay_ip,
            underlay_ip,
            lat: place.as_ref().map(|place| place.lat),
            lon: place.as_ref().map(|place| place.lon),
            last_seen_msecs: received
                .map(|received| wall_ns.saturating_sub(received.wall_ns) / 1_000_000),
            is_gateway: heartbeat.is_some_and(|heartbeat| heartbeat.has_uplink()),
            origin: Origin::Live,
            planned: node.planned_at.is_some(),
        },
    }
}

fn graph_link(edge: &Edge, [source, target]: [String; 2]) -> GraphLink {
    let predicted = edge.predicted;
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

/// Nodes or links that one thread writes at a time.
const PART: usize = 1_000;
/// Typical length of one of them as text, bytes.
const ROOM: usize = 640;

/// A graph to be written: the mesh at one moment. Nodes and links of a large mesh are 20 MB of text:
/// they are made a few thousand at a time, by all threads.
pub struct Drawing {
    /// Nodes in order of their ids, with their names in the graph.
    nodes: Vec<(Arc<FleetNode>, String)>,
    /// Links in order of their ends: index of the node with the lower id, index among its links.
    links: Vec<(usize, usize)>,
    /// The document without nodes and links.
    frame: NetworkGraph,
    wall_ns: u64,
}

/// The graph of `view` at `wall_ns`, ns since the Unix epoch.
#[must_use]
pub fn drawing(view: &Snapshot, revision: String, wall_ns: u64) -> Drawing {
    let fleet = &view.fleet;
    let nodes: Vec<Arc<FleetNode>> = fleet.nodes.values().map(Arc::clone).collect();
    let nodes: Vec<_> = block_in_place(|| {
        let named = nodes.into_par_iter().map(|node| {
            let name = name_of(&node);
            (node, name)
        });
        named.collect()
    });
    let links: Vec<_> = nodes
        .iter()
        .enumerate()
        .flat_map(|(index, (node, _))| (0..node.edges.len()).map(move |edge| (index, edge)))
        .collect();
    let sides = |edge: &Edge| [&edge.at_a, &edge.at_b].map(|side| side.as_ref()?.throughput_kbps);
    let by_rate = |edge: &&Edge| sides(edge).iter().any(Option::is_some);
    let metric = match fleet.edges().filter(by_rate).count() * 2 > links.len() {
        true => "throughput",
        false => "tq",
    };
    let frame = NetworkGraph {
        kind: "NetworkGraph".to_owned(),
        protocol: "batman-adv".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision,
        at: rfc3339(wall_ns),
        metric: metric.to_owned(),
        router_id: view.onboarding.pool.gateway().to_string(),
        topology_id: "fleet".to_owned(),
        label: "groundwave".to_owned(),
        nodes: Vec::new(),
        links: Vec::new(),
        unknown_neighbors: fleet.unknown_neighbors,
        predictions_pending: fleet.predictions_pending,
    };
    Drawing { nodes, links, frame, wall_ns }
}

impl Drawing {
    fn node(&self, (node, name): &(Arc<FleetNode>, String)) -> GraphNode {
        graph_node(node, name.clone(), position(node), self.wall_ns)
    }

    fn link(&self, (node, edge): (usize, usize)) -> Option<GraphLink> {
        let (node, source) = &self.nodes[node];
        let edge = &node.edges[edge];
        let target = self.nodes.binary_search_by_key(&edge.b, |(node, _)| node.id);
        let (_, target) = &self.nodes[target.ok()?];
        Some(graph_link(edge, [source.clone(), target.clone()]))
    }

    /// Whole graph.
    #[must_use]
    pub fn graph(&self) -> NetworkGraph {
        let nodes = self.nodes.par_iter().map(|node| self.node(node));
        let links = self.links.par_iter();
        NetworkGraph {
            nodes: nodes.collect(),
            links: links.filter_map(|link| self.link(*link)).collect(),
            ..self.frame.clone()
        }
    }

    /// Whole graph as JSON, in consecutive pieces.
    pub fn pieces(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.pieces_of(PART)
    }

    /// As [`pieces`](Self::pieces), with the number of nodes or links of each piece.
    ///
    /// # Panics
    /// When `part` is 0.
    pub fn pieces_of(&self, part: usize) -> impl Iterator<Item = Bytes> + '_ {
        let frame = serde_json::to_string(&self.frame).expect("a frame is JSON");
        // Neither is in a text of the frame: quotes in texts are escaped.
        let (head, rest) = frame.split_once("\"nodes\":[").expect("it has nodes");
        let (between, tail) = rest.split_once("\"links\":[").expect("it has links");
        let text = |text: String| std::iter::once(Bytes::from(text));
        text(format!("{head}\"nodes\":["))
            .chain(parts(&self.nodes, part, |node| Some(self.node(node))))
            .chain(text(format!("{between}\"links\":[")))
            .chain(parts(&self.links, part, |link| self.link(*link)))
            .chain(text(tail.to_owned()))
    }
}

/// A list as JSON with commas between, in parts made by all threads on demand: a few at a
/// time.
fn parts<'l, T: Sync, U: Serialize>(
    list: &'l [T],
    part: usize,
    make: impl Fn(&T) -> Option<U> + Sync + 'l,
) -> impl Iterator<Item = Bytes> + 'l {
    let at_once = part * rayon::current_num_threads() * 2;
    let write = move |(number, list): (usize, &[T]), begun: bool| {
        let mut text = Vec::with_capacity(list.len() * ROOM);
        for (place, one) in list.iter().enumerate() {
            if begun || number + place > 0 {
                text.push(b',');
            }
            let value = make(one).expect("what is drawn is of this view");
            serde_json::to_writer(&mut text, &value).expect("a graph is JSON");
        }
        Bytes::from(text)
    };
    list.chunks(at_once).enumerate().flat_map(move |(round, list)| {
        list.par_chunks(part).enumerate().map(|one| write(one, round > 0)).collect::<Vec<_>>()
    })
}

/// Digest of the content without the passage of time: nodes, heartbeats, plan,
/// predictions.
#[must_use]
pub fn revision(view: &Snapshot) -> String {
    let mut digest = Sha256::new();
    digest.update(view.fleet.predictions_evaluated.to_be_bytes());
    for node in view.fleet.nodes.values() {
        if let Some(planned) = view.plan.nodes.get(&node.id) {
            let around = view.plan.deployments.get(&planned.deployment);
            let around_ns = around.map_or(0, |deployment| deployment.stamps.updated_ns);
            digest.update(planned.stamps.updated_ns.to_be_bytes());
            digest.update(around_ns.to_be_bytes());
        }
        digest.update(node.id.as_u128().to_be_bytes());
        digest.update(node.record.revision.to_be_bytes());
        digest.update([node.liveness.state as u8]);
        let heard_ns = node.last_heartbeat.as_ref().map_or(0, |received| received.wall_ns);
        digest.update(heard_ns.to_be_bytes());
    }
    hex(&digest.finalize()[..8])
}

/// Graph as GeoJSON (RFC 7946): nodes with a location, and the links between them.
#[must_use]
pub fn geojson(graph: &NetworkGraph) -> serde_json::Value {
    use serde_json::json;
    let places: BTreeMap<&str, [f64; 2]> = graph
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

groundwave_http::schema_refs!(NetworkGraph);
