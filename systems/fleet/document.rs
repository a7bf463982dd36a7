//! The durable face of a node of the fleet.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal, State};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::components::{Condition, Departed, LastBeat, Latest, Member, Membership, Saying};
use super::happening::Ring;
use super::liveness::{Liveness, Rules};
use super::metrics::Readings;
use super::minutes::{Buffer, Minutes};
use super::orders::{OrderBook, Orders};
use crate::site::{NodeId, NodeKind};

/// What is shared, as what it holds; serde's own support would be a feature for these lines.
pub(super) mod shared {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        held: &Arc<T>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        held.as_ref().serialize(out)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Arc<T>, D::Error> {
        T::deserialize(from).map(Arc::new)
    }
}

/// What is shared, if it is there.
pub(super) mod shared_option {
    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(
        held: &Option<Arc<T>>,
        out: S,
    ) -> Result<S::Ok, S::Error> {
        held.as_deref().serialize(out)
    }

    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Arc<T>>, D::Error> {
        Ok(Option::<T>::deserialize(from)?.map(Arc::new))
    }
}

/// A node of the fleet as the store keeps it; nothing is left of one that departed but is planned.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FleetDocument(Option<Content>);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Content {
    #[serde(with = "shared")]
    member: Arc<Member>,
    #[serde(with = "shared")]
    condition: Arc<Liveness>,
    #[serde(with = "shared_option")]
    said: Option<Arc<LastBeat>>,
    #[serde(with = "shared")]
    latest: Arc<Readings>,
    #[serde(with = "shared")]
    minutes: Arc<Buffer>,
    #[serde(with = "shared")]
    orders: Arc<OrderBook>,
}

impl Document for FleetDocument {
    const TABLE: &'static str = "fleet";
    type Kind = NodeKind;
    type Changed = Or<(
        Changed<Membership>,
        Changed<Condition>,
        Changed<Saying>,
        Changed<Latest>,
        Changed<Minutes>,
        Changed<Orders>,
        Changed<Departed>,
    )>;

    fn shows(entity: EntityRef<'_>) -> bool {
        entity.contains::<Membership>()
    }

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let content = || {
            Some(Content {
                member: Arc::clone(&entity.get::<Membership>()?.0),
                condition: Arc::clone(&entity.get::<Condition>()?.0),
                said: entity.get::<Saying>()?.0.clone(),
                latest: Arc::clone(&entity.get::<Latest>()?.0),
                minutes: Arc::clone(&entity.get::<Minutes>()?.0),
                orders: Arc::clone(&entity.get::<Orders>()?.0),
            })
        };
        Self(content())
    }

    fn restore(self, id: NodeId, world: &mut World) -> Result<(), Refusal> {
        let Some(content) = self.0 else { return Ok(()) };
        let found = world.resource::<Index<NodeKind>>().get(id).ok();
        let entity = found.unwrap_or_else(|| world.spawn(id).id());
        world.entity_mut(entity).insert((
            Membership(content.member),
            Condition(content.condition),
            Saying(content.said),
            Latest(content.latest),
            Minutes(content.minutes),
            Orders(content.orders),
        ));
        Ok(())
    }
}

/// The gateway's clock as last told, and what silence means by it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct FleetState {
    rules: Rules,
    now_ns: u64,
}

impl State for FleetState {
    const TABLE: &'static str = "fleet clock";

    fn save(world: &World) -> Self {
        Self {
            rules: *world.resource::<Rules>(),
            now_ns: world.resource::<Ring>().now_ns,
        }
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self.rules);
        world.resource_mut::<Ring>().now_ns = self.now_ns;
        Ok(())
    }
}
