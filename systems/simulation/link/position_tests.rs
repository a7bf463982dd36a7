use std::sync::Arc;

use groundwave_engine::{Engine, Execution, Recorded};
use groundwave_model::radio::path_loss::Model;
use groundwave_model::radio::{Environment, Role};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint, geodesic};

use super::*;
use crate::motion::{Area, GoTo, Wander};
use crate::site::{AddNode, MoveNode, NodeId, Position, SetEnvironment};
use crate::{WorldView, world};

const STEP_NS: u64 = 1_000_000_000;

fn engine(update_distance_m: f64) -> Engine<WorldView> {
    let mut builder = world(Arc::new(Flat::default()));
    builder.execution(Execution::Serial);
    let engine = builder.build(1, STEP_NS).unwrap();
    let limits = Limits { link_range_max_m: 5_000.0, update_distance_m, ..Limits::default() };
    submit(&engine, SetLimits(limits));
    engine
}

fn submit<C: Recorded>(engine: &Engine<WorldView>, command: C) {
    drop(engine.handle().submit(command).unwrap());
}

fn add(engine: &Engine<WorldView>, name: &str, lat_deg: f64, lon_deg: f64) -> NodeId {
    let node = NodeId::named(name);
    submit(
        engine,
        AddNode {
            node,
            name: name.to_owned(),
            role: Role::Relay,
            position: at(lat_deg, lon_deg),
            station: station(),
            deployment: None,
        },
    );
    node
}

fn at(lat_deg: f64, lon_deg: f64) -> GeoPoint {
    GeoPoint::new(lat_deg, lon_deg).unwrap()
}

fn position(engine: &Engine<WorldView>, node: NodeId) -> GeoPoint {
    engine.view().node(node).unwrap().position
}

#[test]
fn links_are_computed_when_an_end_is_further_than_the_distance() {
    let mut engine = engine(10.0);
    let (walker, mast) = (add(&engine, "a", 57.0, 11.0), add(&engine, "b", 57.0, 11.03));
    let (destination, speed_m_s) = (at(57.0, 11.02), 3.0);
    engine.tick(None).unwrap();
    submit(&engine, GoTo { node: walker, destination, speed_m_s, at_ns: None });
    engine.tick(None).unwrap();
    let mut last = at(57.0, 11.0);
    let mut computed = 0;
    for _ in 0..100 {
        let before = engine.view();
        engine.tick(None).unwrap();
        let now = position(&engine, walker);
        let beyond = geodesic::inverse(last, now).distance_m > 10.0;
        if beyond {
            last = now;
            computed += 1;
        }
        let same = Arc::ptr_eq(&before.links, &engine.view().links);
        assert_eq!(same, !beyond, "at {now:?}");
        let budget = engine.view().links[0].budget;
        let expected_m = geodesic::inverse(last, position(&engine, mast)).distance_m;
        assert!((budget.distance_m - expected_m).abs() < 1e-3, "at {now:?}");
    }
    // Every fourth of steps of 3 m is the first beyond 10 m.
    assert_eq!(computed, 25);
}

#[test]
fn a_short_jump_waits_and_another_distance_is_applied_at_once() {
    let mut engine = engine(100.0);
    let node = add(&engine, "a", 57.0, 11.0);
    add(&engine, "b", 57.0, 11.03);
    engine.tick(None).unwrap();
    let before = engine.view();
    let position = at(57.0, 11.001);
    submit(&engine, MoveNode { node, position });
    engine.tick(None).unwrap();
    assert!(Arc::ptr_eq(&before.links, &engine.view().links));
    let limits = Limits { link_range_max_m: 5_000.0, ..Limits::default() };
    submit(&engine, SetLimits(limits));
    engine.tick(None).unwrap();
    let moved_m = before.links[0].budget.distance_m - engine.view().links[0].budget.distance_m;
    assert!((moved_m - 60.7).abs() < 1.0, "{moved_m}");
    let world = engine.world_mut();
    let mut positions = world.query::<(&Position, &LinkPosition)>();
    let followed = |(position, link): (&Position, &LinkPosition)| link.0 == Some(position.0);
    assert!(positions.iter(world).all(followed));
}

/// Thirty nodes, of which twenty wander, for 150 s: the snapshots.
fn wander(update_distance_m: f64) -> Vec<Arc<WorldView>> {
    let mut engine = engine(update_distance_m);
    let environment = Environment { model: Model::FreeSpace, ..Environment::default() };
    submit(&engine, SetEnvironment { environment });
    let area = Area { south_deg: 57.0, west_deg: 11.0, north_deg: 57.03, east_deg: 11.05 };
    for number in 0..30 {
        let share = f64::from(number) / 30.0;
        let (lat_deg, lon_deg) = (57.0 + 0.03 * share, 11.0 + 0.05 * (share * 7.0).fract());
        let node = add(&engine, &format!("n{number}"), lat_deg, lon_deg);
        if number < 20 {
            submit(
                &engine,
                Wander {
                    node,
                    area,
                    speed_min_m_s: 1.0,
                    speed_max_m_s: 9.0,
                    pause_ns: STEP_NS,
                    at_ns: None,
                },
            );
        }
    }
    let tick = |_| {
        engine.tick(None).unwrap();
        engine.view()
    };
    (0..150).map(tick).collect()
}

/// In free space a path that is off by at most twice the update distance has a loss that is off by no
/// more than the ratio of the distances says.
#[test]
fn margins_differ_from_the_exact_run_by_no_more_than_the_distance_allows() {
    const UPDATE_M: f64 = 20.0;
    let (mut compared, mut off) = (0, 0);
    for (exact, sparse) in wander(0.0).iter().zip(wander(UPDATE_M)) {
        // The nodes themselves are where they are.
        assert_eq!(exact.nodes, sparse.nodes);
        for link in exact.links.iter() {
            let ends = (link.a, link.b);
            let Ok(found) = sparse.links.binary_search_by_key(&ends, |link| (link.a, link.b))
            else {
                // Out of range by now, or not yet in range.
                assert!(link.budget.distance_m > 5_000.0 - 2.0 * UPDATE_M);
                continue;
            };
            let found = &sparse.links[found].budget;
            let (one_m, other_m) = (link.budget.distance_m, found.distance_m);
            assert!((one_m - other_m).abs() <= 2.0 * UPDATE_M + 1e-3);
            // Antennas of equal height: slant ranges differ as distances do, and are taken as 1 m or more.
            let (near_m, far_m) = (one_m.min(other_m), one_m.max(other_m));
            let allowed_db = 20.0 * (far_m.max(1.0) / near_m.max(1.0)).log10() + 0.01;
            let [one, other] = [&link.budget, found].map(|budget| budget.forward.link_margin_db);
            assert!((one - other).abs() <= allowed_db, "{one_m} m and {other_m} m");
            compared += 1;
            off += usize::from(one != other);
        }
    }
    // Most are off by a little, and some are not.
    assert!(off > compared / 4 && off < compared, "{off} of {compared}");
}
