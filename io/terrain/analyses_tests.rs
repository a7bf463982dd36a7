//! Stations, environments and places at the edges of what is allowed, and beyond, over ground with spikes,
//! voids and steps: every analysis has an answer or an error with the value, none ends the program.

use std::fs;
use std::sync::{Arc, LazyLock};

use groundwave_model::advice::advise;
use groundwave_model::coverage::placement::{Exact, PlacementRequest, place};
use groundwave_model::link::{LinkBudget, trace};
use groundwave_model::mesh::{Member, RouteRequest, mesh, route};
use groundwave_model::radio::{Environment, Model, Multipath, Pointing, Station, Waveform};
use groundwave_model::relay::{Objective, RelayEnd, RelayRequest, Strategy as Search, plan};
use groundwave_model::route::Metric;
use groundwave_model::sample::station;
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::coverage::live::LiveCoverage;
use groundwave_simulation::coverage::{CoverageRequest, Grid, Sampling, coverage};
use groundwave_simulation::link::{Inputs, score};
use groundwave_simulation::site::NodeId;
use proptest::prelude::*;

use super::TerrainStack;

/// Posts along one side of a tile.
const SIDE: usize = 1201;

/// Hills with a wall, spikes, pits, voids and values beyond the Earth, at 57 degrees north, 11 degrees east.
static GROUND: LazyLock<Arc<TerrainStack>> = LazyLock::new(|| {
    let post = |at: usize| -> i16 {
        let (row, column) = (at / SIDE, at % SIDE);
        match (row * 31 + column * 17) % 4_999 {
            0 => 8_900,
            1 => -11_000,
            2 => 32_767,
            3..9 => i16::MIN,
            _ if column > 900 => 4_000,
            _ => (300.0 + 290.0 * (row as f64 / 23.0).sin() * (column as f64 / 41.0).cos()) as i16,
        }
    };
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..SIDE * SIDE).flat_map(|at| post(at).to_be_bytes()).collect();
    fs::write(folder.path().join("N57E011.hgt"), bytes).unwrap();
    let stack = TerrainStack::open(Some(folder.path()), None).unwrap();
    // Decoded and kept before the folder is removed.
    let at = GeoPoint::new(57.5, 11.5).unwrap();
    assert!(groundwave_model::terrain::Terrain::resolution_arcsec(&stack, at).is_some());
    Arc::new(stack)
});

/// Values of a range, its ends, at times one outside or NaN.
fn edge(low: f64, high: f64) -> impl Strategy<Value = f64> {
    let beyond = [f64::NAN, f64::INFINITY, low.next_down(), high.next_up(), -1e300];
    prop_oneof![
        60 => low..=high,
        20 => Just(low),
        20 => Just(high),
        1 => prop::sample::select(beyond.to_vec()),
    ]
}

fn position() -> impl Strategy<Value = GeoPoint> {
    let at = |(lat, lon): (f64, f64)| GeoPoint::new(lat, lon).unwrap();
    let edges = [
        (90.0, 0.0),
        (90.0, 135.0),
        (-90.0, 0.0),
        (89.999_999, -180.0),
        (57.5, 11.5),
        (57.5, 11.5),
        (57.0, 11.0),
        (58.0, 12.0),
        (-57.5, -168.5),
        (0.0, 180.0),
        (0.0, -180.0),
        (57.500_000_1, 11.5),
    ];
    prop_oneof![
        6 => (57.0..58.0, 11.0..12.0).prop_map(at),
        3 => prop::sample::select(edges.to_vec()).prop_map(at),
        1 => (-90.0..=90.0, -180.0..=180.0).prop_map(at),
    ]
}

fn waveform() -> impl Strategy<Value = Waveform> {
    prop_oneof![
        (1..=8_u8, edge(0.01, 1.0)).prop_map(|(spatial_streams, mac_efficiency_prob)| {
            Waveform::Ofdm { spatial_streams, mac_efficiency_prob }
        }),
        (6..=12_u8, 5..=8_u8).prop_map(|(spreading_factor, coding_rate)| Waveform::Lora {
            spreading_factor,
            coding_rate,
        }),
        (edge(1.0, 1e9), edge(-180.0, 0.0)).prop_map(|(bit_rate_bps, sensitivity_dbm)| {
            Waveform::Narrowband { bit_rate_bps, sensitivity_dbm }
        }),
    ]
}

