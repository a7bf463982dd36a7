//! Every bound of the engine in one place, each with its reason.

/// Commands that may wait for the world at once. Beyond it a submitter receives
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

pub use groundwave_values::NAME_BYTES_MAX;

/// Bytes of one part of a checkpoint: far below a frame, so that no state makes an entry too long.
pub const CHECKPOINT_PART_BYTES: usize = 1 << 20;

/// Bytes of a checkpoint. A world of 100,000 nodes has 60 MB; a larger one goes without, and a
/// length beyond this in a log is damage.
pub const CHECKPOINT_BYTES_MAX: usize = 256 << 20;

/// Ticks between two checkpoints, by default: a replay that begins in the middle makes half as many
/// in vain.
pub const CHECKPOINT_TICKS: u64 = 1000;

/// Bytes of checkpoints a log may hold for each byte of its commands, beyond
/// [`CHECKPOINT_BYTES_FREE`]: they are a shortcut and shall not be most of a long log.
pub const CHECKPOINT_SHARE_MAX: u64 = 2;

/// Bytes of checkpoints that no log is too short for.
pub const CHECKPOINT_BYTES_FREE: u64 = 64 << 20;
