//! The shapes on the wire: names of the controller's interface. Nodes go by their short names.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_gateway::Snapshot;
use groundwave_http::time::rfc3339;
use groundwave_model::radio::{Expectation, Station};
use groundwave_model::terrain::PathGround;
use groundwave_simulation::link::{Direction, LinkBudget, LinkView};
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{
    ManualShape, Means, Protocol, Shape, SideView, Tally, Wiring, next_hops,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agreement::agreement;
pub use super::agreement::{Agreement, Difference};
pub use super::readings::{NodeProgram, ReadBack};

/// The testbed now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Testbed {
    /// Name of the testbed.
    pub name: String,
    /// Tick of the world.
    pub tick: u64,
    /// Simulated time, s.
    pub now_s: f64,
    /// Simulated seconds per second; 0 is paused.
    pub speed: f64,
    /// Realisation of a link: a veth pair of its own, or a share of a bridge segment of all nodes.
    #[serde(default)]
    pub wiring: Wiring,
    /// Capabilities of the kernel: all disciplines, or the rate alone; absent until they were
    /// probed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Means>,
    /// Simulated time of the takeover, s; absent for the first controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_over_s: Option<f64>,
    /// Time of the last reading of all links and routes, RFC 3339 in UTC; absent before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_at: Option<String>,
    /// Nodes by their numbers.
    pub nodes: Vec<Node>,
    /// Directions of links, in the order of their veth pairs.
    pub links: Vec<Link>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TestbedNode")]
pub struct Node {
    /// Short name of the node.
    pub name: String,
    /// Number of the node, from 1.
    pub number: u32,
    /// Address of the node.
    pub address: String,
    /// Routing protocol.
    pub routing: Protocol,
    /// Latitude, degrees north; absent when the node is removed.
    pub lat_deg: Option<f64>,
    /// Longitude, degrees east; absent when the node is removed.
    pub lon_deg: Option<f64>,
    /// `true` if the node operates.
    pub operating: bool,
    /// Next hop by destination, by the world's metric.
    pub next_hops: BTreeMap<String, String>,
    /// Routes as read, next hop and metric by destination: those that the routing program has installed, or
    /// those of the kernel for the protocol `static`.
    pub heard: BTreeMap<String, HeardRoute>,
    /// Routing program as read; absent without one, and until it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<NodeProgram>,
    /// Comparison of both; absent for a failed node, and until its routing program reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<Agreement>,
}

/// A route found by the routing protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HeardRoute {
    /// Next hop.
    pub next_hop: String,
    /// Babel's metric (256 for a lossless hop), or batman-adv's quality, 0 to 255; 0 in a kernel.
    pub metric: f64,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Number of the veth pair.
    pub wire: u32,
    /// `true` if the sender has the higher id of the two.
    pub back: bool,
    /// SNR, dB; absent when the pair is out of range.
    pub snr_db: Option<f64>,
    /// Interval of the received power and probability that a link like this one works; absent when the pair
    /// is out of range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<Expectation>,
    /// Samples of the terrain profile without data, which assume ground at sea level.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing_samples: u32,
    /// Knowledge of the ground below the link.
    #[serde(default)]
    pub ground: PathGround,
    /// Desired impairments of the direction.
    pub predicted: Shape,
    /// `true` if the link was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub severed: bool,
    /// Values set by hand in place of those of the model; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manual: Option<ManualShape>,
    /// Number of changes of the desired state.
    pub generation: u64,
    /// Last change that was applied, successfully or not.
    pub observed_generation: u64,
    /// Reason why the desired state is not in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Time from which it is not in force for that reason, RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_since: Option<String>,
    /// Values as read; absent before the first reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<ReadBack>,
    /// Changes of other programs that were undone; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repaired: Option<Repaired>,
    /// Packet counters since the veth pair was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Count>,
    /// Last measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

impl Link {
    /// `true` if the last change was applied and read back, or has failed.
    #[must_use]
    pub fn is_reported(&self) -> bool {
        self.failure.is_some() || self.observed_generation == self.generation
    }
}

/// Repairs of a direction after changes of other programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Repaired {
    /// Number of repairs.
    pub repairs_total: u64,
    /// The last change that was undone.
    pub last_change: String,
}

