//! A day of a mesh of 1,000 nodes, recorded and replayed: how long that takes, how much memory it
//! needs, and how soon a replay from the middle is there.
//!
//! `HOURS=1 cargo bench --bench replay` for a part of it; `MOVING=20` lets so many nodes walk, and with
//! `UPDATE_M=10` their links are computed again after 10 m.

#![expect(clippy::print_stdout, reason = "a bench tells what it measured")]
#![expect(clippy::disallowed_methods, reason = "a bench measures the time of this machine")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Engine, Next, Recorded, replay, resume};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::radio::{Environment, Role, presets};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint, Terrain};
use groundwave_simulation::flow::{FlowId, StartFlow};
use groundwave_simulation::history::History;
use groundwave_simulation::link::{FailLink, Limits, RestoreLink, SetLimits};
use groundwave_simulation::measure::{Measured, Measurement, ObserveLinks};
use groundwave_simulation::motion::{Area, Wander};
use groundwave_simulation::site::{AddNode, FailNode, NodeId, RestoreNode, SetEnvironment};
use groundwave_store::journal_file;
use groundwave_store::journal_file::FileJournal;
use groundwave_terrain::TerrainStack;

const NODES: u64 = 1000;
const FLOWS: u64 = 20;
/// Each node reports on its neighbours so often, s.
const REPORT_S: u64 = 300;
/// The weather changes so often, s.
const WEATHER_S: u64 = 600;
/// A node fails so often, s, and is back after so long.
const FAILURE_S: u64 = 86;
const REPAIR_S: u64 = 1800;
const STEP_NS: u64 = 1_000_000_000;

fn setting(name: &str, default: u64) -> u64 {
    let found = std::env::var(name).ok().and_then(|text| text.parse().ok());
    found.unwrap_or(default)
}

fn terrain() -> Arc<dyn Terrain> {
    let tiles = Path::new(env!("CARGO_MANIFEST_DIR")).join(".data/srtm");
    match TerrainStack::open(Some(&tiles), None) {
        Ok(stack) => Arc::new(stack),
        Err(_) => {
            eprintln!("no terrain in {}: over flat ground", tiles.display());
            Arc::new(Flat::default())
        }
    }
}

fn id(node: u64) -> NodeId {
    NodeId::from_u128(u128::from(node) + 1)
}

/// Halton's sequence: spread evenly, the same every time.
fn halton(mut index: u64, base: u64) -> f64 {
    let (mut share, mut found) = (1.0, 0.0);
    while index > 0 {
        share /= base as f64;
        found += share * (index % base) as f64;
        index /= base;
    }
    found
}

fn place(node: u64) -> GeoPoint {
    let (lat, lon) = (halton(node + 1, 2) * 0.15, halton(node + 1, 3) * 0.25);
    GeoPoint::new(57.66 + lat, 11.75 + lon).unwrap()
}

fn submit<C: Recorded>(engine: &Engine<Snapshot>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

fn lay(engine: &Engine<Snapshot>, moving: u64, update_distance_m: f64) {
    let limits = Limits { link_range_max_m: 1500.0, update_distance_m, ..Limits::default() };
    submit(engine, SetLimits(limits));
    let mut station = station();
    station.height_agl_m = 12.0;
    station.radio = presets::radio("wifi_5g_mesh").unwrap().radio.clone();
    for node in 0..NODES {
        let name = format!("n{node}");
        submit(
            engine,
            AddNode {
                node: id(node),
                name,
                role: Role::default(),
                position: place(node),
                station: station.clone(),
                deployment: None,
            },
        );
    }
    for flow in 0..FLOWS {
        submit(
            engine,
            StartFlow {
                flow: FlowId::from_u128(u128::from(flow) + 1),
                name: format!("f{flow}"),
                source: id(flow * 37 + 1),
                target: id(0),
                rate_bps: 1e5,
            },
        );
    }
    for node in 0..moving {
        let area = Area { south_deg: 57.66, west_deg: 11.75, north_deg: 57.81, east_deg: 12.0 };
        submit(
            engine,
            Wander {
                node: id(node * 13 + 5),
                area,
                speed_min_m_s: 0.5,
                speed_max_m_s: 2.0,
                pause_ns: 60 * STEP_NS,
                at_ns: None,
            },
        );
    }
}

/// Commands of a second of the day.
fn happen(engine: &Engine<Snapshot>, second: u64, neighbours: &[Vec<(u64, f64)>]) {
    if second.is_multiple_of(WEATHER_S) {
        let storm = (second / WEATHER_S) % 36;
        let environment = Environment {
            rain_rate_mm_h: storm.saturating_sub(24) as f64 * 4.0,
            ..Environment::default()
        };
        submit(engine, SetEnvironment { environment });
    }
    if second.is_multiple_of(FAILURE_S) {
        let node = id((second / FAILURE_S * 7919) % (NODES - 1) + 1);
        submit(engine, FailNode { node });
    }
    if second > REPAIR_S && (second - REPAIR_S).is_multiple_of(FAILURE_S) {
        let node = id(((second - REPAIR_S) / FAILURE_S * 7919) % (NODES - 1) + 1);
        submit(engine, RestoreNode { node });
    }
    if second % 3600 == 1200 {
        let (a, b) = (id(3), id(4));
        submit(engine, FailLink { a, b });
    }
    if second % 3600 == 2400 {
        let (a, b) = (id(3), id(4));
        submit(engine, RestoreLink { a, b });
    }
    for node in (0..NODES).filter(|node| (node + second).is_multiple_of(REPORT_S)) {
        let heard = neighbours[node as usize].iter().take(10);
        let level = |(peer, dbm): &(u64, f64)| Measurement {
            from: id(*peer),
            to: id(node),
            values: Measured {
                rx_power_dbm: Some(dbm + ((second / REPORT_S + peer) % 7) as f64),
                ..Measured::default()
            },
        };
        let measurements: Vec<Measurement> = heard.map(level).collect();
        if !measurements.is_empty() {
            submit(engine, ObserveLinks { measurements });
        }
    }
}

fn memory_mb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kb.unwrap_or(0) / 1024
}

