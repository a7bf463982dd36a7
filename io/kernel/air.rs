//! The disciplines of a port of a segment: what its node hears, class by class of who sends.
//!
//! ```text
//! htb 1: ┬ 1:1   bfifo 2: of nothing                      from nobody it hears
//!        ├ 1:2n  netem 4n:                                to everybody, from the n-th node
//!        └ 1:2n+1 netem 4n+1: ─ tbf 4n+2: ─ bfifo 4n+3:   to this node, from the n-th
//! ```
//!
//! A frame to everybody reaches every port, and each lets its own share of it through: who is far
//! misses what who is near hears. The classes never wait for each other: their rate is more than any
//! shaper's below. A kernel without `netem` gets one class a sender.

use super::fifo::Fifo;
use super::nla::{put, put_words, words};
use super::wire::{BANDS, Means, Place};
use super::{Handle, Request, Verb};
use groundwave_systems::impair::QueueUnit;

/// Senders that a port can tell apart: four handles of 16 bits each, the highest being the kernel's.
pub const SENDERS_MAX: u32 = 16_382;
/// Those that it can without `netem`: entries of a list of `u32`.
pub const SENDERS_BARE_MAX: u32 = 4_095;

/// The class of what nobody sent that is heard.
const NOBODY: u16 = 1;
/// Rate of the classes, bytes a second: more than any radio.
const RATE: u32 = 1_250_000_000;
/// What a class may send at once, in the kernel's ticks of 64 ns.
const BUFFER_TICKS: u32 = 1_000_000;
/// What a class sends before its turn ends, bytes.
const QUANTUM_BYTES: u32 = 60_000;

impl Place {
    /// Where on a port the disciplines of the `number`-th sender are, 1 to `SENDERS_MAX`.
    #[must_use]
    pub const fn of_sender(number: u32) -> Self {
        let n = number as u16;
        let bands = [Handle::new(1, 2 * n), Handle::new(1, 2 * n + 1)];
        Self {
            everybody: Handle::new(4 * n, 0),
            somebody: Handle::new(4 * n + 1, 0),
            shaper: Handle::new(4 * n + 2, 0),
            queue: Handle::new(4 * n + 3, 0),
            bands,
            bare: bands[1],
            alone: false,
        }
    }
}

/// A message about traffic control that is no discipline: `(kind, body)` for rtnetlink.
pub(crate) type Raw = (u16, Vec<u8>);

const RTM_NEWTCLASS: u16 = 40;
const RTM_NEWTFILTER: u16 = 44;

/// `struct tcmsg`.
fn head(index: u32, handle: u32, parent: Handle, info: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_words(&mut out, &[0, index, handle, parent.0, info]);
    out
}

/// The root of a port that hears nobody yet.
#[must_use]
pub(crate) fn deaf_root(index: u32) -> Request {
    // struct tc_htb_glob: version, rate to quantum, default class, debug, direct packets.
    let mut options = Vec::new();
    put(&mut options, 2, &words(&[3, 10, u32::from(NOBODY), 0, 0]));
    Request {
        verb: Verb::Create,
        index,
        handle: BANDS,
        parent: Handle::ROOT,
        kind: "htb",
        options: Some(options),
    }
}

/// The class that lets nothing through.
#[must_use]
pub(crate) fn deaf_class(index: u32) -> Raw {
    class(index, Handle::new(1, NOBODY))
}

/// Its queue.
#[must_use]
pub(crate) fn deaf_queue(index: u32) -> Request {
    let nothing = Fifo {
        unit: QueueUnit::Bytes,
        limit: 0,
    };
    Request {
        verb: Verb::Create,
        index,
        handle: Handle::new(2, 0),
        parent: Handle::new(1, NOBODY),
        kind: nothing.kind(),
        options: Some(nothing.payload()),
    }
}

/// The classes of the `number`-th sender on a port.
#[must_use]
pub(crate) fn classes(index: u32, number: u32, means: Means) -> Vec<Raw> {
    let [everybody, somebody] = Place::of_sender(number).bands;
    match means {
        Means::Full => vec![class(index, everybody), class(index, somebody)],
        Means::Rate => vec![class(index, somebody)],
    }
}

