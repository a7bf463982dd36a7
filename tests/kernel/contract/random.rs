//! For any request: an accepted one is read back as requested, or the difference is reported; a
//! refused one changes nothing.

use std::cell::{Cell, RefCell};
use std::num::NonZeroU32;

use groundwave_impair::{
    Corruption, Distribution, Duplication, Impairment, Latency, Loss, Queue, QueueLimit, QueueUnit,
    Rate, Reordering,
};
use groundwave_kernel::KernelError;
use proptest::option::weighted;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::Value;

use crate::bed::{Bed, agrees, arms};

arms! {
    CONTRACT,
    any_impairment: fake, vm, newer;
    any_rate_and_queue: fake, host;
}

/// Number of impairments tried on the model of the kernel.
const CASES: u32 = 10_000;

/// Number of impairments tried on a real kernel: the first of those. One costs the virtual machine
/// 30 ms of a processor, the model a tenth of that.
const REAL_CASES: u32 = 2_000;

fn number(max: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (0..=100_000_u32).prop_map(move |step| f64::from(step) * max / 100_000.0),
        2 => 0.0..=max,
        1 => Just(0.0),
        1 => Just(max),
        1 => prop_oneof![Just(-1.0), Just(1.001 * max), Just(f64::NAN), Just(f64::INFINITY)],
    ]
}

fn pct() -> impl Strategy<Value = f64> {
    number(100.0)
}

fn correlation() -> impl Strategy<Value = Option<f64>> {
    weighted(0.4, number(1.0))
}

fn duration() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => 0..=2_000_000_000_u64,
        1 => 0..=i64::MAX.unsigned_abs(),
        1 => any::<u64>(),
    ]
}

fn latency() -> impl Strategy<Value = Latency> {
    let distribution = prop_oneof![
        Just(Distribution::Uniform {}),
        Just(Distribution::Normal {}),
        Just(Distribution::Pareto {}),
        Just(Distribution::ParetoNormal {}),
        "[a-zA-Z0-9_-]{0,4}".prop_map(|name| Distribution::Table { name }),
    ];
    prop_oneof![
        duration().prop_map(|duration_ns| Latency::Constant { duration_ns }),
        (duration(), duration(), distribution, correlation()).prop_map(
            |(mean_ns, jitter_ns, distribution, correlation)| Latency::Stochastic {
                mean_ns,
                jitter_ns,
                distribution,
                correlation,
            }
        ),
    ]
}

fn loss() -> impl Strategy<Value = Loss> {
    let chance = || number(1.0);
    prop_oneof![
        5 => (pct(), correlation()).prop_map(|(pct, correlation)| Loss::Bernoulli { pct, correlation }),
        1 => (chance(), chance(), chance(), chance()).prop_map(
            |(p, r, one_minus_h, one_minus_k)| Loss::GilbertElliott { p, r, one_minus_h, one_minus_k }
        ),
    ]
}

fn rate() -> impl Strategy<Value = Rate> {
    let bps = prop_oneof![
        6 => (0..=40_000_000_u64).prop_map(|step| step * 1000),
        2 => 0..=1_000_000_u64,
        1 => any::<u64>(),
    ];
    let burst_bytes = prop_oneof![6 => 1514..=1_000_000_u32, 1 => any::<u32>()];
    (bps, burst_bytes).prop_map(|(bps, burst_bytes)| Rate { bps, burst_bytes })
}

fn queue() -> impl Strategy<Value = Queue> {
    let unit = prop_oneof![Just(QueueUnit::Packets), Just(QueueUnit::Bytes)];
    let value = prop_oneof![6 => 0..=10_000_u32, 1 => any::<u32>()];
    (unit, value).prop_map(|(unit, value)| Queue { limit: QueueLimit { unit, value } })
}

