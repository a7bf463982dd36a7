//! Ground, stations and environments of any values: every analysis answers or refuses, none panics, and
//! answers are numbers.

use std::sync::Arc;

use groundwave_model::link::budgets;
use groundwave_model::mesh::{Member, Mesh, MeshLink, RouteRequest, links_of, mesh, route};
use groundwave_model::radio::budget::Workspace;
use groundwave_model::radio::presets::Role;
use groundwave_model::radio::{Environment, LinkResult, Model, Station, Warning};
use groundwave_model::relay::{Objective, RelayEnd, RelayRequest, Strategy as Search, plan};
use groundwave_model::route::Metric;
use groundwave_model::terrain::{Flat, GeoPoint, Terrain, TerrainSource, TerrainUse};
use groundwave_simulation::coverage::live::LiveCoverage;
use groundwave_simulation::coverage::placement::{Exact, PlacementRequest, high_ground, place};
use groundwave_simulation::coverage::{CoverageJob, CoverageRequest, Grid, Sampling, coverage};
use groundwave_simulation::link::{Inputs, judge, percentiles, score, trace};
use groundwave_simulation::site::{AddNode, NodeId, SetEnvironment};
use proptest::prelude::*;

use crate::test_world::does_at;
use crate::{Snapshot, world};

/// Posts along one side of the ground.
const SIDE: usize = 8;

/// Ground between 57 and 58 deg north, 11 and 12 deg east, of any heights: those of the nearest post.
#[derive(Debug, Clone)]
struct Wild {
    posts_m: Vec<f64>,
    undulation_m: f64,
    arcsec: Option<f64>,
}

impl Terrain for Wild {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        let mut used = TerrainUse::default();
        for ((lat_deg, lon_deg), out) in lat_deg.iter().zip(lon_deg).zip(out) {
            let place = |share: f64| (share * SIDE as f64) as usize % SIDE;
            *out = self.posts_m[place(lat_deg - 57.0) * SIDE + place(lon_deg - 11.0)];
            used.void_samples += u32::from(out.is_nan());
        }
        used
    }

    fn undulation_m(&self, _: GeoPoint) -> f64 {
        self.undulation_m
    }

    fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
        self.arcsec
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource::default()
    }
}

/// A number in a range, mostly, or at an end, or no number to compute with.
fn number(low: f64, high: f64) -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => low..=high,
        4 => prop_oneof![Just(low), Just(high)],
        1 => prop_oneof![
            Just(f64::NAN), Just(f64::INFINITY), Just(f64::NEG_INFINITY), Just(-1e300), Just(low - 1.0),
            Just(high * 2.0 + 1.0), Just(0.0), Just(-0.0), Just(f64::MIN_POSITIVE),
        ],
    ]
}

fn ground() -> impl Strategy<Value = Wild> {
    let post_m = prop_oneof![
        8 => -12_000.0..=9_000.0f64,
        2 => Just(f64::NAN),
        1 => prop_oneof![
            Just(-32_768.0), Just(-32_767.0), Just(32_767.0), Just(f64::INFINITY), Just(f64::NEG_INFINITY),
            Just(1e300), Just(20_000.0), Just(-20_000.5),
        ],
    ];
    let undulation_m = prop_oneof![9 => -110.0..=90.0f64, 1 => number(-1_000.0, 1_000.0).boxed()];
    let arcsec =
        prop_oneof![6 => Just(Some(3.0)), 1 => Just(None), 1 => number(0.0, 60.0).prop_map(Some)];
    (prop::collection::vec(post_m, SIDE * SIDE), undulation_m, arcsec)
        .prop_map(|(posts_m, undulation_m, arcsec)| Wild { posts_m, undulation_m, arcsec })
}

fn station() -> impl Strategy<Value = Station> {
    let radio = (
        number(10.0, 100_000.0),
        number(100.0, 2e9),
        number(-50.0, 80.0),
        number(0.0, 40.0),
        number(0.0, 100.0),
    );
    let antenna = (number(-30.0, 60.0), number(0.1, 360.0), number(0.1, 360.0), number(0.0, 80.0));
    // Mostly a common radio, so that there are links.
    let usual = prop::bool::weighted(0.6);
    (number(0.0, 20_000.0), radio, antenna, usual).prop_map(
        |(height_agl_m, radio, antenna, usual)| {
            let mut station = groundwave_model::sample::station();
            station.height_agl_m = height_agl_m;
            if !usual {
                let of = &mut station.radio;
                (of.frequency_mhz, of.bandwidth_hz, of.tx_power_dbm) = (radio.0, radio.1, radio.2);
                (of.noise_figure_db, of.feeder_loss_db) = (radio.3, radio.4);
                let of = &mut station.antenna;
                (of.gain_dbi, of.azimuth_beamwidth_deg) = (antenna.0, antenna.1);
                (of.elevation_beamwidth_deg, of.front_to_back_db) = (antenna.2, antenna.3);
            }
            station
        },
    )
}

