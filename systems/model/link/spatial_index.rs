//! A spatial index over antennas: which nodes may hear a node.
//!
//! Two nodes may hear each other when both radios can decode each other and the distance is within
//! [`Reach::distance_m`] and the configured range. The answer is a pure function of the nodes' positions
//! and stations, whatever the order of changes.

use std::collections::{BTreeMap, BTreeSet};

use rstar::primitives::GeomWithData;
use rstar::{PointDistance, RTree};

use super::range::Reach;
use crate::id::NodeId;
use crate::radio::prepare::understand;
use crate::radio::{Radio, Station, Waveform};
use crate::terrain::{GeoPoint, Terrain, geodesic};

/// A node in the index.
#[derive(Debug, Clone, Copy)]
struct IndexedNode {
    class: usize,
    /// Earth-centred position on the ellipsoid, m. Straight lines are no longer than geodesics, so
    /// a search by straight distance misses nothing.
    position_m: [f64; 3],
    reach: Reach,
}

type Entry = GeomWithData<[f64; 3], NodeId>;

/// Radios that agree in everything that decides whether two radios can decode each other.
struct RadioClass {
    radio: Radio,
    widest: Reach,
    tree: RTree<Entry>,
}

/// Nodes by position and radio.
#[derive(Default)]
pub struct SpatialIndex {
    nodes: BTreeMap<NodeId, IndexedNode>,
    classes: Vec<RadioClass>,
}

fn alike(a: &Radio, b: &Radio) -> bool {
    let waveform = match (&a.waveform, &b.waveform) {
        (Waveform::Ofdm { .. }, Waveform::Ofdm { .. }) => true,
        (one, other) => one == other,
    };
    waveform && a.frequency_mhz == b.frequency_mhz && a.bandwidth_hz == b.bandwidth_hz
}

/// Earth-centred coordinates of a point on the WGS84 ellipsoid, m.
fn earth_centred_m(at: GeoPoint) -> [f64; 3] {
    let (_, normal_m) = geodesic::curvature_radii_m(at.lat_deg());
    let (lat, lon) = (at.lat_deg().to_radians(), at.lon_deg().to_radians());
    // 1 - e^2 = (b / a)^2 of WGS84.
    const POLAR: f64 = 0.993_305_620_009_858_7;
    let across = normal_m * libm::cos(lat);
    [across * libm::cos(lon), across * libm::sin(lon), normal_m * POLAR * libm::sin(lat)]
}

/// Length of the straight line between two points on the ellipsoid, m.
pub fn straight_m(a: GeoPoint, b: GeoPoint) -> f64 {
    let (a, b) = (earth_centred_m(a), earth_centred_m(b));
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

impl SpatialIndex {
    /// The index over `nodes`.
    pub(crate) fn of<'a>(
        terrain: &dyn Terrain,
        nodes: impl Iterator<Item = (NodeId, GeoPoint, &'a Station)>,
    ) -> Self {
        let mut index = Self::default();
        for (id, at, station) in nodes {
            index.set(terrain, id, at, station);
        }
        index.rebuild();
        index
    }

    /// Sets the position and station of a node without its entry in a tree, which
    /// [`rebuild`](Self::rebuild) makes.
    pub fn set(&mut self, terrain: &dyn Terrain, id: NodeId, at: GeoPoint, station: &Station) {
        let node = self.measure(terrain, at, station);
        self.nodes.insert(id, node);
    }

    /// Inserts a node, in place of an earlier one with its id.
    pub fn insert(&mut self, terrain: &dyn Terrain, id: NodeId, at: GeoPoint, station: &Station) {
        self.remove(id);
        self.set(terrain, id, at, station);
        let node = self.nodes[&id];
        let entry = Entry::new(node.position_m, id);
        self.classes[node.class].tree.insert(entry);
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// `true` without nodes.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The ids of all nodes, rising.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> {
        self.nodes.keys().copied()
    }

    fn measure(&mut self, terrain: &dyn Terrain, at: GeoPoint, station: &Station) -> IndexedNode {
        let ground_msl_m = terrain.elevation_msl_m(at).unwrap_or(0.0);
        let reach = Reach::of(station, ground_msl_m);
        IndexedNode {
            class: self.class_of(&station.radio, reach),
            position_m: earth_centred_m(at),
            reach,
        }
    }

    /// Removes a node, if it is there.
    pub fn remove(&mut self, id: NodeId) {
        if let Some(node) = self.nodes.remove(&id) {
            let entry = Entry::new(node.position_m, id);
            self.classes[node.class].tree.remove(&entry);
        }
    }

    fn class_of(&mut self, radio: &Radio, reach: Reach) -> usize {
        if let Some(index) = self.classes.iter().position(|class| alike(&class.radio, radio)) {
            let class = &mut self.classes[index];
            class.widest = class.widest.widest(reach);
            return index;
        }
        self.classes.push(RadioClass { radio: radio.clone(), widest: reach, tree: RTree::new() });
        self.classes.len() - 1
    }

    /// Builds all trees anew.
    pub fn rebuild(&mut self) {
        let mut entries = vec![Vec::new(); self.classes.len()];
        for (id, node) in &self.nodes {
            entries[node.class].push(Entry::new(node.position_m, *id));
        }
        for (class, entries) in self.classes.iter_mut().zip(entries) {
            class.tree = RTree::bulk_load(entries);
        }
    }

    /// The nodes that may hear or be heard by `id`, which must be in the index.
    pub fn around(&self, id: NodeId, range_max_m: f64) -> BTreeSet<NodeId> {
        let mut nodes = BTreeSet::new();
        self.each_around(id, range_max_m, |peer, _| {
            nodes.insert(peer);
        });
        nodes
    }

    /// Visits each node of [`Self::around`] once, in no order, with the square of the straight distance, m².
    pub fn each_around(&self, id: NodeId, range_max_m: f64, mut visit: impl FnMut(NodeId, f64)) {
        let node = self.nodes[&id];
        let own = &self.classes[node.class].radio;
        for class in &self.classes {
            if !understand(own, &class.radio) && !understand(&class.radio, own) {
                continue;
            }
            let frequency_mhz = own.frequency_mhz.min(class.radio.frequency_mhz);
            let narrowing_db =
                libm::log10(own.bandwidth_hz / class.radio.bandwidth_hz).abs() * 10.0;
            let bound = |reach: Reach| {
                node.reach.distance_m(reach, frequency_mhz, narrowing_db).min(range_max_m)
            };
            let radius_m = bound(class.widest);
            for near in class.tree.locate_within_distance(node.position_m, radius_m * radius_m) {
                let limit_m = bound(self.nodes[&near.data].reach);
                let square_m2 = near.distance_2(&node.position_m);
                if near.data != id && square_m2 <= limit_m * limit_m {
                    visit(near.data, square_m2);
                }
            }
        }
    }
}
