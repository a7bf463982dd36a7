//! Changes while packets are on the way.

use std::thread;
use std::time::Duration;

use groundwave_impair::Impairment;
use serde_json::json;

use super::row;
use crate::arrival::Figures;
use crate::bed::{Bed, agrees, arms, impairment};
use crate::wire::Traffic;

arms! {
    PACKETS,
    in_place_loses_nothing: vm;
    of_the_shaper_loses_nothing: host, vm;
    of_the_layers: vm;
    clearing_a_delay_loses_nothing: vm;
    of_the_queue_loses_nothing: host, vm;
    update_of_a_full_queue_gives_a_warning: host, vm;
}

const STREAM: Traffic = Traffic {
    count: 3000,
    every: Duration::from_micros(500),
    frame_bytes: 400,
    quiet: Duration::from_millis(150),
};

/// Applies one state after the other while packets pass; answers what passed and how many changes
/// there were.
fn under_traffic(bed: &mut Bed, states: impl Fn(u32) -> Impairment) -> (Figures, u32) {
    bed.apply(&states(0)).unwrap();
    let mut wire = bed.wire.take().unwrap();
    let (arrivals, changes) = thread::scope(|scope| {
        let sender = scope.spawn(|| wire.measure(STREAM));
        let mut changes = 0;
        while !sender.is_finished() {
            changes += 1;
            let reading = bed.apply(&states(changes)).unwrap();
            assert!(agrees(&reading), "{:?}", reading.divergence);
            thread::sleep(Duration::from_millis(10));
        }
        (sender.join().unwrap(), changes)
    });
    bed.wire = Some(wire);
    (Figures::of(STREAM.count, &arrivals), changes)
}

fn nothing_lost(what: &str, measurement: &Figures, changes: u32) {
    row(
        what,
        format_args!("{changes} changes, 0 lost"),
        format_args!("{:.0} lost", measurement.lost * 3000.0),
    );
    assert!(changes >= 20, "only {changes} changes");
    assert_eq!((measurement.lost, measurement.duplicated, measurement.damaged), (0.0, 0.0, 0.0));
}

fn in_place_loses_nothing(bed: &mut Bed) {
    let (measurement, changes) = under_traffic(bed, |step| {
        impairment(json!({
            "latency": {"kind": "constant", "duration": 20_000_000 + 1_000_000 * (step % 20)},
            "rate": {"bps": 20_000_000 + 1_000_000 * (step % 7), "burst_bytes": 40_000 + step},
            "queue": {"limit": {"unit": "packets", "value": 1000 + step}},
        }))
    });
    nothing_lost("delay, rate and queue under traffic", &measurement, changes);
}

fn of_the_shaper_loses_nothing(bed: &mut Bed) {
    let (measurement, changes) = under_traffic(bed, |step| {
        impairment(json!({
            "rate": {"bps": 20_000_000 + 1_000_000 * (step % 7), "burst_bytes": 40_000 + step},
            "queue": {"limit": {"unit": "packets", "value": 1000 + step}},
        }))
    });
    nothing_lost("rate and queue under traffic", &measurement, changes);
}

/// A layer that comes or goes takes what is in it along; the delay line above keeps its packets.
fn of_the_layers(bed: &mut Bed) {
    let latency = json!({"kind": "constant", "duration": 20_000_000});
    let rate = json!({"bps": 50_000_000, "burst_bytes": 100_000});
    let (measurement, changes) = under_traffic(bed, |step| {
        if step.is_multiple_of(2) {
            impairment(json!({"latency": latency, "rate": rate}))
        } else {
            impairment(json!({"latency": latency}))
        }
    });
    let lost = measurement.lost * 3000.0;
    row(
        "a shaper that comes and goes",
        format_args!("{changes} changes"),
        format_args!("{lost:.0} lost"),
    );
    // Without the delay line's 40 packets each time.
    assert!(lost < f64::from(changes), "{lost} lost in {changes} changes");
}

/// A delay line that goes is emptied first, and so is a queue below it.
fn clearing_a_delay_loses_nothing(bed: &mut Bed) {
    let latency = json!({"kind": "constant", "duration": 40_000_000});
    let rate = json!({"bps": 20_000_000, "burst_bytes": 40_000});
    let (measurement, changes) = under_traffic(bed, |step| match step % 3 {
        0 => impairment(json!({"latency": latency})),
        1 => impairment(json!({})),
        _ => impairment(json!({"latency": latency, "rate": rate})),
    });
    nothing_lost("a delay that comes and goes under traffic", &measurement, changes);
}

/// A queue of packets that comes and goes, and one of bytes: below the rate nothing waits in them.
fn of_the_queue_loses_nothing(bed: &mut Bed) {
    let rate = json!({"bps": 50_000_000, "burst_bytes": 100_000});
    let (measurement, changes) = under_traffic(bed, |step| {
        impairment(match step % 3 {
            0 => json!({"rate": rate}),
            1 => json!({"rate": rate, "queue": {"limit": {"unit": "packets", "value": 1000}}}),
            _ => json!({"rate": rate, "queue": {"limit": {"unit": "bytes", "value": 400_000}}}),
        })
    });
    nothing_lost("a queue that comes and goes under traffic", &measurement, changes);
}

/// Packets that wait in a queue which a change makes anew are dropped, reported and counted.
fn update_of_a_full_queue_gives_a_warning(bed: &mut Bed) {
    let rate = json!({"bps": 800, "burst_bytes": 2000});
    let queue = |unit: &str| json!({"limit": {"unit": unit, "value": 5000}});
    bed.apply(&impairment(json!({"rate": rate, "queue": queue("packets")}))).unwrap();
    let before = bed.stats().unwrap();
    let burst = Traffic {
        count: 12,
        every: Duration::ZERO,
        frame_bytes: 1000,
        quiet: Duration::from_millis(20),
    };
    let arrived = bed.wire.as_mut().unwrap().measure(burst).len() as u64;
    let after = bed.apply(&impairment(json!({"rate": rate, "queue": queue("bytes")}))).unwrap();
    let warning = after
        .warnings
        .iter()
        .find(|warning| warning.code == "packets_discarded")
        .expect("a warning");
    println!("{}", warning.message);
    let waited = 12 - arrived;
    assert!(warning.message.starts_with(&format!("{waited} packets")), "{warning:?}");
    let stats = bed.stats().unwrap();
    assert_eq!(stats.queue_drops_total - before.queue_drops_total, waited);
    assert_eq!(stats.drops_total - before.drops_total, waited);
}
