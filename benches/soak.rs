//! A soak: one server with a gateway of 500 nodes and a planner under load, impairments that change,
//! and `kill -9` at random with a restart, for SOAK_MINUTES.
//!
//! `make soak`. It fails when something acknowledged is lost, or when memory or descriptors grow: the
//! peaks of the last third may exceed those of the middle third by a quarter and 24 MiB, and by 16
//! descriptors.

#![expect(clippy::print_stdout, reason = "a soak tells what it saw")]
#![expect(clippy::disallowed_methods, reason = "a soak runs in real time")]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use groundwave_engine::Seed;

use impairments::Impairments;
use load::Load;
use nodes::seed;
use server::Server;

#[path = "soak/impairments.rs"]
mod impairments;
#[path = "soak/load.rs"]
mod load;
#[path = "gateway/nodes.rs"]
mod nodes;
#[path = "soak/server.rs"]
mod server;

/// Nodes at the gateway.
const NODES: u64 = 500;
/// Time between two readings of memory and descriptors.
const SAMPLE: Duration = Duration::from_secs(2);
/// Lines of the table.
const LINES: u32 = 20;
/// Growth of the resident memory from the middle third to the last, at most.
const MEMORY_SHARE: f64 = 1.25;
const MEMORY_MIB: f64 = 24.0;
/// Growth of the number of open descriptors, at most.
const DESCRIPTORS: usize = 16;

/// Peaks of a third of the time.
#[derive(Debug, Clone, Copy, Default)]
struct Peaks {
    memory_mib: f64,
    descriptors: usize,
}

fn main() {
    let minutes = std::env::var("SOAK_MINUTES").ok();
    let Some(minutes) = minutes.map(|text| text.parse::<f64>().expect("a number of minutes"))
    else {
        println!("soak: not run, SOAK_MINUTES is not set (make soak)");
        return;
    };
    let lasts = Duration::from_secs_f64(60.0 * minutes);
    let folder = tempfile::tempdir().expect("a folder");
    let (tokens, admin) = seed(folder.path(), NODES);
    let mut server = Server::start(folder.path());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("threads");
    let load = Arc::new(Load::new(tokens, admin, &server));
    let impairments = Impairments::start(&runtime);
    println!(
        "{NODES} nodes, {minutes} min; the impairment daemon runs over the modelled kernel, because no \
         interface of this machine is touched"
    );
    let tasks = load.begin(&runtime);
    let mut chance = Seed(15).stream("soak.kill", 0, 0);
    let mut wait = |lasts: Duration| {
        let most = (lasts.as_secs_f64() / 8.0).clamp(10.0, 90.0);
        Duration::from_secs_f64(chance.between(most / 3.0, most))
    };
    let began = Instant::now();
    let mut thirds = [Peaks::default(); 3];
    let mut next_kill = began + wait(lasts);
    let (mut kills, mut lost, mut line) = (0, Vec::new(), 0);
    header();
    while began.elapsed() < lasts {
        std::thread::sleep(SAMPLE);
        let elapsed = began.elapsed();
        if Instant::now() >= next_kill {
            server.kill();
            server = Server::start_at(folder.path(), server.addresses());
            kills += 1;
            lost.extend(runtime.block_on(load.missing()));
            next_kill = Instant::now() + wait(lasts);
        }
        let third = (3.0 * elapsed.as_secs_f64() / lasts.as_secs_f64()).min(2.0) as usize;
        let (memory_mib, descriptors) = server.use_now();
        let peaks = &mut thirds[third];
        peaks.memory_mib = peaks.memory_mib.max(memory_mib);
        peaks.descriptors = peaks.descriptors.max(descriptors);
        if elapsed >= lasts * line / LINES {
            line += 1;
            row(elapsed, kills, memory_mib, descriptors, &load, &impairments);
        }
    }
    load.stop.store(true, Ordering::Release);
    for task in tasks {
        runtime.block_on(task).expect("a load that went on to its end");
    }
    lost.extend(runtime.block_on(load.missing()));
    lost.extend(impairments.faults());
    server.kill();
    finish(&thirds, kills, &lost, &load, folder.path());
}

fn header() {
    println!(
        "{:>7} {:>5} {:>8} {:>5} {:>10} {:>9} {:>7} {:>8} {:>9} {:>8} {:>9}",
        "min",
        "kills",
        "MiB",
        "fds",
        "heartbeats",
        "telemetry",
        "refused",
        "planner",
        "coverages",
        "impair",
        "broken"
    );
}

fn row(
    elapsed: Duration,
    kills: u32,
    memory_mib: f64,
    descriptors: usize,
    load: &Load,
    impairments: &Impairments,
) {
    let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
    println!(
        "{:>7.1} {kills:>5} {memory_mib:>8.1} {descriptors:>5} {:>10} {:>9} {:>7} {:>8} {:>9} {:>8} {:>9}",
        elapsed.as_secs_f64() / 60.0,
        count(&load.heartbeats),
        count(&load.uploads),
        count(&load.refused),
        count(&load.planned),
        count(&load.coverages),
        impairments.changes(),
        count(&load.broken),
    );
}

fn finish(thirds: &[Peaks; 3], kills: u32, lost: &[String], load: &Load, folder: &Path) {
    let [_, middle, last] = thirds;
    let bytes = std::fs::metadata(folder.join("world.db")).map_or(0, |file| file.len());
    println!(
        "peaks of the middle and the last third: {:.1} and {:.1} MiB, {} and {} descriptors; store {:.1} MiB; \
         {kills} kills; {} acknowledged things lost",
        middle.memory_mib,
        last.memory_mib,
        middle.descriptors,
        last.descriptors,
        bytes as f64 / f64::from(1 << 20),
        lost.len()
    );
    for what in lost.iter().take(20) {
        println!("lost: {what}");
    }
    assert!(lost.is_empty(), "something acknowledged was lost");
    assert!(load.heartbeats.load(Ordering::Relaxed) > 0, "nothing was acknowledged");
    assert!(last.memory_mib <= middle.memory_mib * MEMORY_SHARE + MEMORY_MIB, "the memory grows");
    assert!(last.descriptors <= middle.descriptors + DESCRIPTORS, "the descriptors grow");
}
