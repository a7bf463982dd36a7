use std::sync::Arc;

use groundwave_engine::{Engine, Execution};
use groundwave_model::mesh::*;
use groundwave_model::radio::{Environment, Role, Station};
use groundwave_model::route::Metric;
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint, geodesic};
use groundwave_values::Seed;

use crate::link::{Inputs, Limits, LinkBudget, score};
use crate::site::{AddNode, NodeId};

const FLAT: Flat = Flat { elevation_msl_m: 100.0 };

fn id(n: u128) -> NodeId {
    NodeId::from_u128(n + 1)
}

fn inputs(environment: &Environment) -> Inputs<'_> {
    Inputs { terrain: &FLAT, environment, packet_bytes: 1500, spacing_m: None }
}

/// Members in a row, each this far east of the first, m.
fn row<'a>(station: &'a Station, east_m: &[f64]) -> Vec<Member<'a>> {
    let start = GeoPoint::new(57.5, 11.5).unwrap();
    let member = |(n, &east): (u128, &f64)| Member {
        id: id(n),
        position: geodesic::direct(start, 90.0, east).unwrap(),
        station,
    };
    (0..).zip(east_m).map(member).collect()
}

fn request(target: u128, metric: Metric, rate: Option<f64>) -> RouteRequest {
    RouteRequest { source: id(0), target: id(target), metric, target_data_rate_bps: rate }
}

fn path_of(answer: Result<RouteAnswer, MeshError>) -> PlannedRoute {
    match answer.unwrap() {
        RouteAnswer::Found(route) => *route,
        none @ RouteAnswer::NoPath { .. } => panic!("{none:?}"),
    }
}

#[test]
fn a_plan_is_the_mesh_that_the_world_would_be() {
    let (one, mut other) = (station(), station());
    other.radio.frequency_mhz = 5200.0;
    let mut chance = Seed(3).stream("mesh", 0, 0);
    let member = |n| Member {
        id: NodeId::from_u128(chance.bits().into()),
        position: GeoPoint::new(chance.between(57.0, 57.6), chance.between(11.0, 12.2)).unwrap(),
        station: if n % 7 == 0 { &other } else { &one },
    };
    let members: Vec<_> = (0..40).map(member).collect();

    let mut builder = crate::world(Arc::new(FLAT));
    builder.execution(Execution::Serial);
    let mut engine: Engine<crate::WorldView> = builder.build(1, 1_000_000_000).unwrap();
    for member in &members {
        let node = AddNode {
            node: member.id,
            name: member.id.to_string(),
            role: Role::Relay,
            position: member.position,
            station: member.station.clone(),
            deployment: None,
        };
        drop(engine.handle().submit(node).unwrap());
    }
    engine.tick(None).unwrap();
    let view = engine.view();
    let built = view.links.iter().map(|link| (link.a, link.b, link.budget));

    let limits = Limits::default();
    let environment = Environment::default();
    let inputs = Inputs {
        packet_bytes: limits.packet_bytes,
        spacing_m: limits.sample_spacing_m,
        ..inputs(&environment)
    };
    let planned = mesh(&inputs, &members).unwrap();
    let links: Vec<_> = planned.links.iter().map(|l| (l.ends.a(), l.ends.b(), l.budget)).collect();
    assert!(links.len() > 100, "{}", links.len());
    assert_eq!(links, built.collect::<Vec<_>>());
    assert!(planned.nodes.is_sorted());
}

