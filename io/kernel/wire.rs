//! The disciplines of one end of a wire that stands for a radio.
//!
//! ```text
//! prio 1: ┬ 1:1 netem 11:                     everybody: sent once, at the basic rate
//!         └ 1:2 netem 12: ─ tbf 22: ─ bfifo 32:   one receiver: retried, slowed by it
//! ```
//!
//! A filter sends what has the group bit in its destination address to the first band. A kernel
//! without `netem` gets the shaper alone, whose queue holds nothing while the wire is down.

use groundwave_systems::impair::QueueUnit;
pub use groundwave_systems::testbed::Means;
use groundwave_systems::testbed::{Counted, Shape, Tally, WireSide};

use super::fifo::Fifo;
use super::netem::{Netem, probability};
use super::nla::{put, put_words, words};
use super::tbf::Tbf;
use super::{Handle, KernelError, Qdisc, Request, Verb};

pub(super) const BANDS: Handle = Handle::new(1, 0);
const BAND_1: Handle = Handle::new(1, 1);
const BAND_2: Handle = Handle::new(1, 2);

/// Where on an interface the disciplines of a direction are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Handles of the disciplines.
    pub(super) everybody: Handle,
    pub(super) somebody: Handle,
    pub(super) shaper: Handle,
    pub(super) queue: Handle,
    /// What goes to everybody, and what goes to one receiver, comes out of these.
    pub(super) bands: [Handle; 2],
    /// What the shaper hangs on where there is no `netem`.
    pub(super) bare: Handle,
    /// Whether the interface is this direction's alone, bands and all.
    pub(super) alone: bool,
}

impl Place {
    /// That of a wire, which is one direction's alone.
    pub const WIRE: Self = Self {
        everybody: Handle::new(0x11, 0),
        somebody: Handle::new(0x12, 0),
        shaper: Handle::new(0x22, 0),
        queue: Handle::new(0x32, 0),
        bands: [BAND_1, BAND_2],
        bare: Handle::ROOT,
        alone: true,
    };
}

/// Largest frame on a wire, bytes.
const FRAME_BYTES: u32 = 1600;
/// What the queue holds, in time, ms: a driver's ring and a little more.
const QUEUE_MS: u64 = 100;
/// Packets under way in a delay line: those of 1 Gbit/s and 500 bytes within 40 ms.
const LINE_PACKETS: u32 = 10_000;

/// The disciplines of one end, as the kernel shows them; what is not there is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ends {
    /// Whether the bands are there.
    pub bands: bool,
    /// Of what goes to everybody.
    pub everybody: Option<Netem>,
    /// Of what goes to one receiver.
    pub somebody: Option<Netem>,
    /// Its rate.
    pub shaper: Option<Tbf>,
    /// Its queue.
    pub queue: Option<Fifo>,
}

impl Ends {
    /// What `shape` becomes.
    #[must_use]
    pub fn of(shape: &Shape, means: Means) -> Self {
        let rate = (shape.rate_bps / 8).max(1);
        let waiting = u32::try_from(rate * QUEUE_MS / 1000).unwrap_or(u32::MAX);
        let limit = waiting
            .max(20 * FRAME_BYTES)
            .saturating_add(shape.burst_bytes());
        let shaper = Tbf::new(rate, shape.burst_bytes(), FRAME_BYTES, limit);
        let open = shape.up || means == Means::Full;
        let queue = Fifo {
            unit: QueueUnit::Bytes,
            limit: if open { limit } else { 0 },
        };
        let full = means == Means::Full;
        Self {
            bands: full,
            everybody: full.then(|| line(shape, shape.broadcast_loss_prob, None, 0)),
            somebody: full
                .then(|| line(shape, shape.loss_prob, shape.two_states(), shape.jitter_ns)),
            shaper: Some(shaper),
            queue: Some(queue),
        }
    }

