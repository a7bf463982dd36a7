//! Time on the way.

use std::time::Duration;

use serde_json::json;

use super::{figures, row};
use crate::bed::{Bed, arms};
use crate::wire::Traffic;

arms! {
    PACKETS,
    constant: vm;
    spread: vm;
    mixed: vm;
}

/// Tolerance of a median or a mean above the value set, for the load of this machine, ms.
const ABOVE_MS: f64 = 2.0;

fn constant(bed: &mut Bed) {
    let traffic = Traffic {
        count: 250,
        every: Duration::from_millis(2),
        frame_bytes: 200,
        quiet: Duration::from_millis(120),
    };
    for set_ms in [5.0, 20.0, 100.0] {
        let setting = json!({"latency": {"kind": "constant", "duration": set_ms * 1e6}});
        let measurement = figures(bed, whole(setting), traffic);
        row(
            "delay",
            format_args!("{set_ms} ms"),
            format_args!("min {:.3}, median {:.3} ms", measurement.min_ms, measurement.p50_ms),
        );
        assert!(measurement.min_ms >= set_ms, "{measurement:?}");
        assert!(measurement.p50_ms <= set_ms + ABOVE_MS, "{measurement:?}");
        assert_eq!((measurement.lost, measurement.overtook), (0.0, 0.0));
    }
}

/// Durations are whole nanoseconds on the wire.
fn whole(mut setting: serde_json::Value) -> serde_json::Value {
    let duration = setting["latency"]["duration"].as_f64().unwrap();
    setting["latency"]["duration"] = json!(duration as u64);
    setting
}

fn spread(bed: &mut Bed) {
    for kind in ["uniform", "normal", "pareto"] {
        moments(bed, kind);
    }
}

fn mixed(bed: &mut Bed) {
    bed.extend();
    moments(bed, "paretonormal");
}

fn moments(bed: &mut Bed, kind: &str) {
    let traffic = Traffic {
        count: 2000,
        every: Duration::from_micros(500),
        frame_bytes: 200,
        quiet: Duration::from_millis(120),
    };
    let (mean_ms, jitter_ms) = (50.0, 10.0);
    let setting = json!({"latency": {"kind": "stochastic", "mean": 50_000_000,
        "jitter": 10_000_000, "distribution": {"kind": kind}}});
    let measurement = figures(bed, setting, traffic);
    let set = Moments::of(kind);
    let (mean, sd) = (mean_ms + jitter_ms * set.mean, jitter_ms * set.sd);
    row(
        &format!("delay, {kind}, jitter {jitter_ms} ms"),
        format_args!("mean {mean:.2}, sd {sd:.2} ms"),
        format_args!("mean {:.2}, sd {:.2} ms", measurement.mean_ms, measurement.sd_ms),
    );
    let n = traffic.count as f64;
    let mean_slack = 4.0 * sd / n.sqrt();
    // The spread of an estimated standard deviation, from the fourth moment.
    let sd_slack = 4.0 * sd * ((set.kurtosis - 1.0) / (4.0 * n)).sqrt();
    assert!(
        (-mean_slack..=mean_slack + ABOVE_MS).contains(&(measurement.mean_ms - mean)),
        "{kind}: {measurement:?}, mean set {mean}"
    );
    assert!((measurement.sd_ms - sd).abs() <= sd_slack, "{kind}: {measurement:?}, sd set {sd}");
    assert_eq!(measurement.lost, 0.0);
    assert!(
        measurement.overtook > 0.3,
        "{kind}: jitter beyond the spacing reorders: {measurement:?}"
    );
}

/// Moments of a distribution, in units of the jitter.
struct Moments {
    mean: f64,
    sd: f64,
    kurtosis: f64,
}

impl Moments {
    /// By integration over the normal variable whose probability selects the entry of the table;
    /// entries end at four times the jitter.
    fn of(kind: &str) -> Self {
        let step = 1e-3;
        let (mut below, mut draws) = (0.0, Vec::new());
        for index in -6000..6000 {
            let normal = (f64::from(index) + 0.5) * step;
            let weight = (-normal * normal / 2.0).exp() / std::f64::consts::TAU.sqrt() * step;
            let u: f64 = below + weight / 2.0;
            below += weight;
            let pareto = (4.0 / 3.0 * ((1.0 - u).powf(-1.0 / 3.0) - 1.5)).min(4.0);
            let draw = match kind {
                "uniform" => 2.0 * u - 1.0,
                "normal" => normal.clamp(-4.0, 4.0),
                "pareto" => pareto,
                _ => (normal + 3.0 * pareto) / 4.0,
            };
            draws.push((weight, draw));
        }
        let moment = |centre: f64, power: i32| -> f64 {
            draws.iter().map(|(weight, draw)| weight * (draw - centre).powi(power)).sum()
        };
        let mean = moment(0.0, 1);
        let variance = moment(mean, 2);
        Self { mean, sd: variance.sqrt(), kurtosis: moment(mean, 4) / (variance * variance) }
    }
}

#[test]
fn standard_distributions_give_their_moments() {
    let uniform = Moments::of("uniform");
    assert!(uniform.mean.abs() < 1e-6 && (uniform.sd - 1.0 / 3_f64.sqrt()).abs() < 1e-5);
    let normal = Moments::of("normal");
    assert!((normal.sd - 1.0).abs() < 1e-3 && (normal.kurtosis - 3.0).abs() < 0.02);
}
