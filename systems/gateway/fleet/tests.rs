use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use groundwave_engine::{Engine, Recorded, Refusal};
use groundwave_model::radio::{Environment, Role};
use groundwave_model::sample::station;
use groundwave_model::terrain::GeoPoint;
use groundwave_protocol::Mac;
use groundwave_protocol::*;
use groundwave_simulation::deployment::{
    CreateDeployment, DeleteDeployment, DeploymentId, Outline,
};
use groundwave_simulation::site::{AddNode, MoveNode, NodeId, RemoveNode};

use super::*;
use crate::Snapshot;
use crate::onboarding::{RegistrationId, RevokeRegistration};
use crate::test_world::{self, does_at, engine};

const S: u64 = 1_000_000_000;
const WALL: u64 = 1_800_000_000 * S;

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, WALL, command)
}

fn mac(number: u8) -> Mac {
    Mac([2, 0, 0, 0, 0, number])
}

fn node(number: u8) -> NodeId {
    NodeId::from_u128(u128::from(number))
}

fn let_in(engine: &mut Engine<Snapshot>, number: u8, as_node: NodeId) -> RegistrationId {
    test_world::let_in(engine, WALL, number, as_node)
}

fn heartbeat(number: u8, seq: u64, now_ns: u64) -> RecordHeartbeat {
    let document = serde_json::json!({
        "mac": mac(number), "hostname": format!("n{number}"), "boot_id": "b", "seq": seq,
        "metrics": {"mesh.tx_mbps": seq as f64},
        "mesh": {"links": [
            {"neigh_address": mac(number + 1), "tq": 200, "signal_dbm": -60.0},
            {"neigh_address": mac(99), "tq": 10}]},
        "from_a_later_agent": true,
    });
    RecordHeartbeat {
        node: node(number),
        heartbeat: serde_json::from_value(document).unwrap(),
        source_ip: IpAddr::V4(Ipv4Addr::new(10, 42, 0, number)),
        now_ns,
        sent_ms: None,
    }
}

fn state(engine: &Engine<Snapshot>, number: u8) -> NodeState {
    engine.view().fleet.nodes[&node(number)].liveness.state
}

#[test]
fn heartbeats_and_silence_change_the_state_of_a_node() {
    let mut engine = engine();
    let begin = StartGatewayClock { now_ns: 0, period_ns: 5 * S };
    does(&mut engine, begin).unwrap();
    let_in(&mut engine, 1, node(1));
    assert_eq!(state(&engine, 1), NodeState::Joining);
    let outcome = does(&mut engine, heartbeat(1, 1, S)).unwrap();
    assert_eq!(outcome.state, NodeState::Online);
    assert!(outcome.overlay_ip.is_some());
    assert!(
        matches!(does(&mut engine, heartbeat(1, 1, 2 * S)), Err(Refusal::Outdated { what }) if what == STALE_SEQUENCE)
    );
    does(&mut engine, SetGatewayClock { now_ns: 17 * S }).unwrap();
    assert_eq!(state(&engine, 1), NodeState::Stale);
    does(&mut engine, SetGatewayClock { now_ns: 62 * S }).unwrap();
    assert_eq!(state(&engine, 1), NodeState::Offline);
    does(&mut engine, heartbeat(1, 2, 63 * S)).unwrap();
    does(&mut engine, heartbeat(1, 3, 68 * S)).unwrap();
    assert_eq!(state(&engine, 1), NodeState::Online);
    let view = engine.view();
    let events: Vec<_> =
        view.events.iter().map(|event| (event.kind, event.data.get("to"))).collect();
    // The registration waited and was approved before.
    assert_eq!(events.len(), 7, "{events:?}");
    assert_eq!(events.last().unwrap().1.unwrap(), "online");
}

#[test]
fn alert_of_the_gateway_is_an_event_within_bounds() {
    let mut engine = engine();
    let data = BTreeMap::from([("not_after".to_owned(), "2026-12-01".to_owned())]);
    let alert = RecordAlert { about: "the certificate ends".to_owned(), data };
    let long = RecordAlert { about: "x".repeat(1_025), ..alert.clone() };
    assert!(matches!(does(&mut engine, long), Err(Refusal::Invalid { .. })));
    does(&mut engine, alert).unwrap();
    let view = engine.view();
    let event = view.events.back().unwrap();
    assert_eq!((event.kind, view.events.len()), (FleetEventKind::Alert, 1));
    assert_eq!(event.data["about"], "the certificate ends");
    assert_eq!(event.data["not_after"], "2026-12-01");
}

