//! The token bucket and the queue below it.

use std::time::Duration;

use serde_json::json;

use super::{FLOOD, row, send};
use crate::arrival::{Figures, rate_bps};
use crate::bed::{Bed, arms};
use crate::wire::{FAR_MTU_BYTES, NEAR, Traffic, tool};

arms! {
    PACKETS,
    ceiling: host, vm;
    queue_of_packets: host, vm;
    queue_of_bytes: host, vm;
    behind_a_delay: vm;
    a_long_queue: host, vm;
}

/// Half as much again as the rate lets through, for so long.
fn beyond(bps: u64, seconds: u64) -> Traffic {
    let frame_bytes = 1000;
    let every = Duration::from_nanos(8_000_000_000_000 * 2 / 3 / bps);
    Traffic {
        count: bps * seconds * 3 / 2 / 8000,
        every,
        frame_bytes,
        quiet: Duration::from_millis(300),
    }
}

/// A bucket deep enough that a machine which stands still for a while loses nothing of the rate,
/// before a queue that holds all that is sent: from then on bytes are conserved, whatever the
/// sender's pace. What came in a time is the bucket and the rate.
fn ceiling(bed: &mut Bed) {
    // Long frames, so that no machine is too slow to send more than the rate.
    tool("ip", &format!("link set {NEAR} mtu {FAR_MTU_BYTES}"));
    for bps in [1_000_000_u64, 10_000_000, 50_000_000] {
        let burst_bytes = bps / 8 / 5;
        let frame_bytes = FAR_MTU_BYTES.min(usize::try_from(bps / 1000).unwrap());
        let seconds = if bps > 1_000_000 { 1 } else { 2 };
        let count = (burst_bytes + bps / 8 * seconds) / frame_bytes as u64;
        let setting = json!({"rate": {"bps": bps, "burst_bytes": burst_bytes},
            "queue": {"limit": {"unit": "packets", "value": count}}});
        let traffic = Traffic { count, frame_bytes, quiet: Duration::from_millis(500), ..FLOOD };
        let arrivals = send(bed, setting, traffic);
        assert_eq!(arrivals.len() as u64, count, "the queue holds all");
        let (first, last) = (arrivals[0].at_ns, arrivals[arrivals.len() - 1].at_ns);
        let beyond_bytes = count * frame_bytes as u64 - burst_bytes;
        let measurement = beyond_bytes as f64 * 8e3 / (last - first) as f64;
        let set = bps as f64 / 1e6;
        row("rate", format_args!("{set} Mb/s"), format_args!("{measurement:.3} Mb/s"));
        assert!((measurement / set - 1.0).abs() <= 0.05, "set {set} Mb/s, measured {measurement}");
    }
}

/// Ten frames wait in a full queue; the one that comes in as one leaves waits for all of them.
fn queue_of_packets(bed: &mut Bed) {
    queue(bed, &json!({"unit": "packets", "value": 10}));
}

fn queue_of_bytes(bed: &mut Bed) {
    queue(bed, &json!({"unit": "bytes", "value": 10_000}));
}

fn queue(bed: &mut Bed, limit: &serde_json::Value) {
    let bps = 1_000_000;
    let before = bed.stats().unwrap().queue_drops_total;
    let setting = json!({"rate": {"bps": bps, "burst_bytes": 2000}, "queue": {"limit": limit}});
    let traffic = beyond(bps, 1);
    let arrivals = send(bed, setting, traffic);
    let steady = &arrivals[arrivals.len() / 2..];
    let measurement = Figures::of(traffic.count, steady);
    row(
        &format!("wait in a full queue of {} {}", limit["value"], limit["unit"]),
        "72 to 80 ms",
        format_args!("median {:.2} ms", measurement.p50_ms),
    );
    assert!((72.0..=80.0 + 2.0).contains(&measurement.p50_ms), "{measurement:?}");
    let dropped = bed.stats().unwrap().queue_drops_total - before;
    assert_eq!(dropped, traffic.count - arrivals.len() as u64, "every loss is counted");
}

/// Delay and rate add up; what is lost takes no share of the rate.
fn behind_a_delay(bed: &mut Bed) {
    let bps = 2_000_000;
    let traffic = beyond(bps, 1);
    let setting = json!({"latency": {"kind": "constant", "duration": 30_000_000},
        "loss": {"model": "bernoulli", "pct": 10.0},
        "rate": {"bps": bps, "burst_bytes": 4000},
        "queue": {"limit": {"unit": "packets", "value": 25}}});
    let arrivals = send(bed, setting, traffic);
    let measurement = rate_bps(&arrivals, 200_000_000) / 1e6;
    let figures = Figures::of(traffic.count, &arrivals[arrivals.len() / 2..]);
    row("rate behind delay and loss", "2 Mb/s", format_args!("{measurement:.3} Mb/s"));
    assert!((measurement / 2.0 - 1.0).abs() <= 0.05, "{measurement} Mb/s");
    // 24 or 25 frames of 4 ms are ahead.
    let (low_ms, high_ms) = (30.0 + 96.0, 30.0 + 100.0);
    row(
        "delay and a full queue",
        format_args!("{low_ms} to {high_ms} ms"),
        format_args!("median {:.2} ms", figures.p50_ms),
    );
    assert!((low_ms..=high_ms + 2.0).contains(&figures.p50_ms), "{figures:?}");
}

/// A queue above the default limit of netem, which counts the packets below it as its own: all that is
/// sent at once arrives.
fn a_long_queue(bed: &mut Bed) {
    let traffic = Traffic { count: 3000, frame_bytes: 100, ..FLOOD };
    let before = bed.stats().unwrap().drops_total;
    let setting = json!({"rate": {"bps": 1_000_000, "burst_bytes": 2000},
        "queue": {"limit": {"unit": "packets", "value": 8000}}});
    let arrivals = send(bed, setting, traffic);
    let stats = bed.stats().unwrap();
    row(
        "a queue of 8000 packets, 3000 sent at once",
        "0 lost",
        format_args!("{} lost", traffic.count - arrivals.len() as u64),
    );
    assert_eq!(arrivals.len() as u64, traffic.count, "{stats:?}");
    assert_eq!(stats.drops_total, before, "{stats:?}");
}