fn any_station() -> impl Strategy<Value = Station> {
    let radio =
        (edge(10.0, 1e5), edge(100.0, 2e9), edge(-50.0, 80.0), edge(0.0, 40.0), edge(0.0, 100.0));
    let antenna =
        (edge(-30.0, 60.0), edge(0.1, 360.0), edge(0.1, 360.0), edge(0.0, 80.0), edge(-90.0, 90.0));
    let pointing = prop::option::of((edge(0.0, 359.999), edge(-90.0, 90.0)));
    let rest = (edge(0.0, 20_000.0), waveform(), pointing);
    let is_usual = any::<bool>();
    (radio, antenna, rest, is_usual).prop_map(
        |(radio, antenna, (height_agl_m, waveform, pointing), is_usual)| {
            let mut any = station();
            any.height_agl_m = height_agl_m;
            any.pointing = pointing
                .map(|(azimuth_deg, elevation_deg)| Pointing { azimuth_deg, elevation_deg });
            // Half of them keep the radio, so that they understand each other.
            if !is_usual {
                any.radio.waveform = waveform;
                let own = &mut any.radio;
                (
                    own.frequency_mhz,
                    own.bandwidth_hz,
                    own.tx_power_dbm,
                    own.noise_figure_db,
                    own.feeder_loss_db,
                ) = radio;
            }
            let own = &mut any.antenna;
            (
                own.gain_dbi,
                own.azimuth_beamwidth_deg,
                own.elevation_beamwidth_deg,
                own.front_to_back_db,
                own.electrical_tilt_deg,
            ) = antenna;
            any
        },
    )
}

