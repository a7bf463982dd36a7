//! `netem`: delay, loss, duplication, reordering, corruption (`linux/pkt_sched.h`, tc-netem(8)).
//!
//! TCA_OPTIONS is a struct of 24 bytes followed by attributes, not a nest. What a request leaves
//! out stays as it was, so every request carries everything.

use super::KernelError;
use super::nla::{attributes, long, put, put_words, word, words};

const CORR: u16 = 1;
const DELAY_DIST: u16 = 2;
const REORDER: u16 = 3;
const CORRUPT: u16 = 4;
const LOSS: u16 = 5;
const RATE: u16 = 6;
const ECN: u16 = 7;
const RATE64: u16 = 8;
const LATENCY64: u16 = 10;
const JITTER64: u16 = 11;
const SLOT: u16 = 12;

const LOSS_GI: u16 = 1;
const LOSS_GE: u16 = 2;

/// Bytes of `struct tc_netem_qopt`.
const QOPT: usize = 24;
/// Bytes of `struct tc_netem_slot`.
const SLOT_BYTES: usize = 40;

/// A discipline of kind `netem`, in the kernel's units: probabilities and correlations as
/// fractions of `u32::MAX`, times in ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Netem {
    /// Mean delay, ns.
    pub latency_ns: i64,
    /// Scale of its deviation, ns; the kernel caps it at 2^31 - 1.
    pub jitter_ns: i64,
    /// Correlation of consecutive delays.
    pub delay_corr: u32,
    /// Packets in the delay line at once.
    pub limit: u32,
    /// Packets lost.
    pub loss: u32,
    /// Correlation of consecutive losses.
    pub loss_corr: u32,
    /// Two-state loss: p, r, h, 1-k. When set, the kernel ignores `loss`.
    pub gemodel: Option<[u32; 4]>,
    /// Packets duplicated.
    pub duplicate: u32,
    /// Correlation of consecutive duplications.
    pub dup_corr: u32,
    /// Packets between candidates for reordering; 0 reorders none.
    pub gap: u32,
    /// Candidates that go at once.
    pub reorder: u32,
    /// Correlation of consecutive reorderings.
    pub reorder_corr: u32,
    /// Packets corrupted.
    pub corrupt: u32,
    /// Correlation of consecutive corruptions.
    pub corrupt_corr: u32,
    /// Set by another hand: what of it this module never asks for.
    pub strange: Strange,
}

/// Settings that this module never asks for, but another hand may have left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strange {
    /// Rate of netem's own shaper, bytes/s.
    pub rate: u64,
    /// Marks instead of drops.
    pub ecn: bool,
    /// Slotted delivery.
    pub slots: bool,
    /// The four-state loss model.
    pub four_states: bool,
}

/// The probability closest to the fraction `of_one`, in [0, 1], as iproute2 rounds it.
#[must_use]
pub fn probability(of_one: f64) -> u32 {
    (of_one * f64::from(u32::MAX)).round_ties_even() as u32
}

/// The shortest decimal number of units of 1/`whole` that [`probability`] turns into `raw`; 100
/// gives percent.
#[must_use]
pub fn fraction(raw: u32, whole: f64) -> f64 {
    let exact = f64::from(raw) / f64::from(u32::MAX) * whole;
    (0..=12)
        .filter_map(|digits| format!("{exact:.digits$}").parse::<f64>().ok())
        .find(|short| probability(short / whole) == raw)
        .unwrap_or(exact)
}

impl Netem {
    /// Payload of TCA_OPTIONS, everything included. `table` is the distribution of delays, of 1 to
    /// 16384 entries in 1/8192 of the jitter; without one, that of before stays.
    #[must_use]
    pub fn payload(&self, table: Option<&[i16]>) -> Vec<u8> {
        let ticks = |ns: i64| u32::try_from(ns >> 6).unwrap_or(u32::MAX);
        let mut out = Vec::with_capacity(256 + table.map_or(0, |table| table.len() * 2));
        put_words(
            &mut out,
            &[
                ticks(self.latency_ns),
                self.limit,
                self.loss,
                self.gap,
                self.duplicate,
                ticks(self.jitter_ns),
            ],
        );
        let corr = [self.delay_corr, self.loss_corr, self.dup_corr];
        put(&mut out, CORR, &words(&corr));
        if let Some(table) = table {
            let table: Vec<u8> = table.iter().flat_map(|entry| entry.to_ne_bytes()).collect();
            put(&mut out, DELAY_DIST, &table);
        }
        put(
            &mut out,
            REORDER,
            &words(&[self.reorder, self.reorder_corr]),
        );
        put(
            &mut out,
            CORRUPT,
            &words(&[self.corrupt, self.corrupt_corr]),
        );
        if let Some(gemodel) = &self.gemodel {
            let mut nest = Vec::new();
            put(&mut nest, LOSS_GE, &words(gemodel));
            put(&mut out, LOSS, &nest);
        }
        put(&mut out, RATE, &words(&[0; 4]));
        put(&mut out, ECN, &words(&[0]));
        put(&mut out, LATENCY64, &self.latency_ns.to_ne_bytes());
        put(&mut out, JITTER64, &self.jitter_ns.to_ne_bytes());
        put(&mut out, SLOT, &[0; SLOT_BYTES]);
        out
    }

    /// What the kernel shows.
    ///
    /// # Errors
    /// [`KernelError::Io`] when it is not what a kernel would show.
    pub fn parse(payload: &[u8]) -> Result<Self, KernelError> {
        let what = "netem options";
        let head = |at| word(what, payload, at);
        let mut netem = Self {
            latency_ns: i64::from(head(0)?) << 6,
            limit: head(1)?,
            loss: head(2)?,
            gap: head(3)?,
            duplicate: head(4)?,
            jitter_ns: i64::from(head(5)?) << 6,
            ..Self::default()
        };
        for (kind, value) in attributes(&payload[QOPT..])? {
            let at = |at| word(what, value, at);
            match kind {
                CORR => {
                    (netem.delay_corr, netem.loss_corr, netem.dup_corr) = (at(0)?, at(1)?, at(2)?);
                }
                REORDER => (netem.reorder, netem.reorder_corr) = (at(0)?, at(1)?),
                CORRUPT => (netem.corrupt, netem.corrupt_corr) = (at(0)?, at(1)?),
                LOSS => netem.parse_loss(value)?,
                // With a rate beyond 32 bits, RATE64 follows or came before.
                RATE => netem.strange.rate = netem.strange.rate.max(u64::from(at(0)?)),
                RATE64 => netem.strange.rate = long(what, value)?,
                ECN => netem.strange.ecn = at(0)? != 0,
                LATENCY64 => netem.latency_ns = long(what, value)?.cast_signed(),
                JITTER64 => netem.jitter_ns = long(what, value)?.cast_signed(),
                SLOT => netem.strange.slots = true,
                _ => {}
            }
        }
        Ok(netem)
    }

    fn parse_loss(&mut self, nest: &[u8]) -> Result<(), KernelError> {
        for (kind, value) in attributes(nest)? {
            let at = |at| word("netem loss model", value, at);
            match kind {
                LOSS_GE => self.gemodel = Some([at(0)?, at(1)?, at(2)?, at(3)?]),
                LOSS_GI => self.strange.four_states = true,
                _ => {}
            }
        }
        Ok(())
    }
}