    /// What is there, from all disciplines of an interface.
    ///
    /// # Errors
    /// [`KernelError::Io`] when a discipline is not what a kernel would show.
    pub fn read(qdiscs: &[Qdisc], place: &Place) -> Result<Self, KernelError> {
        let mut ends = Self::default();
        for qdisc in qdiscs {
            let (handle, options) = (qdisc.handle, qdisc.options.as_slice());
            match qdisc.kind.as_str() {
                "prio" if handle == BANDS => ends.bands = place.alone,
                "netem" if handle == place.everybody => {
                    ends.everybody = Some(Netem::parse(options)?);
                }
                "netem" if handle == place.somebody => ends.somebody = Some(Netem::parse(options)?),
                "tbf" if handle == place.shaper => ends.shaper = Some(Tbf::parse(options)?),
                kind if handle == place.queue => ends.queue = Fifo::parse(kind, options)?,
                _ => {}
            }
        }
        Ok(ends)
    }

    /// The requests that lead from `self`, which is there, to `goal` at `place` on interface
    /// `index`; `burst` is the size of the bucket. Nothing that agrees is touched.
    #[must_use]
    pub fn steps(&self, goal: &Self, place: &Place, index: u32, burst: u32) -> Vec<Request> {
        let mut requests = Vec::new();
        let mut set = |there: bool, handle, parent, kind, options| {
            let verb = if there { Verb::Change } else { Verb::Create };
            requests.push(Request {
                verb,
                index,
                handle,
                parent,
                kind,
                options: Some(options),
            });
        };
        if goal.bands && !self.bands && place.alone {
            set(false, BANDS, Handle::ROOT, "prio", two_bands());
        }
        let lines = [
            (
                self.everybody,
                goal.everybody,
                place.everybody,
                place.bands[0],
            ),
            (self.somebody, goal.somebody, place.somebody, place.bands[1]),
        ];
        for (before, goal, handle, parent) in lines {
            if let Some(goal) = goal
                && before.map(plain) != Some(plain(goal))
            {
                set(
                    before.is_some(),
                    handle,
                    parent,
                    "netem",
                    goal.payload(None),
                );
            }
        }
        let under = match goal.bands {
            true => child(place.somebody),
            false => place.bare,
        };
        let mut reshaped = false;
        if let Some(goal) = goal.shaper
            && !self.shaper.is_some_and(|before| alike(&before, &goal))
        {
            set(
                self.shaper.is_some(),
                place.shaper,
                under,
                "tbf",
                goal.payload(burst),
            );
            // It rewrites the limit of the queue below.
            reshaped = true;
        }
        if let Some(goal) = goal.queue
            && (reshaped || self.queue != Some(goal))
        {
            set(
                self.queue.is_some(),
                place.queue,
                child(place.shaper),
                goal.kind(),
                goal.payload(),
            );
        }
        requests
    }
}

/// Where the only child of a discipline hangs.
const fn child(parent: Handle) -> Handle {
    Handle::new(parent.major(), 1)
}

/// A delay line with its loss.
fn line(shape: &Shape, loss_prob: f64, states: Option<[f64; 2]>, jitter_ns: u64) -> Netem {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    Netem {
        latency_ns: signed(shape.delay_ns),
        jitter_ns: signed(jitter_ns),
        limit: LINE_PACKETS,
        loss: probability(loss_prob),
        gemodel: states.map(|[p, r]| [probability(p), probability(r), 0, 0]),
        ..Netem::default()
    }
}

/// What of a delay line counts: a two-state loss hides the other, and what a kernel shows beside
/// is not asked for.
fn plain(mut netem: Netem) -> Netem {
    if netem.gemodel.is_some() {
        netem.loss = 0;
    }
    netem.strange = super::Strange::default();
    netem
}

/// Whether a shaper is what it should be but for the kernel's rounding.
fn alike(before: &Tbf, goal: &Tbf) -> bool {
    let before = before.lifted(goal);
    before.rate == goal.rate
        && before.limit == goal.limit
        && before.buffer_ticks.abs_diff(goal.buffer_ticks) <= goal.slack_ticks()
}

/// `struct tc_prio_qopt`: two bands, everything into the second but for filters.
fn two_bands() -> Vec<u8> {
    let mut options = 2u32.to_ne_bytes().to_vec();
    options.extend([1; 16]);
    options
}

