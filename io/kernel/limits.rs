//! Sizes that the interface has no field for, derived from what was asked.

use groundwave_systems::impair::{Impairment, QueueLimit, QueueUnit, Rate};

/// Packets a delay line holds at least: netem's own default.
pub const LINE_PACKETS_MIN: u64 = 1000;
/// A delay line is sized for packets of this size, bytes, half of a common mean on the Internet.
pub const PACKET_BYTES: u64 = 500;
/// Without a rate the line may be as fast as common Ethernet, bit/s.
pub const LINE_BPS: u64 = 1_000_000_000;
/// Without a queue the shaper holds this long, ms.
pub const SHAPER_MS: u64 = 50;

/// Packets that may be under way in the delay line of `impairment`: twice what its rate puts there
/// within its delay. A line too short loses packets that nobody asked to lose.
#[must_use]
pub fn netem_limit(impairment: &Impairment) -> u32 {
    let bps = impairment.rate.map_or(LINE_BPS, |rate| rate.bps);
    let delay_ns = impairment.latency.as_ref().map_or(0, |latency| {
        latency.mean_ns().saturating_add(latency.jitter_ns())
    });
    let bits = u128::from(bps) * u128::from(delay_ns) / 1_000_000_000;
    let packets = 2 * bits / u128::from(8 * PACKET_BYTES);
    let packets = packets.max(u128::from(LINE_PACKETS_MIN));
    u32::try_from(packets).unwrap_or(u32::MAX)
}

/// Bytes the shaper may hold. It is also what the queue under it has for a moment whenever the
/// shaper changes, so it is never less than the queue; and it is more than an explicit queue of
/// bytes, so that the two can be told apart by reading.
#[must_use]
pub fn shaper_limit(rate: Rate, queue: Option<QueueLimit>) -> u32 {
    let waiting = u128::from(rate.bps) * u128::from(SHAPER_MS) / 8000;
    let derived = u128::from(rate.burst_bytes).saturating_add(waiting);
    let derived = u32::try_from(derived).unwrap_or(u32::MAX);
    match queue {
        None => derived,
        Some(queue) => match queue.unit {
            QueueUnit::Packets => derived.max(queue.value),
            QueueUnit::Bytes => derived.max(queue.value.saturating_add(1)),
        },
    }
}
