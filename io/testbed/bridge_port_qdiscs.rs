//! Queueing disciplines of a bridge port: one class pair for each node that the node behind the
//! port receives from.
//!
//! ```text
//! htb 1: ┬ 1:1   bfifo 2: of limit 0                      from unheard nodes: dropped
//!        ├ 1:2n  netem 4n:                                broadcast of the n-th node
//!        └ 1:2n+1 netem 4n+1: ─ tbf 4n+2: ─ bfifo 4n+3:   unicast of the n-th node
//! ```
//!
//! A broadcast frame reaches every port, and each port applies its own loss: a distant receiver
//! misses frames that a near one receives. The classes do not share a rate: each may send more than
//! any shaper below. A kernel without `netem` gets one class for each sender.

use groundwave_impair::QueueUnit;
use groundwave_kernel::fifo::Fifo;
use groundwave_kernel::message::tc_request;
use groundwave_kernel::{Handle, Request, Verb};
use groundwave_netlink::attr::{append_words, put, put_nested, put_words};
use groundwave_netlink::route::RouteRequest;
use netlink_packet_core::NLM_F_CREATE;
use nix::libc::{RTM_DELTCLASS, RTM_DELTFILTER, RTM_NEWTCLASS, RTM_NEWTFILTER};

use super::veth_qdiscs::{ALL_PROTOCOLS, GROUP_BIT, Means, QdiscLayout, ROOT_QDISC};

/// Most senders of a port: each takes four handles of 16 bits, the highest is reserved.
pub const SENDERS_MAX: u32 = 16_382;
/// Most senders without `netem`: entries of a hash table of `u32`.
pub const SENDERS_WITHOUT_NETEM_MAX: u32 = 4_095;

/// Class of frames from unheard nodes.
const UNHEARD: u16 = 1;
/// Rate of the classes, bytes/s: more than any radio.
const RATE_BYTES_PER_S: u32 = 1_250_000_000;
/// Burst of a class, ticks of 64 ns.
const BUFFER_TICKS: u32 = 1_000_000;
/// Quantum of a class, bytes.
const QUANTUM_BYTES: u32 = 60_000;

impl QdiscLayout {
    /// Layout of the `number`-th sender on a port, 1 to `SENDERS_MAX`.
    #[must_use]
    pub const fn of_sender(number: u32) -> Self {
        let n = number as u16;
        let bands = [Handle::new(1, 2 * n), Handle::new(1, 2 * n + 1)];
        Self {
            broadcast: Handle::new(4 * n, 0),
            unicast: Handle::new(4 * n + 1, 0),
            shaper: Handle::new(4 * n + 2, 0),
            queue: Handle::new(4 * n + 3, 0),
            bands,
            shaper_parent: bands[1],
            exclusive: false,
        }
    }
}

/// Root discipline of a port without senders.
#[must_use]
pub(crate) fn empty_root(index: u32) -> Request {
    /// `TCA_HTB_INIT`.
    const INIT: u16 = 2;
    // struct tc_htb_glob: version, rate to quantum, default class, debug, direct packets.
    let mut options = Vec::new();
    put_words(&mut options, INIT, &[3, 10, u32::from(UNHEARD), 0, 0]);
    Request {
        verb: Verb::Create,
        index,
        handle: ROOT_QDISC,
        parent: Handle::ROOT,
        kind: "htb",
        options: Some(options),
    }
}

/// Class of frames from unheard nodes.
#[must_use]
pub(crate) fn unheard_class(index: u32) -> RouteRequest {
    class(index, Handle::new(1, UNHEARD))
}

/// Queue of that class, which drops everything.
#[must_use]
pub(crate) fn unheard_queue(index: u32) -> Request {
    let queue = Fifo { unit: QueueUnit::Bytes, limit: 0 };
    Request {
        verb: Verb::Create,
        index,
        handle: Handle::new(2, 0),
        parent: Handle::new(1, UNHEARD),
        kind: queue.kind(),
        options: Some(queue.payload()),
    }
}

/// Classes of the `number`-th sender on a port.
#[must_use]
pub(crate) fn classes(index: u32, number: u32, means: Means) -> Vec<RouteRequest> {
    let [broadcast, unicast] = QdiscLayout::of_sender(number).bands;
    match means {
        Means::Full => vec![class(index, broadcast), class(index, unicast)],
        Means::Rate => vec![class(index, unicast)],
    }
}

fn class(index: u32, class: Handle) -> RouteRequest {
    const ETHERNET: u8 = 1;
    /// `TCA_HTB_PARMS`.
    const PARMS: u16 = 1;
    // struct tc_ratespec: cell log, link layer, overhead, alignment, least size, rate.
    let mut rate = vec![0, ETHERNET, 0, 0, 0, 0, 0, 0];
    rate.extend(RATE_BYTES_PER_S.to_ne_bytes());
    let mut options = Vec::new();
    put_nested(&mut options, PARMS, |out| {
        // struct tc_htb_opt: rate, ceiling, buffers, quantum, level, priority.
        out.extend_from_slice(&rate);
        out.extend_from_slice(&rate);
        append_words(out, &[BUFFER_TICKS, BUFFER_TICKS, QUANTUM_BYTES, 0, 0]);
    });
    let head = [index, class.0, ROOT_QDISC.0, 0];
    let what = "create a class".to_owned();
    tc_request((RTM_NEWTCLASS, NLM_F_CREATE), head, "htb", &options, what)
}

