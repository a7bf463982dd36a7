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

fn refused(engine: &mut Engine<Snapshot>, second: u64, boot_id: &str, seq: u64) {
    let body = serde_json::json!({"boot_id": boot_id, "seq": seq, "hostname": boot_id});
    let outcome = hear(engine, second, body);
    assert!(matches!(outcome, Err(Refusal::Outdated { .. })), "{outcome:?}");
    let report = ReportClone {
        node: node(),
        boot_id: boot_id.to_owned(),
        seq,
        uptime_s: 0,
        hostname: boot_id.to_owned(),
        source_ip: IpAddr::V4(Ipv4Addr::new(10, 42, 0, 9)),
    };
    does_at(engine, WALL_NS + second * S, report).unwrap();
}

/// Subjects and reasons of the alerts so far.
fn alerts(engine: &Engine<Snapshot>) -> Vec<(String, String)> {
    let view = engine.view();
    let alerts = view.events.iter().filter(|event| event.data.contains_key("about"));
    alerts.map(|alert| (alert.data["about"].clone(), alert.data["reason"].clone())).collect()
}

#[test]
fn second_machine_with_a_key_is_an_alert_until_it_stops() {
    let mut engine = engine();
    let_in(&mut engine, WALL_NS, 1, node());
    hear(&mut engine, 0, serde_json::json!({"boot_id": "a", "seq": 100})).unwrap();
    hear(&mut engine, 5, serde_json::json!({"boot_id": "b", "seq": 1})).unwrap();
    // One may have been late, also if it comes twice.
    refused(&mut engine, 6, "a", 101);
    refused(&mut engine, 7, "a", 101);
    assert_eq!(alerts(&engine), []);
    refused(&mut engine, 11, "a", 102);
    let all = alerts(&engine);
    let [(about, reason)] = &all[..] else { panic!("{all:?}") };
    assert_eq!(about, "node-clone");
    assert!(reason.contains("host a at 10.42.0.9"), "{reason}");
    refused(&mut engine, 16, "a", 103);
    assert_eq!(alerts(&engine).len(), 1, "once");
    let clone = engine.view().fleet.nodes[&node()].last_heartbeat.clone().unwrap();
    assert_eq!(clone.node_clone.as_ref().map(|clone| clone.count), Some(3));
    let mut alerts_after = |second: u64, seq: u64| {
        hear(&mut engine, second, serde_json::json!({"boot_id": "b", "seq": seq})).unwrap();
        alerts(&engine)
    };
    assert_eq!(alerts_after(60, 12).len(), 1, "a minute of silence is not over");
    let all = alerts_after(80, 16);
    assert_eq!(all[1].0, "node-clone-over");
    assert!(all[1].1.contains("host a at 10.42.0.9 does not send"), "{all:?}");
    assert_eq!(alerts_after(85, 17).len(), 2);
    // A boot that was never one of the node is none of a clone.
    let foreign = ReportClone {
        node: node(),
        boot_id: "z".to_owned(),
        seq: 1,
        uptime_s: 0,
        hostname: "z".to_owned(),
        source_ip: IpAddr::V4(Ipv4Addr::new(10, 42, 0, 9)),
    };
    assert!(does_at(&mut engine, WALL_NS + 90 * S, foreign).is_err());
}

#[test]
fn clone_whose_original_stops_is_the_node() {
    let mut engine = engine();
    let_in(&mut engine, WALL_NS, 1, node());
    hear(&mut engine, 0, serde_json::json!({"boot_id": "a", "seq": 100})).unwrap();
    hear(&mut engine, 5, serde_json::json!({"boot_id": "b", "seq": 1})).unwrap();
    for (second, seq) in [(6, 101), (11, 102), (60, 112)] {
        refused(&mut engine, second, "a", seq);
    }
    let outcome = hear(&mut engine, 70, serde_json::json!({"boot_id": "a", "seq": 114}));
    assert!(outcome.is_ok(), "{outcome:?}");
    let all = alerts(&engine);
    assert_eq!(all.last().map(|(about, _)| about.as_str()), Some("node-clone-over"), "{all:?}");
    assert!(all[1].1.contains("the other one has stopped"), "{all:?}");
    // The other one is the earlier boot now.
    refused(&mut engine, 71, "b", 2);
}

/// A machine that runs for a day and is heard again does not take the place of one that began an hour ago.
#[test]
fn of_two_boots_the_one_that_began_last_is_the_node() {
    let mut engine = engine();
    let_in(&mut engine, WALL_NS, 1, node());
    let body = |boot_id: &str, seq: u64, uptime_s: u64| serde_json::json!({"boot_id": boot_id, "seq": seq, "uptime_s": uptime_s});
    hear(&mut engine, 0, body("new", 100, 3_600)).unwrap();
    let outcome = hear(&mut engine, 5, body("old", 9, 86_400));
    assert!(matches!(outcome, Err(Refusal::Outdated { .. })), "{outcome:?}");
    hear(&mut engine, 10, body("new", 101, 3_610)).unwrap();
    // Once the node has been silent for long, the other one is it; then the node returns.
    hear(&mut engine, 200, body("old", 50, 86_600)).unwrap();
    hear(&mut engine, 205, body("new", 140, 3_805)).unwrap();
    let outcome = hear(&mut engine, 206, body("old", 51, 86_606));
    assert!(matches!(outcome, Err(Refusal::Outdated { .. })), "{outcome:?}");
    // A restart of the agent with a new id in the same boot is the node.
    hear(&mut engine, 210, body("again", 1, 3_811)).unwrap();
}

/// A gateway that was a day ahead until it reached its time server.
#[test]
fn a_node_that_restarts_once_the_clock_is_set_back_is_the_node() {
    let mut engine = engine();
    let_in(&mut engine, WALL_NS, 1, node());
    let body = |boot_id: &str, seq: u64, uptime_s: u64| serde_json::json!({"boot_id": boot_id, "seq": seq, "uptime_s": uptime_s});
    hear(&mut engine, 86_400, body("a", 100, 500)).unwrap();
    hear(&mut engine, 60, body("b", 1, 20)).unwrap();
    let outcome = hear(&mut engine, 65, body("a", 101, 600));
    assert!(matches!(outcome, Err(Refusal::Outdated { .. })), "{outcome:?}");
    hear(&mut engine, 70, body("b", 2, 30)).unwrap();
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
