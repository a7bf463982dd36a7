//! Queueing disciplines of one end of a veth pair that models a radio link.
//!
//! ```text
//! prio 1: ┬ 1:1 netem 11:                     broadcast: sent once, at the basic rate
//!         └ 1:2 netem 12: ─ tbf 22: ─ bfifo 32:   unicast: with retries, rate limited
//! ```
//!
//! A filter on the group bit of the destination address selects the first band. A kernel without
//! `netem` gets the shaper alone, with a queue limit of 0 while the link is down.

use groundwave_impair::QueueUnit;
pub use groundwave_simulation::testbed::Means;
use groundwave_simulation::testbed::{JITTER_NS_MAX, Shape};
use netlink_packet_core::{DecodeError, NLM_F_CREATE, NLM_F_EXCL};
use nix::libc::RTM_NEWTFILTER;

use groundwave_kernel::fifo::Fifo;
use groundwave_kernel::message::tc_request;
use groundwave_kernel::netem::{Netem, Odds, probability};
use groundwave_kernel::tbf::Tbf;
use groundwave_kernel::{Handle, Qdisc, Request, Verb};
use groundwave_netlink::attr::{put, put_words};
use groundwave_netlink::route::RouteRequest;

pub(super) const ROOT_QDISC: Handle = Handle::new(1, 0);
const BROADCAST_BAND: Handle = Handle::new(1, 1);
const UNICAST_BAND: Handle = Handle::new(1, 2);
/// The group bit of a hardware address (IEEE 802), as value and mask.
pub(super) const GROUP_BIT: [u8; 6] = [1, 0, 0, 0, 0, 0];
/// `ETH_P_ALL` in network byte order, as in `tcm_info` of a filter.
pub(super) const ALL_PROTOCOLS: u32 = 0x0003_u16.to_be() as u32;

/// Handles of the queueing disciplines of a link direction on an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QdiscLayout {
    /// Handles of the disciplines.
    pub(super) broadcast: Handle,
    pub(super) unicast: Handle,
    pub(super) shaper: Handle,
    pub(super) queue: Handle,
    /// Classes of broadcast and unicast frames.
    pub(super) bands: [Handle; 2],
    /// Parent of the shaper without `netem`.
    pub(super) shaper_parent: Handle,
    /// Use of the interface by this direction only, bands included.
    pub(super) exclusive: bool,
}

impl QdiscLayout {
    /// Layout of a veth end, which belongs to one direction.
    pub const VETH: Self = Self {
        broadcast: Handle::new(0x11, 0),
        unicast: Handle::new(0x12, 0),
        shaper: Handle::new(0x22, 0),
        queue: Handle::new(0x32, 0),
        bands: [BROADCAST_BAND, UNICAST_BAND],
        shaper_parent: Handle::ROOT,
        exclusive: true,
    };
}

/// Largest frame, bytes.
const FRAME_BYTES: u32 = 1600;
/// Capacity of the queue, ms at the rate of the link: that of a driver's ring buffer.
const QUEUE_MS: u64 = 100;
/// Capacity of a delay line, packets: those of 500 bytes at 1 Gbit/s within 40 ms.
const DELAY_LINE_PACKETS: u32 = 10_000;

/// Queueing disciplines of one link direction; missing ones are `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VethQdiscs {
    /// Presence of the bands.
    pub bands: bool,
    /// Delay and loss of broadcast frames.
    pub broadcast: Option<Netem>,
    /// Delay and loss of unicast frames.
    pub unicast: Option<Netem>,
    /// Rate of unicast frames.
    pub shaper: Option<Tbf>,
    /// Queue of unicast frames.
    pub queue: Option<Fifo>,
}

