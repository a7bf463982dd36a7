//! What nodes are asked to do. An order waits for the node's next beat; only words that the node
//! said it knows are sent, and none of them is a shell.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Recorded, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::components::Membership;
use super::member::approved_node;
use crate::site::NodeId;

/// Orders remembered of each node, done ones included.
const KEPT: usize = 64;
/// Longest answer kept, bytes.
pub const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// Where an order stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderState {
    /// Waits for a beat.
    Queued,
    /// The node was told.
    Sent,
    /// The node did it.
    Done,
    /// The node could not.
    Failed,
    /// The node was not heard in time.
    Expired,
}

/// An order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedOrder {
    /// Which one it is.
    pub order: Uuid,
    /// What.
    pub kind: String,
    /// How.
    pub args: BTreeMap<String, String>,
    /// Where it stands.
    pub state: OrderState,
    /// What the node answered.
    pub output: Option<String>,
    /// Who asked.
    pub by: String,
    /// When it was last touched, ns since the Unix epoch.
    pub at_ns: u64,
    /// Until when it is wanted, ns since the Unix epoch.
    pub expires_ns: u64,
}

/// The orders of a node, oldest first.
pub type OrderBook = VecDeque<PlacedOrder>;

/// The orders of a node. Written by `fleet.order`, `fleet.finish` and `fleet.hear`.
#[derive(Component, Debug, Clone, Default, PartialEq, Eq)]
pub struct Orders(pub Arc<OrderBook>);

/// Asks a node to do something.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GiveOrder {
    /// Which node.
    pub node: NodeId,
    /// Which order, minted by the caller.
    pub order: Uuid,
    /// What.
    pub kind: String,
    /// How.
    pub args: BTreeMap<String, String>,
    /// How long it is wanted, s.
    pub expires_s: u32,
    /// Who asks.
    pub by: String,
}
impl Command for GiveOrder {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = approved_node(world, self.node)?;
        let member = world.get::<Membership>(entity).expect("it is approved");
        if !member.0.supported_commands.contains(&self.kind) {
            let known = member.0.supported_commands.join(", ");
            let allowed = format!("what the node knows: {known}");
            return Err(Refusal::invalid(
                "kind",
                format!("{:?}", self.kind),
                allowed,
            ));
        }
        let at_ns = world.resource::<Clock>().wall_ns;
        let mut orders = world.get_mut::<Orders>(entity).expect("members have them");
        let book = Arc::make_mut(&mut orders.0);
        if book.iter().any(|placed| placed.order == self.order) {
            return Err(Refusal::conflict("there is an order with this id"));
        }
        if book.len() == KEPT {
            let done = |placed: &PlacedOrder| {
                !matches!(placed.state, OrderState::Queued | OrderState::Sent)
            };
            let Some(place) = book.iter().position(done) else {
                return Err(Refusal::conflict(format!("{KEPT} orders wait already")));
            };
            book.remove(place);
        }
        book.push_back(PlacedOrder {
            order: self.order,
            kind: self.kind,
            args: self.args,
            state: OrderState::Queued,
            output: None,
            by: self.by,
            at_ns,
            expires_ns: at_ns + u64::from(self.expires_s) * 1_000_000_000,
        });
        Ok(())
    }
}
impl Recorded for GiveOrder {
    const NAME: &'static str = "fleet.order";
    type Reply = ();
}

/// Tells what became of an order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishOrder {
    /// Whose.
    pub node: NodeId,
    /// Which.
    pub order: Uuid,
    /// Whether it was done.
    pub done: bool,
    /// What the node says of it.
    pub output: Option<String>,
}
impl Command for FinishOrder {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = approved_node(world, self.node)?;
        let at_ns = world.resource::<Clock>().wall_ns;
        let mut orders = world.get_mut::<Orders>(entity).expect("members have them");
        let place = orders
            .0
            .iter()
            .position(|placed| placed.order == self.order);
        let place = place.ok_or_else(|| Refusal::NotFound {
            kind: "command",
            id: self.order.to_string(),
        })?;
        let state = orders.0[place].state;
        if !matches!(state, OrderState::Queued | OrderState::Sent) {
            return Err(Refusal::conflict("that command is over already"));
        }
        let placed = &mut Arc::make_mut(&mut orders.0)[place];
        placed.state = match self.done {
            true => OrderState::Done,
            false => OrderState::Failed,
        };
        placed.output = self.output;
        placed.at_ns = at_ns;
        Ok(())
    }
}
impl Recorded for FinishOrder {
    const NAME: &'static str = "fleet.finish";
    type Reply = ();
}

/// Orders to tell a node of now; they count as sent. Late ones expire. Nothing is written where
/// nothing changes.
pub(super) fn hand_out(orders: &mut Mut<'_, Orders>, now_ns: u64) -> Vec<PlacedOrder> {
    let open = |placed: &PlacedOrder| placed.state == OrderState::Queued;
    let late = |placed: &PlacedOrder| {
        placed.expires_ns < now_ns && matches!(placed.state, OrderState::Queued | OrderState::Sent)
    };
    if !orders.0.iter().any(|placed| open(placed) || late(placed)) {
        return Vec::new();
    }
    let mut told = Vec::new();
    for placed in Arc::make_mut(&mut orders.0) {
        if late(placed) {
            placed.state = OrderState::Expired;
            placed.at_ns = now_ns;
        } else if open(placed) {
            placed.state = OrderState::Sent;
            placed.at_ns = now_ns;
            told.push(placed.clone());
        }
    }
    told
}
