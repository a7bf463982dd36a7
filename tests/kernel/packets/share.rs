//! Copies, overtakers and wrong bits.

use std::time::Duration;

use serde_json::json;

use super::{FLOOD, figures, row, share};
use crate::bed::{Bed, arms};
use crate::wire::Traffic;

arms! {
    PACKETS,
    duplication: uml;
    corruption: uml;
    reordering: uml;
    none_of_them: uml;
}

fn duplication(bed: &mut Bed) {
    let seen = figures(bed, json!({"duplication": {"pct": 5.0}}), FLOOD);
    share("duplication", 0.05, seen.duplicated, FLOOD.count);
    assert_eq!((seen.lost, seen.damaged), (0.0, 0.0));
}

fn corruption(bed: &mut Bed) {
    let seen = figures(bed, json!({"corruption": {"pct": 5.0}}), FLOOD);
    share("corruption", 0.05, seen.damaged, FLOOD.count);
    assert_eq!((seen.lost, seen.duplicated), (0.0, 0.0));
}

/// After one packet that went at once, `gap` - 1 are delayed; then each goes at once with
/// probability p, so 1 in gap - 1 + 1/p does.
#[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
fn reordering(bed: &mut Bed) {
    let traffic = Traffic {
        every: Duration::from_micros(50),
        ..FLOOD
    };
    for (gap, p) in [(5, 0.25), (5, 1.0), (2, 0.5)] {
        let asked = json!({"latency": {"kind": "constant", "duration": 10_000_000},
            "reordering": {"pct": 100.0 * p, "gap": gap}});
        let counted = bed.stats().unwrap().reordered_total;
        let seen = figures(bed, asked, traffic);
        let counted = bed.stats().unwrap().reordered_total - counted;
        let period = f64::from(gap - 1) + 1.0 / p;
        let (set, periods) = (1.0 / period, traffic.count as f64 / period);
        row(
            &format!("reordering, gap {gap}, {} %", 100.0 * p),
            format_args!("{:.2} %", 100.0 * set),
            format_args!("{:.2} %", 100.0 * seen.overtook),
        );
        // A period varies by that of the draws that end it; the last may be cut short, and those
        // who overtake nobody are the first.
        let four_sd = 4.0 * (1.0 - p).sqrt() / p / period / periods.sqrt() * set;
        let slack = four_sd + 2.0 / traffic.count as f64;
        assert!((seen.overtook - set).abs() <= slack, "gap {gap}, p {p}: {seen:?}");
        let overtook = seen.overtook * traffic.count as f64;
        assert!((counted as f64 - overtook).abs() <= 2.0, "the kernel counted {counted}");
        assert_eq!((seen.lost, seen.duplicated), (0.0, 0.0));
    }
}

/// The measurement by itself: a port without an impairment does nothing to packets.
fn none_of_them(bed: &mut Bed) {
    let seen = figures(bed, json!({}), FLOOD);
    row("nothing", "0", format_args!("{:.3} ms", seen.p50_ms));
    assert_eq!(
        (seen.lost, seen.duplicated, seen.overtook, seen.damaged),
        (0.0, 0.0, 0.0, 0.0)
    );
    assert!(seen.p50_ms < 2.0, "{seen:?}");
}
