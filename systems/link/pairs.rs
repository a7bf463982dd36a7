//! Which pairs exist: a spatial index over the antennas, asked for each node that changed.
//!
//! The set of pairs is a pure function of the nodes' places and stations, however it was reached:
//! a pair exists when both radios understand each other and stand within the distance of
//! [`Reach::distance_m`] and the configured range. Work is proportional to the nodes that changed
//! and their neighbours, never to all pairs.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use rstar::primitives::GeomWithData;
use rstar::{PointDistance, RTree};

use super::commands::Limits;
use super::components::{Ends, Link, LinkFrom, LinkTo, Links, Severed};
use super::range::Reach;
use crate::deployment::InDeployment;
use crate::radio::prepare::understand;
use crate::radio::{Radio, Station, Waveform};
use crate::site::{Ground, NodeId, NodeKind, Position, Standing};
use crate::terrain::{GeoPoint, Terrain, geodesic};

/// Share of changed nodes beyond which building the index anew is cheaper than mending it.
const REBUILD_SHARE: usize = 8;

/// A node as the index knows it.
#[derive(Debug, Clone, Copy)]
struct Spot {
    class: usize,
    /// Earth-centred place on the ellipsoid, m. Straight lines are no longer than geodesics, so
    /// a search by straight distance misses nothing.
    place_m: [f64; 3],
    reach: Reach,
}

type Entry = GeomWithData<[f64; 3], NodeId>;

/// Radios that are alike in everything that decides who understands whom.
struct Class {
    radio: Radio,
    widest: Reach,
    tree: RTree<Entry>,
}

/// The index. Derived: written by `pair_nodes` only.
#[derive(Resource, Default)]
pub struct Neighbourhood {
    spots: BTreeMap<NodeId, Spot>,
    classes: Vec<Class>,
    peers: BTreeMap<NodeId, BTreeSet<NodeId>>,
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
    let across = normal_m * lat.cos();
    [
        across * lon.cos(),
        across * lon.sin(),
        normal_m * POLAR * lat.sin(),
    ]
}

/// Length of the straight line between two points on the ellipsoid, m.
#[cfg(test)]
pub fn straight_m(a: GeoPoint, b: GeoPoint) -> f64 {
    let (a, b) = (earth_centred_m(a), earth_centred_m(b));
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b) * (a - b))
        .sum::<f64>()
        .sqrt()
}

impl Neighbourhood {
    /// The index over nodes that are no part of the world, to ask who of them may hear whom.
    pub(crate) fn of<'a>(
        terrain: &dyn Terrain,
        nodes: impl Iterator<Item = (NodeId, GeoPoint, &'a Station)>,
    ) -> Self {
        let mut hood = Self::default();
        for (id, at, station) in nodes {
            let spot = hood.measure(terrain, at, station);
            hood.spots.insert(id, spot);
        }
        hood.rebuild();
        hood
    }

    fn measure(&mut self, terrain: &dyn Terrain, at: GeoPoint, station: &Station) -> Spot {
        let ground_msl_m = terrain.elevation_msl_m(at).unwrap_or(0.0);
        let reach = Reach::of(station, ground_msl_m);
        Spot {
            class: self.class_of(&station.radio, reach),
            place_m: earth_centred_m(at),
            reach,
        }
    }

    fn remove(&mut self, id: NodeId) -> Option<Spot> {
        let spot = self.spots.remove(&id)?;
        self.classes[spot.class]
            .tree
            .remove(&Entry::new(spot.place_m, id));
        Some(spot)
    }

    fn class_of(&mut self, radio: &Radio, reach: Reach) -> usize {
        if let Some(found) = self
            .classes
            .iter()
            .position(|class| alike(&class.radio, radio))
        {
            let class = &mut self.classes[found];
            class.widest = class.widest.widest(reach);
            return found;
        }
        self.classes.push(Class {
            radio: radio.clone(),
            widest: reach,
            tree: RTree::new(),
        });
        self.classes.len() - 1
    }

    fn rebuild(&mut self) {
        let mut entries = vec![Vec::new(); self.classes.len()];
        for (id, spot) in &self.spots {
            entries[spot.class].push(Entry::new(spot.place_m, *id));
        }
        for (class, entries) in self.classes.iter_mut().zip(entries) {
            class.tree = RTree::bulk_load(entries);
        }
    }