#[test]
fn segments_are_what_the_budgets_were_cut_from() {
    let station = station();
    let environment = Environment::default();
    let inputs = inputs(&environment);
    let mut members = row(&station, &[0.0, 9_000.0, 16_000.0, 27_000.0]);
    // A route that goes up and down in id order.
    members[1].id = id(90);
    let mesh = mesh(&inputs, &members).unwrap();
    let route = path_of(route(&inputs, &members, &mesh, &request(3, Metric::Etx, None)));
    assert!(route.segments.len() >= 2, "{:?}", route.path);
    assert_eq!(route.path.len(), route.segments.len() + 1);
    assert_eq!((route.path[0], route.path.last()), (id(0), Some(&id(3))));
    for (segment, ends) in route.segments.iter().zip(route.path.windows(2)) {
        assert_eq!([segment.source, segment.target], [ends[0], ends[1]]);
        let turned = segment.source > segment.target;
        let budget = if turned {
            LinkBudget::of(&segment.backward, &segment.forward)
        } else {
            LinkBudget::of(&segment.forward, &segment.backward)
        };
        let of_mesh = mesh.links.iter().find(|link| {
            let pair = [link.ends.a(), link.ends.b()];
            pair.contains(&ends[0]) && pair.contains(&ends[1])
        });
        assert_eq!(budget, of_mesh.unwrap().budget);
        assert_eq!(segment.per, segment.forward.rate.per);
        assert_eq!(segment.data_rate_bps, segment.forward.rate.data_rate_bps);
        let etx = segment.forward.rate.etx.unwrap();
        assert!((segment.etx - etx).abs() <= 1e-12 * etx);
        let ett_s = segment.forward.rate.ett_s.unwrap();
        assert!((segment.ett_s - ett_s).abs() <= 1e-12 * ett_s);
        assert_eq!(segment.forward.tx_node_id, Some(ends[0].to_string()));
        assert_eq!(segment.backward.tx_node_id, Some(ends[1].to_string()));
    }
    let summary = route.summary;
    assert_eq!(summary.hop_count, route.segments.len());
    let rates = route.segments.iter().map(|segment| segment.data_rate_bps);
    assert_eq!(summary.bottleneck_rate_bps, rates.reduce(f64::min));
    let (single, multi) =
        (summary.single_radio_throughput_bps.unwrap(), summary.multi_radio_throughput_bps.unwrap());
    assert!(single < multi && multi <= summary.bottleneck_rate_bps.unwrap());
}

#[test]
fn links_below_the_target_are_excluded_and_best_effort_is_marked() {
    let station = station();
    let environment = Environment::default();
    let inputs = inputs(&environment);
    // Straight or over the middle: the middle is faster.
    let members = row(&station, &[0.0, 2_000.0, 4_000.0]);
    let mesh = mesh(&inputs, &members).unwrap();
    let rate = |rate| path_of(route(&inputs, &members, &mesh, &request(2, Metric::Hops, rate)));
    let free = rate(None).summary;
    assert_eq!((free.hop_count, free.meets_target), (1, true));
    let direct_bps = free.bottleneck_rate_bps.unwrap();
    let faster = rate(Some(direct_bps + 1.0)).summary;
    assert_eq!((faster.hop_count, faster.meets_target), (2, true));
    assert!(faster.bottleneck_rate_bps.unwrap() > direct_bps);
    let best_effort = rate(Some(1e12)).summary;
    assert_eq!((best_effort.hop_count, best_effort.meets_target), (1, false));
    let direct = rate(Some(direct_bps)).summary;
    assert_eq!((direct.hop_count, direct.meets_target), (1, true));
}

#[test]
fn no_path_is_an_answer_that_names_the_gap() {
    let station = station();
    let environment = Environment::default();
    let inputs = inputs(&environment);
    let members = row(&station, &[0.0, 3_000.0, 21_000.0, 24_000.0, 27_000.0]);
    let mesh = mesh(&inputs, &members).unwrap();
    let answer = route(&inputs, &members, &mesh, &request(4, Metric::Ett, None)).unwrap();
    let RouteAnswer::NoPath { source_side_nodes, target_side_nodes, closest: Some(gap) } = answer
    else {
        panic!("{answer:?}");
    };
    assert_eq!((source_side_nodes, target_side_nodes), (2, 3));
    assert_eq!((gap.source_side, gap.target_side), (id(1), id(2)));
    let ends = [members[1], members[2]].map(|member| (member.position, member.station));
    let (there, back) = score(&inputs, ends[0], ends[1]).unwrap();
    let worse = there.margin.link_margin_db.min(back.margin.link_margin_db);
    assert!(worse < 0.0 && gap.link_margin_db == worse);
}

