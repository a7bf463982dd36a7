//! Components of a link. Each says who writes it.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;

use crate::model::link::{LinkBudget, LinkKey};

/// A pair of nodes that might hear each other: one entity for both directions, because they
/// share the terrain between them. Written by `pair_nodes`.
#[derive(Component, Debug, Clone, Copy, Default)]
#[require(Predicted)]
pub struct Link;

/// The end with the lower id.
#[derive(Component, Debug)]
#[relationship(relationship_target = LinksOut)]
pub struct LinkFrom(pub Entity);

/// Links of which a node is the lower end; they go when it goes.
#[derive(Component, Debug)]
#[relationship_target(relationship = LinkFrom, linked_spawn)]
pub struct LinksOut(Vec<Entity>);

/// The end with the higher id.
#[derive(Component, Debug)]
#[relationship(relationship_target = LinksIn)]
pub struct LinkTo(pub Entity);

/// Links of which a node is the higher end; they go when it goes.
#[derive(Component, Debug)]
#[relationship_target(relationship = LinkTo, linked_spawn)]
pub struct LinksIn(Vec<Entity>);

/// The nodes that a link connects. Its hooks maintain [`Links`]. Written by `pair_nodes`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq)]
#[component(immutable, on_insert = enter_links, on_discard = leave_links)]
pub struct Endpoints(pub LinkKey);

/// The budget that the model predicts. Written by `predict_links`.
#[derive(Component, Debug, Clone, Copy, Default, PartialEq)]
#[component(summary_tick)]
pub struct Predicted(pub LinkBudget);

/// Which entity is the link between which nodes, in id order.
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

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn key(world: &DeferredWorld, link: Entity) -> LinkKey {
    let endpoints = world.get::<Endpoints>(link);
    endpoints
        .expect("the hook runs on entities with endpoints")
        .0
}

fn enter_links(mut world: DeferredWorld, context: HookContext) {
    let key = key(&world, context.entity);
    world.resource_mut::<Links>().0.insert(key, context.entity);
}

fn leave_links(mut world: DeferredWorld, context: HookContext) {
    let key = key(&world, context.entity);
    world.resource_mut::<Links>().0.remove(&key);
}

/// Pairs whose link is cut by command, whether or not they are in range.
#[derive(Resource, Debug, Default)]
pub struct Severed(pub BTreeSet<LinkKey>);
