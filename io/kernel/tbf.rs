//! `tbf`: a token bucket (`linux/pkt_sched.h`, tc-tbf(8)).
//!
//! The kernel keeps the size of the bucket as the time it takes to fill it, in ticks of 64 ns, and
//! shows only that: a burst reads back exactly at low rates and some bytes off at high ones.

use super::KernelError;
use super::nla::{attributes, long, put, put_words, word, words};

const PARMS: u16 = 1;
const RATE64: u16 = 4;
const BURST: u16 = 6;

/// Bytes of `struct tc_tbf_qopt`.
const QOPT: usize = 36;
/// `linklayer` of ethernet: the kernel then computes times itself and wants no table.
const ETHERNET: u32 = 1;
/// A tick is this many ns.
const TICK_NS: u128 = 64;

/// A discipline of kind `tbf`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tbf {
    /// Rate, bytes/s.
    pub rate: u64,
    /// Time to fill the bucket, ticks; what the kernel shows has lost all but 32 bits.
    pub buffer_ticks: u64,
    /// Time to send the largest frame, ticks, at most `u32::MAX`.
    pub mtu_ticks: u32,
    /// Bytes that may wait.
    pub limit: u32,
    /// Peak rate, bytes/s, set by another hand: this module asks for none.
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

    /// How far the kernel's `buffer_ticks` may honestly be from these: a tick of each rounding, and
    /// the 31 bits of its reciprocal of the rate.
    #[must_use]
    pub fn slack_ticks(&self) -> u64 {
        2 + (self.buffer_ticks >> 30)
    }

    /// These, read from a kernel that keeps 32 bits, with `buffer_ticks` lifted to the value
    /// closest to what was asked for.
    #[must_use]
    pub fn lifted(mut self, asked: &Self) -> Self {
        let wrap = 1u64 << 32;
        let near = (asked.buffer_ticks & !(wrap - 1)) + self.buffer_ticks % wrap;
        let candidates = [near.saturating_sub(wrap), near, near.saturating_add(wrap)];
        let distance = |ticks: &u64| ticks.abs_diff(asked.buffer_ticks);
        let same = |ticks: &u64| ticks % wrap == self.buffer_ticks % wrap;
        let best = candidates.into_iter().filter(same).min_by_key(distance);
        self.buffer_ticks = best.unwrap_or(self.buffer_ticks);
        self
    }

    /// Payload of TCA_OPTIONS; `burst` is the size of the bucket in bytes.
    #[must_use]
    pub fn payload(&self, burst: u32) -> Vec<u8> {
        let mut parms = Vec::with_capacity(QOPT);
        // struct tc_ratespec: cell_log u8, linklayer u8, overhead u16, cell_align i16, mpu u16.
        let rate32 = u32::try_from(self.rate).unwrap_or(u32::MAX);
        put_words(
            &mut parms,
            &[u32::from_ne_bytes([0, ETHERNET as u8, 0, 0]), 0, rate32],
        );
        put_words(&mut parms, &[0, 0, 0]);
        let ticks = self.buffer_ticks.min(u64::from(u32::MAX)) as u32;
        put_words(&mut parms, &[self.limit, ticks, self.mtu_ticks]);
        let mut out = Vec::with_capacity(64);
        put(&mut out, PARMS, &parms);
        if self.rate > u64::from(u32::MAX) {
            put(&mut out, RATE64, &self.rate.to_ne_bytes());
        }
        put(&mut out, BURST, &words(&[burst]));
        out
    }

    /// What the kernel shows.
    ///
    /// # Errors
    /// [`KernelError::Io`] when it is not what a kernel would show.
    pub fn parse(payload: &[u8]) -> Result<Self, KernelError> {
        let what = "tbf options";
        let mut tbf = Self::default();
        let mut wide = None;
        for (kind, value) in attributes(payload)? {
            let at = |at| word(what, value, at);
            match kind {
                PARMS => {
                    tbf.rate = u64::from(at(2)?);
                    tbf.peak_rate = u64::from(at(5)?);
                    (tbf.limit, tbf.mtu_ticks) = (at(6)?, at(8)?);
                    tbf.buffer_ticks = u64::from(at(7)?);
                }
                RATE64 => wide = Some(long(what, value)?),
                _ => {}
            }
        }
        tbf.rate = wide.unwrap_or(tbf.rate);
        Ok(tbf)
    }
}
