use groundwave_engine::Engine;
use groundwave_protocol::Mac;
use groundwave_protocol::heartbeat::Heartbeat;
use groundwave_simulation::site::NodeId;
use serde_json::json;

use super::*;
use crate::Snapshot;
use crate::fleet::{FleetEventKind, RecordHeartbeat, SetGatewayClock, StartGatewayClock};
use crate::test_world::{self, does_at, let_in};

const S: u64 = 1_000_000_000;
/// 2027-01-15 08:00:00 UTC.
const WALL: u64 = 1_800_000_000 * S;

fn node(number: u8) -> NodeId {
    NodeId::from_u128(u128::from(number))
}

/// A mesh: nodes with the numbers of their neighbors; its clock in s.
struct Mesh {
    engine: Engine<Snapshot>,
    now_s: u64,
    seq: u64,
    neighbors: Vec<(u8, Vec<u8>)>,
}

impl Mesh {
    fn new(pairs: &[(u8, u8)]) -> Self {
        let mut numbers: Vec<u8> = pairs.iter().flat_map(|(a, b)| [*a, *b]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.retain(|number| *number != 0);
        let neighbors = numbers.iter().map(|number| {
            let others = pairs.iter().filter_map(|(a, b)| match (a == number, b == number) {
                (true, _) => Some(*b),
                (_, true) => Some(*a),
                _ => None,
            });
            (*number, others.collect())
        });
        let mut mesh =
            Self { engine: test_world::engine(), now_s: 0, seq: 0, neighbors: neighbors.collect() };
        let start = StartGatewayClock { now_ns: 0, period_ns: 5 * S };
        does_at(&mut mesh.engine, WALL, start).unwrap();
        does_at(&mut mesh.engine, WALL, BeginOutages {}).unwrap();
        for number in numbers {
            let_in(&mut mesh.engine, WALL, number, node(number));
        }
        mesh
    }

    fn wall_ns(&self) -> u64 {
        WALL + self.now_s * S
    }

    /// Heartbeats of all nodes but the silent ones every 5 s, until so many s passed.
    fn passes(&mut self, span_s: u64, silent: &[u8]) {
        for _ in 0..span_s {
            self.now_s += 1;
            let clock = SetGatewayClock { now_ns: self.now_s * S };
            let wall_ns = self.wall_ns();
            does_at(&mut self.engine, wall_ns, clock).unwrap();
            for (number, neighbors) in self.neighbors.clone() {
                if self.now_s % 5 != u64::from(number) % 5 || silent.contains(&number) {
                    continue;
                }
                self.seq += 1;
                let links: Vec<_> = neighbors
                    .iter()
                    .filter(|other| !silent.contains(other))
                    .map(
                        |other| json!({ "neigh_address": Mac([2, 0, 0, 0, 0, *other]), "tq": 200 }),
                    )
                    .collect();
                let heartbeat = json!({
                    "mac": Mac([2, 0, 0, 0, 0, number]), "hostname": format!("n{number}"), "boot_id": "boot",
                    "seq": self.seq, "mesh": { "links": links },
                });
                let heartbeat: Heartbeat = serde_json::from_value(heartbeat).unwrap();
                let command = RecordHeartbeat {
                    node: node(number),
                    heartbeat,
                    now_ns: self.now_s * S,
                    source_ip: "10.42.0.9".parse().unwrap(),
                    sent_ms: None,
                };
                does_at(&mut self.engine, wall_ns, command).unwrap();
            }
        }
    }

    fn summaries(&self) -> Vec<String> {
        let view = self.engine.view();
        let events = view.events.iter().filter(|event| event.kind == FleetEventKind::Outage);
        events.map(|event| event.data["summary"].clone()).collect()
    }

    fn outages(&self) -> Vec<Outage> {
        self.engine.view().outages.values().cloned().collect()
    }
}

/// Nodes 1 and 2 reach the gateway, 3 to 6 are behind 2, 6 behind 5.
const TREE: [(u8, u8); 5] = [(1, 2), (2, 3), (2, 4), (2, 5), (5, 6)];

#[test]
fn a_relay_with_its_nodes_is_one_outage_with_one_notice_of_recovery() {
    let mut mesh = Mesh::new(&TREE);
    mesh.passes(20, &[]);
    mesh.passes(90, &[2, 3, 4, 5, 6]);
    assert_eq!(mesh.summaries(), ["relay n2 is silent: 4 nodes behind it: n3, n4, n5, n6"]);
    mesh.passes(20, &[]);
    let summaries = mesh.summaries();
    assert_eq!(summaries.len(), 2, "{summaries:?}");
    assert_eq!(summaries[1], "relay n2 is back after 1 min 43 s: 4 of 4 nodes behind it");
    let outages = mesh.outages();
    assert_eq!(outages.len(), 1);
    assert!(!outages[0].is_open() && outages[0].silent.is_empty());
}

#[test]
fn node_without_heartbeats_begins_no_outage() {
    let mut mesh = Mesh::new(&TREE);
    mesh.passes(120, &[3, 4, 5, 6]);
    assert_eq!(mesh.summaries(), [""; 0]);
    // Installed later, one of them is an outage as any other.
    mesh.passes(20, &[4, 5, 6]);
    mesh.passes(90, &[3, 4, 5, 6]);
    let summaries = mesh.summaries();
    assert_eq!(summaries.len(), 1, "{summaries:?}");
    assert!(summaries[0].starts_with("node n3 is silent: not heard for"), "{summaries:?}");
}

#[test]
fn a_node_that_stays_silent_begins_an_outage_of_its_own_after_the_relay_is_back() {
    let mut mesh = Mesh::new(&TREE);
    mesh.passes(20, &[]);
    mesh.passes(90, &[2, 3, 4, 5, 6]);
    mesh.passes(60, &[4]);
    assert_eq!(mesh.summaries().len(), 1);
    mesh.passes(20, &[4]);
    let summaries = mesh.summaries();
    assert_eq!(summaries.len(), 3, "{summaries:?}");
    assert!(summaries[1].ends_with("3 of 4 nodes behind it; silent still: n4"), "{summaries:?}");
    assert!(summaries[2].starts_with("node n4 is silent: not heard for"), "{summaries:?}");
    mesh.passes(20, &[]);
    let summaries = mesh.summaries();
    assert_eq!(summaries.len(), 4, "{summaries:?}");
    assert!(summaries[3].starts_with("node n4 is back after 3 min"), "{summaries:?}");
}

#[test]
fn a_node_that_is_silent_later_joins_the_outage_of_its_relay() {
    let mut mesh = Mesh::new(&TREE);
    mesh.passes(20, &[]);
    mesh.passes(60, &[2, 3, 4]);
    mesh.passes(120, &[2, 3, 4, 5, 6]);
    let summaries = mesh.summaries();
    assert_eq!(summaries, ["relay n2 is silent: 2 nodes behind it: n3, n4"]);
    assert_eq!(mesh.outages()[0].behind().count(), 4);
}

#[test]
fn two_nodes_with_other_ways_are_two_outages() {
    // 2 and 3 have a link to each other, and each to 1.
    let mut mesh = Mesh::new(&[(1, 2), (1, 3), (2, 3)]);
    mesh.passes(20, &[]);
    mesh.passes(90, &[2, 3]);
    let summaries = mesh.summaries();
    assert_eq!(summaries.len(), 2, "{summaries:?}");
    assert!(summaries.iter().all(|summary| summary.starts_with("node n")), "{summaries:?}");
}

#[test]
fn the_links_of_the_gateway_name_the_relay_where_all_nodes_are_silent() {
    // The address of the gateway ends with 0.
    let star = [(0, 7), (7, 3), (7, 4)];
    for (links, expected) in [
        (None, "3 nodes are silent together: n3, n4, n7"),
        (Some((0, None)), "relay n7 is silent: 2 nodes behind it: n3, n4"),
        (Some((99, Some(7))), "relay n7 is silent: 2 nodes behind it: n3, n4"),
    ] {
        let mut mesh = Mesh::new(&star);
        if let Some((own, neighbor)) = links {
            let mac = |number: u8| Mac([2, 0, 0, 0, 0, number]);
            let command = ObserveGatewayLinks {
                macs: [mac(own)].into(),
                neighbors: neighbor.into_iter().map(mac).collect(),
            };
            does_at(&mut mesh.engine, WALL, command).unwrap();
        }
        mesh.passes(20, &[]);
        mesh.passes(90, &[3, 4, 7]);
        assert_eq!(mesh.summaries(), [expected]);
        mesh.passes(20, &[]);
        assert_eq!(mesh.summaries().len(), 2);
    }
}

#[test]
fn a_world_that_does_not_watch_outages_has_none() {
    let mut mesh = Mesh::new(&TREE);
    mesh.engine = test_world::engine();
    does_at(&mut mesh.engine, WALL, StartGatewayClock { now_ns: 0, period_ns: 5 * S }).unwrap();
    for number in 1..7 {
        let_in(&mut mesh.engine, WALL, number, node(number));
    }
    mesh.passes(20, &[]);
    mesh.passes(90, &[2, 3, 4, 5, 6]);
    assert!(mesh.outages().is_empty() && mesh.summaries().is_empty());
}
