//! Clocks of the machine, for the loops that pace worlds.

mod checked;

use std::collections::VecDeque;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

pub use checked::{CheckedClock, ClockStep};

use groundwave_values::Pacer;

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
        Self { start: Instant::now() }
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

/// Steps kept for those who ask; earlier ones are forgotten.
const STEPS_MAX: usize = 64;

/// The wall clock of the process and its steps that were not yet told.
static CLOCK: Mutex<(Option<CheckedClock>, VecDeque<ClockStep>)> =
    Mutex::new((None, VecDeque::new()));

/// Time since the Unix epoch, ns: the system clock, checked against the time since boot. A step of
/// more than 60 s is followed only while a time server disciplines the system clock, else after a
/// restart.
#[must_use]
pub fn wall_ns() -> u64 {
    let (system_ns, boot_ns) = (system_ns(), boot_ns());
    let mut held = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let (clock, steps) = &mut *held;
    let clock = clock.get_or_insert(CheckedClock::new(system_ns, boot_ns));
    let (wall_ns, step) = clock.read(system_ns, boot_ns, is_synchronised);
    if let Some(step) = step {
        tracing::warn!(
            expected_ns = step.expected_ns,
            system_ns = step.system_ns,
            adopted = step.adopted,
            "the system clock was set"
        );
        if steps.len() == STEPS_MAX {
            steps.pop_front();
        }
        steps.push_back(step);
    }
    wall_ns
}

/// The first step of the wall clock that was not taken yet.
pub fn next_clock_step() -> Option<ClockStep> {
    let mut held = CLOCK.lock().unwrap_or_else(PoisonError::into_inner);
    held.1.pop_front()
}

/// True: systems other than Linux do not say whether a time server disciplines their clock.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub const fn is_synchronised() -> bool {
    true
}

/// True while a time server disciplines the system clock, as the kernel knows it; setting the clock by
/// hand ends that.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_synchronised() -> bool {
    // SAFETY: all-zero bytes are a valid `timex`, a plain structure of integers; with `modes` 0 the
    // call only fills it in.
    #[expect(unsafe_code, reason = "no crate in use has this system call")]
    let state = unsafe {
        let mut timex: libc::timex = std::mem::zeroed();
        libc::adjtimex(&raw mut timex)
    };
    state >= 0 && state != libc::TIME_ERROR
}

/// Time of a clock of the system, ns.
#[cfg(unix)]
fn clock_ns(clock: nix::time::ClockId) -> u64 {
    let now = nix::time::clock_gettime(clock)
        .map_or(std::time::Duration::ZERO, std::time::Duration::from);
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Time since boot with the time asleep, ns.
#[cfg(unix)]
#[must_use]
pub fn boot_ns() -> u64 {
    // The monotonic clock of Apple goes on while the machine sleeps.
    #[cfg(target_vendor = "apple")]
    let clock = nix::time::ClockId::CLOCK_MONOTONIC;
    #[cfg(not(target_vendor = "apple"))]
    let clock = nix::time::ClockId::CLOCK_BOOTTIME;
    clock_ns(clock)
}

/// Time of the system clock, ns: systems other than Unix have no other one that processes share.
#[cfg(not(unix))]
#[must_use]
pub fn boot_ns() -> u64 {
    system_ns()
}

/// Identity of this boot of the machine, whose time [`boot_ns`] is; empty where the system has none.
#[must_use]
pub fn boot_id() -> &'static str {
    static ID: LazyLock<String> = LazyLock::new(|| {
        let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.trim().to_owned()
    });
    &ID
}

/// System clock, ns since the Unix epoch; 0 before it.
#[expect(clippy::disallowed_methods, reason = "the clock of the process")]
fn system_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// System-wide monotonic time, ns: the same for all processes of this boot.
#[cfg(unix)]
#[must_use]
pub fn monotonic_ns() -> u64 {
    clock_ns(nix::time::ClockId::CLOCK_MONOTONIC)
}

/// Time of the system clock, ns: systems other than Unix have no other one that processes share.
#[cfg(not(unix))]
#[must_use]
pub fn monotonic_ns() -> u64 {
    system_ns()
}
