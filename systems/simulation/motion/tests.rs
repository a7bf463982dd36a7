use groundwave_engine::{Engine, Execution, Recorded, Refusal};
use groundwave_model::terrain::Flat;

use super::*;
use crate::site::{AddNode, MoveNode};
use crate::{WorldView, world};

const STEP_NS: u64 = 1_000_000_000;

fn at(lat_deg: f64, lon_deg: f64) -> GeoPoint {
    GeoPoint::new(lat_deg, lon_deg).unwrap()
}

fn engine(seed: u64, step_ns: u64) -> Engine<WorldView> {
    let mut builder = world(std::sync::Arc::new(Flat::default()));
    builder.execution(Execution::Serial);
    let mut engine = builder.build(seed, step_ns).unwrap();
    let add = AddNode {
        node: NodeId::named("n"),
        name: "n".to_owned(),
        role: groundwave_model::radio::Role::Team,
        position: at(57.0, 11.0),
        station: groundwave_model::sample::station(),
        deployment: None,
    };
    do_it(&mut engine, add).unwrap();
    engine
}

fn do_it<C: Recorded>(engine: &mut Engine<WorldView>, command: C) -> Result<C::Reply, Refusal> {
    let reply = engine.handle().submit(command).unwrap();
    engine.tick(None).unwrap();
    reply.wait()
}

fn place(engine: &Engine<WorldView>) -> GeoPoint {
    engine.view().nodes[0].position
}

/// Ticks until simulated time is `at_s` seconds.
fn run_to(engine: &mut Engine<WorldView>, at_s: u64) {
    while engine.clock().now_ns() < at_s * 1_000_000_000 {
        engine.tick(None).unwrap();
    }
}

fn metres_apart(a: GeoPoint, b: GeoPoint) -> f64 {
    geodesic::inverse(a, b).distance_m
}

#[test]
fn waypoints_are_met_at_their_times_and_in_between_in_proportion() {
    let mut engine = engine(1, STEP_NS);
    let waypoint = |at_s: u64, position| Waypoint {
        at_ns: at_s * 1_000_000_000,
        position,
        height_agl_m: None,
        height_msl_m: None,
    };
    let (b, c) = (at(57.01, 11.0), at(57.01, 11.03));
    let waypoints = vec![waypoint(11, b), waypoint(31, c)];
    do_it(&mut engine, Follow { node: NodeId::named("n"), waypoints, at_ns: None }).unwrap();
    // The command took effect at 1 s.
    run_to(&mut engine, 6);
    let half = metres_apart(at(57.0, 11.0), b) / 2.0;
    assert!((metres_apart(at(57.0, 11.0), place(&engine)) - half).abs() < 1e-3);
    run_to(&mut engine, 11);
    assert_eq!(place(&engine), b);
    run_to(&mut engine, 26);
    let share = metres_apart(b, place(&engine)) / metres_apart(b, c);
    assert!((share - 0.75).abs() < 1e-6, "{share}");
    run_to(&mut engine, 40);
    assert_eq!(place(&engine), c);
}

#[test]
fn a_destination_is_walked_to_at_speed_across_the_antimeridian() {
    let mut engine = engine(1, STEP_NS);
    let node = NodeId::named("n");
    do_it(&mut engine, MoveNode { node, position: at(0.0, 179.999) }).unwrap();
    let start_ns = engine.clock().now_ns() + STEP_NS;
    do_it(&mut engine, GoTo { node, destination: at(0.0, -179.999), speed_m_s: 10.0, at_ns: None })
        .unwrap();
    run_to(&mut engine, start_ns / 1_000_000_000 + 10);
    let walked = metres_apart(at(0.0, 179.999), place(&engine));
    assert!((walked - 100.0).abs() < 1e-3, "{walked}");
    run_to(&mut engine, 40);
    assert_eq!(place(&engine), at(0.0, -179.999));
}

const AREA: Area = Area { south_deg: 57.0, west_deg: 11.0, north_deg: 57.02, east_deg: 11.04 };

fn wander(speed_min_m_s: f64, speed_max_m_s: f64) -> Wander {
    let node = NodeId::named("n");
    Wander { node, area: AREA, speed_min_m_s, speed_max_m_s, pause_ns: 0, at_ns: None }
}

