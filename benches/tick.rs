//! Duration of a tick: at rest with 100,000 links, with 1,000 nodes moving over real terrain, and
//! after one move among many.

use std::path::Path;
use std::sync::Arc;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use groundwave_engine::Engine;
use groundwave_gateway::{Snapshot, world};
use groundwave_model::sample;
use groundwave_model::terrain::{Flat, Terrain};
use groundwave_terrain::TerrainStack;
use serde_json::json;

fn main() {
    divan::main();
}

/// The fetched tile N57E011, or flat ground, which is printed.
fn terrain() -> Arc<dyn Terrain> {
    let tiles = Path::new(env!("CARGO_MANIFEST_DIR")).join(".data/srtm");
    match TerrainStack::open(Some(&tiles), None) {
        Ok(stack) => Arc::new(stack),
        Err(_) => {
            eprintln!("no terrain in {}: over flat ground instead (`make data`)", tiles.display());
            Arc::new(Flat::default())
        }
    }
}

/// A square field of nodes with `count` nodes, `spacing_deg` of latitude apart, in the tile.
fn field(
    terrain: Arc<dyn Terrain>,
    count: u32,
    spacing_deg: f64,
    range_m: f64,
) -> Engine<Snapshot> {
    let mut engine = world(terrain).build::<Snapshot>(1, 1_000_000_000).expect("a sound schedule");
    let command = |engine: &mut Engine<Snapshot>, name: &str, body| {
        let command = engine.registry().from_json(name, body).expect("a sound command");
        engine.script(1, command);
    };
    command(&mut engine, "mesh.limits", json!({ "link_range_max_m": range_m }));
    let side = f64::from(count).sqrt().ceil() as u32;
    for i in 0..count {
        let (row, col) = (f64::from(i / side), f64::from(i % side));
        let name = format!("n{i}");
        let position = json!({
            "lat_deg": 57.2 + row * spacing_deg, "lon_deg": 11.5 + col * spacing_deg * 1.8,
        });
        let body = json!({
            "node": name, "name": name, "role": "relay", "position": position,
            "station": sample::station(),
        });
        command(&mut engine, "node.add", body);
    }
    engine.tick(None).expect("the first tick");
    engine
}

/// 100,000 links and nothing to do.
#[divan::bench]
fn idle_tick_of_100_000_links(bencher: Bencher) {
    let mut engine = field(Arc::new(Flat::default()), 2_500, 0.004, 2_400.0);
    let links = engine.view().links.len();
    assert!((90_000..120_000).contains(&links), "{links} links");
    bencher.counter(ItemsCount::new(links)).bench_local(|| black_box(engine.tick(None)));
}

/// 100,000 links and one node that moves: its own links are recomputed, the section redrawn.
#[divan::bench]
fn tick_of_100_000_links_with_one_move(bencher: Bencher) {
    let mut engine = field(Arc::new(Flat::default()), 2_500, 0.004, 2_400.0);
    let mut step = 0;
    bencher.bench_local(|| {
        step += 1;
        let position = json!({ "lat_deg": 57.2 + f64::from(step % 2) * 0.001, "lon_deg": 11.5 });
        let body = json!({ "node": "n0", "position": position });
        let command = engine.registry().from_json("node.move", body).expect("a sound command");
        engine.script(engine.clock().tick + 1, command);
        black_box(engine.tick(None))
    });
}

/// 1,000 nodes that all move every tick over real terrain; the counter is links refreshed, in
/// both directions each.
#[divan::bench(sample_count = 20)]
fn tick_of_1_000_moving_nodes(bencher: Bencher) {
    let mut engine = field(terrain(), 1_000, 0.008, 3_500.0);
    for i in 0..1_000 {
        let area = json!({
            "south_deg": 57.2, "west_deg": 11.5, "north_deg": 57.46, "east_deg": 11.97,
        });
        let body = json!({
            "node": format!("n{i}"), "area": area, "speed_min_m_s": 1.0, "speed_max_m_s": 15.0,
            "pause_ns": 0,
        });
        let command = engine.registry().from_json("motion.wander", body).expect("a sound command");
        engine.script(2, command);
    }
    engine.tick(None).expect("the second tick");
    let links = engine.view().links.len();
    bencher.counter(ItemsCount::new(links)).bench_local(|| black_box(engine.tick(None)));
}

/// The cheapest route across 1,000 nodes and their links, from a snapshot.
#[divan::bench]
fn route_across_1_000_nodes(bencher: Bencher) {
    let engine = field(Arc::new(Flat::default()), 1_000, 0.008, 3_500.0);
    let view = engine.view();
    let graph = view.graph();
    let ends = (view.named("n0").expect("a node").id, view.named("n999").expect("a node").id);
    bencher.bench_local(|| {
        let metric = groundwave_model::route::Metric::Ett;
        black_box(groundwave_model::route::find(&graph, ends.0, ends.1, metric, None))
    });
}
