use std::sync::Arc;

use groundwave_engine::{Engine, Recorded};
use groundwave_model::radio::Role;
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};

use super::*;
use crate::flow::StartFlow;
use crate::link::{FailLink, Limits, SetLimits};
use crate::site::{AddNode, FailNode, MoveNode, RemoveNode, RestoreNode};
use crate::world;

fn place(east: f64) -> GeoPoint {
    GeoPoint::new(57.7, 11.9 + east * 0.03).unwrap()
}

fn id(name: &str) -> NodeId {
    NodeId::named(name)
}

/// West, middle and east in a line, and a flow along it.
fn line() -> (Engine<WorldView>, History) {
    let mut engine = world(Arc::new(Flat::default())).build::<WorldView>(1, 1_000_000_000).unwrap();
    let limits = Limits { link_range_max_m: 2500.0, ..Limits::default() };
    send(&engine, SetLimits(limits));
    for (at, name) in ["west", "middle", "east"].into_iter().enumerate() {
        send(
            &engine,
            AddNode {
                node: id(name),
                name: name.to_owned(),
                role: Role::default(),
                position: place(at as f64),
                station: station(),
                deployment: None,
            },
        );
    }
    let (source, target) = (id("west"), id("east"));
    send(
        &engine,
        StartFlow { flow: FlowId::named("f"), name: "f".to_owned(), source, target, rate_bps: 1e5 },
    );
    let mut history = History::default();
    tick(&mut engine, &mut history, 2);
    (engine, history)
}

fn send<C: Recorded>(engine: &Engine<WorldView>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

fn tick(engine: &mut Engine<WorldView>, history: &mut History, times: u64) {
    for _ in 0..times {
        engine.tick(None).unwrap();
        history.note(&engine.view(), true);
    }
}

#[test]
fn an_outage_has_its_time_and_its_cause() {
    let (mut engine, mut history) = line();
    send(&engine, FailNode { node: id("middle") });
    tick(&mut engine, &mut history, 3);
    send(&engine, RestoreNode { node: id("middle") });
    tick(&mut engine, &mut history, 5);
    let flow = &history.flows[&FlowId::named("f")];
    assert_eq!((flow.known_s, flow.up_s, flow.route_changes), (9.0, 6.0, 2));
    let node = "middle".to_owned();
    let outage = Outage { from_s: 2.0, to_s: Some(5.0), cause: Cause::NodeDown { node } };
    assert_eq!(flow.outages, [outage]);
    let carried = history.samples[0].carried_bps;
    assert!((flow.carried_mean_bps / carried - 6.0 / 9.0).abs() < 1e-12);
    let shares: Vec<f64> = history.samples.iter().map(|sample| sample.reachable_share).collect();
    assert_eq!(shares[..6], [1.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    let link = history.links.values().next().unwrap();
    assert_eq!((link.known_s, link.up_s, link.changes), (9.0, 6.0, 2));
}

#[test]
fn cuts_fades_and_missing_routes_give_their_causes() {
    let cause = |spoil: &dyn Fn(&Engine<WorldView>)| {
        let (mut engine, mut history) = line();
        spoil(&engine);
        tick(&mut engine, &mut history, 1);
        history.flows[&FlowId::named("f")].outages[0].cause.clone()
    };
    let ends = || ("middle".to_owned(), "east".to_owned());
    let cut = cause(&|engine| {
        let (a, b) = (id("middle"), id("east"));
        send(engine, FailLink { a, b });
    });
    let (from, to) = ends();
    assert_eq!(cut, Cause::LinkCut { from, to });
    let faded = cause(&|engine| {
        let (node, position) = (id("east"), place(30.0));
        send(engine, MoveNode { node, position });
    });
    let ((from, to), margin_db) = (ends(), None);
    assert_eq!(faded, Cause::LinkFaded { from, to, margin_db });
    let end = cause(&|engine| send(engine, FailNode { node: id("east") }));
    assert_eq!(end.to_string(), "east down");
    // A node that is gone keeps its name.
    let removal = cause(&|engine| send(engine, RemoveNode { node: id("middle") }));
    assert_eq!(removal.to_string(), "middle down");
}

#[test]
fn flow_without_route_gives_no_way() {
    let (mut engine, mut history) = line();
    let (source, target) = (id("west"), id("lonely"));
    send(
        &engine,
        AddNode {
            node: target,
            name: "lonely".to_owned(),
            role: Role::default(),
            position: place(40.0),
            station: station(),
            deployment: None,
        },
    );
    send(
        &engine,
        StartFlow { flow: FlowId::named("g"), name: "g".to_owned(), source, target, rate_bps: 1e5 },
    );
    tick(&mut engine, &mut history, 4);
    let flow = &history.flows[&FlowId::named("g")];
    assert_eq!((flow.up_s, flow.route_changes), (0.0, 0));
    assert_eq!((flow.outages.len(), &flow.outages[0].cause), (1, &Cause::NoWay));
    assert_eq!(history.samples[5].reachable_share, 0.5);
}

#[test]
fn a_failure_is_a_disturbance_until_its_flows_are_back() {
    let (mut engine, mut history) = line();
    send(&engine, FailNode { node: id("middle") });
    tick(&mut engine, &mut history, 3);
    send(&engine, RestoreNode { node: id("middle") });
    tick(&mut engine, &mut history, 2);
    let disturbances = &history.convergence.disturbances;
    assert_eq!(disturbances.len(), 1);
    assert_eq!(disturbances[0].what, ["middle down"]);
    assert_eq!((disturbances[0].at_s, disturbances[0].lost, disturbances[0].rerouted), (2.0, 1, 0));
    assert_eq!(disturbances[0].restored_after_s, Some(3.0));
    // No protocol runs, so there is nothing to converge.
    assert_eq!(disturbances[0].converged_after_s, Some(0.0));
    let ways = &history.flows[&FlowId::named("f")].ways;
    let times: Vec<(f64, usize)> = ways.iter().map(|way| (way.at_s, way.nodes.len())).collect();
    assert_eq!(times, [(0.0, 2), (2.0, 0), (5.0, 2)]);
    let (a, b) = (id("middle"), id("east"));
    send(&engine, FailLink { a, b });
    tick(&mut engine, &mut history, 2);
    let cut = &history.convergence.disturbances[1];
    assert_eq!((cut.what.len(), cut.restored_after_s), (1, None));
}
