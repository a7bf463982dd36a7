//! Relay plans over synthetic terrain. Measured terrain is used in the tests of the layer that
//! reads tiles.

mod greedy;
mod ground;
mod margin;
mod optimal;

use super::*;
use crate::link::Inputs;
use crate::radio::{Environment, Station};
use crate::sample::station;
use crate::terrain::{GeoPoint, Terrain, geodesic};
use ground::{Hills, Wall};

fn inputs<'a>(terrain: &'a dyn Terrain, environment: &'a Environment) -> Inputs<'a> {
    Inputs {
        terrain,
        environment,
        packet_bytes: 1500,
        // Coarse, so that tests are quick.
        spacing_m: Some(200.0),
    }
}

fn at(lat_deg: f64, lon_deg: f64) -> GeoPoint {
    GeoPoint::new(lat_deg, lon_deg).unwrap()
}

/// From 57.5 N 11.5 E, this far at this bearing.
fn request(station: &Station, azimuth_deg: f64, distance_m: f64) -> RelayRequest<'_> {
    let tx = at(57.5, 11.5);
    let rx = geodesic::direct(tx, azimuth_deg, distance_m).unwrap();
    let end = |position| RelayEnd { position, station };
    RelayRequest {
        tx: end(tx),
        rx: end(rx),
        target_data_rate_bps: 10e6,
        margin_db: 0.0,
        relay_height_agl_m: 12.0,
        max_hops: 12,
        strategy: Strategy::Greedy,
    }
}

fn relays(plan: &RelayPlan) -> &[ChainNode] {
    &plan.chain[1..plan.chain.len() - 1]
}

/// Checks the invariants of every plan.
fn check(plan: &RelayPlan, request: &RelayRequest<'_>) {
    assert_eq!(plan.chain.len(), plan.segments.len() + 1);
    assert!(plan.segments.len() <= request.max_hops as usize);
    assert_eq!(plan.meets_target, plan.shortfall.is_none(), "{:?}", plan.shortfall);
    let slowest = plan.segments.iter().map(|s| s.data_rate_bps).fold(f64::INFINITY, f64::min);
    assert_eq!(plan.bottleneck_rate_bps, slowest);
    let is_known = |s: &RelaySegment| s.forward.terrain.ground.is_enough();
    let least_db = plan.segments.iter().map(|s| s.link_margin_db).fold(f64::INFINITY, f64::min);
    let leaves = |margin_db: f64| request.margin_db == 0.0 || margin_db >= request.margin_db;
    let is_enough = slowest >= request.target_data_rate_bps && leaves(least_db);
    assert_eq!(plan.meets_target, is_enough && plan.segments.iter().all(is_known));
    assert_eq!(plan.margin_db, request.margin_db);
    assert_eq!(plan.chain[0].position, request.tx.position);
    assert_eq!(plan.chain[plan.chain.len() - 1].position, request.rx.position);
    for (ends, segment) in plan.chain.windows(2).zip(&plan.segments) {
        let way = geodesic::inverse(ends[0].position, ends[1].position);
        assert!((way.distance_m - segment.distance_m).abs() < 1e-3);
        let is_fast = segment.data_rate_bps >= request.target_data_rate_bps;
        let of_ends = [&segment.forward, &segment.backward].map(|one| one.margin.link_margin_db);
        assert_eq!(segment.link_margin_db, of_ends[0].min(of_ends[1]));
        let is_enough = is_fast && leaves(segment.link_margin_db);
        assert_eq!(segment.closes, is_enough && is_known(segment));
        // One point lies in no direction of another at the same place.
        let apart = segment.distance_m > 1.0;
        let pointing = ends[0].to_next.unwrap();
        assert!(!apart || (pointing.azimuth_deg - way.azimuth_deg).abs() < 1e-6);
        let pointing = ends[1].to_previous.unwrap();
        assert!(!apart || (pointing.azimuth_deg - way.back_azimuth_deg).abs() < 1e-6);
        let (tx, rx) = (&segment.forward.geometry, &segment.backward.geometry);
        assert_eq!(tx.tx_antenna_msl_m, ends[0].antenna_msl_m);
        assert_eq!(rx.tx_antenna_msl_m, ends[1].antenna_msl_m);
    }
    for relay in relays(plan) {
        assert_eq!(relay.role, ChainRole::Relay);
        assert_eq!(relay.height_agl_m, request.relay_height_agl_m);
    }
}

