//! Encoded messages, byte for byte. The numbers are those of `linux/pkt_sched.h` and
//! `linux/rtnetlink.h`, as sent by `tc` for the same settings.

use groundwave_impair::QueueUnit;
use groundwave_netlink::append_message;

use super::super::fifo::Fifo;
use super::super::netem::{Netem, Odds, probability};
use super::super::tbf::{Tbf, ticks};
use super::super::{Handle, Request, Verb};

/// Bytes as hexadecimal words of 32 bits, the layout of the structures.
fn hex(bytes: &[u8]) -> String {
    let word = |word: &[u8]| word.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    bytes.chunks(4).map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn fractions_are_rounded_as_iproute2_does() {
    // tc qdisc add ... netem loss 1% sends 0x028f5c29.
    assert_eq!(probability(0.01), 0x028f_5c29);
    assert_eq!((probability(0.0), probability(1.0)), (0, u32::MAX));
    assert_eq!(probability(0.5), 0x8000_0000);
}

#[cfg(target_endian = "little")]
#[test]
fn netem_carries_every_attribute_every_time() {
    let netem = Netem {
        latency_ns: 50_000_000,
        jitter_ns: 10_000_000,
        delay_corr: probability(0.25),
        limit: 1000,
        loss: Odds::independent(probability(0.01)),
        gap: 5,
        reorder: Odds::independent(probability(0.25)),
        gemodel: Some([1, 2, 3, 4]),
        ..Netem::default()
    };
    let expected = [
        // latency 781250 ticks, limit, loss, gap, duplicate, jitter 156250 ticks
        "c2eb0b00 e8030000 295c8f02 05000000 00000000 5a620200",
        // CORR: delay, loss, duplicate
        "10000100 00000040 00000000 00000000",
        // DELAY_DIST of two entries
        "08000200 0100feff",
        // REORDER, CORRUPT
        "0c000300 00000040 00000000 0c000400 00000000 00000000",
        // LOSS, in it GE
        "18000500 14000200 01000000 02000000 03000000 04000000",
        // RATE of nothing, ECN off
        "14000600 00000000 00000000 00000000 00000000 08000700 00000000",
        // LATENCY64, JITTER64
        "0c000a00 80f0fa02 00000000 0c000b00 80969800 00000000",
        // SLOT of nothing
        "2c000c00 00000000 00000000 00000000 00000000 00000000",
        "00000000 00000000 00000000 00000000 00000000",
    ];
    assert_eq!(hex(&netem.payload(Some(&[1, -2]))), expected.join(" "));
}

#[cfg(target_endian = "little")]
#[test]
fn tbf_encodes_burst_in_bytes_and_a_64_bit_rate_twice() {
    let tbf = |rate| Tbf {
        rate,
        buffer_ticks: ticks(5000, rate),
        mtu_ticks: 7,
        limit: 50_000,
        peak_rate: 0,
    };
    let expected = [
        // PARMS: rate {linklayer ethernet, 125000 B/s}, no peak, limit, 625000 ticks, mtu
        "28000100 00010000 00000000 48e80100 00000000 00000000 00000000",
        "50c30000 68890900 07000000",
        // BURST
        "08000600 88130000",
    ];
    assert_eq!(hex(&tbf(125_000).payload(5000)), expected.join(" "));
    let expected = [
        "28000100 00010000 00000000 ffffffff 00000000 00000000 00000000",
        "50c30000 0f000000 07000000",
        // RATE64: 5e9 B/s
        "0c000400 00f2052a 01000000",
        "08000600 88130000",
    ];
    assert_eq!(hex(&tbf(5_000_000_000).payload(5000)), expected.join(" "));
}

/// A message as the last one of a call, which is acknowledged.
fn append_acknowledged(out: &mut Vec<u8>, sequence: u32, request: &Request) {
    append_message(out, sequence, request);
    out[6] |= netlink_packet_core::NLM_F_ACK as u8;
}

fn change() -> Request {
    let fifo = Fifo { unit: QueueUnit::Packets, limit: 77 };
    Request {
        verb: Verb::Change,
        index: 9,
        handle: Handle::new(3, 0),
        parent: Handle::new(2, 1),
        kind: fifo.kind(),
        options: Some(fifo.payload()),
    }
}

#[cfg(target_endian = "little")]
#[test]
fn a_request_is_encoded_as_the_kernel_expects() {
    let mut bytes = Vec::new();
    append_acknowledged(&mut bytes, 1, &change());
    let expected = [
        // length 56, RTM_NEWQDISC, REQUEST | ACK, sequence, port
        "38000000 24000500 01000000 00000000",
        // family, interface, handle 3:, parent 2:1, info
        "00000000 09000000 00000300 01000200 00000000",
        // KIND "pfifo", OPTIONS
        "0a000100 70666966 6f000000 08000200 4d000000",
    ];
    assert_eq!(hex(&bytes), expected.join(" "));
}

#[test]
fn messages_equal_those_of_netlink_packet_route() {
    use netlink_packet_core::{
        DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST,
        NetlinkHeader, NetlinkMessage,
    };
    use netlink_packet_route::RouteNetlinkMessage;
    use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
    for verb in [Verb::Create, Verb::Change, Verb::Replace, Verb::Delete] {
        let request = Request {
            verb,
            options: (verb != Verb::Delete).then(|| Netem::default().payload(Some(&[1; 333]))),
            kind: "netem",
            ..change()
        };
        let mut message = TcMessage::with_index(9);
        message.header.handle = TcHandle::from(request.handle.0);
        message.header.parent = TcHandle::from(request.parent.0);
        message.attributes.push(TcAttribute::Kind("netem".to_owned()));
        if let Some(options) = &request.options {
            let options = DefaultNla::new(2, options.clone());
            message.attributes.push(TcAttribute::Other(options));
        }
        let (inner, flags) = match verb {
            Verb::Create => {
                (RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_EXCL)
            }
            Verb::Change => (RouteNetlinkMessage::NewQueueDiscipline(message), 0),
            Verb::Replace => {
                (RouteNetlinkMessage::NewQueueDiscipline(message), NLM_F_CREATE | NLM_F_REPLACE)
            }
            Verb::Delete => (RouteNetlinkMessage::DelQueueDiscipline(message), 0),
        };
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | NLM_F_ACK | flags;
        header.sequence_number = 5;
        let mut typed = NetlinkMessage::new(header, inner.into());
        typed.finalize();
        let mut by_library = vec![0; typed.buffer_len()];
        typed.serialize(&mut by_library);
        let mut by_hand = Vec::new();
        append_acknowledged(&mut by_hand, 5, &request);
        assert_eq!(hex(&by_hand), hex(&by_library), "{verb:?}");
    }
}
