//! Components of a link. Each says who writes it.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::lifecycle::HookContext;
use bevy_ecs::prelude::*;
use bevy_ecs::world::DeferredWorld;
use serde::{Deserialize, Serialize};

use crate::radio::modulation::ModulationId;
use crate::radio::{LinkResult, Model, Verdict, Warnings};
use crate::site::NodeId;

/// A pair of nodes that might hear each other: one entity for both directions, because they
/// share the terrain between them. Written by `pair_nodes`.
#[derive(Component, Debug, Clone, Copy, Default)]
#[require(LinkBudget)]
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

/// Two different nodes in id order: the identity of a link. Its hooks keep [`Links`] true.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[component(immutable, on_insert = enter_links, on_discard = leave_links)]
pub struct Ends(NodeId, NodeId);

impl Ends {
    /// The pair of `one` and `other`; `None` when they are the same node.
    #[must_use]
    pub fn new(one: NodeId, other: NodeId) -> Option<Self> {
        (one != other).then(|| Self(one.min(other), one.max(other)))
    }

    /// The end with the lower id.
    #[must_use]
    pub const fn a(self) -> NodeId {
        self.0
    }

    /// The end with the higher id.
    #[must_use]
    pub const fn b(self) -> NodeId {
        self.1
    }
}

/// Which entity is the link between which nodes, in id order.
#[derive(Resource, Debug, Default)]
pub struct Links(BTreeMap<Ends, Entity>);

impl Links {
    /// The link between these ends.
    #[must_use]
    pub fn get(&self, ends: Ends) -> Option<Entity> {
        self.0.get(&ends).copied()
    }

    /// Links in id order of their lower, then of their higher end.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Ends, Entity)> + '_ {
        self.0.iter().map(|(&ends, &entity)| (ends, entity))
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

fn enter_links(mut world: DeferredWorld, context: HookContext) {
    let ends = *world
        .get::<Ends>(context.entity)
        .expect("the hook runs on entities with ends");
    world.resource_mut::<Links>().0.insert(ends, context.entity);
}

fn leave_links(mut world: DeferredWorld, context: HookContext) {
    let ends = *world
        .get::<Ends>(context.entity)
        .expect("the hook runs on entities with ends");
    world.resource_mut::<Links>().0.remove(&ends);
}

/// Pairs whose link is cut by command, whether or not they are in range.
#[derive(Resource, Debug, Default)]
pub struct Severed(pub BTreeSet<Ends>);

/// What gets through, reduced to what routing and views need. Derived: written by
/// `budget_links` only.
#[derive(Component, Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LinkBudget {
    /// The model that answered.
    pub model: Model,
    /// WGS84 geodesic, m.
    pub distance_m: f64,
    /// Whether the straight ray over the effective Earth is clear.
    pub line_of_sight: bool,
    /// Least clearance over the radius of the first Fresnel zone; `None` where the models ask
    /// for none because no sample lies between the ends.
    pub fresnel_clearance_ratio: Option<f64>,
    /// Samples of the profile without a height in the tile.
    pub void_samples: u32,
    /// Samples of the profile without a tile.
    pub missing_samples: u32,
    /// What the model had to say, of both directions.
    pub warnings: Warnings,
    /// From the lower id to the higher.
    pub forward: Direction,
    /// From the higher id to the lower.
    pub backward: Direction,
}

impl Default for LinkBudget {
    fn default() -> Self {
        Self {
            model: Model::FreeSpace,
            distance_m: 0.0,
            line_of_sight: false,
            fresnel_clearance_ratio: None,
            void_samples: 0,
            missing_samples: 0,
            warnings: Warnings::default(),
            forward: Direction::NONE,
            backward: Direction::NONE,
        }
    }
}

/// One direction of a link.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Direction {
    /// Total path loss, dB.
    pub path_loss_db: f64,
    /// Power at the receiver, dBm.
    pub rx_power_dbm: f64,
    /// SNR, dB.
    pub snr_db: f64,
    /// SNR above the lowest modulation's need, dB.
    pub link_margin_db: f64,
    /// Modulation in use, if any can be decoded.
    pub modulation: Option<ModulationId>,
    /// Rate left to payload, bit/s.
    pub data_rate_bps: f64,
    /// Probability that a packet is lost, [0, 1].
    pub per: f64,
    /// The link in one word.
    pub verdict: Verdict,
}

impl Direction {
    const NONE: Self = Self {
        path_loss_db: 0.0,
        rx_power_dbm: 0.0,
        snr_db: 0.0,
        link_margin_db: 0.0,
        modulation: None,
        data_rate_bps: 0.0,
        per: 1.0,
        verdict: Verdict::NoLink,
    };

    fn of(result: &LinkResult) -> Self {
        Self {
            path_loss_db: result.losses.total_path_loss_db,
            rx_power_dbm: result.receiver.rx_power_dbm,
            snr_db: result.receiver.snr_db,
            link_margin_db: result.margin.link_margin_db,
            modulation: result.rate.modulation_id,
            data_rate_bps: result.rate.data_rate_bps,
            per: result.rate.per,
            verdict: result.verdict,
        }
    }

    /// Whether packets can pass.
    #[must_use]
    pub fn usable(&self) -> bool {
        self.modulation.is_some() && self.per < 1.0
    }
}

impl LinkBudget {
    /// The short form of a result in both directions.
    #[must_use]
    pub fn of(forward: &LinkResult, backward: &LinkResult) -> Self {
        Self {
            model: forward.model,
            distance_m: forward.geometry.distance_m,
            line_of_sight: forward.clearance.line_of_sight,
            fresnel_clearance_ratio: forward.clearance.fresnel_clearance_ratio,
            void_samples: forward.terrain.void_samples,
            missing_samples: forward.terrain.missing_samples,
            warnings: forward.warnings.union(backward.warnings),
            forward: Direction::of(forward),
            backward: Direction::of(backward),
        }
    }

    /// Expected transmissions with acknowledgements counted, `1 / (df dr)` (De Couto et al., "A
    /// high-throughput path metric for multi-hop wireless routing", MobiCom 2003); `None` unless
    /// both directions pass.
    #[must_use]
    pub fn etx(&self) -> Option<f64> {
        let both = self.forward.usable() && self.backward.usable();
        both.then(|| 1.0 / ((1.0 - self.forward.per) * (1.0 - self.backward.per)))
    }
}
