//! `netem`: delay, loss, duplication, reordering, corruption (`linux/pkt_sched.h`, tc-netem(8)).
//!
//! TCA_OPTIONS is a struct of 24 bytes followed by attributes, not a nest. The kernel keeps the
//! attributes that a request omits, so every request carries all of them. `netlink-packet-route`
//! has no types for this discipline.

use groundwave_netlink::attr::{Attrs, append_words, put, put_nested, put_words, words};
use netlink_packet_core::DecodeError;

pub(super) const CORR: u16 = 1;
pub(super) const DELAY_DIST: u16 = 2;
pub(super) const REORDER: u16 = 3;
pub(super) const CORRUPT: u16 = 4;
pub(super) const LOSS: u16 = 5;
pub(super) const RATE: u16 = 6;
pub(super) const ECN: u16 = 7;
pub(super) const RATE64: u16 = 8;
pub(super) const LATENCY64: u16 = 10;
pub(super) const JITTER64: u16 = 11;
pub(super) const SLOT: u16 = 12;

pub(super) const LOSS_GI: u16 = 1;
pub(super) const LOSS_GE: u16 = 2;

/// Bytes of `struct tc_netem_qopt`.
const QOPT_BYTES: usize = 24;
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
    /// Capacity of the delay line, packets.
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
    /// Candidates sent without delay.
    pub reorder: u32,
    /// Correlation of consecutive reorderings.
    pub reorder_corr: u32,
    /// Packets corrupted.
    pub corrupt: u32,
    /// Correlation of consecutive corruptions.
    pub corrupt_corr: u32,
    /// Settings outside the supported set.
    pub unsupported: UnsupportedNetemAttr,
}

/// `netem` settings that this module never requests but another program may have set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnsupportedNetemAttr {
    /// Rate of netem's own shaper, bytes/s.
    pub rate: u64,
    /// ECN marks instead of drops.
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
    /// Payload of TCA_OPTIONS with all attributes. `table` is the distribution of delays, 1 to
    /// 16384 entries in 1/8192 of the jitter; `None` keeps the current one.
    #[must_use]
    pub fn payload(&self, table: Option<&[i16]>) -> Vec<u8> {
        let ticks = |ns: i64| u32::try_from(ns >> 6).unwrap_or(u32::MAX);
        let mut out = Vec::with_capacity(256 + table.map_or(0, |table| table.len() * 2));
        append_words(
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
        put_words(&mut out, CORR, &corr);
        if let Some(table) = table {
            put_nested(&mut out, DELAY_DIST, |out| {
                out.extend(table.iter().flat_map(|entry| entry.to_ne_bytes()));
            });
        }
        put_words(&mut out, REORDER, &[self.reorder, self.reorder_corr]);
        put_words(&mut out, CORRUPT, &[self.corrupt, self.corrupt_corr]);
        if let Some(gemodel) = &self.gemodel {
            put_nested(&mut out, LOSS, |out| put_words(out, LOSS_GE, gemodel));
        }
        put_words(&mut out, RATE, &[0; 4]);
        put_words(&mut out, ECN, &[0]);
        put(&mut out, LATENCY64, &self.latency_ns.to_ne_bytes());
        put(&mut out, JITTER64, &self.jitter_ns.to_ne_bytes());
        put(&mut out, SLOT, &[0; SLOT_BYTES]);
        out
    }

    /// The discipline with these options.
    ///
    /// # Errors
    /// For malformed options.
    pub fn parse(payload: &[u8]) -> Result<Self, DecodeError> {
        const NAME: &str = "netem options";
        let [latency, limit, loss, gap, duplicate, jitter] = words(NAME, payload)?;
        let attrs = Attrs::read(NAME, &payload[QOPT_BYTES..])?;
        let ns = |kind, ticks: u32| {
            let exact = attrs.u64(kind)?.map(u64::cast_signed);
            Ok::<_, DecodeError>(exact.unwrap_or(i64::from(ticks) << 6))
        };
        let [delay_corr, loss_corr, dup_corr] = attrs.words(CORR)?.unwrap_or_default();
        let [reorder, reorder_corr] = attrs.words(REORDER)?.unwrap_or_default();
        let [corrupt, corrupt_corr] = attrs.words(CORRUPT)?.unwrap_or_default();
        let model = attrs.nest(LOSS)?;
        let gemodel = match &model {
            Some(model) => model.words(LOSS_GE)?,
            None => None,
        };
        let [rate] = attrs.words(RATE)?.unwrap_or_default();
        let [ecn] = attrs.words(ECN)?.unwrap_or_default();
        Ok(Self {
            latency_ns: ns(LATENCY64, latency)?,
            jitter_ns: ns(JITTER64, jitter)?,
            delay_corr,
            limit,
            loss,
            loss_corr,
            gemodel,
            duplicate,
            dup_corr,
            gap,
            reorder,
            reorder_corr,
            corrupt,
            corrupt_corr,
            unsupported: UnsupportedNetemAttr {
                rate: attrs.u64(RATE64)?.unwrap_or_else(|| rate.into()),
                ecn: ecn != 0,
                slots: attrs.flag(SLOT),
                four_states: model.is_some_and(|model| model.flag(LOSS_GI)),
            },
        })
    }
}
