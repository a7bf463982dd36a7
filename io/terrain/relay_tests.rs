//! Relay plans over real ground.

use groundwave_engine::Seed;
use groundwave_model::radio::{Environment, Station};
use groundwave_model::relay::{
    FRACTIONS, Objective, RelayEnd, RelayPlan, RelayRequest, Strategy, plan,
};
use groundwave_model::sample::station;
use groundwave_model::terrain;
use groundwave_model::terrain::GeoPoint;
use groundwave_needs::needs;
use groundwave_simulation::link::{Inputs, LinkBudget, score};
use groundwave_test_data::fetched;

use super::TileDirectory;

fn rate_bps(inputs: &Inputs<'_>, a: (GeoPoint, &Station), b: (GeoPoint, &Station)) -> f64 {
    let (there, back) = score(inputs, a, b).unwrap();
    let slower_bps = there.rate.data_rate_bps.min(back.rate.data_rate_bps);
    let passes = LinkBudget::of(&there, &back).etx();
    passes.map_or(0.0, |_| slower_bps)
}

/// Tests every fraction of every step of a greedy plan by itself.
fn obeys_the_rule(inputs: &Inputs<'_>, request: &RelayRequest<'_>, plan: &RelayPlan) {
    let closes = |a, b| rate_bps(inputs, a, b) >= request.target_data_rate_bps;
    let rx = (request.rx.position, request.rx.station);
    for (step, ends) in plan.chain.windows(2).enumerate() {
        let standing = if step == 0 { request.tx.station } else { &plan.relay_station };
        let here = (ends[0].position, standing);
        let (mut lat, mut lon) = (Vec::new(), Vec::new());
        terrain::Path::between(here.0, rx.0).positions(FRACTIONS + 1, &mut lat, &mut lon);
        let places = (1..FRACTIONS).rev().map(|i| GeoPoint::new(lat[i], lon[i]).unwrap());
        let has_ground = |place: &GeoPoint| inputs.terrain.elevation_msl_m(*place).is_some();
        let mut places = places.into_iter().filter(has_ground);
        if closes(here, rx) {
            assert_eq!(ends[1].position, rx.0);
        } else if step + 2 < plan.chain.len() {
            let farthest = places.find(|&place| closes(here, (place, &plan.relay_station)));
            assert_eq!(farthest, Some(ends[1].position));
        } else if plan.segments.len() < request.max_hops as usize {
            assert!(places.all(|place| !closes(here, (place, &plan.relay_station))));
        }
    }
}

#[needs(terrain)]
#[test]
fn the_optimum_is_never_worse_than_a_greedy_walk_that_obeys_its_rule() {
    // Coast, islands and hills.
    let tiles = TileDirectory::open(&fetched("srtm")).unwrap();
    let (environment, station) = (Environment::default(), station());
    let inputs =
        Inputs { terrain: &tiles, environment: &environment, packet_bytes: 1500, spacing_m: None };
    let mut chance = Seed(11).stream("relay", 0, 0);
    let (mut met, mut better) = (0, 0);
    for _ in 0..8 {
        let mut end = || {
            let [north, east] = [(); 2].map(|()| chance.between(0.4, 0.9));
            GeoPoint::new(57.0 + north, 11.5 + east * 0.5).unwrap()
        };
        let [tx, rx] = [end(), end()].map(|position| RelayEnd { position, station: &station });
        let request = RelayRequest {
            tx,
            rx,
            target_data_rate_bps: 10e6,
            margin_db: 0.0,
            relay_height_agl_m: 10.0,
            max_hops: 16,
            strategy: Strategy::Greedy,
        };
        let greedy = plan(&inputs, &request).unwrap();
        obeys_the_rule(&inputs, &request, &greedy);
        let [fewest, fastest] =
            [Objective::FewestRelays, Objective::HighestBottleneck].map(|objective| {
                let strategy = Strategy::Optimal { objective };
                plan(&inputs, &RelayRequest { strategy, ..request }).unwrap()
            });
        if greedy.meets_target {
            assert!(fewest.meets_target);
            let [hops, of_greedy] = [&fewest, &greedy].map(|plan| plan.segments.len());
            assert!(hops <= of_greedy, "{hops} hops, greedily {of_greedy}");
            let as_fast = fewest.bottleneck_rate_bps >= greedy.bottleneck_rate_bps;
            assert!(hops < of_greedy || as_fast);
            better += usize::from(hops < of_greedy);
            met += 1;
        } else {
            better += usize::from(fewest.meets_target);
        }
        for plan in [&greedy, &fewest] {
            assert!(fastest.bottleneck_rate_bps >= plan.bottleneck_rate_bps);
        }
    }
    assert!(met >= 2 && better >= 2, "{met} met greedily, {better} better");
}