/// Packet counters since the veth pair was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Count {
    /// Unicast packets that passed.
    pub unicast_passed_total: u64,
    /// Unicast packets lost by impairment.
    pub unicast_lost_total: u64,
    /// Unicast packets dropped by a full queue.
    pub unicast_overflowed_total: u64,
    /// Broadcast packets that passed.
    pub broadcast_passed_total: u64,
    /// Broadcast packets lost by impairment.
    pub broadcast_lost_total: u64,
}

/// Result of a measurement with packets there and back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LinkMeasurement")]
pub struct Measured {
    /// Packets sent.
    pub sent: u32,
    /// Packets returned.
    pub received: u32,
    /// Shortest, mean and longest round-trip time, ms; absent if no packet returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ms: Option<[f64; 3]>,
    /// Throughput of a stream, bit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput_bps: Option<f64>,
}

/// New position of a node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPlace {
    /// Latitude, degrees north, [-90, 90].
    pub lat_deg: f64,
    /// Longitude, degrees east, [-180, 180].
    pub lon_deg: f64,
}

/// A node to be added.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNode {
    /// Short name: 1 to 64 of a-z, A-Z, 0-9, `-`, `_` and `.`, free in the testbed.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// Latitude, degrees north, [-90, 90].
    pub lat_deg: f64,
    /// Longitude, degrees east, [-180, 180].
    pub lon_deg: f64,
    /// Node whose station it gets; absent, that of the lowest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<String>,
    /// Differences of its station.
    #[serde(default)]
    pub station: NewRadio,
}

/// Changes of a node's station; absent fields stay.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRadio {
    /// Transmit power, dBm, [-50, 80].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_power_dbm: Option<f64>,
    /// Centre frequency, MHz, [10, 100000].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency_mhz: Option<f64>,
    /// Bandwidth, Hz, [100, 2e9].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_hz: Option<f64>,
    /// Antenna height above ground, m, [0, 20000].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_agl_m: Option<f64>,
}

/// Time scale of the world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewPace {
    /// Simulated seconds per second, [0, 1000]; 0 pauses.
    pub speed: f64,
}

/// Steps to be taken at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSteps {
    /// Number of steps, [1, 100000].
    #[schemars(range(min = 1, max = 100_000))]
    pub steps: u64,
}

/// A link, by its two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkEnds {
    /// First node.
    pub a: String,
    /// Second node.
    pub b: String,
}

/// Values of a direction set by hand; none gives it back to the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewLinkShape {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// The values; absent ones follow the model.
    #[serde(default)]
    pub values: ManualShape,
}

/// A measurement of a direction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProbe {
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Result of the measurement.
    pub measured: Measured,
}

impl NewRadio {
    /// A station with these changes.
    #[must_use]
    pub fn over(&self, mut station: Station) -> Station {
        let radio = &mut station.radio;
        radio.tx_power_dbm = self.tx_power_dbm.unwrap_or(radio.tx_power_dbm);
        radio.frequency_mhz = self.frequency_mhz.unwrap_or(radio.frequency_mhz);
        radio.bandwidth_hz = self.bandwidth_hz.unwrap_or(radio.bandwidth_hz);
        station.height_agl_m = self.height_agl_m.unwrap_or(station.height_agl_m);
        station
    }
}

