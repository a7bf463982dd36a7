use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use groundwave_engine::{Engine, Id, Recorded, Refusal};
use groundwave_protocol::Mac;
use groundwave_simulation::site::NodeId;

use super::*;
use crate::Snapshot;
use crate::automation::TimeWindow;
use crate::config::{Expected, Put, Remove};
use crate::fleet::{
    FinishCommand, FleetEventKind, RecordHeartbeat, RecordJoinReport, SetGatewayClock,
    StartGatewayClock,
};
use crate::test_world::{does_at, engine, let_in};

const S: u64 = 1_000_000_000;
const WALL: u64 = 1_800_000_000 * S;
/// Time between heartbeats, s.
const PERIOD_S: u64 = 5;

/// Reaction of an agent to the image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    Installs,
    /// The install command fails.
    Refuses,
    /// Sends no heartbeat once it has the image.
    Dies,
    /// Installs it, and comes back with the old one after a minute.
    FallsBack,
}

struct Node {
    agent: Agent,
    version: String,
    silent: bool,
    /// Time of its last installation, s.
    at_s: u64,
}

/// A fleet whose agents answer each tick, in virtual time.
struct Fleet {
    engine: Engine<Snapshot>,
    nodes: BTreeMap<u8, Node>,
    now_s: u64,
    /// Wall clock at 0 s.
    wall_ns: u64,
    seq: u64,
}

fn node(number: u8) -> NodeId {
    NodeId::from_u128(u128::from(number))
}

fn image(version: &str) -> Id<FirmwareImage> {
    Id::named(version)
}

fn rollout() -> Id<Rollout> {
    Id::from_u128(77)
}

impl Fleet {
    fn new(agents: &[Agent]) -> Self {
        let nodes = BTreeMap::new();
        let mut fleet = Self { engine: engine(), nodes, now_s: 0, wall_ns: WALL, seq: 0 };
        let begin = StartGatewayClock { now_ns: 0, period_ns: PERIOD_S * S };
        fleet.does(begin).unwrap();
        for (number, agent) in (1..).zip(agents) {
            let at_ns = WALL + fleet.now_s * S;
            let_in(&mut fleet.engine, at_ns, number, node(number));
            let node = Node { agent: *agent, version: "1".to_owned(), silent: false, at_s: 0 };
            fleet.nodes.insert(number, node);
            fleet.join(number);
        }
        for version in ["1", "2"] {
            let put = Put {
                id: image(version),
                object: FirmwareImage {
                    version: version.to_owned(),
                    sha256: "0".repeat(64),
                    size_bytes: 1,
                    board: None,
                },
                expected: Expected::Absent,
            };
            fleet.does(put).unwrap();
        }
        fleet.run(2);
        fleet
    }

    fn does<C: Recorded>(&mut self, command: C) -> Result<C::Reply, Refusal> {
        does_at(&mut self.engine, self.wall_ns + self.now_s * S, command)
    }

    fn join(&mut self, number: u8) {
        let version = self.nodes[&number].version.clone();
        let join = RecordJoinReport {
            node: node(number),
            board: Some("board".to_owned()),
            firmware: BTreeMap::from([(FIRMWARE.to_owned(), version)]),
            supported_commands: vec![FIRMWARE.to_owned()],
            settings: BTreeMap::new(),
        };
        self.does(join).unwrap();
    }

    /// Lets all agents send a heartbeat, for some periods.
    fn run(&mut self, periods: u32) {
        for _ in 0..periods {
            self.now_s += PERIOD_S;
            self.seq += 1;
            let now_ns = self.now_s * S;
            self.does(SetGatewayClock { now_ns }).unwrap();
            let numbers: Vec<u8> = self.nodes.keys().copied().collect();
            for number in numbers {
                self.beat(number);
            }
        }
    }

