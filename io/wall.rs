//! The machine's clocks, for the one loop that may read them.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use groundwave_engine::Pacer;

/// Paces a world by the machine's clocks.
#[derive(Debug, Clone, Copy)]
pub struct MachineClock {
    start: Instant,
}

impl MachineClock {
    /// Starts counting.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this is where time enters")]
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

/// Nanoseconds since the Unix epoch; 0 on a machine that thinks it is earlier.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is where time enters")]
pub fn wall_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds of the system's monotonic clock, which all programs of this boot share.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    let now = now.map_or(std::time::Duration::ZERO, std::time::Duration::from);
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}
