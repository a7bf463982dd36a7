//! Copies, overtakers and wrong bits.

use std::time::Duration;

use serde_json::json;

use super::{FLOOD, figures, row, send, share};
use crate::arrival::Figures;
use crate::bed::{Bed, arms};
use crate::wire::Traffic;

arms! {
    PACKETS,
    duplication: vm;
    corruption: vm;
    reordering: vm;
    none_of_them: vm;
}

fn duplication(bed: &mut Bed) {
    let measurement = figures(bed, json!({"duplication": {"pct": 5.0}}), FLOOD);
    share("duplication", 0.05, measurement.duplicated, FLOOD.count);
    assert_eq!((measurement.lost, measurement.damaged), (0.0, 0.0));
}

fn corruption(bed: &mut Bed) {
    let measurement = figures(bed, json!({"corruption": {"pct": 5.0}}), FLOOD);
    share("corruption", 0.05, measurement.damaged, FLOOD.count);
    assert_eq!((measurement.lost, measurement.duplicated), (0.0, 0.0));
}

/// After one packet that went at once, `gap` - 1 are delayed; then each goes at once with
/// probability p, so 1 in gap - 1 + 1/p does.
fn reordering(bed: &mut Bed) {
    let traffic = Traffic { every: Duration::from_micros(50), ..FLOOD };
    for (gap, p) in [(5, 0.25), (5, 1.0)] {
        let setting = json!({"latency": {"kind": "constant", "duration": 10_000_000},
            "reordering": {"pct": 100.0 * p, "gap": gap}});
        let counted = bed.stats().unwrap().reordered_total;
        let arrivals = send(bed, setting, traffic);
        let counted = (bed.stats().unwrap().reordered_total - counted) as f64;
        let measurement = Figures::of(traffic.count, &arrivals);
        let at_once = arrivals.iter().filter(|arrival| arrival.delay_ns < 5_000_000).count() as f64;
        let count = traffic.count as f64;
        let period = f64::from(gap - 1) + 1.0 / p;
        let set = 1.0 / period;
        row(
            &format!("reordering, gap {gap}, {} %", 100.0 * p),
            format_args!("{:.2} %", 100.0 * set),
            format_args!("{:.2} %", 100.0 * at_once / count),
        );
        // A period varies by the draws that end it, and the last one is cut short.
        let four_sd = 4.0 * set * (1.0 - p).sqrt() / p / period / (count / period).sqrt();
        let slack = four_sd + 2.0 / count;
        assert!((counted / count - set).abs() <= slack, "gap {gap}, p {p}: {counted}");
        // A pause of the machine may hold up one that went at once; none goes by itself.
        assert!((0.98 * counted..=counted + 0.5).contains(&at_once), "{at_once} of {counted}");
        // A packet sent at once after a pause of the sender has no packet to overtake.
        let overtook = measurement.overtook * count;
        assert!((0.9 * counted..=counted + 0.5).contains(&overtook), "{overtook} of {counted}");
        assert_eq!((measurement.lost, measurement.duplicated), (0.0, 0.0));
    }
}

/// The measurement by itself: a port without an impairment does nothing to packets.
fn none_of_them(bed: &mut Bed) {
    let measurement = figures(bed, json!({}), FLOOD);
    row("nothing", "0", format_args!("{:.3} ms", measurement.p50_ms));
    assert_eq!(
        (measurement.lost, measurement.duplicated, measurement.overtook, measurement.damaged),
        (0.0, 0.0, 0.0, 0.0)
    );
    assert!(measurement.p50_ms < 2.0, "{measurement:?}");
}