#[test]
fn relays_carry_the_transmitters_radio_and_look_both_ways() {
    let (environment, hills) = (Environment::default(), Hills { seed: 1, relief_m: 0.0 });
    let mut sender = station();
    sender.radio.tx_power_dbm = 27.0;
    let receiver = station();
    let mut request = request(&sender, 70.0, 30_000.0);
    request.rx.station = &receiver;
    let omni = plan(&inputs(&hills, &environment), &request).unwrap();
    check(&omni, &request);
    assert!(omni.meets_target && !relays(&omni).is_empty());
    assert_eq!(omni.relay_station.radio, sender.radio);
    assert_eq!(omni.relay_station.height_agl_m, 12.0);
    assert_eq!((omni.relay_station.pointing, omni.antennas_per_relay), (None, 1));

    let mut dish = sender.clone();
    dish.antenna = crate::radio::presets::antenna("dish_24").unwrap().antenna.clone();
    dish.pointing = Some(crate::radio::Pointing { azimuth_deg: 70.0, elevation_deg: 0.0 });
    request.tx.station = &dish;
    let dishes = plan(&inputs(&hills, &environment), &request).unwrap();
    check(&dishes, &request);
    assert_eq!((dishes.relay_station.pointing, dishes.antennas_per_relay), (None, 2));
    let document = serde_json::to_value(&dishes).unwrap();
    assert!(document["bottleneck_rate_bps"].is_number() && document["meets_target"] == true);
    assert_eq!(document["strategy"]["kind"], "greedy");
    let schema = schemars::schema_for!(RelayPlan).as_value().to_string();
    assert!(schema.contains("lat_deg") && schema.contains("nearest_tested_m"));
}

#[test]
fn invalid_request_gives_error_with_allowed_values() {
    let environment = Environment::default();
    let (ground, station) = (Hills { seed: 1, relief_m: 0.0 }, station());
    let inputs = inputs(&ground, &environment);
    let good = request(&station, 90.0, 1_000.0);
    let refused = |request: RelayRequest<'_>| plan(&inputs, &request).unwrap_err().to_string();
    for max_hops in [0, 65] {
        let message = refused(RelayRequest { max_hops, ..good });
        assert!(message.contains("max_hops") && message.contains("[1, 64]"), "{message}");
    }
    for relay_height_agl_m in [-1.0, 20_001.0, f64::NAN] {
        let message = refused(RelayRequest { relay_height_agl_m, ..good });
        assert!(message.contains("relay_height_agl_m"), "{message}");
    }
    for target_data_rate_bps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let message = refused(RelayRequest { target_data_rate_bps, ..good });
        assert!(message.contains("target_data_rate_bps"), "{message}");
    }
    for margin_db in [-1.0, 60.5, f64::NAN] {
        let message = refused(RelayRequest { margin_db, ..good });
        assert!(message.contains("margin_db") && message.contains("[0, 60]"), "{message}");
    }
    let mut bad = station.clone();
    bad.radio.frequency_mhz = 1.0;
    let end = RelayEnd { station: &bad, ..good.rx };
    let message = refused(RelayRequest { rx: end, ..good });
    assert!(message.starts_with("rx: ") && message.contains("frequency_mhz"), "{message}");
    bad.radio.frequency_mhz = 2437.0;
    let end = RelayEnd { station: &bad, ..good.rx };
    let result = plan(&inputs, &RelayRequest { rx: end, ..good });
    assert_eq!(result, Err(RelayError::Incompatible));
}
