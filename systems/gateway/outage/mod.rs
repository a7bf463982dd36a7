//! Outages: nodes that are offline, grouped by the node through which the gateway reached them.
//!
//! The gateway has no entity in the topology. A node is an *entry* where something that still works reaches
//! it: a neighbor that is not offline, the gateway itself ([`ObserveGatewayLinks`]: hardware addresses of its
//! interfaces and of its mesh neighbors), or an uplink of its own (capability `gateway` or `internet`).
//! Nodes that are offline and linked to one another by their last reports are divided among their entries,
//! each to the entry with the fewest hops ([`groups`](groups::groups)). An entry with its nodes is one
//! [`Outage`]: the entry is the relay, the others are behind it.
//!
//! Heartbeats of a group stop within a period of each other. A node therefore waits until all silent nodes
//! that it is linked to are offline too, for two periods at most. Nodes that are offline later join the
//! outage of their relay. An outage is over when its relay is online and the others are, or twelve periods
//! later: those that are still silent begin outages of their own.
//!
//! Worlds without [`BeginOutages`] in their log have none.

mod commands;
mod components;
mod groups;
mod notice;
mod silence;
#[cfg(test)]
mod tests;
mod track;
mod view;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, ComponentDocument, Phase};

pub use commands::{BeginOutages, ObserveGatewayLinks};
pub use components::{Outage, OutageEnd, OutageId, OutageKind, OutageState};
pub(crate) use notice::{MemberNames, behind, duration};
pub use view::Outages;

/// Systems of outages, which automation follows.
#[derive(SystemSet, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OutageSystems;

/// Outages.
pub fn outage(engine: &mut Builder) {
    engine
        .kind::<OutageKind>()
        .resource(components::OutageWatch::default())
        .resource(silence::Silence::default())
        .section::<Outages>()
        .command::<BeginOutages>()
        .command::<ObserveGatewayLinks>()
        .document::<ComponentDocument<Outage>>()
        .state::<OutageState>()
        .systems(
            Phase::Respond,
            (silence::update_silence, track::track_outages, track::trim_outages)
                .chain()
                .in_set(OutageSystems),
        )
        .systems(Phase::Publish, view::publish_outages);
}
