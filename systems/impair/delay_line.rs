//! Packets in the delay line of an impairment.

use super::shape::Impairment;

/// Smallest Ethernet frame without its checksum, bytes (IEEE 802.3, 3.2.8).
pub const FRAME_BYTES_MIN: u64 = 60;
/// Smallest frames per second at 1 Gbit/s, with preamble, checksum and gap: 84 bytes each.
const GIGABIT_PPS: u64 = 1_488_095;
/// Most packets of a delay line: about 1 GB of the kernel's memory.
const PACKETS_MAX: u64 = 1_000_000;

/// Packets of a delay line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePackets {
    /// Most packets in flight over the mean delay: the smallest frames at twice the rate of the
    /// impairment, or at 1 Gbit/s without one.
    pub in_flight: u64,
    /// Packets held, those of longer delays included; further ones are lost.
    pub held: u64,
}

/// Packets that the delay line of `impairment` may have to hold, and does hold.
#[must_use]
pub fn line_packets(impairment: &Impairment) -> LinePackets {
    let latency = impairment.latency.as_ref();
    let (mean_ns, jitter_ns) = latency.map_or((0, 0), |l| (l.mean_ns(), l.jitter_ns()));
    let pps = impairment.rate.map_or(u128::from(GIGABIT_PPS), |rate| {
        2 * u128::from(rate.bps) / u128::from(8 * FRAME_BYTES_MIN)
    });
    let within = |ns: u64| u64::try_from(pps * u128::from(ns) / 1_000_000_000).unwrap_or(u64::MAX);
    LinePackets {
        in_flight: within(mean_ns),
        held: within(mean_ns.saturating_add(jitter_ns)).min(PACKETS_MAX),
    }
}