    fn beat(&mut self, number: u8) {
        let station = &self.nodes[&number];
        if station.silent {
            return;
        }
        if station.agent == Agent::FallsBack
            && station.version == "2"
            && self.now_s > station.at_s + 60
        {
            self.nodes.get_mut(&number).unwrap().version = "1".to_owned();
            self.join(number);
        }
        let heartbeat = serde_json::json!({
            "mac": Mac([2, 0, 0, 0, 0, number]), "hostname": format!("n{number}"),
            "boot_id": "b", "seq": self.seq,
        });
        let hear = RecordHeartbeat {
            node: node(number),
            heartbeat: serde_json::from_value(heartbeat).unwrap(),
            source_ip: IpAddr::V4(Ipv4Addr::new(10, 42, 0, number)),
            now_ns: self.now_s * S,
            sent_ms: None,
        };
        for command in self.does(hear).unwrap().commands {
            assert_eq!(command.kind, FIRMWARE);
            let to = command.args["version"].clone();
            let station = self.nodes.get_mut(&number).unwrap();
            let refuses = station.agent == Agent::Refuses && to == "2";
            station.silent = station.agent == Agent::Dies && to == "2";
            if station.silent {
                return;
            }
            if !refuses {
                station.version = to;
                station.at_s = self.now_s;
                self.join(number);
            }
            let finish = FinishCommand {
                node: node(number),
                id: command.id,
                done: !refuses,
                output: refuses.then(|| "exit status 1".to_owned()),
            };
            self.does(finish).unwrap();
        }
    }

    fn begin(&mut self, stages: &[RolloutStage], rollback: bool) -> Result<(), Refusal> {
        self.begin_in(stages, rollback, None)
    }

    fn begin_in(
        &mut self,
        stages: &[RolloutStage],
        rollback: bool,
        window: Option<TimeWindow>,
    ) -> Result<(), Refusal> {
        let nodes =
            self.nodes.keys().map(|number| RolloutNode::new(node(*number), Some("1".to_owned())));
        let put = Put {
            id: rollout(),
            object: Rollout {
                image: image("2"),
                rollback_image: rollback.then(|| image("1")),
                stages: stages.to_vec(),
                failures_max_percent: 20,
                install_within_s: 120,
                healthy_s: 30,
                window,
                retries: 0,
                has_reasons: true,
                by: "ada".to_owned(),
                state: RolloutState::Running,
                stage: 0,
                nodes: nodes.collect(),
            },
            expected: Expected::Absent,
        };
        self.does(put).map(drop)
    }

    fn rollout(&self) -> Rollout {
        let view = self.engine.view();
        view.config.rollouts.get(rollout()).unwrap().object.clone()
    }

    /// Numbers of the nodes with a version.
    fn with(&self, version: &str) -> Vec<u8> {
        self.nodes
            .iter()
            .filter(|(_, node)| node.version == version)
            .map(|(number, _)| *number)
            .collect()
    }

    fn alerts(&self) -> Vec<String> {
        let view = self.engine.view();
        let alerts = view.events.iter().filter(|event| event.kind == FleetEventKind::Alert);
        alerts.map(|event| event.data["about"].clone()).collect()
    }
}

const STAGES: [RolloutStage; 3] =
    [RolloutStage::Nodes(1), RolloutStage::Percent(30), RolloutStage::Percent(100)];

#[test]
fn a_stage_begins_when_the_one_before_is_healthy() {
    let mut fleet = Fleet::new(&[Agent::Installs; 10]);
    fleet.begin(&STAGES, true).unwrap();
    fleet.run(1);
    assert_eq!(fleet.with("2"), [1]);
    // Thirty seconds of heartbeats with the version, and not before.
    fleet.run(5);
    assert_eq!((fleet.with("2").len(), fleet.rollout().stage), (1, 0));
    fleet.run(1);
    assert_eq!(fleet.rollout().stage, 1);
    assert_eq!(fleet.with("2"), [1, 2, 3]);
    fleet.run(8);
    assert_eq!(fleet.with("2").len(), 10);
    assert_eq!(fleet.rollout().state, RolloutState::Running);
    fleet.run(8);
    let rollout = fleet.rollout();
    assert_eq!((rollout.state, rollout.failed()), (RolloutState::Done, 0));
    assert_eq!(fleet.alerts(), ["rollout-done"]);
    // Nothing more is commanded.
    let view = fleet.engine.view();
    assert!(view.fleet.nodes.values().all(|node| node.commands.len() == 1));
}

#[test]
fn clock_that_is_set_back_makes_no_node_healthy_before_its_time() {
    let mut fleet = Fleet::new(&[Agent::Installs]);
    fleet.begin(&[RolloutStage::Nodes(1)], true).unwrap();
    fleet.run(2);
    fleet.wall_ns -= 3_600 * S;
    fleet.run(1);
    let progress = &fleet.rollout().nodes[0].progress;
    assert!(matches!(progress, NodeProgress::Watched { healthy_ns: 1.., .. }), "{progress:?}");
    fleet.run(5);
    assert_eq!(fleet.rollout().state, RolloutState::Running);
    // Thirty seconds of heartbeats by the clock as it is.
    fleet.run(1);
    assert_eq!(fleet.rollout().state, RolloutState::Done);
}

