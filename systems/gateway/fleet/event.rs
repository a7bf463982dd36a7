//! Events of the fleet: changes of liveness, changes of registration, alerts.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Section};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::liveness::StateChange;

/// Capacity of the buffer, events; a watcher that was away for longer starts at the present.
pub const KEPT: usize = 1024;

/// Type of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FleetEventKind {
    /// Liveness of a node changed.
    #[serde(rename = "node.state")]
    NodeState,
    /// A registration waits, expired, was approved, rejected, revoked or removed.
    #[serde(rename = "registration")]
    Registration,
    /// A condition that needs the attention of an operator.
    #[serde(rename = "alert")]
    Alert,
    /// The system clock of the gateway was set.
    #[serde(rename = "clock_step")]
    ClockStep,
    /// An execution of an automation flow ended.
    #[serde(rename = "flow.execution")]
    FlowExecution,
    /// An outage began or is over.
    #[serde(rename = "outage")]
    Outage,
}

impl FleetEventKind {
    /// Name of the type in event streams.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NodeState => "node.state",
            Self::Registration => "registration",
            Self::Alert => "alert",
            Self::ClockStep => "clock_step",
            Self::FlowExecution => "flow.execution",
            Self::Outage => "outage",
        }
    }
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetEvent {
    /// Sequence number since the gateway started, from 1.
    pub seq: u64,
    /// Time of the event, ns since the Unix epoch.
    pub at_ns: u64,
    /// Type.
    pub kind: FleetEventKind,
    /// Attributes by name.
    pub data: BTreeMap<String, String>,
}

/// The last events, oldest first.
pub type FleetEvents = VecDeque<Arc<FleetEvent>>;

/// Buffer of the last events. Written by commands of the fleet and by `expire_liveness`.
#[derive(Resource, Default)]
pub(crate) struct EventBuffer {
    events: FleetEvents,
    last_seq: u64,
}

impl EventBuffer {
    /// Sequence number of the last event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Events after the one with this sequence number, as far as they are kept, oldest first.
    pub(crate) fn after(&self, seq: u64) -> impl Iterator<Item = &FleetEvent> {
        let first = self.events.partition_point(|event| event.seq <= seq);
        self.events.iter().skip(first).map(|event| &**event)
    }

    fn push(&mut self, at_ns: u64, kind: FleetEventKind, data: BTreeMap<String, String>) {
        self.last_seq += 1;
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(Arc::new(FleetEvent { seq: self.last_seq, at_ns, kind, data }));
    }

    /// Adds an alert: subject and attributes.
    pub(crate) fn alert(&mut self, at_ns: u64, about: &str, data: &[(&str, String)]) {
        let data = data.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        let about = ("about".to_owned(), about.to_owned());
        self.push(at_ns, FleetEventKind::Alert, data.chain([about]).collect());
    }

    /// Adds the end of an execution of an automation flow.
    pub(crate) fn executed(&mut self, at_ns: u64, flow: Uuid, execution: Uuid, state: &str) {
        let data = [
            ("flow_id", flow.to_string()),
            ("execution_id", execution.to_string()),
            ("state", state.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value));
        self.push(at_ns, FleetEventKind::FlowExecution, data.into());
    }

    /// Adds a change of a registration.
    pub(super) fn registration(&mut self, at_ns: u64, data: BTreeMap<String, String>) {
        self.push(at_ns, FleetEventKind::Registration, data);
    }

    /// Adds the begin or the end of an outage.
    pub(crate) fn outage(&mut self, at_ns: u64, data: BTreeMap<String, String>) {
        self.push(at_ns, FleetEventKind::Outage, data);
    }

    /// Adds the event of a liveness transition, if there was one.
    pub(super) fn push_transition(&mut self, node: NodeId, change: Option<StateChange>) {
        let Some(change) = change else { return };
        let data = BTreeMap::from([
            ("node_id".to_owned(), node.to_string()),
            ("from".to_owned(), change.from.word().to_owned()),
            ("to".to_owned(), change.to.word().to_owned()),
            ("reason".to_owned(), change.reason),
        ]);
        self.push(change.at_ns, FleetEventKind::NodeState, data);
    }
}

/// Adds an event at the wall time of this tick.
pub(super) fn push(world: &mut World, kind: FleetEventKind, data: BTreeMap<String, String>) {
    let at_ns = world.resource::<Clock>().wall_ns;
    world.resource_mut::<EventBuffer>().push(at_ns, kind, data);
}

/// Publishes the buffer after new events.
pub(super) fn publish_events(buffer: Res<EventBuffer>, mut section: ResMut<Section<FleetEvents>>) {
    let latest = |events: &FleetEvents| events.back().map_or(0, |event| event.seq);
    if latest(&buffer.events) != latest(&section.share()) {
        section.redraw(buffer.events.clone());
    }
}
