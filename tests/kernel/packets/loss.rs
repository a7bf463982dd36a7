//! Packets that do not arrive.

use serde_json::json;

use super::{FLOOD, figures, row, send, share};
use crate::arrival::{Figures, mean_lost_run};
use crate::bed::{Bed, arms};
use crate::wire::Traffic;

arms! {
    PACKETS,
    bernoulli: vm;
    all: vm;
    bursts: vm;
}

fn bernoulli(bed: &mut Bed) {
    for (pct, p) in [(5.0, 0.05), (30.0, 0.3)] {
        let before = bed.stats().unwrap().impairment_drops_total;
        let measurement = figures(bed, json!({"loss": {"model": "bernoulli", "pct": pct}}), FLOOD);
        share("loss", p, measurement.lost, FLOOD.count);
        let counted = bed.stats().unwrap().impairment_drops_total - before;
        let (counted, lost) = (counted as f64, measurement.lost * FLOOD.count as f64);
        assert!((counted - lost).abs() < 0.5, "the kernel counted {counted}, not {lost}");
        assert_eq!((measurement.duplicated, measurement.overtook), (0.0, 0.0));
    }
}

fn all(bed: &mut Bed) {
    let traffic = Traffic { count: 500, ..FLOOD };
    let measurement = figures(bed, json!({"loss": {"model": "bernoulli", "pct": 100.0}}), traffic);
    row("loss", "100 %", format_args!("{:.2} %", 100.0 * measurement.lost));
    assert!(measurement.lost >= 1.0, "{measurement:?}");
}

/// Two states: in the long run p/(p+r) of the packets meet the bad one, for 1/r packets each time.
fn bursts(bed: &mut Bed) {
    bed.extend();
    let (p, r) = (0.05_f64, 0.25_f64);
    let traffic = Traffic { count: 20_000, ..FLOOD };
    let setting = json!({"loss": {"model": "gilbert-elliott", "p": p, "r": r,
        "one_minus_h": 0.0, "one_minus_k": 1.0}});
    let arrivals = send(bed, setting, traffic);
    let measurement = Figures::of(traffic.count, &arrivals);
    let set = p / (p + r);
    // Neighbours are alike: 1 - p - r is their correlation, and (1 + c)/(1 - c) widens the spread.
    let correlation = 1.0 - p - r;
    let widen = (1.0 + correlation) / (1.0 - correlation);
    let four_sd = 4.0 * (set * (1.0 - set) * widen / traffic.count as f64).sqrt();
    row(
        "loss in bursts",
        format_args!("{:.2} %", 100.0 * set),
        format_args!("{:.2} %", 100.0 * measurement.lost),
    );
    assert!((measurement.lost - set).abs() <= four_sd, "{measurement:?}, set {set}");
    let run = mean_lost_run(traffic.count, &arrivals);
    row("length of a burst", 1.0 / r, format_args!("{run:.2}"));
    let runs = traffic.count as f64 * (1.0 - set) * p;
    let four_sd = 4.0 * (1.0 - r).sqrt() / r / runs.sqrt();
    assert!((run - 1.0 / r).abs() <= four_sd, "{run} packets");
}