impl VethQdiscs {
    /// The disciplines for `shape`.
    #[must_use]
    pub fn of(shape: &Shape, means: Means) -> Self {
        let rate = (shape.rate_bps / 8).max(1);
        let waiting = u128::from(rate) * u128::from(QUEUE_MS) / 1000;
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let limit = waiting.max(20 * FRAME_BYTES).saturating_add(shape.burst_bytes());
        let shaper = Tbf::new(rate, shape.burst_bytes(), FRAME_BYTES, limit);
        let open = shape.up || means == Means::Full;
        let queue = Fifo { unit: QueueUnit::Bytes, limit: if open { limit } else { 0 } };
        let full = means == Means::Full;
        Self {
            bands: full,
            broadcast: full.then(|| line(shape, shape.broadcast_loss_prob, None, 0)),
            unicast: full
                .then(|| line(shape, shape.loss_prob, shape.two_states(), shape.jitter_ns)),
            shaper: Some(shaper),
            queue: Some(queue),
        }
    }

    /// The disciplines at `layout` among all disciplines of an interface.
    ///
    /// # Errors
    /// For malformed options.
    pub fn read(qdiscs: &[Qdisc], layout: &QdiscLayout) -> Result<Self, DecodeError> {
        let mut ends = Self::default();
        for qdisc in qdiscs {
            let (handle, options) = (qdisc.handle, qdisc.options.as_slice());
            match qdisc.kind.as_str() {
                "prio" if handle == ROOT_QDISC => {
                    ends.bands = layout.exclusive && options.starts_with(&two_bands());
                }
                "netem" if handle == layout.broadcast => {
                    ends.broadcast = Some(Netem::parse(options)?);
                }
                "netem" if handle == layout.unicast => ends.unicast = Some(Netem::parse(options)?),
                "tbf" if handle == layout.shaper => ends.shaper = Some(Tbf::parse(options)?),
                kind if handle == layout.queue => ends.queue = Fifo::parse(kind, options)?,
                _ => {}
            }
        }
        Ok(ends)
    }

    /// The requests that change `self`, the current state, to `goal` at `layout` on interface
    /// `index`; `burst` is the size of the bucket, bytes. Equal disciplines are left alone.
    #[must_use]
    pub fn steps(&self, goal: &Self, layout: &QdiscLayout, index: u32, burst: u32) -> Vec<Request> {
        let mut requests = Vec::new();
        let mut set = |there: bool, handle, parent, kind, options| {
            let verb = if there { Verb::Change } else { Verb::Create };
            requests.push(Request { verb, index, handle, parent, kind, options: Some(options) });
        };
        if goal.bands && !self.bands && layout.exclusive {
            set(false, ROOT_QDISC, Handle::ROOT, "prio", two_bands());
        }
        let lines = [
            (self.broadcast, goal.broadcast, layout.broadcast, layout.bands[0]),
            (self.unicast, goal.unicast, layout.unicast, layout.bands[1]),
        ];
        for (before, goal, handle, parent) in lines {
            if let Some(goal) = goal
                && before.map(comparable) != Some(comparable(goal))
            {
                set(before.is_some(), handle, parent, "netem", goal.payload(None));
            }
        }
        let under = match goal.bands {
            true => child(layout.unicast),
            false => layout.shaper_parent,
        };
        let mut reshaped = false;
        if let Some(goal) = goal.shaper
            && !self.shaper.is_some_and(|before| equivalent(&before, &goal))
        {
            set(self.shaper.is_some(), layout.shaper, under, "tbf", goal.payload(burst));
            // It rewrites the limit of the queue below.
            reshaped = true;
        }
        if let Some(goal) = goal.queue
            && (reshaped || self.queue != Some(goal))
        {
            set(
                self.queue.is_some(),
                layout.queue,
                child(layout.shaper),
                goal.kind(),
                goal.payload(),
            );
        }
        requests
    }
}

/// Parent handle of the only child of a discipline.
pub(super) const fn child(parent: Handle) -> Handle {
    Handle::new(parent.major(), 1)
}

/// A delay line with loss.
fn line(shape: &Shape, loss_prob: f64, states: Option<[f64; 2]>, jitter_ns: u64) -> Netem {
    let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
    Netem {
        latency_ns: signed(shape.delay_ns),
        jitter_ns: signed(jitter_ns.min(JITTER_NS_MAX)),
        limit: DELAY_LINE_PACKETS,
        loss: Odds::independent(probability(loss_prob)),
        gemodel: states.map(|[p, r]| [probability(p), probability(r), 0, 0]),
        ..Netem::default()
    }
}

