//! Same scenario, same bits: whatever the executor, the order, the threads, or the replay.

use std::sync::Arc;

use groundwave_engine::log::Reader;
use groundwave_engine::{Execution, Next, replay};
use groundwave_io::scenario::{self, Scenario};
use groundwave_systems::terrain::Terrain;
use groundwave_systems::{Snapshot, world};

use crate::support;

const TICKS: u64 = 40;

/// Runs the first ticks and returns the digest of every tenth, and the log.
fn run(
    scenario: &Scenario,
    terrain: &Arc<dyn Terrain>,
    execution: Execution,
) -> (Vec<String>, Vec<u8>) {
    let memory = support::Memory::begun(scenario.seed, scenario.step_ns);
    let mut engine = support::engine(scenario, terrain.clone(), execution);
    engine.record(memory.clone());
    let mut digests = Vec::new();
    for tick in 1..=TICKS {
        engine.tick(None).unwrap();
        if tick % 10 == 0 {
            digests.push(engine.mark().unwrap());
        }
    }
    let bytes = memory.bytes();
    (digests, bytes)
}

fn check(name: &str) {
    let mut scenario = scenario::load(&support::scenario_path(name)).unwrap();
    // Later events come sooner, so that failures and storms are among the ticks compared.
    for record in &mut scenario.records {
        record.at_ns = record.at_ns.min((TICKS - 5) * scenario.step_ns);
    }
    let Some(terrain) = support::terrain(&scenario) else {
        return;
    };
    let (digests, log) = run(&scenario, &terrain, Execution::Parallel);
    assert!(
        digests.windows(2).all(|pair| pair[0] != pair[1]),
        "{name} stands still: {digests:?}"
    );
    let orders = (0..8).map(Execution::Shuffled).chain([Execution::Serial]);
    for execution in orders {
        let (other, other_log) = run(&scenario, &terrain, execution);
        assert_eq!(digests, other, "{name} under {execution:?}");
        assert_eq!(log, other_log, "the log of {name} under {execution:?}");
    }
    let mut fresh = world(terrain)
        .build::<Snapshot>(scenario.seed, scenario.step_ns)
        .unwrap();
    let replayed = replay(&mut fresh, &mut Reader::open(&log[..]).unwrap(), |_| {
        Next::Go
    })
    .unwrap();
    assert_eq!((replayed.marks, replayed.ticks), (4, TICKS), "{name}");
    assert_eq!(Some(&replayed.digest), digests.last(), "{name}");
}

#[test]
fn a_mesh_with_failures_comes_to_the_same_bits() {
    check("gothenburg.toml");
}

#[test]
fn a_moving_mesh_comes_to_the_same_bits() {
    check("manet50.toml");
}

#[test]
fn a_mesh_on_flat_ground_comes_to_the_same_bits() {
    check("failover.toml");
}

#[test]
fn weather_comes_to_the_same_bits() {
    check("storm.toml");
}

#[test]
fn any_number_of_threads_comes_to_the_same_digest() {
    let Some(_) = support::data() else { return };
    let path = support::scenario_path("manet50.toml");
    let path = path.to_str().unwrap();
    let digest = |threads: &str| {
        let output =
            support::groundwave(&["run", path, "--until", "20", "--json", "--threads", threads]);
        let json: serde_json::Value = serde_json::from_str(&support::stdout(&output)).unwrap();
        json["digest"].as_str().unwrap().to_owned()
    };
    let one = digest("1");
    assert_eq!(one.len(), 64);
    assert_eq!((digest("2"), digest("7")), (one.clone(), one));
}
