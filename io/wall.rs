//! Clocks of the machine, for the loops that pace worlds.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use groundwave_engine::Pacer;

/// A pacer by the clocks of the machine.
#[derive(Debug, Clone, Copy)]
pub struct MachineClock {
    start: Instant,
}

impl MachineClock {
    /// A clock at 0.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the clock of the process")]
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl Pacer for MachineClock {
    fn monotonic_ns(&mut self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn wall_ns(&mut self) -> u64 {
        wall_ns()
    }
}

/// Time since the Unix epoch, ns; 0 before it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the clock of the process")]
pub fn wall_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// System-wide monotonic time, ns: the same for all processes of this boot.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    let now = now.map_or(std::time::Duration::ZERO, std::time::Duration::from);
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
