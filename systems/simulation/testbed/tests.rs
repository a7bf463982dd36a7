//! Shapes, and the way of a link onto a veth pair.

use std::sync::Arc;

use groundwave_engine::log::{Entry, FORMAT, Header, Journal, Reader, Writer};
use groundwave_engine::{Effects, Engine, Next, Refusal};
use groundwave_impair::Loss;
use groundwave_model::radio::modulation::ModulationId;
use groundwave_model::radio::{Radio, Role, Station};
use groundwave_model::terrain::{Flat, GeoPoint};

use super::*;
use crate::WorldView;
use crate::link::{Direction, FailLink, LinkBudget};
use crate::site::{AddNode, FailNode, MoveNode, NodeId};

fn direction(per: f64, margin_db: f64, data_rate_bps: f64) -> Direction {
    Direction {
        per,
        link_margin_db: margin_db,
        data_rate_bps,
        modulation: Some(ModulationId::Bpsk12),
        ..LinkBudget::default().forward
    }
}

fn radio() -> Radio {
    groundwave_model::sample::station().radio
}

#[test]
fn retries_turn_loss_into_delay_and_airtime() {
    let mac = MediumAccess { retries: 3, processing_ns: 0, ..MediumAccess::default() };
    let lossy = shape(&direction(0.5, 10.0, 8e6), 0.0, &radio(), 1000, &mac);
    // 0.5^4 is lost; of the rate, half is delivered.
    assert!((lossy.loss_prob - 0.0625).abs() < 1e-12);
    assert_eq!(lossy.rate_bps, 4_000_000);
    // Half a window of 15 slots after DIFS, and again, doubled, for each further try of 1 ms.
    let wait = |window: f64| 34_000.0 + window / 2.0 * 9_000.0;
    let again = 0.5 * (1e6 + wait(30.0)) + 0.25 * (1e6 + wait(60.0)) + 0.125 * (1e6 + wait(120.0));
    assert!((lossy.delay_ns as f64 - (wait(15.0) + again)).abs() < 2.0, "{lossy:?}");
    let clean = shape(&direction(0.0, 10.0, 8e6), 2_997.924_58, &radio(), 1000, &mac);
    assert_eq!((clean.loss_prob, clean.rate_bps, clean.jitter_ns), (0.0, 8_000_000, 0));
    assert_eq!(clean.delay_ns, 10_000 + 34_000 + 67_500);
}

#[test]
fn broadcast_is_sent_once_at_the_basic_rate() {
    let mac = MediumAccess { broadcast_bytes: 4096, ..MediumAccess::default() };
    // 10 % of 4096 octets at the SNR the lowest rung requires.
    let edge = shape(&direction(0.5, 0.0, 8e6), 0.0, &radio(), 1000, &mac);
    assert!((edge.broadcast_loss_prob - 0.1).abs() < 1e-12, "{edge:?}");
    // The fourth rung requires 8 dB more.
    let faster = MediumAccess { broadcast_mcs: 3, ..mac };
    let above = shape(&direction(0.5, 8.0, 8e6), 0.0, &radio(), 1000, &faster);
    assert!((above.broadcast_loss_prob - 0.1).abs() < 1e-12, "{above:?}");
    let below = shape(&direction(0.5, 4.0, 8e6), 0.0, &radio(), 1000, &faster);
    assert!(below.broadcast_loss_prob > 0.9, "{below:?}");
}

#[test]
fn losses_have_runs_of_the_requested_length() {
    let mac = MediumAccess { retries: 0, loss_burst_packets: Some(4.0), ..MediumAccess::default() };
    let shape = shape(&direction(0.2, 5.0, 1e6), 0.0, &radio(), 1000, &mac);
    let [p, r] = shape.two_states().unwrap();
    assert_eq!(r, 0.25);
    // The share of time in Bad is the loss.
    assert!((p / (p + r) - 0.2).abs() < 1e-12);
    assert_eq!(shape.cut().two_states(), None);
    let Some(Loss::GilbertElliott { p: into, r: out, one_minus_h, one_minus_k }) =
        shape.impairment().loss
    else {
        panic!("{:?}", shape.impairment());
    };
    assert_eq!((into, out, one_minus_h, one_minus_k), (p, r, 0.0, 1.0));
    assert_eq!(shape.jitter_ns, 0, "nothing is tried twice");
}

