//! Fleet: nodes of the running mesh, their heartbeats, liveness, samples, commands and links.
//!
//! A node of the fleet and the planned node it joins as are one entity. Heartbeats arrive as
//! [`RecordHeartbeat`], time as [`SetGatewayClock`] by the gateway's monotonic clock: a replay sees
//! the same liveness transitions. Commands write components; `expire_liveness`,
//! `roll_over_minutes`, `update_topology` and `predict_mesh_links` derive the rest from what changed.

mod approved;
mod clock;
mod clone;
mod clone_report;
mod command_queue;
mod commands;
mod components;
mod document;
mod event;
mod gateway_clock;
#[cfg(test)]
mod heartbeat_tests;
mod liveness;
mod node_settings;
mod prediction;
mod reading_refusal;
mod record;
mod roles;
mod sample_buffer;
#[cfg(test)]
mod sample_buffer_tests;
mod samples;
mod score;
mod short_samples;
#[cfg(test)]
mod tests;
mod topology;
mod view;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Phase};

pub(crate) use approved::{ApprovedNodes, approved_node};
pub use clock::{HoldMinutes, RecordAlert, RecordClockStep, SetGatewayClock, StartGatewayClock};
pub use clone::NodeClone;
pub use clone_report::ReportClone;
pub use command_queue::{
    CommandQueue, CommandState, EnqueueCommand, FinishCommand, NodeCommand, NodeCommands,
    OUTPUT_BYTES_MAX, command_space,
};
pub(crate) use command_queue::{CommandQueues, withdraw_command};
pub use commands::{HeartbeatReply, PatchNode, RecordHeartbeat, RecordJoinReport, STALE_SEQUENCE};
pub use components::{
    EarlierBoot, LastHeartbeat, LatestReadings, LivenessState, Location, LocationSource, NodeInfo,
    NodeRecord, Preregistration, ReceivedHeartbeat,
};
pub use document::{FleetDocument, FleetState};
pub(crate) use event::EventBuffer;
pub use event::{FleetEvent, FleetEventKind, FleetEvents, KEPT as EVENTS_KEPT};
pub(crate) use gateway_clock::GatewayClock;
pub(crate) use liveness::OFFLINE_PERIODS;
pub use liveness::{Liveness, LivenessRules, StateChange};
pub use node_settings::{
    BatmanGatewayMode, BatmanSettings, CONFIGURE, NodeSettings, SettingDifference,
};
pub use reading_refusal::{ReadingRefusal, SAMPLES_MAX};
pub use record::check_tags;
pub(crate) use record::{
    admit, alert, dismiss, expect, expected_with_key, expired, is_named, lock_out, registration_of,
    rejected, rename, rename_host, reserved_ips, tag, waits,
};
pub use roles::{NodeRole, check_role, is_same_role};
pub use sample_buffer::{RecentSamples, SampleBuffer, SampleMinute, StoreMinute};
pub use samples::{RecordSamples, SAMPLES_AT_ONCE_MAX, SamplesReply};
pub use score::{MeshScore, ScoreComponent};
pub use topology::{Edge, EdgeKind, EdgeStatus, MeshEdges, PredictedLink, TQ_FULL};
pub use view::{Fleet, FleetNode};

/// Systems that follow the gateway clock.
#[derive(SystemSet, Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LivenessSystems;

pub fn fleet(engine: &mut Builder) {
    engine
        .resource(LivenessRules::default())
        .resource(EventBuffer::default())
        .resource(GatewayClock::default())
        .resource(clock::LivenessDeadlines::default())
        .resource(topology::TopologyIndex::default())
        .resource(prediction::PredictionQueue::default())
        .section::<Fleet>()
        .section::<FleetEvents>()
        .effect::<StoreMinute>()
        .command::<RecordAlert>()
        .command::<StartGatewayClock>()
        .command::<SetGatewayClock>()
        .command::<HoldMinutes>()
        .command::<RecordClockStep>()
        .command::<RecordHeartbeat>()
        .command::<ReportClone>()
        .command::<RecordJoinReport>()
        .command::<PatchNode>()
        .command::<RecordSamples>()
        .command::<EnqueueCommand>()
        .command::<FinishCommand>()
        .document::<FleetDocument>()
        .state::<FleetState>()
        .systems(
            Phase::Plan,
            (clock::index_deadlines, clock::expire_liveness, sample_buffer::roll_over_minutes)
                .chain()
                .in_set(LivenessSystems)
                .run_if(resource_changed::<GatewayClock>),
        )
        .systems(Phase::Plan, node_settings::drop_settings)
        .systems(
            Phase::Route,
            (
                topology::update_topology,
                prediction::queue_predictions,
                prediction::predict_mesh_links,
            )
                .chain(),
        )
        .systems(Phase::Mirror, sample_buffer::emit_complete_minutes)
        .systems(Phase::Publish, (view::publish_fleet, event::publish_events));
}
