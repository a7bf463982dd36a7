//! Work of automation: indexes over its entities, and the state that no document holds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Refusal, State};
use groundwave_simulation::site::NodeId;
use serde::{Deserialize, Serialize};

use super::components::{
    AlertId, AlertKind, AlertRecord, AlertState, AutomationId, Delivery, DeliveryId, DeliveryKind,
    Execution, ExecutionId, ExecutionKind, ExecutionRecord, ExecutionState,
};
use crate::fleet::EdgeStatus;

/// Attempts of a flow at a time: a receiver that hangs holds up deliveries of its flow only.
pub(super) const ATTEMPTS_OF_FLOW: usize = 4;

/// Indexes over executions, deliveries and alerts; derived from them.
#[derive(Resource, Default)]
pub(super) struct Work {
    built: bool,
    /// Executions that are queued or running, by flow.
    pub unfinished: BTreeMap<AutomationId, BTreeSet<ExecutionId>>,
    /// Executions with a step that may be ready.
    pub runnable: BTreeSet<ExecutionId>,
    /// Running executions by the time at which they fail.
    pub deadlines: BTreeSet<(u64, ExecutionId)>,
    /// Flows of deliveries that wait for an attempt, by its time.
    due: BTreeMap<(u64, DeliveryId), AutomationId>,
    /// Finished executions by flow and state.
    pub finished: BTreeMap<(AutomationId, ExecutionState), BTreeSet<ExecutionId>>,
    /// Dead deliveries, by time of creation.
    pub dead: BTreeSet<(u64, DeliveryId)>,
    /// Attempts that were handed to the workers, by flow.
    in_flight: BTreeMap<AutomationId, usize>,
    /// Deliveries that are due and wait for another attempt of their flow to end.
    held_up: BTreeMap<AutomationId, BTreeSet<(u64, DeliveryId)>>,
    /// Alerts that are not closed, by flow and subject.
    pub open_alerts: BTreeMap<(AutomationId, String), AlertId>,
}

/// Time after which a running execution fails, ms.
pub(super) const WALL_LIMIT_MS: u64 = 60_000;

impl Work {
    /// Builds the indexes from the entities, at the first use.
    pub fn ensure(world: &mut World) {
        if world.resource::<Self>().built {
            return;
        }
        let mut work = Self { built: true, ..Self::default() };
        for (id, entity) in world.resource::<Index<ExecutionKind>>().iter() {
            let held = world.get::<Execution>(entity).expect("an execution has one");
            work.enter(id, &held.0);
        }
        for (id, entity) in world.resource::<Index<DeliveryKind>>().iter() {
            let held = world.get::<Delivery>(entity).expect("a delivery has one");
            work.enter_delivery(id, held);
        }
        for (id, entity) in world.resource::<Index<AlertKind>>().iter() {
            let held = world.get::<AlertRecord>(entity).expect("an alert is one");
            work.enter_alert(id, held);
        }
        world.insert_resource(work);
    }

    /// Notes an execution in its present state.
    pub fn enter(&mut self, id: ExecutionId, held: &ExecutionRecord) {
        if held.state.is_final() {
            let key = (held.flow, held.state);
            self.finished.entry(key).or_default().insert(id);
            return;
        }
        self.unfinished.entry(held.flow).or_default().insert(id);
        if held.state == ExecutionState::Running {
            self.runnable.insert(id);
            let started_ms = held.started_ms.unwrap_or(held.queued_ms);
            self.deadlines.insert((started_ms + WALL_LIMIT_MS, id));
        }
    }

    /// Forgets an unfinished execution that ends.
    pub fn leave(&mut self, id: ExecutionId, held: &ExecutionRecord) {
        if let Some(of_flow) = self.unfinished.get_mut(&held.flow) {
            of_flow.remove(&id);
            if of_flow.is_empty() {
                self.unfinished.remove(&held.flow);
            }
        }
        self.runnable.remove(&id);
        let started_ms = held.started_ms.unwrap_or(held.queued_ms);
        self.deadlines.remove(&(started_ms + WALL_LIMIT_MS, id));
    }

