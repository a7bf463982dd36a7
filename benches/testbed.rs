//! A testbed of 200 nodes and 1,000 links on this machine's kernel: how long it takes to lay, what
//! it costs to change every link every second, how long one change takes.
//!
//! Needs root. Namespaces called `gw.bench.*` are made and removed.

#![expect(clippy::disallowed_methods, reason = "a bench measures the time of this machine")]

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use groundwave_engine::{Effects, Engine};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::radio::{Role, Station};
use groundwave_model::terrain::{Flat, GeoPoint};
use groundwave_simulation::link::{Limits, SetLimits};
use groundwave_simulation::site::{AddNode, MoveNode, NodeId};
use groundwave_simulation::testbed::{
    BeginTestbed, LinkDirection, MediumAccess, Protocol, Settings, Side, Wiring, Work,
};
use groundwave_testbed::{Names, State, TestbedNetwork, tear_down};

const NODES: usize = 200;
const LINKS: usize = 1000;
const ROUNDS: u32 = 20;
const SINGLES: usize = 2000;
/// Side of the square the nodes stand in, degrees of latitude: some 8 km.
const SQUARE_DEG: f64 = 0.072;

type Wish = (LinkDirection, u32, Side);

/// CPU time of this process, kernel included, s.
fn cpu_s() -> f64 {
    let clock = nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID;
    let now = nix::time::clock_gettime(clock).unwrap();
    std::time::Duration::from(now).as_secs_f64()
}

fn id(node: usize) -> NodeId {
    NodeId::from_u128(node as u128 + 1)
}

/// Halton's sequence: spread evenly, the same every time.
fn halton(mut index: usize, base: usize) -> f64 {
    let (mut share, mut found) = (1.0, 0.0);
    while index > 0 {
        share /= base as f64;
        found += share * (index % base) as f64;
        index /= base;
    }
    found
}

fn place(node: usize, round: u32) -> GeoPoint {
    // A walk of some 100 m a round, each in its own direction.
    let turn = node as f64 * 2.4;
    let walked = f64::from(round) * 0.001;
    let lat = 57.0 + halton(node + 1, 2) * SQUARE_DEG + walked * turn.sin();
    let lon = 11.0 + halton(node + 1, 3) * SQUARE_DEG * 1.84 + walked * turn.cos();
    GeoPoint::new(lat, lon).unwrap()
}

/// A world of nodes that hear those within `range_m`.
fn mesh(range_m: f64) -> (Engine<Snapshot>, Effects<Work>) {
    let mut engine = world(Arc::new(Flat::default())).build(1, 1_000_000_000).unwrap();
    let effects = engine.effects::<Work>();
    let handle = engine.handle();
    let limits = Limits { link_range_max_m: range_m, ..Limits::default() };
    handle.submit(SetLimits(limits)).unwrap();
    let settings = Settings {
        name: "bench".to_owned(),
        network: [10, 78],
        routing: Protocol::None,
        wiring: Wiring::Link,
        names: [].into(),
        routing_of: [].into(),
        mac: MediumAccess::default(),
        bindings: Vec::new(),
        scenario: None,
    };
    handle.submit(BeginTestbed(settings)).unwrap();
    for node in 0..NODES {
        let mut station: Station = groundwave_model::sample::station();
        // So weak that a walk changes the modulation.
        station.radio.tx_power_dbm = 0.0;
        let (name, position) = (format!("n{node}"), place(node, 0));
        let add = AddNode {
            node: id(node),
            name,
            role: Role::Relay,
            position,
            station,
            deployment: None,
        };
        handle.submit(add).unwrap();
    }
    engine.tick(None).unwrap();
    (engine, effects)
}

fn taken(effects: &mut Effects<Work>) -> Vec<Work> {
    std::iter::from_fn(|| effects.try_next()).collect()
}

fn wishes(works: &[Work]) -> Vec<Wish> {
    let wish = |work: &Work| match work {
        Work::Shape { from, to, number, side } => {
            Some((LinkDirection { from: *from, to: *to }, *number, *side))
        }
        _ => None,
    };
    works.iter().filter_map(wish).collect()
}

/// The range that gives as many links as wanted, and what leaves that world.
fn begin() -> (Engine<Snapshot>, Vec<Work>, Effects<Work>) {
    let mut range_m = 500.0;
    loop {
        let (engine, mut effects) = mesh(range_m);
        let works = taken(&mut effects);
        if wishes(&works).len() >= 2 * LINKS {
            return (engine, works, effects);
        }
        range_m *= 1.01;
    }
}

