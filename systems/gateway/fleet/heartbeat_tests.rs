use core::net::{IpAddr, Ipv4Addr};

use groundwave_engine::{Engine, Refusal};

use super::*;
use crate::Snapshot;
use crate::test_world::{does_at, engine, let_in};
use groundwave_simulation::site::NodeId;

const S: u64 = 1_000_000_000;
const WALL_NS: u64 = 1_800_000_000 * S;

fn node() -> NodeId {
    NodeId::from_u128(1)
}

fn hear(
    engine: &mut Engine<Snapshot>,
    second: u64,
    change: serde_json::Value,
) -> Result<HeartbeatReply, Refusal> {
    let mut body = serde_json::json!({
        "mac": "02:00:00:00:00:01", "hostname": "n1", "boot_id": "a", "seq": 1,
    });
    for (key, value) in change.as_object().unwrap() {
        body[key] = value.clone();
    }
    let command = RecordHeartbeat {
        node: node(),
        heartbeat: serde_json::from_value(body).unwrap(),
        source_ip: IpAddr::V4(Ipv4Addr::new(10, 42, 0, 1)),
        now_ns: second * S,
        sent_ms: None,
    };
    does_at(engine, WALL_NS + second * S, command)
}

#[test]
fn a_heartbeat_of_an_earlier_boot_is_outdated() {
    let mut engine = engine();
    let_in(&mut engine, WALL_NS, 1, node());
    let mut is_heard = |second: u64, boot_id: &str, seq: u64| {
        let outcome =
            hear(&mut engine, second, serde_json::json!({"boot_id": boot_id, "seq": seq}));
        match outcome {
            Ok(_) => true,
            Err(Refusal::Outdated { .. }) => false,
            Err(other) => panic!("{other}"),
        }
    };
    assert!(is_heard(0, "a", 100));
    assert!(is_heard(5, "b", 1));
    assert!(!is_heard(6, "a", 101));
    assert!(is_heard(10, "b", 2));
    assert!(is_heard(15, "c", 1));
    assert!(!is_heard(16, "a", 102) && !is_heard(17, "b", 3));
    // A node without unique boot ids is heard again after an hour.
    assert!(is_heard(3_700, "a", 1));
}

#[test]
fn the_host_name_is_that_of_the_last_heartbeat() {
    let mut engine = engine();
    let_in(&mut engine, WALL_NS, 1, node());
    hear(&mut engine, 0, serde_json::json!({})).unwrap();
    let before = engine.view().fleet.nodes[&node()].record.clone();
    hear(&mut engine, 5, serde_json::json!({"seq": 2, "hostname": "hill"})).unwrap();
    let after = engine.view().fleet.nodes[&node()].record.clone();
    assert_eq!((before.hostname.as_deref(), after.hostname.as_deref()), (Some("n1"), Some("hill")));
    assert_eq!((&after.name, after.revision), (&before.name, before.revision + 1));
    hear(&mut engine, 10, serde_json::json!({"seq": 3, "hostname": "hill"})).unwrap();
    assert_eq!(engine.view().fleet.nodes[&node()].record.revision, after.revision);
}
