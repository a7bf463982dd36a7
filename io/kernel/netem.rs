//! `netem`: delay, loss, duplication, reordering, corruption (`linux/pkt_sched.h`, tc-netem(8)).
//!
//! A table declares each random draw once: codec, plan, reading, facts and commands of `tc` follow.
//! TCA_OPTIONS is a struct of 24 bytes followed by attributes, not a nest. The kernel keeps the
//! attributes that a request omits, so every request carries all of them. `netlink-packet-route`
//! has no types for this discipline.

use std::num::NonZeroU32;

use groundwave_impair::{
    Corruption, Draw, Duplication, Impairment, ImpairmentField, Loss, Reordering,
};
use groundwave_netlink::attr::{Attrs, append_words, put, put_nested, put_words, words};
use netlink_packet_core::DecodeError;

pub(super) const CORR: u16 = 1;
pub(super) const DELAY_DIST: u16 = 2;
const REORDER: u16 = 3;
const CORRUPT: u16 = 4;
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
    pub loss: Odds,
    /// Two-state loss: p, r, h, 1-k. When set, the kernel ignores `loss`.
    pub gemodel: Option<[u32; 4]>,
    /// Packets duplicated.
    pub duplicate: Odds,
    /// Packets between candidates for reordering; 0 reorders none.
    pub gap: u32,
    /// Candidates sent without delay.
    pub reorder: Odds,
    /// Packets corrupted.
    pub corrupt: Odds,
    /// Settings outside the supported set.
    pub unsupported: UnsupportedNetemAttr,
}

/// A random draw for each packet, in the kernel's units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Odds {
    /// Probability.
    pub prob: u32,
    /// Correlation of consecutive draws.
    pub correlation: u32,
}

impl Odds {
    /// Independent draws.
    #[must_use]
    pub const fn independent(prob: u32) -> Self {
        Self { prob, correlation: 0 }
    }
}

/// A random draw: the kind of impairment that requests it and the options that hold it.
pub(super) struct NetemDraw {
    /// Kind of impairment.
    pub field: ImpairmentField,
    /// Names of the facts about probability and correlation.
    pub facts: [&'static str; 2],
    /// Words of `tc` before the share.
    pub words: &'static str,
    /// Attribute of its own with probability and correlation; `None` for draws that the header holds.
    pub attribute: Option<u16>,
    /// Option of the draw.
    pub odds: fn(&Netem) -> &Odds,
    /// Option of the draw, to be set.
    pub odds_mut: fn(&mut Netem) -> &mut Odds,
    /// True if the options impair packets by it.
    pub is_set: fn(&Netem) -> bool,
    /// Sets the kind of impairment that the options stand for.
    pub read: fn(&mut Impairment, &Netem, Draw),
}

/// Every random draw, in the order of the facts.
pub(super) static DRAWS: [NetemDraw; 4] = [
    NetemDraw {
        field: ImpairmentField::Loss,
        facts: ["loss.pct", "loss.correlation"],
        words: "loss random",
        attribute: None,
        odds: |netem| &netem.loss,
        odds_mut: |netem| &mut netem.loss,
        is_set: |netem| netem.loss.prob != 0,
        read: |impairment, _, Draw { pct, correlation }| {
            impairment.loss = Some(Loss::Bernoulli { pct, correlation });
        },
    },
    NetemDraw {
        field: ImpairmentField::Duplication,
        facts: ["duplication.pct", "duplication.correlation"],
        words: "duplicate",
        attribute: None,
        odds: |netem| &netem.duplicate,
        odds_mut: |netem| &mut netem.duplicate,
        is_set: |netem| netem.duplicate.prob != 0,
        read: |impairment, _, Draw { pct, correlation }| {
            impairment.duplication = Some(Duplication { pct, correlation });
        },
    },
    NetemDraw {
        field: ImpairmentField::Reordering,
        facts: ["reordering.pct", "reordering.correlation"],
        words: "reorder",
        attribute: Some(REORDER),
        odds: |netem| &netem.reorder,
        odds_mut: |netem| &mut netem.reorder,
        is_set: |netem| netem.gap != 0,
        read: |impairment, netem, Draw { pct, correlation }| {
            let gap = NonZeroU32::new(netem.gap);
            impairment.reordering = gap.map(|gap| Reordering { pct, gap, correlation });
        },
    },
    NetemDraw {
        field: ImpairmentField::Corruption,
        facts: ["corruption.pct", "corruption.correlation"],
        words: "corrupt",
        attribute: Some(CORRUPT),
        odds: |netem| &netem.corrupt,
        odds_mut: |netem| &mut netem.corrupt,
        is_set: |netem| netem.corrupt.prob != 0,
        read: |impairment, _, Draw { pct, correlation }| {
            impairment.corruption = Some(Corruption { pct, correlation });
        },
    },
];

impl NetemDraw {
    /// Reads the draw from its own attribute, if that is there.
    pub(super) fn read_attribute(
        &self,
        attrs: &Attrs<'_>,
        netem: &mut Netem,
    ) -> Result<(), DecodeError> {
        if let Some(attribute) = self.attribute
            && let Some([prob, correlation]) = attrs.words(attribute)?
        {
            *(self.odds_mut)(netem) = Odds { prob, correlation };
        }
        Ok(())
    }
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
                self.loss.prob,
                self.gap,
                self.duplicate.prob,
                ticks(self.jitter_ns),
            ],
        );
        let corr = [self.delay_corr, self.loss.correlation, self.duplicate.correlation];
        put_words(&mut out, CORR, &corr);
        if let Some(table) = table {
            put_nested(&mut out, DELAY_DIST, |out| {
                out.extend(table.iter().flat_map(|entry| entry.to_ne_bytes()));
            });
        }
        for draw in &DRAWS {
            if let Some(attribute) = draw.attribute {
                let Odds { prob, correlation } = *(draw.odds)(self);
                put_words(&mut out, attribute, &[prob, correlation]);
            }
        }
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
        let [delay_corr, loss_corr, duplicate_corr] = attrs.words(CORR)?.unwrap_or_default();
        let model = attrs.nest(LOSS)?;
        let gemodel = match &model {
            Some(model) => model.words(LOSS_GE)?,
            None => None,
        };
        let [rate] = attrs.words(RATE)?.unwrap_or_default();
        let [ecn] = attrs.words(ECN)?.unwrap_or_default();
        let mut netem = Self {
            latency_ns: ns(LATENCY64, latency)?,
            jitter_ns: ns(JITTER64, jitter)?,
            delay_corr,
            limit,
            loss: Odds { prob: loss, correlation: loss_corr },
            gemodel,
            duplicate: Odds { prob: duplicate, correlation: duplicate_corr },
            gap,
            unsupported: UnsupportedNetemAttr {
                rate: attrs.u64(RATE64)?.unwrap_or_else(|| rate.into()),
                ecn: ecn != 0,
                slots: attrs.flag(SLOT),
                four_states: model.is_some_and(|model| model.flag(LOSS_GI)),
            },
            ..Self::default()
        };
        for draw in &DRAWS {
            draw.read_attribute(&attrs, &mut netem)?;
        }
        Ok(netem)
    }
}