#[test]
fn heartbeat_of_unapproved_node_is_refused() {
    let mut engine = engine();
    assert!(matches!(does(&mut engine, heartbeat(1, 1, S)), Err(Refusal::NotFound { .. })));
    let registration = let_in(&mut engine, 1, node(1));
    does(&mut engine, heartbeat(1, 1, S)).unwrap();
    let revoke =
        RevokeRegistration { registration, reason: None, by: "ada".to_owned(), forget: true };
    does(&mut engine, revoke).unwrap();
    assert!(matches!(does(&mut engine, heartbeat(1, 2, S)), Err(Refusal::NotFound { .. })));
    assert!(engine.view().fleet.is_empty());
}

#[test]
fn links_are_reports_of_both_ends() {
    let mut engine = engine();
    for number in 1..=3 {
        let_in(&mut engine, number, node(number));
        does(&mut engine, heartbeat(number, 1, S)).unwrap();
    }
    let view = engine.view();
    let edges: Vec<_> = view.fleet.edges().collect();
    let ends: Vec<_> = edges.iter().map(|edge| (edge.a, edge.b)).collect();
    assert_eq!(ends, [(node(1), node(2)), (node(2), node(3))]);
    assert_eq!(view.fleet.unknown_neighbors, 4);
    assert_eq!(edges[0].cost(), Some(255.0 / 200.0));
    assert_eq!((&edges[0].at_b, edges[0].asymmetry()), (&None, None));
    let score = view.fleet.mesh_score();
    assert_eq!((score.partitions, &score.articulation_nodes), (1, &vec![node(2)]));
    let by_hand: f64 = 100.0 * (0.4 + 0.3 * 200.0 / 255.0 + 0.2 * (1.0 - 1.0 / 3.0) + 0.1);
    assert_eq!(score.score, (by_hand * 100.0).round() / 100.0);
    let scores: Vec<_> = score.components.iter().map(|part| part.score).collect();
    assert_eq!(scores, [100.0, 78.43, 66.67, 100.0]);
}

#[test]
fn a_planned_node_and_the_one_that_joins_as_it_are_one() {
    let mut engine = engine();
    let deployment = DeploymentId::named("hill");
    let outline = Outline {
        name: "hill".to_owned(),
        center: None,
        region: None,
        environment: Environment::default(),
    };
    does(&mut engine, CreateDeployment { deployment, outline }).unwrap();
    let planned = AddNode {
        node: node(1),
        name: "mast".to_owned(),
        role: Role::Relay,
        position: GeoPoint::new(57.0, 11.0).unwrap(),
        station: station(),
        deployment: Some(deployment),
    };
    does(&mut engine, planned).unwrap();
    let registration = let_in(&mut engine, 1, node(1));
    let view = engine.view();
    let live = &view.fleet.nodes[&node(1)];
    assert_eq!(live.record.name, "mast");
    assert_eq!(live.location().unwrap().source, LocationSource::Plan);
    for refused in [
        does(&mut engine, RemoveNode { node: node(1) }),
        does(&mut engine, DeleteDeployment { deployment }),
    ] {
        assert!(matches!(refused, Err(Refusal::Conflict { .. })), "{refused:?}");
    }
    let revoke =
        RevokeRegistration { registration, reason: None, by: "ada".to_owned(), forget: true };
    does(&mut engine, revoke).unwrap();
    let view = engine.view();
    assert!(view.fleet.is_empty() && view.plan.nodes.contains_key(&node(1)));
    does(&mut engine, DeleteDeployment { deployment }).unwrap();
}

#[test]
fn a_node_without_a_place_is_not_moved() {
    let mut engine = engine();
    let_in(&mut engine, 1, node(1));
    let moved = MoveNode { node: node(1), position: GeoPoint::new(57.0, 11.0).unwrap() };
    assert!(matches!(does(&mut engine, moved), Err(Refusal::NotFound { .. })));
}

