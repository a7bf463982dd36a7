//! Nodes of the fleet in stores of layout 3, and in those that follow from them.

use std::io::Read;

use groundwave_engine::Engine;
use groundwave_gateway::fleet::{FleetNode, RecordHeartbeat, RecordSamples};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Flat;
use groundwave_protocol::Sample;

use super::super::*;

/// A node as the store has it.
fn stored(node: &FleetNode) -> impl PartialEq + std::fmt::Debug + use<> {
    (
        node.record.clone(),
        node.last_heartbeat.clone(),
        node.latest.clone(),
        node.recent_samples.clone(),
        node.commands.clone(),
    )
}

fn opened(path: &Path) -> Engine<Snapshot> {
    let ground = Flat { elevation_msl_m: 0.0 };
    let mut engine: Engine<Snapshot> = world(Arc::new(ground)).build(1, 1_000_000).unwrap();
    engine.keep(RedbStore::open(path).unwrap()).unwrap();
    engine.tick(None).unwrap();
    engine
}

#[test]
fn a_store_of_layout_3_and_its_journal_open_with_all_readings_and_keep_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("world.db");
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/store");
    for (name, to) in [("redb", ""), ("journal.0", ".journal.0"), ("journal.1", ".journal.1")] {
        let packed = std::fs::read(fixtures.join(format!("fleet_3.{name}.gz"))).unwrap();
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&*packed).read_to_end(&mut bytes).unwrap();
        std::fs::write(folder.path().join(format!("world.db{to}")), bytes).unwrap();
    }
    let mut engine = opened(&path);
    let nodes: Vec<_> = engine.view().fleet.nodes.values().cloned().collect();
    assert_eq!(nodes.len(), 2);
    for node in &nodes {
        let received = node.last_heartbeat.as_ref().unwrap();
        assert_eq!(received.heartbeat.seq, 16);
        // 16 heartbeats of six readings, over two minutes.
        let samples = &node.recent_samples;
        assert_eq!((samples.previous.len(), samples.current.len()), (18, 78));
        assert_eq!((samples.names.len(), node.latest.len()), (6, 6));
        for (name, value) in &received.heartbeat.metrics {
            assert_eq!(node.latest[name].value, *value);
            assert_eq!(samples.of(name).last().unwrap().1, *value);
        }
    }
    // A heartbeat and an upload: a reading that is later than the heartbeat, and one it does not have.
    let last = nodes[0].last_heartbeat.as_ref().unwrap();
    let mut heartbeat = last.heartbeat.clone();
    heartbeat.seq += 1;
    let later_ns = last.wall_ns + 5_000_000_000;
    let metric = heartbeat.metrics.keys().next().unwrap().clone();
    let at_ms = later_ns / 1_000_000 + 100;
    let sample = |metric: &str, value| Sample { ts_ms: at_ms, metric: metric.to_owned(), value };
    let upload = RecordSamples {
        node: nodes[0].id,
        samples: vec![sample(&metric, 1.0 / 3.0), sample("gps.hdop", -0.0)],
    };
    let heard = RecordHeartbeat {
        node: nodes[0].id,
        heartbeat,
        source_ip: last.source_ip,
        now_ns: u64::MAX / 2,
        sent_ms: None,
    };
    let handle = engine.handle();
    let replies = (handle.submit(heard).unwrap(), handle.submit(upload).unwrap());
    engine.tick(Some(later_ns)).unwrap();
    replies.0.wait().unwrap();
    replies.1.wait().unwrap();
    let written: Vec<_> = engine.view().fleet.nodes.values().map(|node| stored(node)).collect();
    assert_eq!(engine.view().fleet.nodes[&nodes[0].id].latest.len(), 7);
    drop(engine);
    let again: Vec<_> =
        opened(&path).view().fleet.nodes.values().map(|node| stored(node)).collect();
    assert_eq!(again, written);
    assert_ne!(again[0], stored(&nodes[0]));
}