/// Filters that select those classes by the sender's address `hardware`. Repeating them changes
/// nothing.
#[must_use]
pub(crate) fn filters(
    index: u32,
    number: u32,
    hardware: [u8; 6],
    means: Means,
) -> Vec<RouteRequest> {
    let [broadcast, unicast] = QdiscLayout::of_sender(number).bands;
    let flower = |class: Handle, group: bool, priority| {
        let mut keys = Vec::new();
        put_words(&mut keys, flower::CLASSID, &[class.0]);
        if group {
            put(&mut keys, flower::KEY_ETH_DST, &GROUP_BIT);
            put(&mut keys, flower::KEY_ETH_DST_MASK, &GROUP_BIT);
        }
        put(&mut keys, flower::KEY_ETH_SRC, &hardware);
        put(&mut keys, flower::KEY_ETH_SRC_MASK, &[0xff; 6]);
        filter(index, number, priority, "flower", &keys)
    };
    match means {
        Means::Full => vec![flower(broadcast, true, 1), flower(unicast, false, 2)],
        // A kernel without netem often lacks flower too.
        Means::Rate => {
            let keys = u32_keys(unicast, hardware);
            vec![filter(index, U32_TABLE | number, 1, "u32", &keys)]
        }
    }
}

/// Requests that remove the `number`-th sender from a port: filters first, because a class with a filter
/// stays; disciplines go with their classes.
#[must_use]
pub(crate) fn removal(
    index: u32,
    number: u32,
    hardware: [u8; 6],
    means: Means,
) -> Vec<RouteRequest> {
    let filters = filters(index, number, hardware, means).into_iter();
    let mut requests: Vec<_> = filters
        .map(|filter| filter.inverse(RTM_DELTFILTER, "remove the filter of a sender"))
        .collect();
    let classes = classes(index, number, means).into_iter();
    requests.extend(classes.map(|class| class.inverse(RTM_DELTCLASS, "remove a class")));
    requests
}

/// `TCA_FLOWER_*`.
pub(super) mod flower {
    pub const CLASSID: u16 = 1;
    pub const KEY_ETH_DST: u16 = 4;
    pub const KEY_ETH_DST_MASK: u16 = 5;
    pub const KEY_ETH_SRC: u16 = 6;
    pub const KEY_ETH_SRC_MASK: u16 = 7;
}

/// Handle of the first hash table of `u32`, whose entries are numbered from 1.
const U32_TABLE: u32 = 0x8000_0000;

/// Options of `u32` for a source address, which ends 2 bytes before the network header.
fn u32_keys(class: Handle, hardware: [u8; 6]) -> Vec<u8> {
    /// `TCA_U32_CLASSID`, `TCA_U32_SEL`.
    const CLASSID: u16 = 1;
    const SEL: u16 = 5;
    const TERMINAL: u8 = 1;
    let [a, b, c, d, e, f] = hardware;
    let mut keys = Vec::new();
    put_words(&mut keys, CLASSID, &[class.0]);
    put_nested(&mut keys, SEL, |out| {
        out.extend([TERMINAL, 0, 2, 0]);
        out.extend([0; 12]);
        for (mask, value, offset) in
            [([0xff; 4], [a, b, c, d], -8_i32), ([0xff, 0xff, 0, 0], [e, f, 0, 0], -4)]
        {
            out.extend(mask);
            out.extend(value);
            out.extend(offset.to_ne_bytes());
            out.extend([0; 4]);
        }
    });
    keys
}

fn filter(index: u32, handle: u32, priority: u32, kind: &str, options: &[u8]) -> RouteRequest {
    let info = priority << 16 | ALL_PROTOCOLS;
    let head = [index, handle, ROOT_QDISC.0, info];
    let what = "create the filter of a sender".to_owned();
    tc_request((RTM_NEWTFILTER, NLM_F_CREATE), head, kind, options, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_have_handles_of_their_own() {
        let mut taken = std::collections::BTreeSet::from([1_u16, 2]);
        for number in (1..100).chain(SENDERS_MAX - 3..=SENDERS_MAX) {
            let place = QdiscLayout::of_sender(number);
            let majors = [place.broadcast, place.unicast, place.shaper, place.queue];
            for handle in majors {
                assert!(taken.insert(handle.major()), "{number}: {handle}");
                assert_ne!(handle.major(), 0xffff, "the kernel's");
            }
            assert!(place.bands.iter().all(|class| class.minor() > UNHEARD));
        }
    }
}
