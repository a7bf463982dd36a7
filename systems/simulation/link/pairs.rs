//! Pairs: a link is predicted where two nodes may hear each other, and only there.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use groundwave_engine::Index;
use groundwave_model::link::{LinkKey, SpatialIndex};

use super::commands::Limits;
use super::components::{
    AdminDown, Endpoints, LinkFrom, LinkPosition, LinkTo, Links, OutOfRange, Predicted, Retained,
};
use crate::site::{InDeployment, NodeId, NodeKind, StationConfig, Unplaced, WorldTerrain};

/// Share of changed nodes beyond which building the index anew costs less than updating it.
const REBUILD_SHARE: usize = 8;

/// Nodes by place, and who may hear whom. Derived: written by `pair_nodes`.
#[derive(Resource, Default)]
pub(super) struct Pairs {
    index: SpatialIndex,
    peers: BTreeMap<NodeId, BTreeSet<NodeId>>,
}

impl Pairs {
    /// Replaces the peers of `id`; returns the peers added and the peers removed.
    fn set_peers(&mut self, id: NodeId, now: BTreeSet<NodeId>) -> (Vec<NodeId>, Vec<NodeId>) {
        let before = self.peers.remove(&id).unwrap_or_default();
        let added: Vec<_> = now.difference(&before).copied().collect();
        let removed: Vec<_> = before.difference(&now).copied().collect();
        for peer in &added {
            self.peers.entry(*peer).or_default().insert(id);
        }
        for peer in &removed {
            self.peers.entry(*peer).or_default().remove(&id);
        }
        self.peers.insert(id, now);
        (added, removed)
    }

    /// Removes a node that no longer exists. Its links were despawned with it.
    fn forget(&mut self, id: NodeId) {
        self.index.remove(id);
        for peer in self.peers.remove(&id).unwrap_or_default() {
            if let Some(peers) = self.peers.get_mut(&peer) {
                peers.remove(&id);
            }
        }
    }
}

type Moved = Or<(Changed<LinkPosition>, Changed<StationConfig>)>;
type Paired = (Without<InDeployment>, Without<Unplaced>);

/// Ends the list of links that went out of range in this tick.
pub(super) fn clear_out_of_range(mut gone: ResMut<OutOfRange>) {
    gone.bypass_change_detection().0.clear();
}

/// Makes a link with [`Predicted`] for each pair that may hear each other, and takes other pairs out of
/// range: their links are despawned unless something else is recorded of them. Nodes without a position have no pairs.
pub(super) fn pair_nodes(
    moved: Query<(&NodeId, &LinkPosition, &StationConfig), (Moved, Paired)>,
    all: Query<(&NodeId, &LinkPosition, &StationConfig), Paired>,
    nodes: Res<Index<NodeKind>>,
    limits: Res<Limits>,
    terrain: Res<WorldTerrain>,
    links: Res<Links>,
    kept: Query<(), Or<(With<AdminDown>, With<Retained>)>>,
    mut pairs: ResMut<Pairs>,
    mut commands: Commands,
) {
    for id in nodes.departed() {
        pairs.forget(*id);
    }
    // Horizons depend on the ground.
    let mut stale: Vec<_> =
        if terrain.is_changed() { all.iter().collect() } else { moved.iter().collect() };
    if stale.is_empty() && !limits.is_changed() {
        return;
    }
    // Id order, so that entities and classes are made in one order whatever the query's.
    stale.sort_unstable_by_key(|(id, ..)| **id);
    let many = stale.len() * REBUILD_SHARE > pairs.index.len().max(stale.len());
    for (id, position, station) in &stale {
        let at = position.0.expect("positions were followed");
        if many {
            pairs.index.set(&*terrain.0, **id, at, &station.0);
        } else {
            pairs.index.insert(&*terrain.0, **id, at, &station.0);
        }
    }
    if many {
        pairs.index.rebuild();
    }
    let asked: Vec<NodeId> = if limits.is_changed() {
        pairs.index.ids().collect()
    } else {
        stale.iter().map(|(id, ..)| **id).collect()
    };
    for id in asked {
        let now = pairs.index.around(id, limits.link_range_max_m);
        let (added, removed) = pairs.set_peers(id, now);
        for peer in added {
            let key = LinkKey::new(id, peer).expect("no node is its own peer");
            let budget = Predicted::default();
            if let Some(link) = links.get(key) {
                commands.entity(link).insert(budget);
                continue;
            }
            let entity = |id| nodes.get(id).expect("the index holds nodes that exist");
            let (from, to) = (LinkFrom(entity(key.a())), LinkTo(entity(key.b())));
            commands.spawn((Endpoints(key), from, to, budget));
        }
        for peer in removed {
            let key = LinkKey::new(id, peer).expect("no node is its own peer");
            // A link of a node that left was despawned with it.
            let Some(link) = links.get(key) else { continue };
            if kept.contains(link) {
                commands.entity(link).remove::<Predicted>();
            } else {
                commands.entity(link).despawn();
            }
        }
    }
}