#[test]
fn high_loss_in_runs_is_lost_in_full() {
    let mac = MediumAccess { retries: 0, loss_burst_packets: Some(4.0), ..MediumAccess::default() };
    let model = shape(&direction(0.2, 5.0, 1e6), 0.0, &radio(), 1000, &mac);
    for loss_prob in [0.5, 0.8, 0.9, 0.999] {
        let [p, r] = Shape { loss_prob, ..model }.two_states().unwrap();
        assert!((p / (p + r) - loss_prob).abs() < 1e-12, "{loss_prob}: {p} {r}");
        assert!(p <= 1.0 && r <= 0.25, "{loss_prob}: {p} {r}");
    }
    let all = ManualShape { loss_prob: Some(1.0), ..ManualShape::default() }.over(model);
    assert_eq!(all.two_states(), None);
    assert_eq!(all.impairment().loss, Some(Loss::Bernoulli { pct: 100.0, correlation: None }));
}

#[test]
fn a_wish_moves_beyond_the_hysteresis_only() {
    let before = shape(&direction(0.02, 10.0, 8e6), 0.0, &radio(), 1000, &MediumAccess::default());
    let at = |per, rate| {
        shape(&direction(per, 10.0, rate), 0.0, &radio(), 1000, &MediumAccess::default())
    };
    assert!(!at(0.021, 8.1e6).moved_from(&before));
    assert!(at(0.02, 9e6).moved_from(&before));
    assert!(before.cut().moved_from(&before));
    assert!(!before.cut().moved_from(&before.cut()));
}

/// A world of three nodes in a row, `spacing_deg` apart, whose log is kept.
pub(super) struct Bed {
    pub(super) engine: Engine<WorldView>,
    work: Effects<Work>,
    log: Arc<std::sync::Mutex<Writer<Vec<u8>>>>,
}