    /// Notes a delivery in its present state.
    pub fn enter_delivery(&mut self, id: DeliveryId, held: &Delivery) {
        if held.dead {
            self.dead.insert((held.created_ms, id));
        } else if held.in_flight {
            *self.in_flight.entry(held.flow).or_default() += 1;
        } else {
            self.due.insert((held.next_ms, id), held.flow);
        }
    }

    /// Forgets a delivery in the state it was noted in.
    pub fn leave_delivery(&mut self, id: DeliveryId, held: &Delivery) {
        self.due.remove(&(held.next_ms, id));
        self.dead.remove(&(held.created_ms, id));
        if let Some(of_flow) = self.held_up.get_mut(&held.flow) {
            of_flow.remove(&(held.next_ms, id));
        }
        if held.in_flight {
            self.end_attempt(held.flow);
        }
    }

    /// Takes the first delivery that is due and may be attempted. Those of flows with enough attempts
    /// in flight are held up.
    pub fn take_due(&mut self, now_ms: u64) -> Option<DeliveryId> {
        while let Some(first) = self.due.first_entry().filter(|held| held.key().0 <= now_ms) {
            let (first, flow) = first.remove_entry();
            let in_flight = self.in_flight.entry(flow).or_default();
            if *in_flight < ATTEMPTS_OF_FLOW {
                *in_flight += 1;
                return Some(first.1);
            }
            self.held_up.entry(flow).or_default().insert(first);
        }
        None
    }

    /// Notes the end of an attempt of a flow; the first delivery that it held up is due.
    fn end_attempt(&mut self, flow: AutomationId) {
        if let Some(in_flight) = self.in_flight.get_mut(&flow) {
            *in_flight -= 1;
            if *in_flight == 0 {
                self.in_flight.remove(&flow);
            }
        }
        if let Some(of_flow) = self.held_up.get_mut(&flow) {
            self.due.extend(of_flow.pop_first().map(|first| (first, flow)));
            if of_flow.is_empty() {
                self.held_up.remove(&flow);
            }
        }
    }

    /// Notes an alert in its present state.
    pub fn enter_alert(&mut self, id: AlertId, held: &AlertRecord) {
        if held.state != AlertState::Closed {
            self.open_alerts.insert((held.flow, held.key.clone()), id);
        }
    }
}

/// Readings of the gateway that are to be evaluated, oldest first.
#[derive(Resource, Default)]
pub(super) struct GatewayReadings(pub VecDeque<(String, f64)>);

/// The pass of automation over a tick. Written by `begin_pass`.
#[derive(Resource, Default)]
pub(super) struct Pass {
    /// Wall clock, ms since the Unix epoch.
    pub now_ms: u64,
    /// `false` where the tick was evaluated before a checkpoint was taken up, or where the wall clock
    /// is not known.
    pub evaluates: bool,
    /// `true` if the tick before was evaluated, so that changes since then are news.
    pub watches: bool,
}

/// State of automation that no document holds. Written by the systems of automation.
#[derive(Resource, Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Progress {
    /// Tick that was evaluated last.
    pub tick: u64,
    /// Sequence number of the last event that was matched.
    pub event: u64,
    /// Execution that was served last.
    pub served: Option<ExecutionId>,
    /// Wall clock at the last look at times, ms since the Unix epoch.
    pub timed_ms: u64,
    /// Wall clock at the last look at what is too old, ms since the Unix epoch.
    #[serde(default)]
    pub swept_ms: u64,
    /// Last statuses of links.
    pub links: BTreeMap<(NodeId, NodeId), EdgeStatus>,
}

/// Checkpoint of [`Progress`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AutomationState(Progress);

impl State for AutomationState {
    const TABLE: &'static str = "automation progress";

    fn save(world: &World) -> Self {
        Self(world.resource::<Progress>().clone())
    }

    fn is_fresh(&self) -> bool {
        self.0 == Progress::default()
    }

    fn restore(self, world: &mut World) -> Result<(), Refusal> {
        world.insert_resource(self.0);
        Ok(())
    }
}
