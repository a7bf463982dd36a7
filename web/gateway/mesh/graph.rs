//! The mesh as a graph: drawn by all threads, written as NetJSON and GeoJSON.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use groundwave_io::hex::hex;
use groundwave_systems::Snapshot;
use groundwave_systems::fleet::{
    Edge, EdgeKind, EdgeStatus, FleetNode, MeshLink, NodeState, TopologyGraph, topology,
};
use groundwave_systems::site::NodeId;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::task::block_in_place;
use uuid::Uuid;

use crate::gateway::mesh::predict::{Predicted, predict};
use crate::gateway::nodes::view::{NodePosition, Origin, position};
use crate::gateway::state::Gateway;
use crate::http::Problem;
use crate::http::time::rfc3339;

/// What a node of the graph is beside its name.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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
    /// When it was so, RFC 3339.
    pub at: String,
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
    let underlay_ip = heartbeat
        .and_then(|heartbeat| heartbeat.underlay_ip)
        .map(|ip| ip.to_string());
    let overlay_ip = node.record.overlay_ip.map(|ip| ip.to_string());
    let mac = node.record.mac.map(|mac| mac.to_string());
    let capable = |word: &String| word == "gateway" || word == "internet";
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
            lat: place.map(|place| place.lat),
            lon: place.map(|place| place.lon),
            last_seen_msecs: received
                .map(|received| wall_ns.saturating_sub(received.wall_ns) / 1_000_000),
            is_gateway: heartbeat
                .is_some_and(|heartbeat| heartbeat.capabilities.iter().any(capable)),
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

/// Nodes or links that one thread writes at a time.
const PART: usize = 1_000;
/// About how long one of them is as text, bytes.
const ROOM: usize = 640;

/// A graph to be drawn: what is known of the mesh at one moment. Nodes and links of a large mesh
/// are 20 MB of text: they are made a few thousand at a time, by all threads.
pub struct Drawing {
    /// The nodes in order of their ids, and what the graph calls them.
    nodes: Vec<(Arc<FleetNode>, String)>,
    found: TopologyGraph,
    predicted: BTreeMap<(NodeId, NodeId), Predicted>,
    /// All but the nodes and the links.
    frame: NetworkGraph,
    wall_ns: u64,
}

/// What is to be drawn of `view` as of `wall_ns`, ns since the Unix epoch.
///
/// # Errors
/// When predictions fail as a whole.
pub async fn drawing(
    gateway: &Gateway,
    view: Arc<Snapshot>,
    revision: String,
    wall_ns: u64,
) -> Result<Drawing, Problem> {
    let (found, nodes) = block_in_place(|| {
        let nodes: Vec<Arc<FleetNode>> = view.fleet.nodes.values().map(Arc::clone).collect();
        let named = nodes.into_par_iter().map(|node| {
            let name = name_of(&node);
            (node, name)
        });
        (topology(&view.fleet), named.collect::<Vec<_>>())
    });
    let ends: Vec<(NodeId, NodeId)> = found.edges.iter().map(|edge| (edge.a, edge.b)).collect();
    let (predicted, predictions_pending) = predict(gateway, &ends).await?;
    let sides = |edge: &Edge| [&edge.at_a, &edge.at_b].map(|side| side.as_ref()?.throughput_kbps);
    let by_rate = |edge: &&Edge| sides(edge).iter().any(Option::is_some);
    let by_rate = found.edges.iter().filter(by_rate).count();
    let metric = match by_rate * 2 > found.edges.len() {
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
        router_id: gateway.settings.overlay.gateway().to_string(),
        topology_id: "fleet".to_owned(),
        label: "groundwave".to_owned(),
        nodes: Vec::new(),
        links: Vec::new(),
        strangers: found.strangers,
        predictions_pending,
    };
    Ok(Drawing {
        nodes,
        found,
        predicted,
        frame,
        wall_ns,
    })
}

impl Drawing {
    fn node(&self, (node, name): &(Arc<FleetNode>, String)) -> GraphNode {
        graph_node(node, name.clone(), position(node), self.wall_ns)
    }

    fn link(&self, edge: &Edge) -> Option<GraphLink> {
        let name = |id: NodeId| {
            let place = self.nodes.binary_search_by_key(&id, |(node, _)| node.id);
            Some(self.nodes[place.ok()?].1.clone())
        };
        let predicted = self.predicted.get(&(edge.a, edge.b)).copied();
        Some(graph_link(edge, [name(edge.a)?, name(edge.b)?], predicted))
    }

    /// The whole graph.
    #[must_use]
    pub fn graph(&self) -> NetworkGraph {
        let nodes = self.nodes.par_iter().map(|node| self.node(node));
        let links = self.found.edges.par_iter();
        NetworkGraph {
            nodes: nodes.collect(),
            links: links.filter_map(|edge| self.link(edge)).collect(),
            ..self.frame.clone()
        }
    }

    /// The whole graph as JSON, in pieces one behind the other.
    pub fn pieces(&self) -> impl Iterator<Item = Bytes> + '_ {
        self.pieces_of(PART)
    }

    /// As [`pieces`](Self::pieces), of so many nodes or links each.
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
            .chain(parts(&self.found.edges, part, |edge| self.link(edge)))
            .chain(text(tail.to_owned()))
    }
}

/// What is made of a list, as JSON with commas between, in parts made by all threads: a few at a
/// time, when they are wanted.
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
            let made = make(one).expect("what is drawn is of this view");
            serde_json::to_writer(&mut text, &made).expect("a graph is JSON");
        }
        Bytes::from(text)
    };
    list.chunks(at_once)
        .enumerate()
        .flat_map(move |(round, list)| {
            let parts = list.par_chunks(part).enumerate();
            parts.map(|one| write(one, round > 0)).collect::<Vec<_>>()
        })
}

/// A digest of what the graph shows but the passing of time: who is there, what they said, where
/// they are planned, which predictions there are.
#[must_use]
pub fn revision(gateway: &Gateway, view: &Snapshot) -> String {
    let mut digest = Sha256::new();
    digest.update(gateway.topology.predictions.computed().to_be_bytes());
    for node in view.fleet.nodes.values() {
        if let Some(planned) = view.plan.nodes.get(&node.id) {
            let around = view.plan.deployments.get(&planned.deployment);
            let around_ns = around.map_or(0, |held| held.stamps.updated_ns);
            digest.update(planned.stamps.updated_ns.to_be_bytes());
            digest.update(around_ns.to_be_bytes());
        }
        digest.update(node.id.as_u128().to_be_bytes());
        digest.update(node.record.revision.to_be_bytes());
        digest.update([node.liveness.state as u8]);
        let heard_ns = node
            .last_heartbeat
            .as_ref()
            .map_or(0, |received| received.wall_ns);
        digest.update(heard_ns.to_be_bytes());
    }
    hex(&digest.finalize()[..8])
}

/// The graph as GeoJSON (RFC 7946): what has a place.
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

crate::schema_refs!(NetworkGraph);