fn environment() -> impl Strategy<Value = Environment> {
    let air = (
        number(200.0, 330.0),
        number(500.0, 1_100.0),
        number(0.0, 50.0),
        number(0.0, 300.0),
        number(0.3, 10.0),
    );
    let ground = (number(250.0, 400.0), number(1.0, 100.0), number(1e-5, 10.0));
    let shares = (number(0.1, 99.9), number(0.1, 99.9), number(0.1, 99.9));
    (prop::sample::select(Model::ALL.to_vec()), air, ground, shares).prop_map(
        |(model, air, ground, shares)| {
            let mut environment = Environment { model, ..Environment::default() };
            (environment.temperature_k, environment.pressure_hpa) = (air.0, air.1);
            (environment.water_vapour_g_m3, environment.rain_rate_mm_h) = (air.2, air.3);
            environment.k_factor = air.4;
            environment.refractivity_n_units = ground.0;
            (environment.permittivity, environment.conductivity_s_m) = (ground.1, ground.2);
            (environment.time_percent, environment.location_percent) = (shares.0, shares.1);
            environment.situation_percent = shares.2;
            environment
        },
    )
}

/// Places near each other over the ground, with a station each.
fn nodes() -> impl Strategy<Value = Vec<(GeoPoint, Station)>> {
    let place =
        (57.0..58.0f64, 11.0..12.0f64).prop_map(|(lat, lon)| GeoPoint::new(lat, lon).unwrap());
    prop::collection::vec((place, station()), 2..6)
}

fn members(nodes: &[(GeoPoint, Station)]) -> Vec<Member<'_>> {
    let member = |(number, (position, station)): (u128, &(GeoPoint, Station))| Member {
        id: NodeId::from_u128(number),
        position: *position,
        station: Box::leak(Box::new(station.clone())),
    };
    (1..).zip(nodes).map(member).collect()
}

fn assert_finite(link: &MeshLink) -> Result<(), TestCaseError> {
    for way in [&link.budget.forward, &link.budget.backward] {
        prop_assert!(way.path_loss_db.is_finite() && way.snr_db.is_finite(), "{link:?}");
        prop_assert!(way.link_margin_db.is_finite(), "{link:?}");
        prop_assert!((0.0..=1.0).contains(&way.per), "{link:?}");
    }
    Ok(())
}

fn assert_result(result: &LinkResult) -> Result<(), TestCaseError> {
    prop_assert!(result.losses.total_path_loss_db.is_finite(), "{result:?}");
    prop_assert!(result.receiver.rx_power_dbm.is_finite(), "{result:?}");
    Ok(())
}

fn inputs_over<'a>(terrain: &'a dyn Terrain, environment: &'a Environment) -> Inputs<'a> {
    Inputs { terrain, environment, packet_bytes: 1_500, spacing_m: None }
}