#[test]
fn failures_above_the_limit_take_all_nodes_back() {
    let mut agents = [Agent::Installs; 10];
    // The last node of its stage, so that the one before it has the version by then.
    agents[1] = Agent::FallsBack;
    agents[2] = Agent::Refuses;
    let mut fleet = Fleet::new(&agents);
    fleet.begin(&STAGES, true).unwrap();
    fleet.run(8);
    assert_eq!(fleet.rollout().stage, 1);
    // Of three nodes one refuses: more than a fifth.
    fleet.run(4);
    let rollout = fleet.rollout();
    assert_eq!(rollout.state, RolloutState::RolledBack);
    assert!(fleet.with("2").is_empty());
    let progress: Vec<_> = rollout.nodes.iter().map(|one| one.progress.clone()).collect();
    assert_eq!(
        progress[..3],
        [NodeProgress::Reverted, NodeProgress::Reverted, NodeProgress::Reverted]
    );
    assert!(progress[3..].iter().all(|one| *one == NodeProgress::Waiting));
    // The reasons stay with the nodes that were taken back.
    let failures: Vec<_> = rollout.nodes.iter().map(|one| one.failure.as_deref()).collect();
    assert_eq!(failures[2], Some("exit status 1"));
    assert_eq!(rollout.failed(), failures.iter().flatten().count());
    let view = fleet.engine.view();
    let end = view.events.iter().rfind(|event| event.kind == FleetEventKind::Alert).unwrap();
    assert_ne!(end.data["failed"], "0");
    assert_eq!(fleet.alerts(), ["rollout-rolling-back", "rollout-rolled-back"]);
}

#[test]
fn a_node_that_dies_or_falls_back_counts_as_failed() {
    for (agent, says) in [
        (Agent::Dies, "not fetched or finished in time"),
        (Agent::FallsBack, "reports version 1 again"),
    ] {
        let mut fleet = Fleet::new(&[agent, Agent::Installs]);
        let mut patient = STAGES.to_vec();
        patient.remove(1);
        fleet.begin(&patient, false).unwrap();
        // Watched for longer than the minute after which it falls back.
        let mut put = Put { id: rollout(), object: fleet.rollout(), expected: Expected::Present };
        put.object.healthy_s = 100;
        fleet.does(put).unwrap();
        fleet.run(40);
        let rollout = fleet.rollout();
        assert_eq!(rollout.state, RolloutState::Stopped, "{rollout:?}");
        let NodeProgress::Failed { reason } = &rollout.nodes[0].progress else {
            panic!("{rollout:?}");
        };
        assert!(reason.contains(says), "{reason}");
        assert_eq!(rollout.nodes[1].progress, NodeProgress::Waiting);
        assert_eq!(fleet.alerts().last().unwrap(), "rollout-stopped");
    }
}

#[test]
fn a_few_failures_are_within_the_limit() {
    let mut agents = [Agent::Installs; 10];
    agents[9] = Agent::Dies;
    let mut fleet = Fleet::new(&agents);
    fleet.begin(&STAGES, true).unwrap();
    fleet.run(60);
    let rollout = fleet.rollout();
    assert_eq!((rollout.state, rollout.failed()), (RolloutState::Done, 1));
}

#[test]
fn a_cancelled_rollout_withdraws_what_nobody_fetched() {
    let mut fleet = Fleet::new(&[Agent::Installs; 3]);
    fleet.begin(&[RolloutStage::Percent(100)], true).unwrap();
    let remove = Remove::<Rollout> { id: rollout(), expected: Expected::Present };
    let conflict = |refused: Result<(), Refusal>| {
        assert!(matches!(refused, Err(Refusal::Conflict { .. })), "{refused:?}");
    };
    conflict(fleet.does(remove.clone()));
    let used = Remove::<FirmwareImage> { id: image("1"), expected: Expected::Present };
    conflict(fleet.does(used.clone()));
    conflict(fleet.begin(&STAGES, true));
    let cancel = CancelRollout { rollout: rollout(), roll_back: false };
    fleet.does(cancel.clone()).unwrap();
    conflict(fleet.does(cancel));
    fleet.run(10);
    assert!(fleet.with("2").is_empty());
    assert_eq!(fleet.rollout().state, RolloutState::Cancelled);
    fleet.does(remove).unwrap();
    fleet.does(used).unwrap();
}

