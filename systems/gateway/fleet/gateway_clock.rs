//! Time of the gateway in the world.

use bevy_ecs::prelude::*;

/// The gateway's monotonic clock as last set. Written by `fleet.begin` and `fleet.tend`.
#[derive(Resource, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct GatewayClock {
    /// Time since the gateway started, ns.
    pub now_ns: u64,
    /// Minutes do not end by the clock. Written by `fleet.hold_minutes`.
    pub holds_minutes: bool,
}