fn main() {
    let (hours, moving) = (setting("HOURS", 24), setting("MOVING", 0));
    let update_distance_m = setting("UPDATE_M", 0) as f64;
    groundwave_engine::parallel::compute_threads(setting("THREADS", 2) as usize);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("day.gwlog");
    let terrain = terrain();
    let build = || world(Arc::clone(&terrain)).build::<Snapshot>(7, STEP_NS);
    let ticks = hours * 3600;

    let header = Header { format: FORMAT, seed: 7, step_ns: STEP_NS, inputs: Default::default() };
    let began = Instant::now();
    let mut engine = build().unwrap();
    engine.record(Unflushed(FileJournal::create(&path, &header).unwrap()));
    engine.checkpoint_every(3600);
    lay(&engine, moving, update_distance_m);
    engine.tick(None).unwrap();
    engine.tick(None).unwrap();
    let view = engine.view();
    let mut neighbours = vec![Vec::new(); NODES as usize];
    let number = |id: NodeId| id.as_u128() as u64 - 1;
    for link in view.links.iter().filter(|link| link.budget.etx().is_some()) {
        let (a, b) = (number(link.a), number(link.b));
        neighbours[b as usize].push((a, link.budget.forward.rx_power_dbm.round()));
        neighbours[a as usize].push((b, link.budget.backward.rx_power_dbm.round()));
    }
    let (links, up) = (view.links.len(), neighbours.iter().map(Vec::len).sum::<usize>() / 2);
    drop(view);
    while engine.clock().tick < ticks {
        happen(&engine, engine.clock().tick, &neighbours);
        engine.tick(None).unwrap();
    }
    let digest = engine.mark().unwrap();
    drop(engine);
    let recorded_s = began.elapsed().as_secs_f64();
    let bytes = std::fs::metadata(&path).unwrap().len();
    println!(
        "{hours} h, {NODES} nodes ({moving} walk, update distance {update_distance_m} m), {links} pairs, \
         {up} links, steps of 1 s; \
         recorded in {recorded_s:.1} s, {:.1} MB",
        bytes as f64 / 1e6
    );

    // So that the peak is that of the replay.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let before_mb = memory_mb("VmRSS");
    for with_history in [false, true] {
        let began = Instant::now();
        let mut log = journal_file::open(&path).unwrap();
        let mut engine = build().unwrap();
        let mut history = History::default();
        let replayed = replay(&mut engine, &mut log, |engine| {
            if with_history {
                history.note(&engine.view(), true);
            }
            Next::Go
        })
        .unwrap();
        assert_eq!(replayed.digest, digest);
        let took_s = began.elapsed().as_secs_f64();
        let what = if with_history { "replay with history" } else { "replay" };
        println!(
            "{what}: {took_s:.1} s for {} commands, {:.0} times real time, {} digests equal; peak {} MB \
             ({before_mb} MB before)",
            replayed.commands,
            (hours * 3600) as f64 / took_s,
            replayed.marks,
            memory_mb("VmHWM"),
        );
    }
    let began = Instant::now();
    let mut log = journal_file::open(&path).unwrap();
    let engine = resume(build, &mut log, ticks / 2 + 100).unwrap();
    let took_s = began.elapsed().as_secs_f64();
    println!("at the checkpoint of tick {}: {took_s:.2} s", engine.clock().tick);
}

/// Committed to the kernel, not to the disk: the bench is about worlds.
struct Unflushed(FileJournal);
impl groundwave_engine::log::Journal for Unflushed {
    fn append(&mut self, entry: &groundwave_engine::log::Entry) -> std::io::Result<()> {
        self.0.append(entry)
    }
    fn commit(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