#[test]
fn an_admin_may_take_nodes_back() {
    let mut fleet = Fleet::new(&[Agent::Installs; 4]);
    fleet.begin(&[RolloutStage::Nodes(2), RolloutStage::Percent(100)], true).unwrap();
    fleet.run(2);
    assert_eq!(fleet.with("2"), [1, 2]);
    let cancel = CancelRollout { rollout: rollout(), roll_back: true };
    fleet.does(cancel).unwrap();
    fleet.run(3);
    assert!(fleet.with("2").is_empty());
    assert_eq!(fleet.rollout().state, RolloutState::RolledBack);
}

#[test]
fn a_rollout_that_cannot_work_is_refused() {
    let mut fleet = Fleet::new(&[Agent::Installs; 2]);
    let stages = [RolloutStage::Percent(100), RolloutStage::Nodes(1)];
    let refused = fleet.begin(&stages, true);
    assert!(
        matches!(&refused, Err(Refusal::Invalid { key, .. }) if key == "stages"),
        "{refused:?}"
    );
    let other = Put {
        id: image("1"),
        object: FirmwareImage {
            version: "1".to_owned(),
            sha256: "0".repeat(64),
            size_bytes: 1,
            board: Some("another board".to_owned()),
        },
        expected: Expected::Present,
    };
    fleet.does(other).unwrap();
    let mut put = Put {
        id: rollout(),
        object: {
            fleet.begin(&STAGES, true).unwrap();
            fleet.rollout()
        },
        expected: Expected::Present,
    };
    put.object.image = image("1");
    put.object.rollback_image = None;
    let refused = fleet.does(put);
    assert!(
        matches!(&refused, Err(Refusal::Invalid { key, .. }) if key == "nodes[0]"),
        "{refused:?}"
    );
}

#[test]
fn retry_installs_on_the_nodes_that_failed() {
    let mut agents = [Agent::Installs; 10];
    agents[9] = Agent::Refuses;
    let mut fleet = Fleet::new(&agents);
    fleet.begin(&STAGES, true).unwrap();
    let retry = RetryRollout { rollout: rollout(), by: "bob".to_owned() };
    assert!(matches!(fleet.does(retry.clone()), Err(Refusal::Conflict { .. })));
    fleet.run(60);
    assert_eq!(fleet.rollout().nodes[9].failure.as_deref(), Some("exit status 1"));
    fleet.nodes.get_mut(&10).unwrap().agent = Agent::Installs;
    fleet.does(retry.clone()).unwrap();
    fleet.run(40);
    let rollout = fleet.rollout();
    assert_eq!((rollout.state, rollout.failed()), (RolloutState::Done, 0));
    assert_eq!(fleet.with("2").len(), 10);
    assert_eq!(rollout.by, "bob");
    // The others were not commanded again.
    let view = fleet.engine.view();
    let counts: Vec<_> = view.fleet.nodes.values().map(|node| node.commands.len()).collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 1, 1, 2]);
    assert!(matches!(fleet.does(retry), Err(Refusal::Conflict { .. })));
}

#[test]
fn nodes_begin_to_install_in_the_window_only() {
    let mut fleet = Fleet::new(&[Agent::Installs; 2]);
    let stages = [RolloutStage::Nodes(1), RolloutStage::Nodes(2)];
    // The tests begin at 08:00 UTC.
    let window = |from: &str| {
        Some(serde_json::from_value(serde_json::json!({ "from": from, "to": "09:00" })).unwrap())
    };
    let refusal = fleet.begin_in(&stages, true, window("8 o'c"));
    assert!(matches!(refusal, Err(Refusal::Invalid { key, .. }) if key == "window.from"));
    fleet.begin_in(&stages, true, window("08:02")).unwrap();
    while fleet.now_s < 115 {
        fleet.run(1);
        assert!(fleet.with("2").is_empty(), "at {} s", fleet.now_s);
    }
    fleet.run(3);
    assert_eq!(fleet.with("2"), [1]);
}
