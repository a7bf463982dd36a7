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
/// | `Respond` | events, readings, links, the clock | automation: executions and their work |
/// | `Mirror` | desired against observed state | effects for drivers |
/// | `Publish` | everything that changed | the snapshot |
#[derive(SystemSet, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Time and commands take effect.
    Ingest,
    /// Desired entities are created: links, jobs.
    Plan,
    /// Link budgets and coverage are recomputed where their inputs changed.
    Propagate,
    /// Metrics and routes are derived from the link budgets.
    Route,
    /// Automation answers events, readings, links and times of this tick.
    Respond,
    /// Desired state is emitted as effects.
    Mirror,
    /// The sections of the snapshot are redrawn.
    Publish,
}
