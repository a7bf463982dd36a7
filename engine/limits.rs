//! Every bound of the engine in one place, each with its reason.

/// Commands that may wait for the world at once. Beyond it a submitter hears
/// [`Refusal::Busy`](crate::Refusal::Busy) immediately: a queue that grows without bound only
/// hides that the world is too slow, and its memory is unbounded.
pub const INBOX_COMMANDS_MAX: usize = 4096;

/// Commands taken from the inbox in one tick, so that a flood cannot stretch a tick without end.
pub const COMMANDS_PER_TICK_MAX: usize = 1024;

/// Bytes of one framed log record. The largest honest command (a motion with ten thousand
/// waypoints) is under 1 MiB; a length beyond this is damage, and must not become an allocation.
pub const LOG_FRAME_BYTES_MAX: usize = 16 << 20;

/// Shortest simulated step in nanoseconds (1 us): below it the paced loop spends its whole time
/// in bookkeeping.
pub const STEP_NS_MIN: u64 = 1_000;

/// Longest simulated step in nanoseconds (one hour): beyond it motion between two ticks is no
/// longer motion.
pub const STEP_NS_MAX: u64 = 3_600_000_000_000;

/// Longest short name of an entity in bytes; names become UUIDs and log fields.
pub const NAME_BYTES_MAX: usize = 64;
