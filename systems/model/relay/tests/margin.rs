use super::*;

const STRATEGIES: [Strategy; 3] = [
    Strategy::Greedy,
    Strategy::Optimal { objective: Objective::FewestRelays },
    Strategy::Optimal { objective: Objective::HighestBottleneck },
];

#[test]
fn margin_is_left_on_every_hop_by_every_strategy() {
    let (environment, station) = (Environment::default(), station());
    let flat = Hills { seed: 1, relief_m: 0.0 };
    let inputs = inputs(&flat, &environment);
    let bare = RelayRequest { target_data_rate_bps: 5e6, ..request(&station, 70.0, 30_000.0) };
    let least_db = |plan: &RelayPlan| {
        plan.segments.iter().map(|s| s.link_margin_db).fold(f64::INFINITY, f64::min)
    };
    let without = plan(&inputs, &bare).unwrap();
    let margin_db = least_db(&without).ceil() + 5.0;
    for strategy in STRATEGIES {
        let request = RelayRequest { margin_db, strategy, ..bare };
        let with = plan(&inputs, &request).unwrap();
        check(&with, &request);
        assert!(with.meets_target, "{strategy:?} {margin_db}: {:?}", with.shortfall);
        assert!(least_db(&with) >= margin_db, "{strategy:?}");
        assert!(with.segments.len() > without.segments.len(), "{strategy:?}");
    }
}

#[test]
fn chain_with_too_little_margin_is_the_one_with_most() {
    let (environment, station) = (Environment::default(), station());
    let flat = Hills { seed: 1, relief_m: 0.0 };
    let inputs = inputs(&flat, &environment);
    let bare = RelayRequest { max_hops: 2, ..request(&station, 70.0, 12_000.0) };
    let strategy = Strategy::Optimal { objective: Objective::FewestRelays };
    let request = RelayRequest { margin_db: 60.0, strategy, ..bare };
    let low = plan(&inputs, &request).unwrap();
    check(&low, &request);
    let Some(Shortfall::LowMargin { segment, link_margin_db }) = low.shortfall else {
        panic!("{:?}", low.shortfall);
    };
    assert!(low.bottleneck_rate_bps >= request.target_data_rate_bps);
    assert_eq!(low.segments[segment].link_margin_db, link_margin_db);
    // No other chain of as many hops over flat ground has more than two equal halves.
    let lengths_m: Vec<_> = low.segments.iter().map(|segment| segment.distance_m).collect();
    assert_eq!(lengths_m.len(), 2);
    assert!((lengths_m[0] - lengths_m[1]).abs() < 400.0, "{lengths_m:?}");

    let greedy = RelayRequest { strategy: Strategy::Greedy, ..request };
    let blocked = plan(&inputs, &greedy).unwrap();
    check(&blocked, &greedy);
    let Some(Shortfall::Blocked { nearest_data_rate_bps, nearest_link_margin_db, .. }) =
        blocked.shortfall
    else {
        panic!("{:?}", blocked.shortfall);
    };
    // The rate would do; the margin is what lacks.
    assert!(nearest_data_rate_bps >= greedy.target_data_rate_bps);
    assert!(nearest_link_margin_db.unwrap() < 60.0);
}