    /// Who may hear or be heard by `id`, which must be in the index.
    pub(crate) fn around(&self, id: NodeId, range_max_m: f64) -> BTreeSet<NodeId> {
        let spot = self.spots[&id];
        let own = &self.classes[spot.class].radio;
        let mut found = BTreeSet::new();
        for class in &self.classes {
            if !understand(own, &class.radio) && !understand(&class.radio, own) {
                continue;
            }
            let frequency_mhz = own.frequency_mhz.min(class.radio.frequency_mhz);
            let narrowing_db = (own.bandwidth_hz / class.radio.bandwidth_hz).log10().abs() * 10.0;
            let bound = |reach: Reach| {
                spot.reach
                    .distance_m(reach, frequency_mhz, narrowing_db)
                    .min(range_max_m)
            };
            let radius_m = bound(class.widest);
            for near in class
                .tree
                .locate_within_distance(spot.place_m, radius_m * radius_m)
            {
                let limit_m = bound(self.spots[&near.data].reach);
                if near.data != id && near.distance_2(&spot.place_m) <= limit_m * limit_m {
                    found.insert(near.data);
                }
            }
        }
        found
    }

    /// Replaces the peers of `id`; returns pairs that begin and pairs that end.
    fn repair(&mut self, id: NodeId, now: BTreeSet<NodeId>) -> (Vec<NodeId>, Vec<NodeId>) {
        let before = self.peers.remove(&id).unwrap_or_default();
        let begun: Vec<_> = now.difference(&before).copied().collect();
        let ended: Vec<_> = before.difference(&now).copied().collect();
        for peer in &begun {
            self.peers.entry(*peer).or_default().insert(id);
        }
        for peer in &ended {
            self.peers.entry(*peer).or_default().remove(&id);
        }
        self.peers.insert(id, now);
        (begun, ended)
    }
}

type Moved = Or<(Changed<Position>, Changed<Standing>)>;

/// Makes links exist where pairs may hear each other, and only there.
pub fn pair_nodes(
    moved: Query<(&NodeId, &Position, &Standing), (Moved, Without<InDeployment>)>,
    index: Res<Index<NodeKind>>,
    limits: Res<Limits>,
    ground: Res<Ground>,
    links: Res<Links>,
    mut severed: ResMut<Severed>,
    mut hood: ResMut<Neighbourhood>,
    mut commands: Commands,
) {
    if index.is_changed() {
        forget_departed(&index, &mut hood, &mut severed);
    }
    let mut stale: Vec<_> = moved.iter().collect();
    if stale.is_empty() && !limits.is_changed() {
        return;
    }
    // Id order, so that entities and classes come to be in one order whatever the query's.
    stale.sort_unstable_by_key(|(id, ..)| **id);
    let many = stale.len() * REBUILD_SHARE > hood.spots.len().max(stale.len());
    for (id, position, standing) in &stale {
        if many {
            hood.spots.remove(*id);
        } else {
            hood.remove(**id);
        }
        let spot = hood.measure(&*ground.0, position.0, &standing.0);
        hood.spots.insert(**id, spot);
        if !many {
            let entry = Entry::new(spot.place_m, **id);
            hood.classes[spot.class].tree.insert(entry);
        }
    }
    if many {
        hood.rebuild();
    }
    let asked: Vec<NodeId> = if limits.is_changed() {
        hood.spots.keys().copied().collect()
    } else {
        stale.iter().map(|(id, ..)| **id).collect()
    };
    for id in asked {
        let now = hood.around(id, limits.link_range_max_m);
        let (begun, ended) = hood.repair(id, now);
        for peer in begun {
            let ends = Ends::new(id, peer).expect("nobody is their own peer");
            let entity = |id| index.get(id).expect("the hood holds living nodes");
            let relation = (LinkFrom(entity(ends.a())), LinkTo(entity(ends.b())));
            commands.spawn((Link, ends, relation));
        }
        for peer in ended {
            let ends = Ends::new(id, peer).expect("nobody is their own peer");
            // A link of a node that left is already gone, by cascade.
            if let Some(entity) = links.get(ends) {
                commands.entity(entity).despawn();
            }
        }
    }
}

/// Drops nodes that no longer exist. Their links went with them.
fn forget_departed(index: &Index<NodeKind>, hood: &mut Neighbourhood, severed: &mut Severed) {
    for id in index.departed() {
        hood.remove(*id);
        for peer in hood.peers.remove(id).unwrap_or_default() {
            if let Some(peers) = hood.peers.get_mut(&peer) {
                peers.remove(id);
            }
        }
        if index.get(*id).is_err() {
            severed.0.retain(|ends| ends.a() != *id && ends.b() != *id);
        }
    }
}
