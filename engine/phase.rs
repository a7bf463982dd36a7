//! The order of one tick.

use bevy_ecs::schedule::{ScheduleLabel, SystemSet};

/// The one schedule of the world; it runs once a tick.
#[derive(ScheduleLabel, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Tick;

/// The phases of a tick, chained in this order. A system belongs to exactly one.
///
/// | phase | reads | writes |
/// |---|---|---|
/// | `Ingest` | commands applied this tick, the clock | membership, motion, expiry |
/// | `Plan` | desired state | which links exist, which jobs advance |
/// | `Propagate` | positions, stations, terrain | link budgets, coverage cells |
/// | `Route` | budgets | ETX, next hops, flow paths |
/// | `Mirror` | desired against observed state | effects for the outside |
/// | `Publish` | everything that changed | the snapshot |
#[derive(SystemSet, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Time and commands take effect.
    Ingest,
    /// What should exist is brought into being.
    Plan,
    /// Physics is recomputed where its inputs changed.
    Propagate,
    /// Metrics and paths follow from physics.
    Route,
    /// Desired state leaves towards the outside.
    Mirror,
    /// The snapshot is drawn.
    Publish,
}