struct Kept(Arc<std::sync::Mutex<Writer<Vec<u8>>>>);
impl Journal for Kept {
    fn append(&mut self, entry: &Entry) -> std::io::Result<()> {
        self.0.lock().unwrap().append(entry)
    }
    fn commit(&mut self) -> std::io::Result<()> {
        self.0.lock().unwrap().flush()
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

fn settings() -> Settings {
    Settings {
        name: "row".to_owned(),
        network: [10, 77],
        routing: Protocol::Static,
        wiring: Wiring::Link,
        names: [].into(),
        routing_of: [].into(),
        mac: MediumAccess::default(),
        bindings: Vec::new(),
        scenario: None,
    }
}

fn place(east: f64) -> GeoPoint {
    GeoPoint::new(57.0, 11.0 + east).unwrap()
}

pub(super) fn bed() -> Bed {
    let mut engine = crate::world(Arc::new(Flat::default())).build(1, 1_000_000_000).unwrap();
    let header = Header { format: FORMAT, seed: 1, step_ns: 1_000_000_000, inputs: [].into() };
    let writer = Writer::begin(Vec::new(), &header).unwrap();
    let log = Arc::new(std::sync::Mutex::new(writer));
    engine.record(Kept(Arc::clone(&log)));
    let work = engine.effects::<Work>();
    let handle = engine.handle();
    handle.submit(BeginTestbed(settings())).unwrap();
    for (at, name) in NAMES.into_iter().enumerate() {
        let station: Station = groundwave_model::sample::station();
        let node = NodeId::named(name);
        let (position, name) = (place(at as f64 * 0.01), name.to_owned());
        let add = AddNode { node, name, role: Role::Relay, position, station, deployment: None };
        handle.submit(add).unwrap();
    }
    engine.tick(None).unwrap();
    Bed { engine, work, log }
}

impl Bed {
    pub(super) fn take_work(&mut self) -> Vec<Work> {
        std::iter::from_fn(|| self.work.try_next()).collect()
    }

    pub(super) fn tick(&mut self) -> Vec<Work> {
        self.engine.tick(None).unwrap();
        self.take_work()
    }
}

pub(super) fn id(name: &str) -> NodeId {
    NodeId::named(name)
}

#[test]
fn seats_come_before_wires_and_stay() {
    let mut bed = bed();
    let work = bed.take_work();
    let kinds: Vec<char> = work
        .iter()
        .map(|work| match work {
            Work::NamespaceAssignment { .. } => 's',
            Work::Shape { .. } => 'w',
            Work::Routes { .. } => 'r',
            Work::Release { .. } => 'x',
        })
        .collect();
    assert_eq!(kinds.iter().collect::<String>(), "ssswwwwwwrrr");
    assert_eq!(bed.tick(), [], "nothing moved");
    let view = bed.engine.view();
    assert_eq!(view.testbed.assignments.len(), 3);
    assert_eq!(view.testbed.wires.len(), 3);
    assert!(view.testbed.sides().all(|(_, side)| side.shape.up && side.generation == 1));
}

#[test]
fn what_fails_is_cut_and_comes_back_on_the_same_wire() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    handle.submit(FailNode { node: id("b") }).unwrap();
    let cut = bed.tick();
    let downs =
        cut.iter().filter(|work| matches!(work, Work::Shape { side, .. } if !side.shape.up));
    assert_eq!(downs.count(), 4, "{cut:?}");
    handle.submit(FailLink { a: id("a"), b: id("c") }).unwrap();
    assert_eq!(bed.tick().iter().filter(|work| matches!(work, Work::Shape { .. })).count(), 2);
    // Out of range the link itself is gone, its wire is not.
    handle
        .submit(MoveNode { node: id("b"), position: GeoPoint::new(-57.0, 11.0).unwrap() })
        .unwrap();
    handle.submit(crate::link::RestoreLink { a: id("a"), b: id("c") }).unwrap();
    handle.submit(crate::site::RestoreNode { node: id("b") }).unwrap();
    bed.tick();
    let view = bed.engine.view();
    assert_eq!(view.testbed.wires.len(), 3);
    let up: Vec<bool> = view.testbed.sides().map(|(_, side)| side.shape.up).collect();
    assert_eq!(up.iter().filter(|up| **up).count(), 2, "{up:?}");
}

#[test]
fn added_node_gets_the_next_number_and_removed_one_gives_all_back() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    let add = |name: &str, east| AddTestbedNode {
        node: id(name),
        name: name.to_owned(),
        position: place(east),
        station: groundwave_model::sample::station(),
    };
    for (name, text) in [
        ("b", "has a node \"b\""),
        ("B", "has a node \"b\""),
        ("localhost", "no name of the machine"),
        ("../x", "allowed: 1 to 64"),
        ("", "allowed: 1 to 64"),
    ] {
        let refused = handle.submit(add(name, 0.015)).unwrap();
        assert_eq!(bed.tick(), []);
        let refusal = refused.wait().unwrap_err().to_string();
        assert!(refusal.contains(text), "{refusal}");
    }
    handle.submit(add("d", 0.015)).unwrap();
    let work = bed.tick();
    let numbers: Vec<u32> = work
        .iter()
        .filter_map(|work| match work {
            Work::NamespaceAssignment { assignment, .. } => Some(assignment.number),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [4]);
    assert_eq!(bed.engine.view().testbed.wires.len(), 6);

    let number_b = bed.engine.view().testbed.named("b").unwrap().number;
    handle.submit(RemoveTestbedNode { node: id("b") }).unwrap();
    let work = bed.tick();
    let released: Vec<_> = work
        .iter()
        .filter_map(|work| match work {
            Work::Release { node, assignment } => Some((*node, assignment.number)),
            _ => None,
        })
        .collect();
    assert_eq!(released, [(id("b"), number_b)]);
    let routes = work.iter().filter_map(|work| match work {
        Work::Routes { next_hops, .. } => Some(next_hops),
        _ => None,
    });
    let mut all = 0;
    for next_hops in routes {
        all += 1;
        let mut nodes = next_hops.keys().chain(next_hops.values());
        assert!(nodes.all(|node| *node != id("b")), "{next_hops:?}");
    }
    assert_eq!(all, 3, "the remaining nodes have routes without it");
    let view = bed.engine.view();
    assert!(view.testbed.named("b").is_none() && view.node(id("b")).is_none());
    assert_eq!(view.testbed.wires.len(), 3);

    // Reports that were under way when it went change nothing and keep the others.
    let side = |from: &str, to: &str| LinkDirection { from: id(from), to: id(to) };
    let sight =
        |side| Observation { side, generation: 1, failure: None, repaired: None, reading: None };
    let sightings = vec![sight(side("a", "b")), sight(side("a", "c"))];
    let report = handle.submit(ReportLinkState { sightings, read_ns: None }).unwrap();
    let count = |side| Counted { side, unicast: Tally::default(), broadcast: Tally::default() };
    let counted = vec![count(side("b", "a")), count(side("a", "d"))];
    let counts =
        handle.submit(CountWires { counted, readings: Vec::new(), read_ns: None }).unwrap();
    let again = handle.submit(RemoveTestbedNode { node: id("b") }).unwrap();
    bed.tick();
    assert_eq!((report.wait(), counts.wait()), (Ok(()), Ok(())));
    assert!(matches!(again.wait(), Err(Refusal::NotFound { .. })));

    // Numbers are not used again, not even for the same node.
    handle.submit(add("b", 0.01)).unwrap();
    bed.tick();
    let view = bed.engine.view();
    assert_eq!(view.testbed.named("b").unwrap().number, 5);
    let pairs: Vec<u32> = view.testbed.wires.iter().map(|wire| wire.number).collect();
    assert_eq!(pairs.iter().filter(|number| **number > 6).count(), 3, "{pairs:?}");
    let distinct: std::collections::BTreeSet<_> = pairs.iter().collect();
    assert_eq!(distinct.len(), pairs.len());
}

#[test]
fn node_that_is_removed_and_added_in_one_tick_is_one_assignment() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    handle.submit(RemoveTestbedNode { node: id("a") }).unwrap();
    let add = AddTestbedNode {
        node: id("a"),
        name: "a".to_owned(),
        position: place(0.0),
        station: groundwave_model::sample::station(),
    };
    handle.submit(add).unwrap();
    let work = bed.tick();
    let of_namespace = work
        .iter()
        .filter(|work| matches!(work, Work::NamespaceAssignment { .. } | Work::Release { .. }));
    let of_namespace: Vec<_> = of_namespace.collect();
    let [Work::NamespaceAssignment { assignment, .. }] = of_namespace[..] else {
        panic!("{of_namespace:?}");
    };
    assert_eq!(assignment.number, 4);
}

