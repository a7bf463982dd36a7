use std::collections::BTreeSet;
use std::sync::Arc;

use groundwave_engine::{Engine, Execution, Index, Recorded, Seed};
use groundwave_model::radio::{Role, Station, Verdict};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};

use super::*;
use crate::flow::{FlowId, StartFlow};
use crate::link::LinkView;
use crate::site::NodeView;
use crate::site::{
    AddNode, FailNode, MoveNode, NodeId, NodeKind, RemoveNode, RestoreNode, SetStation,
};
use crate::{WorldView, world};

fn engine() -> Engine<WorldView> {
    let mut builder = world(Arc::new(Flat::default()));
    builder.execution(Execution::Serial);
    builder.build(1, 1_000_000_000).unwrap()
}

fn submit<C: Recorded>(engine: &Engine<WorldView>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

fn add(engine: &Engine<WorldView>, name: &str, lat_deg: f64, lon_deg: f64, station: Station) {
    let position = GeoPoint::new(lat_deg, lon_deg).unwrap();
    let (node, name) = (NodeId::named(name), name.to_owned());
    submit(engine, AddNode { node, name, role: Role::Relay, position, station, deployment: None });
}

/// Names of linked pairs, and whether each closes.
fn pairs(engine: &Engine<WorldView>) -> BTreeSet<(String, String, bool)> {
    let view = engine.view();
    let name = |id| view.node(id).unwrap().name.clone();
    let pair = |link: &LinkView| {
        let (a, b) = (name(link.a), name(link.b));
        let closes = link.budget.etx().is_some();
        if a < b { (a, b, closes) } else { (b, a, closes) }
    };
    view.links.iter().map(pair).collect()
}

#[test]
fn near_nodes_are_linked_and_far_ones_are_not_looked_at() {
    let mut engine = engine();
    add(&engine, "a", 57.0, 11.0, station());
    add(&engine, "b", 57.0, 11.05, station());
    add(&engine, "far", 10.0, 11.0, station());
    engine.tick(None).unwrap();
    assert_eq!(pairs(&engine), BTreeSet::from([("a".to_owned(), "b".to_owned(), true)]));
    let link = &engine.view().links[0];
    assert!((link.budget.distance_m - 3039.0).abs() < 10.0, "{}", link.budget.distance_m);
    assert!(link.budget.forward.verdict >= Verdict::Poor);
}

#[test]
fn removing_a_node_takes_its_links_and_flows_along() {
    let mut engine = engine();
    for (name, lon) in [("a", 11.0), ("b", 11.01), ("c", 11.02)] {
        add(&engine, name, 57.0, lon, station());
    }
    let (source, target) = (NodeId::named("a"), NodeId::named("b"));
    let flow = FlowId::named("f");
    submit(&engine, StartFlow { flow, name: "f".to_owned(), source, target, rate_bps: 1e3 });
    engine.tick(None).unwrap();
    assert_eq!((engine.view().links.len(), engine.view().flows.len()), (3, 1));
    submit(&engine, RemoveNode { node: target });
    engine.tick(None).unwrap();
    assert_eq!((engine.view().links.len(), engine.view().flows.len()), (1, 0));
    // It may come back under the same id, and be linked again.
    add(&engine, "b", 57.0, 11.01, station());
    engine.tick(None).unwrap();
    assert_eq!(engine.view().links.len(), 3);
}

#[test]
fn only_links_of_what_moved_are_recomputed() {
    let mut engine = engine();
    for i in 0..6 {
        add(&engine, &format!("n{i}"), 57.0, 11.0 + f64::from(i) * 0.002, station());
    }
    engine.tick(None).unwrap();
    assert_eq!(engine.view().links.len(), 15);
    let before = engine.view();
    engine.tick(None).unwrap();
    assert!(Arc::ptr_eq(&before.links, &engine.view().links), "an idle tick redraws nothing");
    let position = GeoPoint::new(57.001, 11.0).unwrap();
    submit(&engine, MoveNode { node: NodeId::named("n0"), position });
    engine.tick(None).unwrap();
    let after = engine.view();
    let changed = before.links.iter().zip(after.links.iter()).filter(|(a, b)| a != b);
    let moved = NodeId::named("n0");
    let mut count = 0;
    for (link, _) in changed {
        assert!(link.a == moved || link.b == moved);
        count += 1;
    }
    assert_eq!(count, 5);
    // Moving to where it stands is not a change.
    submit(&engine, MoveNode { node: moved, position });
    engine.tick(None).unwrap();
    assert!(Arc::ptr_eq(&after.links, &engine.view().links));
}

#[test]
fn failures_reroute_and_repairs_route_back() {
    let mut engine = engine();
    // A short detour over `relay`, and a direct way that is slower.
    add(&engine, "a", 57.0, 11.0, station());
    add(&engine, "b", 57.0, 11.05, station());
    add(&engine, "relay", 57.0, 11.025, station());
    let (source, target) = (NodeId::named("a"), NodeId::named("b"));
    let flow = FlowId::named("f");
    submit(&engine, StartFlow { flow, name: "f".to_owned(), source, target, rate_bps: 1e3 });
    submit(
        &engine,
        SetLimits(Limits { metric: groundwave_model::route::Metric::Hops, ..Limits::default() }),
    );
    let hops = |engine: &mut Engine<WorldView>| {
        engine.tick(None).unwrap();
        engine.view().flows[0].route.as_ref().map(|route| route.hops.len())
    };
    assert_eq!(hops(&mut engine), Some(1));
    submit(&engine, FailLink { a: source, b: target });
    assert_eq!(hops(&mut engine), Some(2));
    submit(&engine, FailNode { node: NodeId::named("relay") });
    assert_eq!(hops(&mut engine), None);
    submit(&engine, RestoreNode { node: NodeId::named("relay") });
    assert_eq!(hops(&mut engine), Some(2));
    submit(&engine, RestoreLink { a: target, b: source });
    assert_eq!(hops(&mut engine), Some(1));
}

/// All pairs that the rule allows, by looking at every pair.
fn by_all_pairs(engine: &Engine<WorldView>, range_max_m: f64) -> BTreeSet<(NodeId, NodeId)> {
    let view = engine.view();
    let mut found = BTreeSet::new();
    for (i, a) in view.nodes.iter().enumerate() {
        for b in &view.nodes[i + 1..] {
            let (one, other) = (&a.station.radio, &b.station.radio);
            if one.frequency_mhz != other.frequency_mhz {
                continue;
            }
            let reach = |node: &NodeView| Reach::of(&node.station, 0.0);
            let limit_m = reach(a).distance_m(reach(b), one.frequency_mhz, 0.0).min(range_max_m);
            let chord_m = groundwave_model::link::straight_m(a.position, b.position);
            if chord_m <= limit_m {
                found.insert((a.id, b.id));
            }
        }
    }
    found
}

#[test]
fn the_index_finds_what_looking_at_all_pairs_finds_however_nodes_come_and_go() {
    let mut engine = engine();
    let mut chance = Seed(3).stream("scatter", 0, 0);
    let mut other = station();
    other.radio.frequency_mhz += 100.0;
    let mut weak = station();
    weak.radio.tx_power_dbm -= 25.0;
    let kinds = [station(), other, weak];
    let limits = Limits { link_range_max_m: 9_000.0, ..Limits::default() };
    submit(&engine, SetLimits(limits));
    let mut names = Vec::new();
    for round in 0..12 {
        for i in 0..8 {
            let name = format!("r{round}-{i}");
            // Around the antimeridian, where naive boxes break.
            let lon_deg = 179.8 + chance.between(0.0, 0.4);
            let lon_deg = if lon_deg > 180.0 { lon_deg - 360.0 } else { lon_deg };
            let lat_deg = chance.between(-0.2, 0.2);
            add(&engine, &name, lat_deg, lon_deg, kinds[(chance.bits() % 3) as usize].clone());
            names.push(name);
        }
        let pick = |chance: &mut groundwave_engine::Stream, names: &[String]| {
            NodeId::named(&names[(chance.bits() % names.len() as u64) as usize])
        };
        let position = GeoPoint::new(chance.between(-0.2, 0.2), 179.9).unwrap();
        submit(&engine, MoveNode { node: pick(&mut chance, &names), position });
        let node = pick(&mut chance, &names);
        submit(&engine, SetStation { node, station: kinds[(round % 3) as usize].clone() });
        if round % 2 == 1 {
            submit(&engine, RemoveNode { node: pick(&mut chance, &names) });
        }
        engine.tick(None).unwrap();
        let found: BTreeSet<_> = engine.view().links.iter().map(|l| (l.a, l.b)).collect();
        assert_eq!(found, by_all_pairs(&engine, 9_000.0), "round {round}");
    }
    assert!(!engine.view().links.is_empty());
    let nodes = engine.world().resource::<Index<NodeKind>>().len();
    assert!(engine.view().links.len() < nodes * (nodes - 1) / 4);
}

#[test]
fn no_pair_beyond_the_free_space_bound_can_close() {
    // Both ends high enough that the horizon is no bound, over flat ground without losses.
    let mut high = station();
    high.height_agl_m = 5_000.0;
    high.pointing = None;
    let reach = Reach::of(&high, 0.0);
    let bound_m = reach.distance_m(reach, high.radio.frequency_mhz, 0.0);
    let mut engine = engine();
    submit(&engine, SetLimits(Limits { link_range_max_m: 1e6, ..Limits::default() }));
    add(&engine, "a", 0.0, 0.0, high.clone());
    for (name, share) in [("near", 0.98), ("beyond", 1.02)] {
        let way = groundwave_model::terrain::geodesic::direct(
            GeoPoint::new(0.0, 0.0).unwrap(),
            90.0,
            bound_m * share,
        );
        let there = way.unwrap();
        add(&engine, name, there.lat_deg(), there.lon_deg(), high.clone());
    }
    engine.tick(None).unwrap();
    let found = pairs(&engine);
    assert!(found.contains(&("a".to_owned(), "near".to_owned(), true)), "{found:?}");
    assert!(!found.iter().any(|(a, b, _)| a == "a" && b == "beyond"), "{found:?}");
    let low = Reach { horizon_m: 1_000.0, ..reach };
    assert!(low.distance_m(low, 10.0, 0.0) <= 2_000.0 + OVER_HORIZON_M);
}