#[test]
fn a_command_is_dispatched_with_the_next_heartbeat_and_finishes_once() {
    let mut engine = engine();
    let_in(&mut engine, 1, node(1));
    let id = uuid::Uuid::from_u128(5);
    let give = EnqueueCommand {
        node: node(1),
        id,
        kind: "identify".to_owned(),
        args: BTreeMap::new(),
        expires_s: 60,
        by: "ada".to_owned(),
    };
    assert!(matches!(does(&mut engine, give.clone()), Err(Refusal::Invalid { .. })));
    let join = RecordJoinReport {
        node: node(1),
        board: None,
        firmware: BTreeMap::new(),
        supported_commands: vec!["identify".to_owned()],
        settings: BTreeMap::new(),
    };
    does(&mut engine, join).unwrap();
    does(&mut engine, give).unwrap();
    let outcome = does(&mut engine, heartbeat(1, 1, S)).unwrap();
    assert_eq!(outcome.commands.len(), 1);
    assert!(does(&mut engine, heartbeat(1, 2, S)).unwrap().commands.is_empty());
    let finish =
        FinishCommand { node: node(1), id, done: true, output: Some("blinked".to_owned()) };
    does(&mut engine, finish.clone()).unwrap();
    assert!(matches!(does(&mut engine, finish), Err(Refusal::Conflict { .. })));
}

#[test]
fn a_command_whose_acknowledgement_got_lost_is_dispatched_again() {
    let mut engine = engine();
    let_in(&mut engine, 1, node(1));
    let join = RecordJoinReport {
        node: node(1),
        board: None,
        firmware: BTreeMap::new(),
        supported_commands: vec!["identify".to_owned()],
        settings: BTreeMap::new(),
    };
    does(&mut engine, join).unwrap();
    let give = EnqueueCommand {
        node: node(1),
        id: uuid::Uuid::from_u128(5),
        kind: "identify".to_owned(),
        args: BTreeMap::new(),
        expires_s: 60,
        by: "ada".to_owned(),
    };
    does(&mut engine, give).unwrap();
    for (boot_id, seq, acknowledged_seq, count) in [
        ("b", 1, None, 1),
        // Another agent, or one that has no acknowledgement yet: it may have the command.
        ("b", 2, None, 0),
        ("b", 3, Some(0), 1),
        ("b", 4, Some(3), 0),
        ("b", 5, Some(3), 0),
        ("c", 1, Some(0), 0),
    ] {
        let mut hear = heartbeat(1, seq, S);
        hear.heartbeat.boot_id = boot_id.to_owned();
        hear.heartbeat.acknowledged_seq = acknowledged_seq;
        let commands = does(&mut engine, hear).unwrap().commands;
        assert_eq!(commands.len(), count, "{boot_id} {seq}");
    }
}

#[test]
fn commands_that_expired_make_space_for_others_while_their_node_is_silent() {
    let mut engine = engine();
    let_in(&mut engine, 1, node(1));
    let join = RecordJoinReport {
        node: node(1),
        board: None,
        firmware: BTreeMap::new(),
        supported_commands: vec!["identify".to_owned()],
        settings: BTreeMap::new(),
    };
    does(&mut engine, join).unwrap();
    let enqueue = |engine: &mut Engine<Snapshot>, number: u128, at_ns: u64| {
        let command = EnqueueCommand {
            node: node(1),
            id: uuid::Uuid::from_u128(number),
            kind: "identify".to_owned(),
            args: BTreeMap::new(),
            expires_s: 60,
            by: "ada".to_owned(),
        };
        does_at(engine, at_ns, command)
    };
    for number in 1..=64 {
        enqueue(&mut engine, number, WALL).unwrap();
    }
    let refused = enqueue(&mut engine, 65, WALL + 60 * S);
    assert!(matches!(refused, Err(Refusal::Conflict { .. })), "{refused:?}");
    assert_eq!(enqueue(&mut engine, 65, WALL + 61 * S), Ok(()));
    assert_eq!(engine.view().fleet.nodes[&node(1)].commands.len(), 64);
}

#[test]
fn minutes_that_are_over_leave_for_the_history() {
    let mut engine = engine();
    let mut effects = engine.effects::<StoreMinute>();
    let_in(&mut engine, 1, node(1));
    for (seq, second) in [(1, 0), (2, 30), (3, 60), (4, 90), (5, 120)] {
        does_at(&mut engine, WALL + second * S, heartbeat(1, seq, second * S)).unwrap();
    }
    let minutes: Vec<_> = std::iter::from_fn(|| effects.try_next()).collect();
    let extents: Vec<_> =
        minutes.iter().map(|effect| (effect.minute.minute, effect.minute.len())).collect();
    let first = WALL / (60 * S);
    assert_eq!(extents, [(first, 2), (first + 1, 2)]);
    let late = RecordSamples {
        node: node(1),
        samples: vec![
            Sample { ts_ms: WALL / 1_000_000, metric: "mesh.rx_mbps".to_owned(), value: 1.0 },
            Sample {
                ts_ms: WALL / 1_000_000 + 121_000,
                metric: "mesh.rx_mbps".to_owned(),
                value: 2.0,
            },
        ],
    };
    assert_eq!(does_at(&mut engine, WALL + 122 * S, late).map(|reply| reply.late), Ok(vec![0]));
    assert_eq!(engine.view().fleet.nodes[&node(1)].latest["mesh.rx_mbps"].value, 2.0);
}