#[test]
fn a_wanderer_stays_in_its_area_keeps_its_speed_and_follows_the_seed() {
    let track = |seed, step_ns| {
        let mut engine = engine(seed, step_ns);
        do_it(&mut engine, wander(5.0, 15.0)).unwrap();
        let mut track = Vec::new();
        for at_s in (10..600).step_by(10) {
            run_to(&mut engine, at_s);
            track.push(place(&engine));
        }
        track
    };
    let walked = track(7, STEP_NS);
    for pair in walked.windows(2) {
        assert!(metres_apart(pair[0], pair[1]) <= 150.0 + 1e-6);
        assert!((57.0..=57.02).contains(&pair[1].lat_deg()), "{pair:?}");
        assert!((11.0..=11.04).contains(&pair[1].lon_deg()), "{pair:?}");
    }
    assert!(metres_apart(walked[0], walked[58]) > 1.0);
    assert_eq!(walked, track(7, STEP_NS));
    assert_ne!(walked, track(8, STEP_NS));
}

#[test]
fn a_walk_of_no_length_ends_within_the_tick() {
    let mut engine = engine(1, STEP_NS);
    let point = Area { south_deg: 57.0, west_deg: 11.0, north_deg: 57.0, east_deg: 11.0 };
    do_it(&mut engine, Wander { area: point, ..wander(1.0, 8_000.0) }).unwrap();
    run_to(&mut engine, 5);
    assert_eq!(place(&engine), at(57.0, 11.0));
}

#[test]
fn nonsense_is_refused_with_its_key() {
    let mut engine = engine(1, STEP_NS);
    let node = NodeId::named("n");
    let mut key = |command: Wander| match do_it(&mut engine, command) {
        Err(Refusal::Invalid { key, .. }) => key,
        other => panic!("{other:?}"),
    };
    assert_eq!(key(wander(f64::NAN, 1.0)), "speed_min_m_s");
    assert_eq!(key(wander(2.0, 1.0)), "speed_max_m_s");
    let upside_down = Area { south_deg: 58.0, ..AREA };
    assert_eq!(key(Wander { area: upside_down, ..wander(1.0, 2.0) }), "area.north_deg");
    let late =
        Waypoint { at_ns: 0, position: at(57.0, 11.0), height_agl_m: None, height_msl_m: None };
    engine.tick(None).unwrap();
    let refused = do_it(&mut engine, Follow { node, waypoints: vec![late], at_ns: None });
    assert!(matches!(refused, Err(Refusal::Invalid { key, .. }) if key == "waypoints[0].at_ns"));
    let stranger = do_it(&mut engine, StopMotion { node: NodeId::named("nobody"), at_ns: None });
    assert!(matches!(stranger, Err(Refusal::NotFound { kind: "node", .. })));
}

#[test]
fn goal_repeated_every_second_is_reached_at_the_same_time() {
    let goal = at(57.01, 11.0);
    let walk = |every_s: u64| {
        let mut engine = engine(1, STEP_NS);
        while engine.clock().now_ns() < 20 * STEP_NS {
            let at_ns = engine.clock().now_ns() + STEP_NS;
            if (at_ns / STEP_NS - 1).is_multiple_of(every_s) {
                let command = GoTo {
                    node: NodeId::named("n"),
                    destination: goal,
                    speed_m_s: 10.0,
                    at_ns: Some(at_ns),
                };
                do_it(&mut engine, command).unwrap();
            } else {
                engine.tick(None).unwrap();
            }
        }
        place(&engine)
    };
    let (once, again) = (walk(1_000), walk(1));
    let walked = metres_apart(at(57.0, 11.0), once);
    assert!((walked - 190.0).abs() < 1e-6, "{walked}");
    assert!(metres_apart(once, again) < 1e-6, "{once:?} {again:?}");
}

#[test]
fn a_time_outside_the_tick_is_refused() {
    for at_ns in [2 * STEP_NS - 1, 3 * STEP_NS + 1] {
        let mut engine = engine(1, STEP_NS);
        // The next tick is at 3 s.
        run_to(&mut engine, 2);
        let stop = StopMotion { node: NodeId::named("n"), at_ns: Some(at_ns) };
        let refused = do_it(&mut engine, stop);
        let key = matches!(&refused, Err(Refusal::Invalid { key, .. }) if key == "at_ns");
        assert!(key, "{at_ns}: {refused:?}");
    }
}

mod direct {
    //! Motion integrated straight from its events, without ticks.

    use super::*;
    use crate::site::MoveNode;
    use proptest::prelude::*;

    #[derive(Debug, Clone, Copy)]
    enum Event {
        GoTo(GeoPoint, f64),
        Stop,
        Jump(GeoPoint),
    }

    /// The state after an event: from where, since when, ns, and where to at a speed.
    #[derive(Debug, Clone, Copy)]
    struct Course {
        from: GeoPoint,
        since_ns: u64,
        to: Option<(GeoPoint, f64)>,
    }