#[test]
fn values_set_by_hand_stand_in_place_of_those_of_the_model_until_given_back() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    let side = LinkDirection { from: id("b"), to: id("a") };
    let set = |values: ManualShape| handle.submit(SetLinkShape { side, values }).unwrap();
    let shape = |bed: &Bed| {
        let view = bed.engine.view();
        let (_, side) =
            view.testbed.sides().find(|(_, s)| s.from == id("b") && s.to == id("a")).unwrap();
        (side.shape, side.generation, side.manual)
    };
    let (of_model, ..) = shape(&bed);
    let values =
        ManualShape { loss_prob: Some(0.1), rate_bps: Some(500_000), ..Default::default() };
    set(values);
    assert_eq!(bed.tick().len(), 1, "one direction");
    let by_hand = Shape { loss_prob: 0.1, broadcast_loss_prob: 0.1, rate_bps: 500_000, ..of_model };
    assert_eq!(shape(&bed), (by_hand, 2, Some(values)));
    // To the last digit, though the model moves in larger steps; a cut link is down all the same.
    set(ManualShape { loss_prob: Some(0.1001), ..values });
    bed.tick();
    assert_eq!((shape(&bed).0.loss_prob, shape(&bed).1), (0.1001, 3));
    handle.submit(FailLink { a: id("a"), b: id("b") }).unwrap();
    bed.tick();
    assert!(!shape(&bed).0.up);
    handle.submit(crate::link::RestoreLink { a: id("a"), b: id("b") }).unwrap();
    bed.tick();
    assert_eq!(shape(&bed).0.loss_prob, 0.1001);
    let refused = set(ManualShape { loss_prob: Some(1.5), ..values });
    let too_slow = set(ManualShape { rate_bps: Some(63), ..values });
    set(ManualShape::default());
    bed.tick();
    assert!(refused.wait().is_err());
    assert!(too_slow.wait().is_err());
    assert_eq!((shape(&bed).0, shape(&bed).2), (of_model, None));
}

