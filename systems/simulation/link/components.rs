//! Components of a link. Each says who writes it.

use std::collections::BTreeMap;

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use groundwave_model::link::{LinkBudget, LinkKey};
use groundwave_model::terrain::GeoPoint;

/// The node with the lower id, of a link. A link is one entity for both directions, because they share
/// the terrain profile.
#[derive(Component, Debug)]
#[relationship(relationship_target = LinksOut)]
pub struct LinkFrom(pub Entity);

/// Links of which a node has the lower id; they are despawned with it.
#[derive(Component, Debug)]
#[relationship_target(relationship = LinkFrom, linked_spawn)]
pub struct LinksOut(Vec<Entity>);

/// The node with the higher id, of a link.
#[derive(Component, Debug)]
#[relationship(relationship_target = LinksIn)]
pub struct LinkTo(pub Entity);

/// Links of which a node has the higher id; they are despawned with it.
#[derive(Component, Debug)]
#[relationship_target(relationship = LinkTo, linked_spawn)]
pub struct LinksIn(Vec<Entity>);

/// The nodes that a link connects. Its hooks maintain [`Links`]. Written by `pair_nodes`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
#[component(immutable, on_insert = enter_links, on_discard = leave_links)]
pub struct Endpoints(pub LinkKey);

/// The budget that the model predicts for a pair in range. Made and removed by `pair_nodes`, written
/// by `predict_links`.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq)]
#[component(summary_tick, on_discard = note_out_of_range)]
pub struct Predicted(pub LinkBudget);

/// Position from which a node's links are computed: its own, or one within
/// [`Limits::update_distance_m`](super::Limits::update_distance_m) of it where it was looked at last. `None`
/// before that. Written by `follow_positions`.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq)]
pub struct LinkPosition(pub Option<GeoPoint>);

/// A link that is taken down by command. Written by `link.fail` and `link.restore`.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq)]
#[component(storage = "SparseSet")]
pub struct AdminDown;

/// Keeps a link while its nodes are out of range of each other. Required by what is recorded of it.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq, Eq)]
#[component(storage = "SparseSet")]
pub struct Retained;

/// Links that lost their [`Predicted`] in this tick. Written by a hook of [`Predicted`], emptied when the
/// snapshot is published.
#[derive(Resource, Debug, Default)]
pub struct OutOfRange(pub Vec<LinkKey>);

/// Link entities by the ids of their nodes, in id order.
#[derive(Resource, Debug, Default)]
pub struct Links(BTreeMap<LinkKey, Entity>);

impl Links {
    /// The link between these nodes.
    #[must_use]
    pub fn get(&self, key: LinkKey) -> Option<Entity> {
        self.0.get(&key).copied()
    }

    /// Links in id order of their lower, then of their higher end.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (LinkKey, Entity)> + '_ {
        self.0.iter().map(|(&key, &entity)| (key, entity))
    }

    /// Number of links.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` if there is no link.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn note_out_of_range(mut world: DeferredWorld, context: HookContext) {
    let key = key(&world, context.entity);
    world.resource_mut::<OutOfRange>().0.push(key);
}

fn key(world: &DeferredWorld, link: Entity) -> LinkKey {
    let endpoints = world.get::<Endpoints>(link);
    endpoints.expect("the hook runs on entities with endpoints").0
}

fn enter_links(mut world: DeferredWorld, context: HookContext) {
    let key = key(&world, context.entity);
    world.resource_mut::<Links>().0.insert(key, context.entity);
}

fn leave_links(mut world: DeferredWorld, context: HookContext) {
    let key = key(&world, context.entity);
    world.resource_mut::<Links>().0.remove(&key);
}