impl Testbed {
    /// The testbed in a view of the world.
    #[must_use]
    pub fn of(view: &Snapshot) -> Self {
        let testbed = &view.testbed;
        let settings = testbed.settings.as_ref();
        let name_of: BTreeMap<NodeId, &str> = testbed
            .assignments
            .iter()
            .map(|assignment| (assignment.node, assignment.name.as_str()))
            .collect();
        let name =
            |id: &NodeId| name_of.get(id).map_or_else(|| id.to_string(), |name| (*name).to_owned());
        let graph = view.graph();
        let runs = |node: &NodeId| view.node(*node).is_some_and(|node| node.operating);
        let operating: BTreeSet<NodeId> =
            testbed.assignments.iter().map(|assignment| assignment.node).collect();
        let operating: BTreeSet<NodeId> = operating.into_iter().filter(runs).collect();
        let all = testbed.assignments.iter().map(|assignment| assignment.node);
        let hops: BTreeMap<_, _> =
            all.map(|node| (node, next_hops(&graph, view.limits.metric, node))).collect();
        let named = |hops: &BTreeMap<NodeId, NodeId>| {
            hops.iter().map(|(to, via)| (name(to), name(via))).collect()
        };
        let mut nodes: Vec<Node> = testbed
            .assignments
            .iter()
            .map(|assignment| {
                let there = view.node(assignment.node);
                let [a, b] = settings.map_or([0, 0], |settings| settings.network);
                let [.., c, d] = assignment.number.to_be_bytes();
                let routes = assignment.heard.iter().map(|observed| {
                    let route =
                        HeardRoute { next_hop: name(&observed.next_hop), metric: observed.metric };
                    (name(&observed.destination), route)
                });
                Node {
                    name: assignment.name.clone(),
                    number: assignment.number,
                    address: format!("{a}.{b}.{c}.{d}"),
                    routing: assignment.protocol,
                    lat_deg: there.map(|node| node.position.lat_deg()),
                    lon_deg: there.map(|node| node.position.lon_deg()),
                    operating: there.is_some_and(|node| node.operating),
                    next_hops: hops.get(&assignment.node).map(named).unwrap_or_default(),
                    heard: routes.collect(),
                    program: assignment.program.as_ref().map(NodeProgram::of),
                    agreement: hops.get(&assignment.node).and_then(|hops| {
                        let routes = (hops, assignment.heard.as_slice());
                        let by = (&graph, view.limits.metric);
                        agreement(assignment.node, routes, &operating, by, &name)
                    }),
                }
            })
            .collect();
        nodes.sort_by_key(|node| node.number);
        let mut links: Vec<Link> = testbed
            .sides()
            .map(|(wire, side)| Link {
                from: name(&side.from),
                to: name(&side.to),
                wire: wire.number,
                back: side.from > side.to,
                snr_db: direction(view, side).map(|direction| direction.snr_db),
                expected: budget(view, side)
                    .zip(direction(view, side))
                    .map(|(budget, direction)| direction.expectation(budget.ground)),
                missing_samples: budget(view, side).map_or(0, |budget| budget.missing_samples),
                ground: budget(view, side).map_or(PathGround::Known, |budget| budget.ground),
                predicted: side.shape,
                severed: link(view, side).is_some_and(|link| link.severed),
                manual: side.manual,
                generation: side.generation,
                observed_generation: side.observed_generation,
                failure: side.failure.clone(),
                failed_since: side.failed_since_ns.map(rfc3339),
                reading: ReadBack::of(testbed, side),
                repaired: side
                    .repairs
                    .clone()
                    .map(|(repairs_total, last_change)| Repaired { repairs_total, last_change }),
                counted: side
                    .counted
                    .map(|counted| Count::of(&counted.unicast, &counted.broadcast)),
                measured: side.probe.as_ref().map(|probe| Measured {
                    sent: probe.sent,
                    received: probe.received,
                    round_trip_ms: probe.round_trip_ms,
                    throughput_bps: probe.throughput_bps,
                }),
            })
            .collect();
        links.sort_by_key(|link| (link.wire, link.back));
        Self {
            name: settings.map(|settings| settings.name.clone()).unwrap_or_default(),
            tick: view.tick,
            now_s: view.now_ns as f64 / 1e9,
            speed: testbed.speed,
            wiring: settings.map(|settings| settings.wiring).unwrap_or_default(),
            kernel: testbed.means,
            taken_over_s: testbed.takeover.map(|takeover| takeover.from_ns as f64 / 1e9),
            read_at: testbed.read_ns.map(rfc3339),
            nodes,
            links,
        }
    }
}

impl Count {
    fn of(unicast: &Tally, broadcast: &Tally) -> Self {
        Self {
            unicast_passed_total: unicast.passed_total,
            unicast_lost_total: unicast.lost_total,
            unicast_overflowed_total: unicast.overflowed_total,
            broadcast_passed_total: broadcast.passed_total,
            broadcast_lost_total: broadcast.lost_total,
        }
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// Link of a direction; `None` when the pair is out of range.
fn link<'a>(view: &'a Snapshot, side: &SideView) -> Option<&'a LinkView> {
    let (a, b) = (side.from.min(side.to), side.from.max(side.to));
    let at = view.links.binary_search_by_key(&(a, b), |link| (link.a, link.b)).ok()?;
    Some(&view.links[at])
}

/// Budget of the link of a direction; `None` when the pair is out of range.
fn budget<'a>(view: &'a Snapshot, side: &SideView) -> Option<&'a LinkBudget> {
    link(view, side).map(|link| &link.budget)
}

/// Budget of a direction; `None` when the pair is out of range.
fn direction<'a>(view: &'a Snapshot, side: &SideView) -> Option<&'a Direction> {
    let budget = budget(view, side)?;
    Some(if side.from < side.to { &budget.forward } else { &budget.backward })
}
