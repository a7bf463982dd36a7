//! `tbf`: a token bucket (`linux/pkt_sched.h`, tc-tbf(8)).
//!
//! The kernel stores and reports the size of the bucket as the time to fill it, in ticks of 64 ns:
//! a burst reads back exactly at low rates and with an error of some bytes at high ones.

use groundwave_netlink::attr::{Attrs, append_words, put, put_nested, put_words};
use netlink_packet_core::DecodeError;

pub(super) const PARMS: u16 = 1;
pub(super) const RATE64: u16 = 4;
pub(super) const BURST: u16 = 6;

/// `TC_LINKLAYER_ETHERNET`: the kernel computes transmission times without a rate table.
const ETHERNET: u8 = 1;
/// Duration of a tick, ns.
const TICK_NS: u128 = 64;

/// A discipline of kind `tbf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tbf {
    /// Rate, bytes/s.
    pub rate: u64,
    /// Time to fill the bucket, ticks; the kernel reports the low 32 bits.
    pub buffer_ticks: u64,
    /// Time to send the largest frame, ticks, at most `u32::MAX`.
    pub mtu_ticks: u32,
    /// Queue limit, bytes.
    pub limit: u32,
    /// Peak rate, bytes/s, set by another program; 0 here.
    pub peak_rate: u64,
}

/// Ticks that `bytes` take at `rate` bytes/s.
#[must_use]
pub fn ticks(bytes: u32, rate: u64) -> u64 {
    let ns = u128::from(bytes) * 1_000_000_000 / u128::from(rate.max(1));
    // 2^32 bytes at 1 byte/s are 2^62 ns.
    u64::try_from(ns / TICK_NS).expect("that fits")
}

/// Bytes that pass in `ticks` at `rate` bytes/s, at most `u32::MAX`.
#[must_use]
pub fn bytes(ticks: u64, rate: u64) -> u32 {
    let bytes = u128::from(ticks) * TICK_NS * u128::from(rate) / 1_000_000_000;
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl Tbf {
    /// A bucket of `burst` bytes at `rate` bytes/s, for frames of up to `frame` bytes, of which
    /// `limit` bytes may wait.
    #[must_use]
    pub fn new(rate: u64, burst: u32, frame: u32, limit: u32) -> Self {
        Self {
            rate,
            buffer_ticks: ticks(burst, rate),
            mtu_ticks: ticks(frame, rate).try_into().unwrap_or(u32::MAX),
            limit,
            peak_rate: 0,
        }
    }

    /// Tolerance of the kernel's `buffer_ticks`: one tick for each rounding, and the 31 bits of its
    /// reciprocal of the rate.
    #[must_use]
    pub fn slack_ticks(&self) -> u64 {
        2 + (self.buffer_ticks >> 30)
    }

    /// This discipline as read from a kernel that stores 32 bits, with `buffer_ticks` extended to
    /// the value closest to the requested one.
    #[must_use]
    pub fn unwrapped(mut self, requested: &Self) -> Self {
        let wrap = 1u64 << 32;
        let near = (requested.buffer_ticks & !(wrap - 1)) + self.buffer_ticks % wrap;
        let candidates = [near.saturating_sub(wrap), near, near.saturating_add(wrap)];
        let distance = |ticks: &u64| ticks.abs_diff(requested.buffer_ticks);
        let same = |ticks: &u64| ticks % wrap == self.buffer_ticks % wrap;
        let best = candidates.into_iter().filter(same).min_by_key(distance);
        self.buffer_ticks = best.unwrap_or(self.buffer_ticks);
        self
    }

    /// Payload of TCA_OPTIONS; `burst` is the size of the bucket in bytes.
    #[must_use]
    pub fn payload(&self, burst: u32) -> Vec<u8> {
        let rate32 = u32::try_from(self.rate).unwrap_or(u32::MAX);
        let ticks = self.buffer_ticks.min(u64::from(u32::MAX)) as u32;
        let mut out = Vec::with_capacity(64);
        put_nested(&mut out, PARMS, |out| {
            // struct tc_ratespec: cell_log u8, linklayer u8, overhead u16, cell_align i16, mpu u16.
            append_words(out, &[u32::from_ne_bytes([0, ETHERNET, 0, 0]), 0, rate32]);
            append_words(out, &[0, 0, 0]);
            append_words(out, &[self.limit, ticks, self.mtu_ticks]);
        });
        if self.rate > u64::from(u32::MAX) {
            put(&mut out, RATE64, &self.rate.to_ne_bytes());
        }
        put_words(&mut out, BURST, &[burst]);
        out
    }

    /// The discipline with these options.
    ///
    /// # Errors
    /// For malformed options.
    pub fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        let attrs = Attrs::read("tbf options", payload)?;
        let parms = attrs.words(PARMS)?.unwrap_or_default();
        let [_, _, rate, _, _, peak_rate, limit, buffer_ticks, mtu_ticks] = parms;
        Ok(Self {
            rate: attrs.u64(RATE64)?.unwrap_or_else(|| rate.into()),
            buffer_ticks: buffer_ticks.into(),
            mtu_ticks,
            limit,
            peak_rate: peak_rate.into(),
        })
    }
}