    impl Course {
        fn at(&self, at_ns: u64) -> GeoPoint {
            let Some((to, speed_m_s)) = self.to else {
                return self.from;
            };
            let way = geodesic::inverse(self.from, to);
            let walked_m = (at_ns - self.since_ns) as f64 / 1e9 * speed_m_s;
            match walked_m >= way.distance_m {
                true => to,
                false => geodesic::direct(self.from, way.azimuth_deg, walked_m).unwrap(),
            }
        }

        fn after(&self, at_ns: u64, event: Event) -> Self {
            let from = self.at(at_ns);
            let (from, to) = match event {
                Event::GoTo(to, speed_m_s) => (from, Some((to, speed_m_s))),
                Event::Stop => (from, None),
                Event::Jump(to) => (to, None),
            };
            Self { from, since_ns: at_ns, to }
        }
    }

    fn event() -> impl Strategy<Value = Event> {
        let point = || (57.0..57.01f64, 11.0..11.02f64).prop_map(|(lat, lon)| at(lat, lon));
        prop_oneof![
            6 => (point(), 0.1..60.0f64).prop_map(|(to, speed_m_s)| Event::GoTo(to, speed_m_s)),
            1 => Just(Event::Stop),
            1 => point().prop_map(Event::Jump),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn events_between_ticks_are_integrated_in_their_order(
            events in prop::collection::vec((0..2_500_000_000u64, event()), 1..40),
            step_ns in prop_oneof![Just(100_000_000u64), Just(STEP_NS), Just(7 * STEP_NS)],
        ) {
            let mut engine = engine(1, step_ns);
            let node = NodeId::named("n");
            let mut course = Course { from: place(&engine), since_ns: 0, to: None };
            let mut waiting = Vec::new();
            let mut at_ns = 0;
            for (pause_ns, event) in events {
                at_ns += pause_ns;
                waiting.push((at_ns, event));
            }
            let mut waiting = waiting.into_iter().peekable();
            while engine.clock().now_ns() < at_ns + 10 * STEP_NS {
                let next_ns = engine.clock().now_ns() + step_ns;
                while let Some((at_ns, event)) = waiting.next_if(|(at_ns, _)| *at_ns <= next_ns) {
                    let handle = engine.handle();
                    match event {
                        Event::GoTo(destination, speed_m_s) => drop(handle.submit(GoTo {
                            node,
                            destination,
                            speed_m_s,
                            at_ns: Some(at_ns),
                        }).unwrap()),
                        Event::Stop => {
                            drop(handle.submit(StopMotion { node, at_ns: Some(at_ns) }).unwrap());
                        }
                        Event::Jump(position) => {
                            drop(handle.submit(MoveNode { node, position }).unwrap());
                        }
                    }
                    course = course.after(at_ns, event);
                }
                let ticked = engine.tick(None).unwrap();
                prop_assert!(ticked.refused.is_empty(), "{:?}", ticked.refused);
                let off_m = metres_apart(place(&engine), course.at(next_ns));
                prop_assert!(off_m <= 1e-6, "{off_m} m at {next_ns} ns");
            }
        }
    }
}

#[test]
fn a_walk_of_a_checkpoint_is_checked_as_that_of_a_command_is() {
    use super::state::Walks;
    use groundwave_engine::State;
    let area = Area { south_deg: 57.0, west_deg: 11.0, north_deg: 57.1, east_deg: 11.1 };
    let mut engine = engine(1, STEP_NS);
    let wander = Wander {
        node: NodeId::named("n"),
        area,
        speed_min_m_s: 1.0,
        speed_max_m_s: 2.0,
        pause_ns: 0,
        at_ns: None,
    };
    do_it(&mut engine, wander).unwrap();
    let saved = serde_json::to_value(Walks::save(engine.world())).unwrap();
    let mut restore = |field: &str, value: serde_json::Value| {
        let mut walks = saved.clone();
        let walk = &mut walks[0][1]["then"]["Draw"];
        let place = match field.split_once('.') {
            Some((outer, inner)) => &mut walk[outer][inner],
            None => &mut walk[field],
        };
        assert!(!place.is_null(), "{field}");
        *place = value;
        let walks: Walks = serde_json::from_value(walks).unwrap();
        walks.restore(engine.world_mut())
    };
    assert_eq!(restore("speed_min_m_s", 1.0.into()), Ok(()));
    for (field, value) in [
        ("area.south_deg", 58.0),
        ("area.north_deg", 91.0),
        ("area.west_deg", 1e300),
        ("speed_min_m_s", 0.0),
        ("speed_max_m_s", 0.5),
    ] {
        let refused = restore(field, value.into()).unwrap_err();
        assert!(refused.to_string().contains(field.rsplit('.').next().unwrap()), "{refused}");
    }
    // What was refused moves nothing, and the world goes on.
    run_to(&mut engine, 20);
}
