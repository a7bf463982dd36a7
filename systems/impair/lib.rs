//! Impairments of traffic by the ports of a link emulator: two, or further ones.
//!
//! A command changes [`Desired`] and gets a generation; `mirror_impairments` emits it as the effect
//! [`ShapePort`]; a driver applies it and reports the impairment in force as read back from the
//! kernel, which is stored in [`Observed`]. The world itself never talks to a kernel, so a replay
//! needs none.

mod capability;
mod check;
mod commands;
mod correlation;
mod delay_line;
mod direction;
mod distribution;
mod diverge;
mod field;
mod observed;
mod ports;
mod selector;
mod shape;
mod snapshot;
mod state;
mod stats;
#[cfg(test)]
mod tests;
mod warn;

use groundwave_engine::{Builder, Phase};
pub use groundwave_values::{Cidr, PortRange, Refusal};

pub use capability::{Capabilities, Extensions, Missing};
pub use check::{DURATION_NS_MAX, RATE_BPS_MIN, TABLE_NAME_CHARS_MAX, check_table_name};
pub use commands::{ObserveImpairment, SetImpairment};
pub use delay_line::{FRAME_BYTES_MIN, LinePackets, line_packets};
pub use direction::Direction;
pub use distribution::Distribution;
pub use diverge::{Fact, compare, equal};
pub use field::{Draw, Kind};
pub use observed::{Applied, DivergenceItem, DivergenceKind, Failure, FailureKind, Value, Warning};
pub use ports::{Desired, Impairments, Observed, Port, PortView, Ports, ShapePort};
pub use selector::{IpProtocol, Selector};
pub use shape::*;
pub use snapshot::Snapshot;
pub use stats::{LinkStats, RuleStats};
pub use warn::{Surroundings, rounding_warnings, warnings};

/// A world of the ports alone, for a program that only emulates a link: its ticks cost a tenth
/// of those of a world that could also hold a mesh, and its log replays in either.
#[must_use]
pub fn world() -> Builder {
    let mut builder = Builder::new();
    builder.plugin(impair);
    builder
}

/// The ports with their desired and observed impairments.
pub fn impair(engine: &mut Builder) {
    let ports = Ports::spawn(engine.world());
    engine
        .resource(ports)
        .section::<Impairments>()
        .state::<state::PortStates>()
        .effect::<ShapePort>()
        .command::<SetImpairment>()
        .command::<ObserveImpairment>()
        .systems(Phase::Mirror, ports::mirror_impairments)
        .systems(Phase::Publish, ports::publish_impairments);
}