fn class(index: u32, class: Handle) -> Raw {
    const ETHERNET: u8 = 1;
    // struct tc_ratespec: cell log, link layer, overhead, alignment, least size, rate.
    let mut rate = vec![0, ETHERNET, 0, 0, 0, 0, 0, 0];
    rate.extend(RATE.to_ne_bytes());
    // struct tc_htb_opt: rate, ceiling, buffers, quantum, level, priority.
    let mut options = [rate.clone(), rate].concat();
    put_words(
        &mut options,
        &[BUFFER_TICKS, BUFFER_TICKS, QUANTUM_BYTES, 0, 0],
    );
    let mut nest = Vec::new();
    put(&mut nest, 1, &options);
    let mut body = head(index, class.0, BANDS, 0);
    put(&mut body, 1, b"htb\0");
    put(&mut body, 2, &nest);
    (RTM_NEWTCLASS, body)
}

/// The filters that lead to those classes, `hardware` being the sender's address. Said again they
/// change nothing.
#[must_use]
pub(crate) fn filters(index: u32, number: u32, hardware: [u8; 6], means: Means) -> Vec<Raw> {
    const GROUP: [u8; 6] = [1, 0, 0, 0, 0, 0];
    const ALL: [u8; 6] = [0xff; 6];
    let [everybody, somebody] = Place::of_sender(number).bands;
    let flower = |class: Handle, group: bool, priority| {
        let mut keys = Vec::new();
        put(&mut keys, 1, &words(&[class.0]));
        if group {
            put(&mut keys, 4, &GROUP);
            put(&mut keys, 5, &GROUP);
        }
        put(&mut keys, 6, &hardware);
        put(&mut keys, 7, &ALL);
        filter(index, number, priority, b"flower\0", &keys)
    };
    match means {
        Means::Full => vec![flower(everybody, true, 1), flower(somebody, false, 2)],
        // A kernel that is short of disciplines is often short of filters too.
        Means::Rate => {
            let keys = by_offset(somebody, hardware);
            vec![filter(index, FIRST_OF_LIST | number, 1, b"u32\0", &keys)]
        }
    }
}

/// Handle of the first list of `u32`, whose entries are counted from 1.
const FIRST_OF_LIST: u32 = 0x8000_0000;

/// Options of `u32` for frames from an address, which ends 2 bytes before the network header.
fn by_offset(class: Handle, hardware: [u8; 6]) -> Vec<u8> {
    const TERMINAL: u8 = 1;
    let [a, b, c, d, e, f] = hardware;
    let mut select = vec![TERMINAL, 0, 2, 0];
    select.extend([0; 12]);
    for (mask, value, offset) in [
        ([0xff; 4], [a, b, c, d], -8_i32),
        ([0xff, 0xff, 0, 0], [e, f, 0, 0], -4),
    ] {
        select.extend(mask);
        select.extend(value);
        select.extend(offset.to_ne_bytes());
        select.extend([0; 4]);
    }
    let mut keys = Vec::new();
    put(&mut keys, 1, &words(&[class.0]));
    put(&mut keys, 5, &select);
    keys
}

fn filter(index: u32, handle: u32, priority: u32, kind: &[u8], options: &[u8]) -> Raw {
    const PROTOCOLS: u16 = 0x0003;
    let info = priority << 16 | u32::from(PROTOCOLS.to_be());
    let mut body = head(index, handle, BANDS, info);
    put(&mut body, 1, kind);
    put(&mut body, 2, options);
    (RTM_NEWTFILTER, body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn senders_have_handles_of_their_own() {
        let mut taken = std::collections::BTreeSet::from([1_u16, 2]);
        for number in (1..100).chain(SENDERS_MAX - 3..=SENDERS_MAX) {
            let place = Place::of_sender(number);
            let majors = [place.everybody, place.somebody, place.shaper, place.queue];
            for handle in majors {
                assert!(taken.insert(handle.major()), "{number}: {handle}");
                assert_ne!(handle.major(), 0xffff, "the kernel's");
            }
            assert!(place.bands.iter().all(|class| class.minor() > NOBODY));
        }
    }
}