fn any_environment() -> impl Strategy<Value = Environment> {
    let model = prop::sample::select(Model::ALL.to_vec());
    let ground = (edge(250.0, 400.0), edge(1.0, 100.0), edge(1e-5, 10.0), edge(0.3, 10.0));
    let shares = (edge(0.1, 99.9), edge(0.1, 99.9), edge(0.1, 99.9));
    let air = (edge(200.0, 330.0), edge(500.0, 1100.0), edge(0.0, 50.0), edge(0.0, 300.0));
    let optional = (
        prop::option::of(edge(0.1, 300.0)),
        prop::option::of((edge(-1500.0, 500.0), edge(0.0, 5000.0))),
        prop::option::of(edge(-250.0, 0.0)),
        edge(0.0, 200.0),
        edge(0.0, 60.0),
    );
    (model, ground, shares, air, optional).prop_map(|(model, ground, shares, air, optional)| {
        let mut any = Environment { model, ..Environment::default() };
        (any.refractivity_n_units, any.permittivity, any.conductivity_s_m, any.k_factor) = ground;
        (any.time_percent, any.location_percent, any.situation_percent) = shares;
        (any.temperature_k, any.pressure_hpa, any.water_vapour_g_m3, any.rain_rate_mm_h) = air;
        let multipath;
        (
            any.rain_rate_001_mm_h,
            multipath,
            any.interference_dbm,
            any.other_loss_db,
            any.required_margin_db,
        ) = optional;
        any.multipath = multipath.map(|(gradient_1_percent_n_units_km, terrain_roughness_m)| {
            Multipath { gradient_1_percent_n_units_km, terrain_roughness_m }
        });
        any
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, max_shrink_iters: 60, ..ProptestConfig::default() })]

    #[test]
    fn links_of_any_stations_are_numbers_or_name_the_value(
        ends in [(position(), any_station()), (position(), any_station())],
        environment in any_environment(),
        spacing_m in prop::option::of(30.0..1e6_f64),
    ) {
        let inputs =
            Inputs { terrain: &**GROUND, environment: &environment, packet_bytes: 1_500, spacing_m };
        let [(from, one), (to, other)] = &ends;
        let profile = trace(&inputs, *from, *to, None);
        prop_assert!(profile.elevation_msl_m.iter().all(|height_m| !height_m.is_infinite()));
        let is_valid =
            one.validate().is_ok() && other.validate().is_ok() && environment.validate().is_ok();
        match score(&inputs, (*from, one), (*to, other)) {
            Ok((forward, backward)) => {
                prop_assert!(is_valid);
                let budget = LinkBudget::of(&forward, &backward);
                for way in [&budget.forward, &budget.backward] {
                    prop_assert!(way.path_loss_db.is_finite() && way.snr_db.is_finite(), "{way:?}");
                    prop_assert!((0.0..=1.0).contains(&way.per), "{way:?}");
                }
            }
            Err(error) => prop_assert!(!is_valid, "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 30, ..ProptestConfig::default() })]

    #[test]
    fn deployments_of_any_stations_have_meshes_routes_relays_and_advice(
        nodes in prop::collection::vec((position(), any_station()), 2..6),
        environment in any_environment(),
        height_agl_m in edge(0.0, 20_000.0),
        rate_bps in edge(1.0, 1e9),
        max_hops in 0..5_u32,
    ) {
        let inputs =
            Inputs { terrain: &**GROUND, environment: &environment, packet_bytes: 1_500, spacing_m: Some(500.0) };
        let members: Vec<_> = (1..).zip(&nodes).map(|(number, (position, station))| Member {
            id: NodeId::from_u128(number),
            position: *position,
            station,
        }).collect();
        let is_valid = environment.validate().is_ok()
            && nodes.iter().all(|(_, station)| station.validate().is_ok());
        let network = mesh(&inputs, &members);
        prop_assert_eq!(network.is_ok(), is_valid);
        prop_assert_eq!(advise(&inputs, &members).is_ok(), is_valid);
        if let Ok(network) = &network {
            for metric in [Metric::Ett, Metric::Etx, Metric::Bottleneck, Metric::Hops] {
                let request = RouteRequest {
                    source: members[0].id,
                    target: members[members.len() - 1].id,
                    metric,
                    target_data_rate_bps: Some(rate_bps),
                };
                let is_rate = rate_bps.is_finite() && rate_bps > 0.0;
                prop_assert_eq!(route(&inputs, &members, network, &request).is_ok(), is_rate);
            }
        }
        let end = |index: usize| RelayEnd { position: nodes[index].0, station: &nodes[index].1 };
        for strategy in [Search::Greedy, Search::Optimal { objective: Objective::FewestRelays }] {
            let request = RelayRequest {
                tx: end(0),
                // The same radio, so that relays are of use.
                rx: RelayEnd { station: &nodes[0].1, ..end(1) },
                target_data_rate_bps: rate_bps,
                margin_db: 0.0,
                relay_height_agl_m: height_agl_m,
                max_hops,
                strategy,
            };
            match plan(&inputs, &request) {
                Ok(plan) => prop_assert_eq!(plan.chain.len(), plan.segments.len() + 1),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn coverages_and_placements_of_any_stations_have_numbers_or_no_data(
        (at, transmitter) in (position(), any_station()),
        receiver in any_station(),
        environment in any_environment(),
        radius_m in prop_oneof![100.0..60e3_f64, Just(0.0), Just(f64::NAN)],
        candidate in position(),
    ) {
        let request = CoverageRequest {
            position: at,
            transmitter,
            receiver,
            environment,
            packet_octets: 1_500,
            sampling: Sampling::Count(40),
            radius_m,
        };
        let is_valid = request.transmitter.validate().is_ok()
            && request.receiver.validate().is_ok()
            && request.environment.validate().is_ok();
        let prepared = request.prepare(&**GROUND);
        let is_prepared = prepared.is_ok();
        prop_assert!(is_valid || prepared.is_err());
        let Ok(grid) = Grid::square(at, radius_m, 5) else {
            prop_assert!(radius_m.is_nan() || radius_m <= 0.0);
            return Ok(());
        };
        if let Ok(site) = &prepared {
            for cell in coverage(site, &**GROUND, &grid) {
                prop_assert!(!cell.has_data() || cell.rx_power_dbm.is_finite(), "{cell:?}");
            }
            let other = CoverageRequest { position: candidate, ..request.clone() };
            let existing = [request.clone()];
            let choice = place(
                &PlacementRequest { grid: &grid, existing: &existing, candidates: &[other], count: 2, margin_db: 0.0 },
                &**GROUND,
                &Exact,
            );
            prop_assert!(choice.covered_km2 <= choice.known_km2 && choice.known_km2.is_finite());
        }
        let mut live = LiveCoverage::new(grid, GROUND.clone()).unwrap();
        let is_set = live.set(vec![(NodeId::from_u128(1), request.clone())]).is_ok();
        prop_assert_eq!(is_set, is_prepared);
        while live.progress().stale > 0 {
            live.step();
        }
    }
}
