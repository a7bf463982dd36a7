use super::*;
use crate::link::{LinkBudget, score};
use crate::terrain::Path;

/// `true` if both directions pass, carry the target rate and leave the margin.
fn closes(
    inputs: &Inputs<'_>,
    request: &RelayRequest<'_>,
    ends: [(GeoPoint, &Station); 2],
) -> bool {
    let (there, back) = score(inputs, ends[0], ends[1]).unwrap();
    let passes = LinkBudget::of(&there, &back).etx().is_some();
    let target = request.target_data_rate_bps;
    let leaves = |margin_db: f64| request.margin_db == 0.0 || margin_db >= request.margin_db;
    let margin_db = there.margin.link_margin_db.min(back.margin.link_margin_db);
    passes
        && leaves(margin_db)
        && there.rate.data_rate_bps >= target
        && back.rate.data_rate_bps >= target
}

/// Follows a plan step by step and tests every fraction by itself.
fn obeys_the_rule(inputs: &Inputs<'_>, request: &RelayRequest<'_>, plan: &RelayPlan) {
    let steps = plan.chain.len() - 1;
    for step in 0..steps {
        let node = &plan.chain[step];
        let here = if step == 0 { request.tx.station } else { &plan.relay_station };
        let here = (node.position, here);
        let path = Path::between(node.position, request.rx.position);
        let (mut lat, mut lon) = (Vec::new(), Vec::new());
        path.positions(21, &mut lat, &mut lon);
        let direct = closes(inputs, request, [here, (request.rx.position, request.rx.station)]);
        if direct {
            assert_eq!(step + 1, steps, "the receiver is reachable and must be next");
            continue;
        }
        let fractions = (1..20).rev().map(|i| at(lat[i], lon[i]));
        let farthest = fractions
            .into_iter()
            .find(|&there| closes(inputs, request, [here, (there, &plan.relay_station)]));
        if step + 1 < steps {
            let next = plan.chain[step + 1].position;
            assert_eq!(farthest, Some(next), "the farthest tested fraction that closes");
            continue;
        }
        match plan.shortfall.unwrap() {
            Shortfall::Blocked { segment, .. } => assert_eq!((segment, farthest), (step, None)),
            Shortfall::HopsUsedUp { segment, .. } => {
                assert_eq!((segment, steps), (step, request.max_hops as usize));
            }
            none @ (Shortfall::NoChain { .. }
            | Shortfall::LowMargin { .. }
            | Shortfall::UnknownGround { .. }) => {
                panic!("{none:?}")
            }
        }
    }
}

#[test]
fn every_step_is_the_farthest_tested_fraction_that_closes() {
    let (environment, station) = (Environment::default(), station());
    let (mut met, mut unmet) = (0, 0);
    for seed in 0..16 {
        let hills = Hills { seed, relief_m: 60.0 };
        let inputs = inputs(&hills, &environment);
        let turn = seed as f64;
        let request = request(&station, 23.0 * turn, 6_000.0 + 2_000.0 * turn);
        let max_hops = if seed % 4 == 3 { 2 } else { 12 };
        let margin_db = if seed % 2 == 1 { 18.0 } else { 0.0 };
        let request = RelayRequest { max_hops, margin_db, ..request };
        let plan = plan(&inputs, &request).unwrap();
        check(&plan, &request);
        obeys_the_rule(&inputs, &request, &plan);
        *(if plan.meets_target { &mut met } else { &mut unmet }) += 1;
    }
    assert!(met >= 3 && unmet >= 3, "{met} met, {unmet} unmet");
}

#[test]
fn a_link_that_closes_needs_no_relay_and_one_point_is_no_way() {
    let (environment, station) = (Environment::default(), station());
    let flat = Hills { seed: 0, relief_m: 0.0 };
    let inputs = inputs(&flat, &environment);
    for distance_m in [0.0, 300.0] {
        let request = RelayRequest { max_hops: 1, ..request(&station, 200.0, distance_m) };
        let plan = plan(&inputs, &request).unwrap();
        check(&plan, &request);
        assert!(plan.meets_target && plan.segments.len() == 1);
    }
}

#[test]
fn a_wall_is_climbed_from_its_top_or_said_to_block() {
    let (environment, station) = (Environment::default(), station());
    let wall = Wall { lat_deg: 57.55, height_m: 400.0 };
    let inputs = inputs(&wall, &environment);
    let request = request(&station, 0.0, 12_000.0);
    let over = plan(&inputs, &request).unwrap();
    check(&over, &request);
    assert!(over.meets_target, "{:?}", over.shortfall);
    let top = relays(&over).iter().map(|relay| relay.ground_msl_m);
    assert!(top.fold(0.0, f64::max) > 300.0, "a relay stands on the wall");

    let impossible = RelayRequest { target_data_rate_bps: 1e9, ..request };
    let blocked = plan(&inputs, &impossible).unwrap();
    check(&blocked, &impossible);
    let Some(Shortfall::Blocked {
        segment,
        remaining_m,
        nearest_tested_m,
        nearest_data_rate_bps,
        nearest_link_margin_db,
    }) = blocked.shortfall
    else {
        panic!("{:?}", blocked.shortfall);
    };
    assert_eq!((segment, blocked.segments.len()), (0, 1));
    assert!((remaining_m - 12_000.0).abs() < 1e-3 && (nearest_tested_m - 600.0).abs() < 1e-3);
    assert!(nearest_data_rate_bps > 0.0 && nearest_data_rate_bps < 1e9);
    assert!(nearest_link_margin_db.unwrap() > 0.0);
}

#[test]
fn used_up_hops_leave_the_rest_of_the_way_to_be_seen() {
    let (environment, station) = (Environment::default(), station());
    let flat = Hills { seed: 0, relief_m: 0.0 };
    let request = RelayRequest { max_hops: 3, ..request(&station, 45.0, 200_000.0) };
    let plan = plan(&inputs(&flat, &environment), &request).unwrap();
    check(&plan, &request);
    let Some(Shortfall::HopsUsedUp { segment, remaining_m, max_hops }) = plan.shortfall else {
        panic!("{:?}", plan.shortfall);
    };
    assert_eq!((segment, max_hops), (2, 3));
    assert_eq!(plan.segments[2].distance_m, remaining_m);
    assert!(!plan.segments[2].closes && plan.segments[1].closes);
}
