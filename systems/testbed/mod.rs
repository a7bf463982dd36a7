//! Links mirrored onto wires: what each direction of each link should do to real packets, and what
//! was seen of them.
//!
//! `testbed.begin` turns the mirror on. From then on `mirror_wires` says, as the effect [`Work`],
//! which nodes need a seat, which pairs a wire, what each direction does, and which routes hold. A
//! driver outside makes it so and reports as commands. The world never talks to a kernel, so a
//! replay needs none and comes to the same view.

mod commands;
mod desired;
mod hops;
mod mirror;
mod observed;
mod settings;
mod shape;
mod state;
#[cfg(test)]
mod tests;
mod view;

use groundwave_engine::{Builder, Phase};

pub use commands::{
    BeginTestbed, CountWires, HearRoutes, MeetKernel, Pace, ProbeLink, SightWires, TakeOver,
};
pub use desired::{Desired, Seat, Side, Wire, Work, WorkKey};
pub use hops::{NextHops, next_hops};
pub use observed::{Counted, Heard, Means, Observed, Probe, Sighting, Takeover, Tally, WireSide};
pub use settings::{Binding, Mac, Port, Protocol, SEATS_MAX, Settings, Wiring};
pub use shape::{Shape, shape};
pub use view::{SeatView, SideView, TestbedView, WireView};

/// The mirror; idle until `testbed.begin`.
pub fn testbed(engine: &mut Builder) {
    engine
        .resource(Desired::default())
        .resource(Observed::default())
        .section::<TestbedView>()
        .state::<Desired>()
        .state::<Observed>()
        .effect::<Work>()
        .command::<BeginTestbed>()
        .command::<Pace>()
        .command::<SightWires>()
        .command::<CountWires>()
        .command::<ProbeLink>()
        .command::<HearRoutes>()
        .command::<MeetKernel>()
        .command::<TakeOver>()
        .systems(Phase::Mirror, mirror::mirror_wires)
        .systems(Phase::Publish, view::publish_testbed);
}
