//! Impairments for tests: fixed and random ones.

use groundwave_impair::{
    Distribution, Draw, Impairment, ImpairmentField, Latency, Loss, Queue, QueueLimit, QueueUnit,
    Rate,
};

use super::super::netem::{DRAWS, Netem};

pub(super) fn rated() -> Impairment {
    Impairment {
        rate: Some(Rate { bps: 10_000_000, burst_bytes: 20_000 }),
        ..Impairment::default()
    }
}

pub(super) fn queued(unit: QueueUnit, value: u32) -> Impairment {
    Impairment { queue: Some(Queue { limit: QueueLimit { unit, value } }), ..Impairment::default() }
}

/// Impairments with every structure of the stack and every field.
#[must_use]
pub fn examples() -> Vec<Impairment> {
    let stochastic = |distribution| {
        Some(Latency::Stochastic {
            mean_ns: 50_000_000,
            jitter_ns: 10_000_000,
            distribution,
            correlation: Some(0.25),
        })
    };
    let mut everything = Impairment { latency: stochastic(Distribution::Normal {}), ..rated() };
    let netem = Netem { gap: 5, ..Netem::default() };
    let draws = [(1.5, 0.3), (0.7, 0.1), (25.0, 0.5), (0.01, 1.0)].into_iter().cycle();
    for (kind, (pct, correlation)) in DRAWS.iter().zip(draws) {
        let draw = Draw { pct, correlation: Some(correlation) };
        (kind.read)(&mut everything, &netem, draw);
    }
    let with =
        |queue: Impairment, other: &Impairment| Impairment { queue: queue.queue, ..other.clone() };
    let packets = queued(QueueUnit::Packets, 33);
    let bytes = queued(QueueUnit::Bytes, 400_000);
    vec![
        rated(),
        with(bytes.clone(), &rated()),
        with(packets.clone(), &rated()),
        packets.clone(),
        bytes.clone(),
        with(bytes, &everything),
        everything.clone(),
        Impairment {
            rate: None,
            latency: stochastic(Distribution::Uniform {}),
            ..everything.clone()
        },
        with(packets, &everything),
        Impairment { latency: stochastic(Distribution::ParetoNormal {}), ..Impairment::default() },
        Impairment {
            loss: Some(Loss::GilbertElliott {
                p: 0.01,
                r: 0.3,
                one_minus_h: 0.001,
                one_minus_k: 0.9,
            }),
            ..Impairment::default()
        },
        Impairment {
            latency: Some(Latency::Stochastic {
                mean_ns: 7,
                jitter_ns: 0,
                distribution: Distribution::Pareto {},
                correlation: Some(0.5),
            }),
            ..Impairment::default()
        },
        // 40 Gbit/s, and one byte a second with a bucket of eight minutes.
        rate(40_000_000_000, 5_000_000),
        rate(8, 500),
        Impairment::default(),
    ]
}

fn rate(bps: u64, burst_bytes: u32) -> Impairment {
    Impairment { rate: Some(Rate { bps, burst_bytes }), ..Impairment::default() }
}

/// A random impairment from `next`, a source of uniform bits: any combination of fields that no
/// kernel truncates.
pub fn draw(next: &mut dyn FnMut() -> u64) -> Impairment {
    let some = |next: &mut dyn FnMut() -> u64| next().is_multiple_of(2);
    let mut requested = Impairment::default();
    if some(next) {
        requested.latency = Some(draw_latency(next));
    }
    if some(next) {
        requested.loss = Some(draw_loss(next));
    }
    if some(next) {
        // Every order of magnitude up to 100 Gbit/s, with a bucket of 1 byte to 16 MiB.
        requested.rate = Some(Rate {
            bps: (8 + next() % 100_000_000_000) >> (next() % 34) | 8,
            burst_bytes: (1 + next() % (1 << 24)) as u32 >> (next() % 24) | 1,
        });
    }
    if some(next) {
        let unit = [QueueUnit::Packets, QueueUnit::Bytes][(next() % 2) as usize];
        requested.queue = queued(unit, next() as u32 >> (next() % 32)).queue;
    }
    for kind in DRAWS.iter().filter(|kind| kind.field != ImpairmentField::Loss) {
        if some(next) {
            let gap = next() as u32 >> (next() % 32);
            let draw = Draw { pct: percent(next), correlation: correlation(next) };
            (kind.read)(&mut requested, &Netem { gap, ..Netem::default() }, draw);
        }
    }
    requested
}

fn draw_latency(next: &mut dyn FnMut() -> u64) -> Latency {
    let mean_ns = next() >> (1 + next() % 63);
    if next().is_multiple_of(3) {
        return Latency::Constant { duration_ns: mean_ns };
    }
    Latency::Stochastic {
        mean_ns,
        jitter_ns: (next() % (1 << 31)) >> (next() % 32),
        distribution: match next() % 4 {
            0 => Distribution::Normal {},
            1 => Distribution::Pareto {},
            2 => Distribution::ParetoNormal {},
            _ => Distribution::Uniform {},
        },
        correlation: correlation(next),
    }
}

fn draw_loss(next: &mut dyn FnMut() -> u64) -> Loss {
    if !next().is_multiple_of(3) {
        return Loss::Bernoulli { pct: percent(next), correlation: correlation(next) };
    }
    let mut chance = || (next() % 1_000_001) as f64 / 1_000_000.0;
    Loss::GilbertElliott { p: chance(), r: chance(), one_minus_h: chance(), one_minus_k: chance() }
}

/// Percent with up to four decimals, ends included.
fn percent(next: &mut dyn FnMut() -> u64) -> f64 {
    (next() % 1_000_001) as f64 / 10_000.0
}

fn correlation(next: &mut dyn FnMut() -> u64) -> Option<f64> {
    next().is_multiple_of(2).then(|| (next() % 1001) as f64 / 1000.0)
}