#[test]
fn heartbeats_after_a_sample_of_a_clock_that_is_ahead_are_kept() {
    let mut engine = engine();
    let mut effects = engine.effects::<StoreMinute>();
    let_in(&mut engine, 1, node(1));
    does_at(&mut engine, WALL, heartbeat(1, 1, 0)).unwrap();
    let ahead = RecordSamples {
        node: node(1),
        samples: vec![Sample {
            ts_ms: WALL / 1_000_000 + 65_000,
            metric: "mesh.tx_mbps".to_owned(),
            value: 9.0,
        }],
    };
    assert_eq!(does_at(&mut engine, WALL + 10 * S, ahead), Ok(SamplesReply::default()));
    for (seq, second) in [(2, 20), (3, 40), (4, 61), (5, 125)] {
        does_at(&mut engine, WALL + second * S, heartbeat(1, seq, second * S)).unwrap();
    }
    let minutes: Vec<_> = std::iter::from_fn(|| effects.try_next()).collect();
    let first = WALL / (60 * S);
    let values = |minute: u64| {
        let of_minute = minutes.iter().filter(|effect| effect.minute.minute == minute);
        let samples = of_minute.flat_map(|effect| effect.minute.samples());
        let mut values: Vec<f64> = samples.map(|(_, _, value)| value).collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        values
    };
    assert_eq!(values(first), [1.0, 2.0, 3.0]);
    assert_eq!(values(first + 1), [4.0, 9.0]);
}

#[test]
fn minutes_that_are_held_stay_with_the_node_and_end_afterwards() {
    let mut engine = engine();
    let mut effects = engine.effects::<StoreMinute>();
    let_in(&mut engine, 1, node(1));
    for (seq, second) in [(1, 0), (2, 60)] {
        does_at(&mut engine, WALL + second * S, heartbeat(1, seq, second * S)).unwrap();
    }
    let first = WALL / (60 * S);
    assert_eq!(effects.try_next().unwrap().minute.minute, first);
    does_at(&mut engine, WALL + 61 * S, HoldMinutes { holds: true }).unwrap();
    let clock = |engine: &mut Engine<Snapshot>, second: u64| {
        let now_ns = second * S;
        does_at(engine, WALL + second * S, SetGatewayClock { now_ns }).unwrap();
    };
    for second in [130, 190, 250] {
        clock(&mut engine, second);
    }
    let extent = |engine: &Engine<Snapshot>| {
        let samples = &engine.view().fleet.nodes[&node(1)].recent_samples;
        (samples.previous.minute, samples.current.minute)
    };
    assert_eq!(extent(&engine), (first, first + 1));
    assert_eq!(effects.try_next(), None);
    does_at(&mut engine, WALL + 251 * S, HoldMinutes { holds: false }).unwrap();
    clock(&mut engine, 252);
    assert_eq!(effects.try_next().unwrap().minute.minute, first + 1);
    assert_eq!(extent(&engine).0, first + 1);
}

#[test]
fn a_fleet_is_taken_up_from_a_checkpoint_as_it_was() {
    let mut engine = engine();
    does(&mut engine, StartGatewayClock { now_ns: 0, period_ns: 2 * S }).unwrap();
    let_in(&mut engine, 1, node(1));
    does(&mut engine, heartbeat(1, 1, S)).unwrap();
    let place = AddNode {
        node: node(9),
        name: "mast".to_owned(),
        role: Role::Relay,
        position: GeoPoint::new(57.0, 11.0).unwrap(),
        station: station(),
        deployment: None,
    };
    does(&mut engine, place).unwrap();
    let checkpoint = engine.checkpoint().unwrap();
    let mut other = self::engine();
    other.take_up(&checkpoint).unwrap();
    assert_eq!(other.digest(), engine.digest());
    for engine in [&mut engine, &mut other] {
        does(engine, SetGatewayClock { now_ns: 8 * S }).unwrap();
        assert_eq!(state(engine, 1), NodeState::Stale);
    }
    assert_eq!(other.digest(), engine.digest());
}
