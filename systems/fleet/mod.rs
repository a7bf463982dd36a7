//! The fleet: nodes that are really there, what they said last, and whether they still speak.
//!
//! A node of the fleet is a node of the world: the one that was planned and the one that joins as
//! it are one entity. What a node says comes in as [`Hear`]; time comes in as [`Tend`], by the
//! gateway's own monotonic clock, so that a replay sees the same nodes fall silent.

mod beat;
mod command;
mod components;
mod document;
mod happening;
mod liveness;
mod member;
mod metrics;
mod minutes;
mod orders;
mod score;
#[cfg(test)]
mod tests;
mod topology;
mod view;

use groundwave_engine::{Builder, Phase};

pub use beat::{
    Beat, BeatAck, Interface, MeshLink, MeshReport, Order, RadioReport, Transport, TransportKind,
};
pub use command::{
    Begin, Hear, Heard, Join, NoteSamples, OLD_BEAT, Patch, SAMPLES_AT_ONCE_MAX, Tend,
};
pub use components::{
    Condition, Expected, LastBeat, Latest, Member, Membership, Place, PlaceSource, Saying,
};
pub use document::{FleetDocument, FleetState};
pub use happening::{Happening, HappeningKind, Happenings, KEPT as HAPPENINGS_KEPT};
pub use liveness::{Liveness, NodeState, Rules, StateChange};
pub(crate) use member::{
    admit, alert, approved_node, dismiss, expect, lock_out, registration_of, rename,
};
pub use member::{check_role, check_tags};
pub use metrics::{METRICS_MAX, Reading, Readings, Sample, check_metric, unit_of};
pub use minutes::{Buffer, KeepMinute, Minute, Minutes, SAMPLES_MAX};
pub use orders::{
    FinishOrder, GiveOrder, OUTPUT_BYTES_MAX, OrderBook, OrderState, Orders, PlacedOrder,
};
pub use score::{Component as ScoreComponent, MeshScore, mesh_score};
pub use topology::{Edge, EdgeKind, EdgeStatus, Graph as TopologyGraph, TQ_FULL, topology};
pub use view::{Fleet, FleetNode};

/// Nodes that are there.
pub fn fleet(engine: &mut Builder) {
    engine
        .resource(Rules::default())
        .resource(happening::Ring::default())
        .section::<Fleet>()
        .section::<Happenings>()
        .effect::<KeepMinute>()
        .command::<Begin>()
        .command::<Tend>()
        .command::<Hear>()
        .command::<Join>()
        .command::<Patch>()
        .command::<NoteSamples>()
        .command::<GiveOrder>()
        .command::<FinishOrder>()
        .document::<FleetDocument>()
        .state::<FleetState>()
        .systems(Phase::Mirror, minutes::keep_minutes)
        .systems(
            Phase::Publish,
            (view::publish_fleet, happening::publish_happenings),
        );
}
