//! The fleet: nodes that are really there, what they said last, and whether they still speak.
//!
//! A node of the fleet is a node of the world: the one that was planned and the one that joins as
//! it are one entity. What a node says comes in as [`RecordHeartbeat`]; time comes in as [`SetGatewayClock`], by the
//! gateway's own monotonic clock, so that a replay sees the same nodes fall silent.

mod approved;
mod command_queue;
mod commands;
mod components;
mod document;
mod event;
mod heartbeat;
mod liveness;
mod metrics;
mod record;
mod sample_buffer;
mod score;
#[cfg(test)]
mod tests;
mod topology;
mod view;

use groundwave_engine::{Builder, Phase};

pub(crate) use approved::approved_node;
pub use command_queue::{
    CommandQueue, CommandState, EnqueueCommand, FinishCommand, NodeCommand, NodeCommands,
    OUTPUT_BYTES_MAX,
};
pub use commands::{
    HeartbeatReply, PatchNode, RecordHeartbeat, RecordJoinReport, RecordSamples,
    SAMPLES_AT_ONCE_MAX, STALE_SEQUENCE, SetGatewayClock, StartGatewayClock,
};
pub use components::{
    LastHeartbeat, LatestReadings, LivenessState, Location, LocationSource, NodeInfo, NodeRecord,
    Preregistration, ReceivedHeartbeat,
};
pub use document::{FleetDocument, FleetState};
pub use event::{FleetEvent, FleetEventKind, FleetEvents, KEPT as EVENTS_KEPT};
pub use heartbeat::{
    DispatchedCommand, Heartbeat, HeartbeatAck, Interface, MeshLink, MeshReport, RadioReport,
    Transport, TransportKind,
};
pub use liveness::{Liveness, LivenessRules, NodeState, StateChange};
pub use metrics::{METRICS_MAX, Reading, Readings, Sample, check_metric, unit_of};
pub(crate) use record::{admit, alert, dismiss, expect, lock_out, registration_of, rename};
pub use record::{check_role, check_tags};
pub use sample_buffer::{RecentSamples, SAMPLES_MAX, SampleBuffer, SampleMinute, StoreMinute};
pub use score::{MeshScore, ScoreComponent, mesh_score};
pub use topology::{Edge, EdgeKind, EdgeStatus, TQ_FULL, TopologyGraph, topology};
pub use view::{Fleet, FleetNode};

/// Nodes that are there.
pub fn fleet(engine: &mut Builder) {
    engine
        .resource(LivenessRules::default())
        .resource(event::EventBuffer::default())
        .section::<Fleet>()
        .section::<FleetEvents>()
        .effect::<StoreMinute>()
        .command::<StartGatewayClock>()
        .command::<SetGatewayClock>()
        .command::<RecordHeartbeat>()
        .command::<RecordJoinReport>()
        .command::<PatchNode>()
        .command::<RecordSamples>()
        .command::<EnqueueCommand>()
        .command::<FinishCommand>()
        .document::<FleetDocument>()
        .state::<FleetState>()
        .systems(Phase::Mirror, sample_buffer::emit_complete_minutes)
        .systems(Phase::Publish, (view::publish_fleet, event::publish_events));
}
