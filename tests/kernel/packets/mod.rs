//! Effect of an impairment on packets: set beside measured.
//!
//! Time on this machine passes with its load, so delays are held from below exactly and from above by the
//! median; shares within four standard deviations.

mod delay;
mod incoming;
mod loss;
mod rate;
mod rules;
mod share;
mod trace;
mod update;

use std::time::Duration;

use serde_json::Value;

use crate::arrival::{Arrival, Figures};
use crate::bed::{Bed, agrees, impairment};
use crate::wire::Traffic;

/// As fast as the sender can, of frames as long as most.
const FLOOD: Traffic = Traffic {
    count: 10_000,
    every: Duration::ZERO,
    frame_bytes: 1000,
    quiet: Duration::from_millis(100),
};

/// Puts the impairment into force and sends.
fn send(bed: &mut Bed, setting: Value, traffic: Traffic) -> Vec<Arrival> {
    let after = bed.apply(&impairment(setting)).unwrap();
    assert!(agrees(&after), "{:?}", after.divergence);
    bed.wire.as_mut().unwrap().measure(traffic)
}

/// Like [`send`], for the figures.
fn figures(bed: &mut Bed, setting: Value, traffic: Traffic) -> Figures {
    Figures::of(traffic.count, &send(bed, setting, traffic))
}

/// One line of the table of what was set and what was measured.
fn row(what: &str, set: impl std::fmt::Display, measured: impl std::fmt::Display) {
    println!("| {what} | {set} | {measured} |");
}

/// Holds a share of `count` independent draws to four standard deviations.
fn share(what: &str, set: f64, measured: f64, count: u64) {
    let four_sd = 4.0 * (set * (1.0 - set) / count as f64).sqrt();
    row(what, format_args!("{:.2} %", 100.0 * set), format_args!("{:.2} %", 100.0 * measured));
    assert!(
        (measured - set).abs() <= four_sd,
        "{what}: set {set}, measured {measured}, of {count}"
    );
}
