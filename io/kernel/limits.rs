//! Derived sizes that an impairment has no field for.

use groundwave_systems::impair::{Impairment, QueueLimit, QueueUnit, Rate};

/// Smallest capacity of a delay line, packets: the default of netem.
pub const LINE_PACKETS_MIN: u64 = 1000;
/// Packet size for the capacity of a delay line, bytes: half of a common mean on the Internet.
pub const PACKET_BYTES: u64 = 500;
/// Rate of a delay line without a rate limit, bit/s.
pub const LINE_BPS: u64 = 1_000_000_000;
/// Capacity of a shaper without a queue, ms.
pub const SHAPER_MS: u64 = 50;

/// Capacity of the delay line of `impairment`, packets: twice the bandwidth-delay product, so that
/// the delay line itself loses none.
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

/// Capacity of the shaper, bytes. A change of the shaper sets it on the queue below for a moment,
/// so it is never less than that queue; it exceeds an explicit queue of bytes, so that the two
/// differ when read back.
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