fn assert_mesh(
    inputs: &Inputs<'_>,
    members: &[Member<'_>],
    mesh: &Mesh,
) -> Result<(), TestCaseError> {
    mesh.links.iter().try_for_each(assert_finite)?;
    let own = links_of(inputs, members, members[0].id).unwrap();
    own.iter().try_for_each(assert_finite)?;
    for metric in [Metric::Hops, Metric::Ett] {
        let request = RouteRequest {
            source: members[0].id,
            target: members[1].id,
            metric,
            target_data_rate_bps: None,
        };
        prop_assert!(route(inputs, members, mesh, &request).is_ok());
    }
    prop_assert!(groundwave_model::advice::advise(inputs, members).is_ok());
    Ok(())
}

fn requests(nodes: &[(GeoPoint, Station)], environment: &Environment) -> Vec<CoverageRequest> {
    let request = |(position, station): &(GeoPoint, Station)| CoverageRequest {
        position: *position,
        transmitter: station.clone(),
        receiver: nodes[0].1.clone(),
        environment: environment.clone(),
        packet_octets: 1_500,
        sampling: Sampling::Count(40),
        radius_m: 40_000.0,
    };
    nodes.iter().map(request).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn links_meshes_routes_relays_and_advice_answer_or_refuse(
        ground in ground(), nodes in nodes(), environment in environment(),
    ) {
        let inputs = inputs_over(&ground, &environment);
        let [a, b] = [&nodes[0], &nodes[1]].map(|(position, station)| (*position, station));
        let profile = trace(&inputs, a.0, b.0, None);
        let workspace = &mut Workspace::default();
        if let Ok((there, back)) = judge(&inputs, &profile, a, b, workspace) {
            assert_result(&there)?;
            assert_result(&back)?;
            for one in percentiles(&there, &back) {
                prop_assert!(one.rx_power_dbm.iter().all(|power_dbm| power_dbm.is_finite()));
            }
        }
        let members = members(&nodes);
        match mesh(&inputs, &members) {
            Ok(mesh) => assert_mesh(&inputs, &members, &mesh)?,
            Err(why) => prop_assert!(!why.to_string().is_empty()),
        }
        for strategy in [Search::Greedy, Search::Optimal { objective: Objective::FewestRelays }] {
            let end = |number: usize| RelayEnd { position: nodes[number].0, station: &nodes[number].1 };
            let request = RelayRequest {
                tx: end(0),
                rx: end(1),
                target_data_rate_bps: 1e5,
                margin_db: 0.0,
                relay_height_agl_m: 10.0,
                max_hops: 3,
                strategy,
            };
            match plan(&inputs, &request) {
                Ok(plan) => plan.segments.iter().try_for_each(|hop| assert_result(&hop.forward))?,
                Err(why) => prop_assert!(!why.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn coverages_and_placements_answer_or_refuse(
        ground in ground(), nodes in nodes(), environment in environment(),
    ) {
        let grid = Grid::new([57.8, 11.2], [0.1, 0.1], [5, 6]).unwrap();
        let all = requests(&nodes, &environment);
        let sound = |request: &&CoverageRequest| request.prepare(&ground).is_ok();
        for request in all.iter().filter(sound) {
            let site = request.prepare(&ground).unwrap();
            for cell in coverage(&site, &ground, &grid) {
                prop_assert!(!cell.has_data() || cell.rx_power_dbm.is_finite(), "{cell:?}");
            }
        }
        let (existing, candidates) = all.split_at(1);
        let request = PlacementRequest { grid: &grid, existing, candidates, count: 2, margin_db: 3.0 };
        let chosen = place(&request, &ground, &Exact);
        prop_assert!(chosen.covered_km2.is_finite() && chosen.known_km2.is_finite());
        for (_, height_m) in high_ground(&ground, &grid, 2) {
            prop_assert!(height_m.is_finite());
        }
        let terrain: Arc<dyn Terrain> = Arc::new(ground);
        let mut live = LiveCoverage::new(grid, Arc::clone(&terrain)).unwrap();
        let named = (1..).map(NodeId::from_u128).zip(all.iter().cloned()).collect();
        if live.set(named).is_ok() {
            while live.step().stale > 0 {}
        }
        if let Ok(mut job) = CoverageJob::of_sites(all, grid, terrain) {
            while !job.step(12).is_done() {}
        }
    }

    #[test]
    fn a_world_ticks_over_any_ground(
        ground in ground(), nodes in nodes(), environment in environment(),
    ) {
        let mut engine = world(Arc::new(ground)).build::<Snapshot>(1, 1_000_000).unwrap();
        let mut added = 0;
        for (number, (position, station)) in (1..).zip(nodes) {
            let node = NodeId::from_u128(number);
            let (name, role) = (format!("n{number}"), Role::default());
            let add = AddNode { node, name, role, position, station, deployment: None };
            added += usize::from(does_at(&mut engine, 1, add).is_ok());
        }
        let _ = does_at(&mut engine, 2, SetEnvironment { environment });
        engine.tick(Some(3)).unwrap();
        let view = engine.view();
        prop_assert_eq!(view.nodes.len(), added);
        for link in view.links.iter() {
            for way in [&link.budget.forward, &link.budget.backward] {
                prop_assert!(way.path_loss_db.is_finite() && way.snr_db.is_finite(), "{:?}", link);
            }
        }
    }
}

/// One end that stands on ground no place of the Earth has, and others.
#[test]
fn a_link_that_cannot_be_computed_holds_up_no_other() {
    let mut ground =
        Wild { posts_m: vec![100.0; SIDE * SIDE], undulation_m: 0.0, arcsec: Some(3.0) };
    ground.posts_m[0] = 32_767.0;
    let station = Station { height_agl_m: 20.0, ..groundwave_model::sample::station() };
    let at = |lat, lon| (GeoPoint::new(lat, lon).unwrap(), station.clone());
    let nodes = [at(57.05, 11.05), at(57.2, 11.2), at(57.21, 11.21), at(57.2, 11.22)];
    let environment = Environment::default();
    let inputs = inputs_over(&ground, &environment);
    let links: Vec<_> =
        (1..4).map(|to| [&nodes[to - 1], &nodes[to]].map(|(at, of)| (*at, of))).collect();
    let mut computed = vec![None; 3];
    budgets(&inputs, &links, |number, budget| computed[number] = Some(budget));
    let computed: Vec<_> = computed.into_iter().map(Option::unwrap).collect();
    assert!(computed[0].warnings.contains(Warning::NotComputable));
    assert!(!computed[0].forward.usable() && computed[0].distance_m > 10_000.0);
    assert!(score(&inputs, links[0][0], links[0][1]).is_err());
    for (budget, link) in computed.iter().zip(&links).skip(1) {
        let (there, _) = score(&inputs, link[0], link[1]).unwrap();
        assert_eq!(budget.forward.rx_power_dbm, there.receiver.rx_power_dbm);
        assert!(budget.forward.usable() && !budget.warnings.contains(Warning::NotComputable));
    }
    // A bad environment is as bad for all of them, and no panic.
    let environment = Environment { k_factor: f64::NAN, ..Environment::default() };
    let flat = Flat::default();
    let mut refused = 0;
    budgets(&inputs_over(&flat, &environment), &links, |_, budget| {
        refused += usize::from(budget.warnings.contains(Warning::NotComputable));
    });
    assert_eq!(refused, 3);
}