#[test]
fn a_gap_beyond_all_reach_is_named_by_its_nearest_pair() {
    let station = station();
    let environment = Environment::default();
    let inputs = inputs(&environment);
    let members = row(&station, &[0.0, 3_000.0, 2_000_000.0, 2_003_000.0]);
    let mesh = mesh(&inputs, &members).unwrap();
    assert_eq!(mesh.links.len(), 2, "no pair across the gap is in reach");
    let answer = route(&inputs, &members, &mesh, &request(3, Metric::Ett, None)).unwrap();
    let RouteAnswer::NoPath { closest: Some(gap), .. } = answer else {
        panic!("{answer:?}");
    };
    assert_eq!((gap.source_side, gap.target_side), (id(1), id(2)));
    assert!((gap.distance_m - 1_997_000.0).abs() < 10_000.0, "{gap:?}");
    assert!(gap.link_margin_db < 0.0);
}

#[test]
fn the_source_reaches_itself_and_strangers_are_refused() {
    let station = station();
    let environment = Environment::default();
    let inputs = inputs(&environment);
    let members = row(&station, &[0.0, 500.0]);
    let mesh = mesh(&inputs, &members).unwrap();
    let still = path_of(route(&inputs, &members, &mesh, &request(0, Metric::Ett, None)));
    assert_eq!((still.path, still.segments.len()), (vec![id(0)], 0));
    assert_eq!(still.summary.bottleneck_rate_bps, None);
    let stranger = route(&inputs, &members, &mesh, &request(7, Metric::Ett, None));
    assert_eq!(stranger, Err(MeshError::Unknown(id(7))));
    for bad in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let refused = route(&inputs, &members, &mesh, &request(1, Metric::Ett, Some(bad)));
        assert!(matches!(refused, Err(MeshError::Rate(_))), "{refused:?}");
    }
}

#[test]
fn members_that_cannot_be_are_refused() {
    let (good, mut bad) = (station(), station());
    bad.height_agl_m = f64::NAN;
    let environment = Environment::default();
    let inputs = inputs(&environment);
    let mut members = row(&good, &[0.0, 500.0]);
    members[1].station = &bad;
    let refused = mesh(&inputs, &members).unwrap_err();
    assert!(matches!(&refused, MeshError::Station { node, .. } if *node == id(1)));
    assert!(refused.to_string().contains("height_agl_m"), "{refused}");
    members[1] = members[0];
    assert_eq!(mesh(&inputs, &members), Err(MeshError::Twice(id(0))));
    let crowd = row(&good, &vec![0.0; MEMBERS_MAX + 1]);
    assert_eq!(mesh(&inputs, &crowd), Err(MeshError::TooMany(MEMBERS_MAX + 1)));
    let empty = mesh(&inputs, &[]).unwrap();
    assert_eq!((empty.nodes.len(), empty.links.len()), (0, 0));
}

#[test]
fn answers_are_documents_with_a_schema() {
    let station = station();
    let environment = Environment::default();
    let inputs = inputs(&environment);
    let members = row(&station, &[0.0, 500.0, 90_000.0]);
    let mesh = mesh(&inputs, &members).unwrap();
    let to = |target| route(&inputs, &members, &mesh, &request(target, Metric::Ett, None)).unwrap();
    let document = serde_json::to_value(to(1)).unwrap();
    assert_eq!(document["outcome"], "found");
    assert_eq!(document["path"][1], id(1).to_string());
    assert!(document["segments"][0]["per"].is_number());
    assert!(document["segments"][0]["etx"].is_number());
    assert_eq!(document["summary"]["meets_target"], true);
    let document = serde_json::to_value(to(2)).unwrap();
    assert_eq!(document["outcome"], "no_path");
    let schema = schemars::schema_for!(RouteAnswer);
    assert!(schema.as_value().to_string().contains("bottleneck_rate_bps"));
}
