//! Links mirrored onto virtual Ethernet: the desired treatment of packets in each direction of each link,
//! and reports on it.
//!
//! After `testbed.begin` the systems of this module emit, as the effect [`Work`], which nodes need a
//! namespace, which pairs a veth pair, the shape of each direction, and the routes. A driver outside applies
//! them and reports by command. The world never talks to a kernel, so a replay needs none and yields the
//! same view.

mod commands;
mod components;
mod hops;
mod manual;
mod mirror;
mod nodes;
mod observed;
mod reading;
mod settings;
mod shape;
mod state;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_readings;
mod view;
mod work;

use bevy_ecs::schedule::IntoScheduleConfigs;
use groundwave_engine::{Builder, Phase};

pub use commands::{
    BeginTestbed, CountWires, MeetKernel, ProbeLink, ReportLinkState, ReportRoutes, SetTimeScale,
    TakeOver,
};
pub use components::{NamespaceAssignment, Side, VethPair};
pub use hops::{next_hops, relative_cost};
pub use manual::{ManualShape, SetLinkShape};
pub use nodes::{AddTestbedNode, RemoveTestbedNode};
pub use observed::{
    Counted, LinkDirection, Means, Observation, ObservedRoute, Probe, SideReading, Takeover, Tally,
};
pub use reading::{DatedProgram, DatedReading, Reading, RoutingProgram};
pub use settings::{Binding, MediumAccess, Port, Protocol, SEATS_MAX, Settings, Wiring};
pub use shape::{JITTER_NS_MAX, Shape, shape};
pub use view::{NamespaceView, SideView, TestbedView, WireView};
pub use work::{Work, WorkKey};

/// The mirror; idle until `testbed.begin`.
pub fn testbed(engine: &mut Builder) {
    engine
        .resource(components::Setup::default())
        .resource(components::Host::default())
        .resource(components::Namespaces::default())
        .resource(components::VethPairs::default())
        .resource(manual::ManualChanges::default())
        .resource(nodes::LastNumbers::default())
        .resource(nodes::Departed::default())
        .section::<TestbedView>()
        .state::<state::Desired>()
        .state::<state::Observed>()
        .effect::<Work>()
        .command::<BeginTestbed>()
        .command::<SetTimeScale>()
        .command::<ReportLinkState>()
        .command::<CountWires>()
        .command::<ProbeLink>()
        .command::<ReportRoutes>()
        .command::<MeetKernel>()
        .command::<TakeOver>()
        .command::<SetLinkShape>()
        .command::<AddTestbedNode>()
        .command::<RemoveTestbedNode>()
        .systems(
            Phase::Mirror,
            (
                nodes::release_namespaces,
                mirror::assign_namespaces,
                mirror::shape_links,
                mirror::route_namespaces,
            )
                .chain(),
        )
        .systems(Phase::Publish, view::publish_testbed);
}
