//! What happened of late, for those who watch.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Section};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Happenings remembered; who was away for longer starts from the present.
pub const KEPT: usize = 1024;

/// What kind of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FleetEventKind {
    /// A node is seen otherwise than before.
    #[serde(rename = "node.state")]
    NodeState,
    /// Somebody came in or went out.
    #[serde(rename = "registration")]
    Registration,
    /// Somebody should look.
    #[serde(rename = "alert")]
    Alert,
}

impl FleetEventKind {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NodeState => "node.state",
            Self::Registration => "registration",
            Self::Alert => "alert",
        }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FleetEvent {
    /// Counts happenings since the gateway began.
    pub seq: u64,
    /// When, ns since the Unix epoch.
    pub at_ns: u64,
    /// What kind of thing.
    pub kind: FleetEventKind,
    /// What exactly.
    pub data: BTreeMap<String, String>,
}

/// The last happenings, oldest first.
pub type FleetEvents = VecDeque<Arc<FleetEvent>>;

/// Where they are gathered, with the gateway's clock as last told.
#[derive(Resource, Default)]
pub(super) struct EventBuffer {
    held: FleetEvents,
    next: u64,
    pub(super) now_ns: u64,
}

/// The gateway's clock as last told, ns.
pub(super) fn now_ns(world: &World) -> u64 {
    world.resource::<EventBuffer>().now_ns
}

/// Notes that something happened.
pub(super) fn push(world: &mut World, kind: FleetEventKind, data: BTreeMap<String, String>) {
    let at_ns = world.resource::<Clock>().wall_ns;
    let mut ring = world.resource_mut::<EventBuffer>();
    ring.next += 1;
    let seq = ring.next;
    if ring.held.len() == KEPT {
        ring.held.pop_front();
    }
    ring.held.push_back(Arc::new(FleetEvent {
        seq,
        at_ns,
        kind,
        data,
    }));
}

/// Redraws the section when something happened.
pub(super) fn publish_events(ring: Res<EventBuffer>, mut section: ResMut<Section<FleetEvents>>) {
    let latest = |held: &FleetEvents| held.back().map_or(0, |event| event.seq);
    if latest(&ring.held) != latest(&section.share()) {
        section.redraw(ring.held.clone());
    }
}