/// The compared part of a delay line: a two-state loss stands in place of the other.
pub(super) fn comparable(mut netem: Netem) -> Netem {
    if netem.gemodel.is_some() {
        netem.loss = Odds::default();
    }
    netem
}

/// Equality of shapers up to the kernel's rounding.
pub(super) fn equivalent(before: &Tbf, goal: &Tbf) -> bool {
    let before = before.unwrapped(goal);
    before.rate == goal.rate
        && before.peak_rate == goal.peak_rate
        && before.limit == goal.limit
        && before.buffer_ticks.abs_diff(goal.buffer_ticks) <= goal.slack_ticks()
}

/// `struct tc_prio_qopt`: two bands, the second by default.
pub(super) fn two_bands() -> Vec<u8> {
    let mut options = 2u32.to_ne_bytes().to_vec();
    options.extend([1; 16]);
    options
}

/// Filter of interface `index` that selects frames with the group bit: all protocols, priority 1.
#[must_use]
pub(crate) fn group_filter(index: u32) -> RouteRequest {
    /// `TCA_FLOWER_CLASSID`, `TCA_FLOWER_KEY_ETH_DST` and its mask.
    const CLASSID: u16 = 1;
    const KEY_ETH_DST: u16 = 4;
    const KEY_ETH_DST_MASK: u16 = 5;
    let mut options = Vec::new();
    put_words(&mut options, CLASSID, &[BROADCAST_BAND.0]);
    put(&mut options, KEY_ETH_DST, &GROUP_BIT);
    put(&mut options, KEY_ETH_DST_MASK, &GROUP_BIT);
    let head = [index, 0, ROOT_QDISC.0, 1 << 16 | ALL_PROTOCOLS];
    let what = format!("create the broadcast filter of interface {index}");
    let header = (RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL);
    tc_request(header, head, "flower", &options, what)
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
    fn qdiscs_are_created_from_the_root_and_changed_in_place() {
        let goal = VethQdiscs::of(&shape(), Means::Full);
        let kinds = |requests: &[Request]| -> Vec<(Verb, &str)> {
            requests.iter().map(|request| (request.verb, request.kind)).collect()
        };
        let made = VethQdiscs::default().steps(&goal, &QdiscLayout::VETH, 7, 3200);
        let create = |kind| (Verb::Create, kind);
        let all = ["prio", "netem", "netem", "tbf", "bfifo"].map(create);
        assert_eq!(kinds(&made), all);
        assert_eq!(goal.steps(&goal, &QdiscLayout::VETH, 7, 3200), []);
        let cut = VethQdiscs::of(&shape().cut(), Means::Full);
        let changes = goal.steps(&cut, &QdiscLayout::VETH, 7, 3200);
        assert_eq!(kinds(&changes), [(Verb::Change, "netem"); 2], "the shaper stays");
        assert_eq!(cut.unicast.map(|netem| netem.loss.prob), Some(u32::MAX));
    }

    #[test]
    fn values_beyond_those_of_the_kernel_are_its_maximum() {
        let extreme = Shape { rate_bps: u64::MAX, jitter_ns: 5_000_000_000, ..shape() };
        let qdiscs = VethQdiscs::of(&extreme, Means::Full);
        assert_eq!(qdiscs.queue.map(|queue| queue.limit), Some(u32::MAX));
        assert_eq!(qdiscs.unicast.map(|netem| netem.jitter_ns), Some(i64::from(i32::MAX)));
    }

    #[test]
    fn without_netem_a_cut_is_a_queue_that_holds_nothing() {
        let open = VethQdiscs::of(&shape(), Means::Rate);
        let cut = VethQdiscs::of(&shape().cut(), Means::Rate);
        assert_eq!((open.bands, open.broadcast, open.unicast), (false, None, None));
        let changes = open.steps(&cut, &QdiscLayout::VETH, 7, 3200);
        let [change] = changes.as_slice() else {
            panic!("{changes:?}");
        };
        assert_eq!((change.kind, change.options.as_deref()), ("bfifo", Some([0; 4].as_slice())));
    }
}
