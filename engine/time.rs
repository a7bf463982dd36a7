//! Simulated time: an input, never read from the machine.

use bevy_ecs::resource::Resource;

/// The world's only clock. The tick loop advances it; nobody else writes it.
#[derive(Resource, Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    /// Steps taken since the world began; the first tick is 1.
    pub tick: u64,
    /// Length of a step in simulated nanoseconds.
    pub step_ns: u64,
    /// Wall clock of this tick in nanoseconds since the Unix epoch, as passed by the driver and
    /// written in the log. Between logged ticks it advances by `step_ns`, so that a replay, which
    /// has only the logged ones, has the same value.
    pub wall_ns: u64,
}

impl Clock {
    /// A clock before its first tick.
    #[must_use]
    pub fn new(step_ns: u64) -> Self {
        Self { tick: 0, step_ns, wall_ns: 0 }
    }

    /// Simulated time at the start of this tick, in nanoseconds since the world began. The first
    /// tick starts at 0.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.tick.saturating_sub(1).saturating_mul(self.step_ns)
    }

    /// The tick in which an event due at `at_ns` is applied: the first that does not start before
    /// it.
    ///
    /// ```
    /// use groundwave_engine::Clock;
    /// let clock = Clock::new(1_000);
    /// assert_eq!(clock.tick_at(0), 1);
    /// assert_eq!(clock.tick_at(1), 2);
    /// assert_eq!(clock.tick_at(1_000), 2);
    /// ```
    #[must_use]
    pub fn tick_at(&self, at_ns: u64) -> u64 {
        at_ns.div_ceil(self.step_ns).saturating_add(1)
    }
}
