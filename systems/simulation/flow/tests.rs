use std::sync::Arc;

use groundwave_engine::{Engine, Execution, Recorded};
use groundwave_model::radio::{Environment, Model, Role, Station};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint, geodesic};

use super::*;
use crate::WorldView;
use crate::link::{FailLink, Probe, ProbeRate, RestoreLink, SetLimits};
use crate::site::{AddNode, MoveNode, SetEnvironment};
use crate::world;
use groundwave_model::route::Metric;

/// Spacing of nodes, m: in free space 16-QAM at one, the lowest modulation at two, nothing at three.
const SPACING_M: f64 = 2_000.0;

/// Rate that no link has, bit/s.
const ALL_BPS: f64 = 1e12;

fn radio() -> Station {
    let mut station = station();
    station.radio.tx_power_dbm = 13.2;
    station
}

/// East and north of a place, in [`SPACING_M`].
fn place([east, north]: [f64; 2]) -> GeoPoint {
    let origin = GeoPoint::new(57.5, 11.5).unwrap();
    let foot = geodesic::direct(origin, 90.0, east * SPACING_M).unwrap();
    geodesic::direct(foot, 0.0, north * SPACING_M).unwrap()
}

fn send<C: Recorded>(engine: &Engine<WorldView>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

fn node(n: usize) -> NodeId {
    NodeId::from_u128(n as u128 + 1)
}

/// A world in free space with nodes numbered from 0.
fn mesh(execution: Execution, stations: &[([f64; 2], Station)]) -> Engine<WorldView> {
    let mut builder = world(Arc::new(Flat::default()));
    builder.execution(execution);
    let engine = builder.build::<WorldView>(1, 1_000_000_000).unwrap();
    let environment = Environment { model: Model::FreeSpace, ..Environment::default() };
    send(&engine, SetEnvironment { environment });
    for (number, (at, station)) in stations.iter().enumerate() {
        let add = AddNode {
            node: node(number),
            name: format!("n{number}"),
            role: Role::Relay,
            position: place(*at),
            station: station.clone(),
            deployment: None,
        };
        send(&engine, add);
    }
    engine
}

fn flow_id(n: usize) -> FlowId {
    FlowId::from_u128(n as u128 + 1)
}

fn start(engine: &Engine<WorldView>, n: usize, ends: [usize; 2], rate_bps: f64) {
    let [source, target] = ends.map(node);
    send(engine, StartFlow { flow: flow_id(n), name: format!("f{n}"), source, target, rate_bps });
}

/// Shares of the rate of a hop of the flow's own route, of all flows.
fn shares(engine: &mut Engine<WorldView>) -> Vec<f64> {
    engine.tick(None).unwrap();
    let share = |flow: &FlowView| {
        let hop = flow.route.as_ref().unwrap().hops[0];
        flow.share.carried_bps / (hop.data_rate_bps / hop.etx)
    };
    engine.view().flows.iter().map(share).collect()
}

#[track_caller]
fn assert_close(shares: &[f64], expected: &[f64]) {
    assert_eq!(shares.len(), expected.len());
    let is_close = |(share, expected): (&f64, &f64)| (share / expected - 1.0).abs() < 0.02;
    assert!(shares.iter().zip(expected).all(is_close), "{shares:?} instead of {expected:?}");
}

fn chain(hops: usize, range_max_m: f64) -> Engine<WorldView> {
    let stations: Vec<_> = (0..=hops).map(|at| ([at as f64, 0.0], radio())).collect();
    let engine = mesh(Execution::Parallel, &stations);
    send(&engine, SetLimits(Limits { link_range_max_m: range_max_m, ..Limits::default() }));
    start(&engine, 0, [0, hops], ALL_BPS);
    engine
}

/// J. Li et al., "Capacity of ad hoc wireless networks", MobiCom 2001: a chain carries 1/4 of the rate of its
/// links where interference reaches beyond the next node, 1/3 where it does not.
#[test]
fn chain_of_nodes_carries_a_quarter_of_its_rate() {
    for (hops, expected) in [(1, 1.0), (2, 0.5), (3, 1.0 / 3.0), (4, 0.25), (5, 0.25), (9, 0.25)] {
        let mut engine = chain(hops, 100_000.0);
        assert_close(&shares(&mut engine), &[expected]);
        assert_eq!(engine.view().flows[0].route.as_ref().unwrap().hops.len(), hops);
    }
    assert_close(&shares(&mut chain(9, 1.5 * SPACING_M)), &[1.0 / 3.0]);
}

#[test]
fn flows_over_one_link_take_turns() {
    let mut engine = mesh(Execution::Parallel, &[([0.0, 0.0], radio()), ([1.0, 0.0], radio())]);
    for number in 0..4 {
        let ends = if number % 2 == 0 { [0, 1] } else { [1, 0] };
        start(&engine, number, ends, 10e6);
    }
    assert_close(&shares(&mut engine), &[0.25; 4]);
    let view = engine.view();
    let flow = &view.flows[0];
    assert!(flow.route.as_ref().unwrap().meets_target && !flow.is_met());
    assert_eq!(flow.lost_bps(), 10e6 - flow.share.carried_bps);
    let expected = Bottleneck { from: node(0), to: node(1), links: 1, flows: 4 };
    assert_eq!(flow.share.bottleneck, Some(expected));
    let json = serde_json::to_value(flow).unwrap();
    assert_eq!((&json["is_met"], &json["bottleneck"]["flows"]), (&false.into(), &4.into()));
    // The air is in use all the time: the queues grow.
    assert_eq!(flow.share.queue_wait_s, None);

    // Time that others leave is used, and all that is offered counts as met.
    for number in 2..4 {
        send(&engine, StopFlow { flow: flow_id(number) });
    }
    start(&engine, 4, [0, 1], 1e6);
    engine.tick(None).unwrap();
    let view = engine.view();
    let small = view.flows.iter().find(|flow| flow.rate_bps == 1e6).unwrap();
    assert!(small.is_met() && small.share.bottleneck.is_none());
    let hop = view.flows[0].route.as_ref().unwrap().hops[0];
    let sum: f64 = view.flows.iter().map(|flow| flow.share.carried_bps).sum();
    assert!(sum <= hop.data_rate_bps / hop.etx * (1.0 + 1e-9));
    let rest_bps = (hop.data_rate_bps / hop.etx - 1e6) / 2.0;
    assert!((view.flows[0].share.carried_bps / rest_bps.min(10e6) - 1.0).abs() < 1e-9);
}

#[test]
fn queues_wait_as_one_server_with_the_utilisation_of_all_flows() {
    let mut engine = mesh(Execution::Parallel, &[([0.0, 0.0], radio()), ([1.0, 0.0], radio())]);
    start(&engine, 0, [0, 1], 1e6);
    start(&engine, 1, [1, 0], 2e6);
    engine.tick(None).unwrap();
    let view = engine.view();
    let hop = view.flows[0].route.as_ref().unwrap().hops[0];
    let busy_s = hop.etx / hop.data_rate_bps;
    let (rho, packet_s) = (3e6 * busy_s, 12_000.0 * busy_s);
    let expected_s = rho * packet_s / (2.0 * (1.0 - rho));
    for flow in view.flows.iter() {
        let wait_s = flow.share.queue_wait_s.unwrap();
        assert!((wait_s / expected_s - 1.0).abs() < 1e-6, "{wait_s} {expected_s}");
    }
}

/// Pairs of nodes from south to north, at places from west to east.
fn pairs(east: &[f64], frequencies_mhz: &[f64]) -> Engine<WorldView> {
    let stations = east.iter().zip(frequencies_mhz).flat_map(|(east, frequency_mhz)| {
        let mut station = radio();
        station.radio.frequency_mhz = *frequency_mhz;
        [([*east, 0.0], station.clone()), ([*east, 1.0], station)]
    });
    let engine = mesh(Execution::Parallel, &stations.collect::<Vec<_>>());
    for number in 0..east.len() {
        start(&engine, number, [2 * number, 2 * number + 1], ALL_BPS);
    }
    engine
}

#[test]
fn links_that_sense_each_other_take_turns_and_others_do_not() {
    assert_close(&shares(&mut pairs(&[0.0, 2.0], &[5580.0; 2])), &[0.5; 2]);
    assert_close(&shares(&mut pairs(&[0.0, 3.0], &[5580.0; 2])), &[1.0; 2]);
    assert_close(&shares(&mut pairs(&[0.0, 2.0], &[5580.0, 5600.0])), &[1.0; 2]);
    // The one in the middle contends with both others, which do not contend with each other.
    assert_close(&shares(&mut pairs(&[0.0, 2.0, 4.0], &[5580.0; 3])), &[0.5; 3]);
    assert_close(&shares(&mut pairs(&[0.0, 1.0, 2.0], &[5580.0; 3])), &[1.0 / 3.0; 3]);
}

#[test]
fn shares_follow_nodes_that_come_into_range_of_each_other() {
    let mut engine = pairs(&[0.0, 3.0], &[5580.0; 2]);
    assert_close(&shares(&mut engine), &[1.0; 2]);
    // Neither route changes: only what the two sense.
    send(&engine, MoveNode { node: node(2), position: place([1.9, 0.0]) });
    send(&engine, MoveNode { node: node(3), position: place([1.9, 1.0]) });
    assert_close(&shares(&mut engine), &[0.5; 2]);
    for peer in [2, 3] {
        for own in [0, 1] {
            send(&engine, FailLink { a: node(own), b: node(peer) });
        }
    }
    assert_close(&shares(&mut engine), &[1.0; 2]);
    send(&engine, RestoreLink { a: node(0), b: node(2) });
    assert_close(&shares(&mut engine), &[0.5; 2]);
}

/// Probes choose the long link, over which data is slow: the flow then carries less.
#[test]
fn routes_by_probes_carry_less_than_routes_by_data() {
    let mut engine = chain(2, 100_000.0);
    let by_data = shares(&mut engine)[0] * {
        let hop = engine.view().flows[0].route.as_ref().unwrap().hops[0];
        hop.data_rate_bps / hop.etx
    };
    let probe = Some(Probe { frame_bytes: 134, rate: ProbeRate::Ofdm6 });
    let limits = Limits { metric: Metric::Etx, probe, ..Limits::default() };
    send(&engine, SetLimits(limits));
    engine.tick(None).unwrap();
    let view = engine.view();
    let route = view.flows[0].route.as_ref().unwrap();
    assert_eq!(route.hops.len(), 1);
    assert!(view.flows[0].share.carried_bps < by_data);
    let delivery = view.links.iter().map(|link| link.probe.unwrap());
    assert!(
        delivery.clone().count() == 3 && delivery.clone().all(|probe| probe.forward_prob > 0.99)
    );
    send(&engine, SetLimits(Limits { probe: None, metric: Metric::Etx, ..Limits::default() }));
    engine.tick(None).unwrap();
    assert!(engine.view().links.iter().all(|link| link.probe.is_none()));
    let invalid = SetLimits(Limits {
        probe: Some(Probe { frame_bytes: 0, rate: ProbeRate::Dsss1 }),
        ..Limits::default()
    });
    send(&engine, invalid);
    let refused = engine.tick(None).unwrap().refused;
    assert!(refused[0].1.to_string().contains("probe.frame_bytes"), "{refused:?}");
}

#[test]
fn idle_ticks_share_nothing_anew() {
    let mut engine = pairs(&[0.0, 2.0, 4.0], &[5580.0; 3]);
    engine.tick(None).unwrap();
    let before = engine.view();
    engine.tick(None).unwrap();
    assert!(Arc::ptr_eq(&before.flows, &engine.view().flows));
}

#[test]
fn shares_are_the_same_on_one_thread_and_on_many() {
    let stations: Vec<_> =
        (0..30).map(|at| ([f64::from(at % 6) * 0.9, f64::from(at / 6) * 0.8], radio())).collect();
    let flows = |execution| {
        let mut engine = mesh(execution, &stations);
        (0..20).for_each(|n| start(&engine, n, [n, 29 - (n * 7 + 3) % 9], 2e5 * (n + 1) as f64));
        engine.tick(None).unwrap();
        serde_json::to_string(&*engine.view().flows).unwrap()
    };
    let serial = flows(Execution::Serial);
    assert!(serial.contains("\"is_met\":true") && serial.contains("\"is_met\":false"), "{serial}");
    assert_eq!(serial, flows(Execution::Parallel));
}
