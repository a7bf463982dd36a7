//! Derived sizes that an impairment has no field for.

use groundwave_impair::{FRAME_BYTES_MIN, Impairment, QueueLimit, QueueUnit, Rate, line_packets};

/// Smallest capacity of a delay line, packets: the default of netem.
pub const LINE_PACKETS_MIN: u64 = 1000;
/// Capacity of a shaper without a queue, ms.
pub const SHAPER_MS: u64 = 50;

/// Limit of netem for `impairment`, packets: those in its delay line, and those in the shaper and the
/// queue below, which it counts as its own (`sch->q.qlen` in net/sched/sch_netem.c).
#[must_use]
pub fn netem_limit(impairment: &Impairment) -> u32 {
    let line = line_packets(impairment).held.max(LINE_PACKETS_MIN);
    let queue = impairment.queue.map(|queue| queue.limit);
    let derived = impairment
        .rate
        .map(|rate| QueueLimit { unit: QueueUnit::Bytes, value: shaper_limit(rate, queue) });
    let below = match queue.or(derived) {
        None => 0,
        Some(QueueLimit { unit: QueueUnit::Packets, value }) => u64::from(value),
        Some(QueueLimit { value, .. }) => u64::from(value) / FRAME_BYTES_MIN,
    };
    let limit = line.saturating_add(below);
    // In steps, so that a small change of rate or queue leaves netem alone.
    let limit = limit.checked_next_multiple_of(LINE_PACKETS_MIN);
    u32::try_from(limit.unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> u32 {
        netem_limit(&serde_json::from_str(text).unwrap())
    }

    #[test]
    fn netem_holds_the_delay_line_and_the_queue_below() {
        assert_eq!(limit("{}"), 1000);
        let queue = r#"{"rate":{"bps":1000000,"burst_bytes":2000},
            "queue":{"limit":{"unit":"packets","value":8000}}}"#;
        assert_eq!(limit(queue), 9000);
        let bytes = r#"{"queue":{"limit":{"unit":"bytes","value":600000}}}"#;
        assert_eq!(limit(bytes), 11_000);
        // 64 Mbit/s of 100-byte frames are 24000 packets in 300 ms.
        let fast = r#"{"latency":{"kind":"constant","duration":300000000},
            "rate":{"bps":100000000,"burst_bytes":200000}}"#;
        assert!(limit(fast) >= 24_000 + 8_000, "{}", limit(fast));
        let all = r#"{"queue":{"limit":{"unit":"packets","value":4294967295}}}"#;
        assert_eq!(limit(all), u32::MAX);
    }
}