/// Kind and options of the filter for what goes to everybody, as TCA_KIND and TCA_OPTIONS.
#[must_use]
pub(crate) fn group_filter() -> Vec<u8> {
    const CLASS: u16 = 1;
    const KEY_ETH_DST: u16 = 4;
    const KEY_ETH_DST_MASK: u16 = 5;
    const GROUP: [u8; 6] = [1, 0, 0, 0, 0, 0];
    let mut options = Vec::new();
    put(&mut options, CLASS, &words(&[BAND_1.0]));
    put(&mut options, KEY_ETH_DST, &GROUP);
    put(&mut options, KEY_ETH_DST_MASK, &GROUP);
    let mut out = Vec::new();
    put(&mut out, 1, b"flower\0");
    put(&mut out, 2, &options);
    out
}

/// `struct tcmsg` of that filter on interface `index`: all protocols, first priority.
#[must_use]
pub(crate) fn group_filter_head(index: u32) -> Vec<u8> {
    const ALL: u32 = 0x0003;
    let info = 1 << 16 | u32::from((ALL as u16).to_be());
    let mut out = Vec::new();
    put_words(&mut out, &[0, index, 0, BANDS.0, info]);
    out
}

/// The counters of one direction, from all disciplines of the interface it has its place on.
#[must_use]
pub fn counted(side: WireSide, qdiscs: &[Qdisc], place: &Place) -> Counted {
    let of = |handle| qdiscs.iter().find(|qdisc| qdisc.handle == handle);
    let drops = |handle| of(handle).map_or(0, |qdisc: &Qdisc| u64::from(qdisc.counters.drops));
    let passed = |handle| of(handle).map(|qdisc| (qdisc.counters.packets, qdisc.counters.bytes));
    // A parent's drops include those below it.
    let (packets, bytes) = passed(place.somebody)
        .or_else(|| passed(place.shaper))
        .unwrap_or_default();
    let overflowed_total = drops(place.shaper);
    let unicast = Tally {
        passed_total: packets,
        lost_total: drops(place.somebody).saturating_sub(overflowed_total),
        overflowed_total,
        bytes_total: bytes,
    };
    let (packets, bytes) = passed(place.everybody).unwrap_or_default();
    let broadcast = Tally {
        passed_total: packets,
        lost_total: drops(place.everybody),
        overflowed_total: 0,
        bytes_total: bytes,
    };
    Counted {
        side,
        unicast,
        broadcast,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape {
            up: true,
            loss_prob: 0.01,
            broadcast_loss_prob: 0.2,
            rate_bps: 8_000_000,
            delay_ns: 2_000_000,
            jitter_ns: 0,
            loss_burst_packets: None,
        }
    }

    #[test]
    fn a_wire_is_built_from_the_root_and_changed_in_place() {
        let goal = Ends::of(&shape(), Means::Full);
        let kinds = |requests: &[Request]| -> Vec<(Verb, &str)> {
            requests
                .iter()
                .map(|request| (request.verb, request.kind))
                .collect()
        };
        let made = Ends::default().steps(&goal, &Place::WIRE, 7, 3200);
        let create = |kind| (Verb::Create, kind);
        let all = ["prio", "netem", "netem", "tbf", "bfifo"].map(create);
        assert_eq!(kinds(&made), all);
        assert_eq!(goal.steps(&goal, &Place::WIRE, 7, 3200), []);
        let cut = Ends::of(&shape().cut(), Means::Full);
        let changes = goal.steps(&cut, &Place::WIRE, 7, 3200);
        assert_eq!(
            kinds(&changes),
            [(Verb::Change, "netem"); 2],
            "the shaper stays"
        );
        assert_eq!(cut.somebody.map(|netem| netem.loss), Some(u32::MAX));
    }

    #[test]
    fn without_netem_a_cut_is_a_queue_that_holds_nothing() {
        let open = Ends::of(&shape(), Means::Rate);
        let cut = Ends::of(&shape().cut(), Means::Rate);
        assert_eq!(
            (open.bands, open.everybody, open.somebody),
            (false, None, None)
        );
        let changes = open.steps(&cut, &Place::WIRE, 7, 3200);
        let [change] = changes.as_slice() else {
            panic!("{changes:?}");
        };
        assert_eq!(
            (change.kind, change.options.as_deref()),
            ("bfifo", Some([0; 4].as_slice()))
        );
    }
}
