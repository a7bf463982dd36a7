//! Same scenario, same bits: whatever the executor, the order, the threads, or the replay.

use std::io::Cursor;
use std::sync::Arc;

use groundwave_engine::log::{Checkpoint, Reader};
use groundwave_engine::{Execution, Next, replay, resume};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Terrain;
use groundwave_needs::needs;
use groundwave_scenario::Scenario;

use crate::support;

const TICKS: u64 = 40;
/// Ticks between two checkpoints.
const STRIDE: u64 = 8;

/// Runs the first ticks and returns the digest of every tenth, the log, and the state in the end.
fn run(
    scenario: &Scenario,
    terrain: &Arc<dyn Terrain>,
    execution: Execution,
) -> (Vec<String>, Vec<u8>, Checkpoint) {
    let memory = support::Memory::begun(scenario.seed, scenario.step_ns);
    let mut engine = support::engine(scenario, terrain.clone(), execution);
    engine.record(memory.clone()).checkpoint_every(STRIDE);
    let mut digests = Vec::new();
    for tick in 1..=TICKS {
        engine.tick(None).unwrap();
        if tick % 10 == 0 {
            digests.push(engine.mark().unwrap());
        }
    }
    (digests, memory.bytes(), engine.checkpoint().unwrap())
}

fn check(name: &str) {
    check_scenario(name, groundwave_scenario::load(&support::scenario_path(name)).unwrap());
}

/// The walkers of `manet50.toml`, whose links are computed again after 4 m.
const SPARSE: (&str, &str) = ("manet50.toml", "[mesh]\nupdate_distance_m = 4\n");

/// The text of a shipped scenario with more keys in its mesh.
fn with_mesh((name, mesh): (&str, &str)) -> String {
    let text = std::fs::read_to_string(support::scenario_path(name)).unwrap();
    assert!(text.contains("[mesh]\n"), "{name} has a mesh");
    text.replace("[mesh]\n", mesh)
}

fn check_scenario(name: &str, mut scenario: Scenario) {
    // Later events come sooner, so that failures and storms are among the ticks compared.
    for record in &mut scenario.records {
        record.at_ns = record.at_ns.min((TICKS - 5) * scenario.step_ns);
    }
    let terrain = support::terrain(&scenario);
    let (digests, log, state) = run(&scenario, &terrain, Execution::Parallel);
    assert!(digests.windows(2).all(|pair| pair[0] != pair[1]), "{name} stands still: {digests:?}");
    let orders = (0..8).map(Execution::Shuffled).chain([Execution::Serial]);
    for execution in orders {
        let (other, other_log, _) = run(&scenario, &terrain, execution);
        assert_eq!(digests, other, "{name} under {execution:?}");
        assert_eq!(log, other_log, "the log of {name} under {execution:?}");
    }
    let mut fresh =
        world(terrain.clone()).build::<Snapshot>(scenario.seed, scenario.step_ns).unwrap();
    let replayed = replay(&mut fresh, &mut Reader::open(&log[..]).unwrap(), |_| Next::Go).unwrap();
    let marks = TICKS / 10 + TICKS / STRIDE;
    assert_eq!((replayed.marks, replayed.ticks), (marks, TICKS), "{name}");
    assert_eq!(Some(&replayed.digest), digests.last(), "{name}");
    let build = || world(terrain.clone()).build::<Snapshot>(scenario.seed, scenario.step_ns);
    for begin in [7, 8, 15, 22, 33, 40] {
        let mut log = Reader::open(Cursor::new(&log)).unwrap();
        let mut engine = resume(build, &mut log, begin).unwrap();
        let from = begin / STRIDE * STRIDE;
        assert_eq!((engine.clock().tick, engine.view().tick), (from, from));
        let replayed = replay(&mut engine, &mut log, |_| Next::Go).unwrap();
        let actual = (replayed.from, replayed.ticks, &replayed.digest);
        let expected = (from, TICKS, digests.last().unwrap());
        assert_eq!(actual, expected, "{name} from {begin}");
        assert!(replayed.marks > 0, "{name} from {begin}");
        // The state that is not in the snapshot is equal as well.
        let actual = engine.checkpoint().unwrap();
        assert!(actual == state, "the state of {name} from {begin}");
    }
}

#[needs(terrain)]
#[test]
fn a_mesh_with_failures_comes_to_the_same_bits() {
    check("gothenburg.toml");
}

#[needs(terrain)]
#[test]
fn a_moving_mesh_comes_to_the_same_bits() {
    check("manet50.toml");
}

#[needs(terrain)]
#[test]
fn links_that_are_computed_after_a_distance_come_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(SPARSE.0);
    std::fs::write(&path, with_mesh(SPARSE)).unwrap();
    check_scenario("sparse updates", groundwave_scenario::load(&path).unwrap());
}

#[test]
fn a_mesh_on_flat_ground_comes_to_the_same_bits() {
    check("failover.toml");
}

#[needs(terrain)]
#[test]
fn weather_comes_to_the_same_bits() {
    check("storm.toml");
}

#[needs(terrain)]
#[test]
fn a_platoon_comes_to_the_same_bits() {
    check("ns2_platoon.toml");
}

#[needs(terrain)]
#[test]
fn live_replay_threads_and_the_middle_come_to_one_digest() {
    let folder = tempfile::tempdir().unwrap();
    let sparse = folder.path().join("sparse.toml");
    std::fs::write(&sparse, with_mesh(SPARSE)).unwrap();
    for (name, until, from) in [
        ("manet50.toml", "30", "20"),
        ("sparse.toml", "30", "20"),
        ("gothenburg.toml", "60", "40"),
        ("failover.toml", "120", "90"),
        ("storm.toml", "60", "45"),
    ] {
        let scenario = match name {
            "sparse.toml" => sparse.clone(),
            name => support::scenario_path(name),
        };
        let log = folder.path().join(name).with_extension("gwlog");
        let (scenario, log) = (scenario.to_str().unwrap(), log.to_str().unwrap());
        let json = |words: &[&str]| -> serde_json::Value {
            let mut all = vec!["--json"];
            all.extend(words);
            serde_json::from_str(&support::stdout(&support::groundwave(&all))).unwrap()
        };
        let run = ["run", scenario, "--until", until, "--record", log, "--checkpoint-every", "7"];
        let live = json(&run)["digest"].clone();
        let same = |words: &[&str]| {
            let report = json(words);
            assert_eq!(report["digest"], live, "{name}: {words:?}");
            report["from_tick"].as_u64().unwrap()
        };
        assert_eq!(same(&["replay", log, "--check"]), 0);
        same(&["replay", log, "--threads", "1"]);
        same(&["replay", log, "--threads", "4"]);
        let from = same(&["replay", log, "--check", "--from", from, "--threads", "3"]);
        assert!(from > 0, "{name} was replayed from its beginning");
    }
}

#[needs(terrain)]
#[test]
fn any_number_of_threads_comes_to_the_same_digest() {
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