#[expect(clippy::print_stdout, reason = "a bench reports what it measured")]
fn main() {
    let (mut engine, works, mut effects) = begin();
    let names = Names { testbed: "bench".to_owned(), network: [10, 78] };
    let state = State::of("bench").unwrap();
    tear_down(&state, None).unwrap();
    let mut plant = TestbedNetwork::new(names, state.folder()).unwrap();
    let (start, cpu) = (Instant::now(), cpu_s());
    for work in &works {
        if let Work::NamespaceAssignment { node, assignment, settings } = work
            && let Err(err) = plant.assignment(*node, assignment, settings.protocol(*node))
        {
            println!("SKIPPED: no namespaces on this machine: {err}");
            return;
        }
    }
    let seated_s = start.elapsed().as_secs_f64();
    let mut all = wishes(&works);
    let refused =
        plant.shape(&all).unwrap().into_iter().filter(|seen| seen.failure.is_some()).count();
    assert_eq!(refused, 0);
    println!(
        "{NODES} nodes, {} links, {:?}: up in {:.2} s ({seated_s:.2} s of it namespaces), CPU {:.2} s",
        all.len() / 2,
        plant.means().unwrap(),
        start.elapsed().as_secs_f64(),
        cpu_s() - cpu
    );

    // Every link changed every round, whatever the world says.
    let mut cost = Vec::new();
    for round in 0..ROUNDS {
        for (.., side) in &mut all {
            side.shape.rate_bps = 1_000_000 + u64::from(round % 2) * 500_000;
            side.shape.loss_prob = 0.01 + f64::from(round % 2) * 0.02;
            side.shape.delay_ns = 500_000 + u64::from(round % 2) * 500_000;
        }
        let cpu = cpu_s();
        let seen = plant.shape(&all).unwrap();
        assert!(seen.iter().all(|seen| seen.failure.is_none()));
        cost.push(cpu_s() - cpu);
    }
    cost.sort_by(f64::total_cmp);
    let median = cost[cost.len() / 2];
    println!(
        "all {} directions changed: {:.1} ms of CPU, {:.2} % of one core at 1 Hz",
        all.len(),
        median * 1e3,
        median * 100.0
    );

    // The world itself: every node walks, every link is computed anew, what moved is changed.
    let handle = engine.handle();
    let (mut world_s, mut plant_s, mut changed) = (0.0, 0.0, 0);
    let mut touched: BTreeSet<LinkDirection> = BTreeSet::new();
    for round in 1..=ROUNDS {
        for node in 0..NODES {
            let position = place(node, round);
            handle.submit(MoveNode { node: id(node), position }).unwrap();
        }
        let cpu = cpu_s();
        engine.tick(None).unwrap();
        let wishes = wishes(&taken(&mut effects));
        world_s += cpu_s() - cpu;
        let cpu = cpu_s();
        plant.shape(&wishes).unwrap();
        plant_s += cpu_s() - cpu;
        changed += wishes.len();
        touched.extend(wishes.iter().map(|(side, ..)| *side));
    }
    let each = |total: f64| total / f64::from(ROUNDS);
    println!(
        "every node walks at 1 Hz: world {:.1} ms, network {:.1} ms for {} changes: {:.2} % of one core",
        each(world_s) * 1e3,
        each(plant_s) * 1e3,
        changed / ROUNDS as usize,
        (each(world_s) + each(plant_s)) * 100.0
    );

    // One link at a time.
    let mut times = Vec::with_capacity(SINGLES);
    for turn in 0..SINGLES {
        let (side, number, mut wish) = all[turn % all.len()];
        wish.shape.rate_bps = 2_000_000 + (turn as u64 % 7) * 200_000;
        let start = Instant::now();
        plant.shape(&[(side, number, wish)]).unwrap();
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[(times.len() as f64 * share) as usize] * 1e6;
    println!("one change: p50 {:.0} us, p99 {:.0} us", at(0.5), at(0.99));

    let start = Instant::now();
    plant.count().unwrap();
    println!("all counters read in {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    drop(plant);
    let start = Instant::now();
    tear_down(&state, None).unwrap();
    println!("taken away in {:.2} s", start.elapsed().as_secs_f64());
}