fn impairment() -> impl Strategy<Value = Impairment> {
    let gap = prop_oneof![6 => 1..=50_u32, 1 => 1..=u32::MAX];
    let gap = gap.prop_map(|gap| NonZeroU32::new(gap).unwrap());
    (
        weighted(0.6, latency()),
        weighted(0.5, loss()),
        weighted(0.5, rate()),
        weighted(0.5, queue()),
        weighted(0.3, (pct(), correlation())),
        weighted(0.3, (pct(), gap, correlation())),
        weighted(0.3, (pct(), correlation())),
    )
        .prop_map(|(latency, loss, rate, queue, copies, order, bits)| {
            let mut impairment = Impairment { latency, loss, rate, queue, ..Impairment::default() };
            let share = |(pct, correlation)| Duplication { pct, correlation };
            impairment.duplication = copies.map(share);
            let share = |(pct, gap, correlation)| Reordering { pct, gap, correlation };
            impairment.reordering = order.map(share);
            let share = |(pct, correlation)| Corruption { pct, correlation };
            impairment.corruption = bits.map(share);
            impairment
        })
}

/// Canonical form of an impairment: jitter 0 is no jitter, and the shaper counts bytes.
fn canonical(mut setting: Impairment) -> Impairment {
    if let Some(Latency::Stochastic { mean_ns, jitter_ns: 0, .. }) = setting.latency {
        setting.latency = Some(Latency::Constant { duration_ns: mean_ns });
    }
    if let Some(rate) = &mut setting.rate {
        let bytes = rate.bps / 8 + u64::from(rate.bps % 8 >= 4);
        rate.bps = bytes.saturating_mul(8);
    }
    setting
}

/// `true` if two values are equal, numbers to the precision of a 32-bit fraction.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        (Value::Number(x), Value::Number(y)) if x.is_f64() && y.is_f64() => {
            let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
            (x - y).abs() <= 1e-5 * x.abs() + 1e-7
        }
        _ => a == b,
    }
}

fn words(impairment: &Impairment) -> Value {
    serde_json::to_value(impairment).unwrap()
}

/// Tries them one after the other on one port, each on top of what the one before left; some on a
/// kernel that refuses a request on the way.
fn try_all(bed: &mut Bed, strategy: impl Strategy<Value = Impairment>) {
    let before = RefCell::new(Impairment::default());
    let (accepted, differing, invalid, refused) =
        (Cell::new(0_u32), Cell::new(0_u32), Cell::new(0_u32), Cell::new(0_u32));
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let bed = RefCell::new(bed);
    let cases = if bed.borrow().is_real() { REAL_CASES } else { CASES };
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let mut runner =
        TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let spoilt = prop_oneof![9 => Just(0_usize), 1 => 1..=4_usize];
    let outcome = runner.run(&(strategy, spoilt), |(setting, spoilt)| {
        if setting.validate().is_err() {
            count(&invalid);
            return Ok(());
        }
        let mut bed = bed.borrow_mut();
        bed.spoil(spoilt);
        let outcome = bed.apply(&setting);
        bed.spoil(0);
        match outcome {
            Ok(after) => {
                let equal = same(&words(&canonical(setting.clone())), &words(&after.impairment));
                prop_assert_eq!(
                    agrees(&after),
                    equal,
                    "set {:?}, read {:?}, divergence {:?}",
                    setting,
                    after.impairment,
                    after.divergence
                );
                count(&accepted);
                if !equal {
                    count(&differing);
                }
                before.replace(after.impairment);
            }
            Err(error) => {
                prop_assert!(
                    matches!(
                        error,
                        KernelError::Rejected { .. }
                            | KernelError::Unsupported { .. }
                            | KernelError::Table { .. }
                    ),
                    "{:?}",
                    error
                );
                count(&refused);
                let remainder = bed.read().unwrap();
                prop_assert_eq!(&remainder.impairment, &*before.borrow(), "after {}", error);
            }
        }
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
    println!(
        "{} accepted ({} of them held otherwise by the kernel, and said so), {} out of range, {} \
         refused with the state before them intact",
        accepted.get(),
        differing.get(),
        invalid.get(),
        refused.get()
    );
    assert!(accepted.get() > cases / 4 && refused.get() > cases / 50);
    assert!(differing.get() < accepted.get() / 4, "divergence is the exception");
}

fn any_impairment(bed: &mut Bed) {
    try_all(bed, impairment());
}

fn any_rate_and_queue(bed: &mut Bed) {
    let both = (weighted(0.7, rate()), weighted(0.7, queue()));
    try_all(
        bed,
        both.prop_map(|(rate, queue)| Impairment { rate, queue, ..Impairment::default() }),
    );
}