#[test]
fn reports_of_what_is_not_there_are_refused() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    let side = LinkDirection { from: id("a"), to: id("b") };
    let sight = |generation| ReportLinkState {
        sightings: vec![Observation {
            side,
            generation,
            failure: None,
            repaired: None,
            reading: None,
        }],
        read_ns: None,
    };
    let good = handle.submit(sight(1)).unwrap();
    let early = handle.submit(sight(9)).unwrap();
    let foreign = handle
        .submit(CountWires {
            counted: vec![Counted {
                side: LinkDirection { from: id("a"), to: id("zebra") },
                unicast: Tally::default(),
                broadcast: Tally::default(),
            }],
            readings: Vec::new(),
            read_ns: None,
        })
        .unwrap();
    bed.tick();
    assert_eq!(good.wait(), Ok(()));
    assert!(early.wait().is_err() && foreign.wait().is_err());
    let view = bed.engine.view();
    let (_, side_view) =
        view.testbed.sides().find(|(_, s)| s.from == id("a") && s.to == id("b")).unwrap();
    assert_eq!(side_view.observed_generation, 1);
}

#[test]
fn a_replay_without_a_kernel_comes_to_the_same() {
    let mut bed = bed();
    bed.take_work();
    let handle = bed.engine.handle();
    let side = LinkDirection { from: id("a"), to: id("b") };
    let probe =
        Probe { sent: 9, received: 8, round_trip_ms: Some([1.0, 2.5, 4.0]), throughput_bps: None };
    handle.submit(ProbeLink { side, probe }).unwrap();
    handle
        .submit(ReportRoutes {
            node: id("a"),
            routes: vec![ObservedRoute { destination: id("c"), next_hop: id("b"), metric: 512.0 }],
            program: Some(RoutingProgram { failure: Some("ended".to_owned()), restarts_total: 2 }),
            read_ns: Some(5),
        })
        .unwrap();
    let reading = Some(Reading { rate_bps: Some(64_000), ..Reading::default() });
    let (counted, readings) = (Vec::new(), vec![SideReading { side, reading }]);
    handle.submit(CountWires { counted, readings, read_ns: Some(6) }).unwrap();
    let values = ManualShape { delay_ns: Some(7_000_000), ..Default::default() };
    handle.submit(SetLinkShape { side, values }).unwrap();
    handle.submit(SetTimeScale { speed: 2.0 }).unwrap();
    let means = Means::Rate;
    handle.submit(MeetKernel { means }).unwrap();
    for from_ns in [4_000_000_000, 7_000_000_000] {
        handle.submit(TakeOver { from_ns }).unwrap();
    }
    bed.tick();
    let testbed = bed.engine.view().testbed.clone();
    assert_eq!(testbed.means, Some(Means::Rate));
    let last = Takeover { from_ns: 7_000_000_000, number: 2 };
    assert_eq!(testbed.takeover, Some(last));
    handle.submit(FailNode { node: id("c") }).unwrap();
    bed.tick();
    let add = AddTestbedNode {
        node: id("d"),
        name: "d".to_owned(),
        position: place(0.03),
        station: groundwave_model::sample::station(),
    };
    handle.submit(add).unwrap();
    bed.tick();
    handle.submit(RemoveTestbedNode { node: id("b") }).unwrap();
    bed.tick();
    let digest = bed.engine.mark().unwrap();
    let log = bed.log.lock().unwrap().get_ref().clone();
    let mut fresh =
        crate::world(Arc::new(Flat::default())).build::<WorldView>(1, 1_000_000_000).unwrap();
    let mut reader = Reader::open(log.as_slice()).unwrap();
    let replayed = groundwave_engine::replay(&mut fresh, &mut reader, |_| Next::Go).unwrap();
    assert_eq!(replayed.digest, digest);
    assert_eq!(fresh.view().testbed, bed.engine.view().testbed);
}
