use super::*;

fn both(
    inputs: &Inputs<'_>,
    request: &RelayRequest<'_>,
    objective: Objective,
) -> (RelayPlan, RelayPlan) {
    let strategy = Strategy::Optimal { objective };
    let greedy = plan(inputs, request).unwrap();
    let best = plan(inputs, &RelayRequest { strategy, ..*request }).unwrap();
    check(&best, request);
    (greedy, best)
}

#[test]
fn the_optimum_is_never_worse_than_the_greedy_walk() {
    let (environment, station) = (Environment::default(), station());
    let (mut fewer, mut rescued, mut faster) = (0, 0, 0);
    for seed in 0..14 {
        let relief_m = 20.0 + 10.0 * (seed % 5) as f64;
        let hills = Hills { seed, relief_m };
        let inputs = inputs(&hills, &environment);
        let turn = seed as f64;
        let request = request(&station, 71.0 * turn, 6_000.0 + 2_500.0 * turn);
        let (greedy, best) = both(&inputs, &request, Objective::FewestRelays);
        if greedy.meets_target {
            assert!(best.meets_target, "seed {seed}");
            let [one, other] = [&best, &greedy].map(|plan| plan.segments.len());
            assert!(one <= other, "seed {seed}: {one} hops, greedily {other}");
            let [rate, of_greedy] = [&best, &greedy].map(|plan| plan.bottleneck_rate_bps);
            assert!(one < other || rate >= of_greedy, "seed {seed}");
            fewer += usize::from(one < other);
        } else {
            rescued += usize::from(best.meets_target);
            let worse = best.bottleneck_rate_bps < greedy.bottleneck_rate_bps;
            assert!(!worse, "seed {seed}");
        }
        let (_, widest) = both(&inputs, &request, Objective::HighestBottleneck);
        let rates = [&greedy, &best].map(|plan| plan.bottleneck_rate_bps);
        let rate = rates[0].max(rates[1]);
        assert!(widest.bottleneck_rate_bps >= rate, "seed {seed}");
        faster += usize::from(widest.bottleneck_rate_bps > rate);
    }
    // Otherwise the search would be for nothing.
    assert!(fewer + rescued >= 3 && faster >= 3, "{fewer} {rescued} {faster}");
}

#[test]
fn high_ground_beside_the_line_is_found() {
    /// Flat but for one hill, 1.5 km beside the middle of the way.
    struct Hill(GeoPoint);
    impl Terrain for Hill {
        fn sample(&self, lat: &[f64], lon: &[f64], out: &mut [f64]) -> crate::terrain::TerrainUse {
            for ((lat, lon), out) in lat.iter().zip(lon).zip(out) {
                let away = geodesic::inverse(at(*lat, *lon), self.0).distance_m / 700.0;
                *out = 20.0 + 200.0 * (-away * away).exp();
            }
            crate::terrain::TerrainUse::default()
        }
        fn undulation_m(&self, _: GeoPoint) -> f64 {
            0.0
        }
        fn resolution_arcsec(&self, _: GeoPoint) -> Option<f64> {
            Some(3.0)
        }
        fn describe(&self) -> crate::terrain::TerrainSource {
            crate::terrain::TerrainSource {
                name: "hill".into(),
                has_geoid: false,
                tiles_used: None,
                ..crate::terrain::TerrainSource::default()
            }
        }
    }
    let (environment, mut station) = (Environment::default(), station());
    station.height_agl_m = 3.0;
    let request = RelayRequest {
        relay_height_agl_m: 3.0,
        target_data_rate_bps: 5e6,
        ..request(&station, 90.0, 18_000.0)
    };
    let middle = geodesic::direct(request.tx.position, 90.0, 9_000.0).unwrap();
    let top = geodesic::direct(middle, 0.0, 1_500.0).unwrap();
    let hill = Hill(top);
    let (greedy, best) = both(&inputs(&hill, &environment), &request, Objective::FewestRelays);
    assert!(relays(&greedy).len() > 1, "{:?}", greedy.shortfall);
    assert!(best.meets_target && relays(&best).len() == 1);
    let away_m = geodesic::inverse(relays(&best)[0].position, top).distance_m;
    assert!(away_m < 250.0, "the relay stands {away_m} m from the top");
}

#[test]
fn infeasible_target_gives_best_effort_with_shortfall() {
    let (environment, station) = (Environment::default(), station());
    let hills = Hills { seed: 4, relief_m: 30.0 };
    let inputs = inputs(&hills, &environment);
    let infeasible = RelayRequest {
        target_data_rate_bps: 1e9,
        max_hops: 4,
        ..request(&station, 120.0, 9_000.0)
    };
    let (_, best) = both(&inputs, &infeasible, Objective::FewestRelays);
    let Some(Shortfall::NoChain { segment, data_rate_bps, places }) = best.shortfall else {
        panic!("{:?}", best.shortfall);
    };
    assert!(best.bottleneck_rate_bps > 0.0 && places > 39);
    assert_eq!(data_rate_bps, best.bottleneck_rate_bps);
    assert_eq!(best.segments[segment].data_rate_bps, data_rate_bps);

    let nothing = RelayRequest { max_hops: 1, ..request(&station, 120.0, 400_000.0) };
    let (greedy, best) = both(&inputs, &nothing, Objective::HighestBottleneck);
    assert_eq!(best.bottleneck_rate_bps, 0.0);
    assert_eq!(best.shortfall, greedy.shortfall);
}

/// The highest bottleneck of one, two and three hops over the places the search considers, found
/// by looking at all chains, bit/s.
fn by_all_chains(inputs: &Inputs<'_>, request: &RelayRequest<'_>) -> [f64; 3] {
    let relay = request.relay_station();
    let task = stretch::Task::new(inputs, request, &relay);
    let walked = super::super::greedy::walk(&task);
    let among = candidates::candidates(&task, &walked.relays);
    let mut places = vec![task.tx];
    places.extend(among.into_iter().map(|place| (place, &relay)));
    places.push(task.rx);
    let (count, rx) = (places.len(), places.len() - 1);
    assert!(count > 40);
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    let stretch = |(a, b): (usize, usize)| (places[a], places[b]);
    let stretches: Vec<_> = pairs.clone().map(stretch).collect();
    let mut rates = task.worths(&stretches, 0.0).into_iter();
    let mut rate = vec![vec![0.0; count]; count];
    for (a, b) in pairs {
        let rate_bps = rates.next().unwrap();
        (rate[a][b], rate[b][a]) = (rate_bps, rate_bps);
    }
    let mut best = [rate[0][rx], 0.0, 0.0];
    for one in 1..rx {
        best[1] = f64::max(best[1], rate[0][one].min(rate[one][rx]));
        for other in 1..rx {
            let slowest = rate[0][one].min(rate[one][other]).min(rate[other][rx]);
            best[2] = f64::max(best[2], slowest);
        }
    }
    best
}

#[test]
fn the_search_finds_what_looking_at_all_chains_finds() {
    let (environment, station) = (Environment::default(), station());
    let mut met = 0;
    for seed in 20..24 {
        let relief_m = 40.0;
        let hills = Hills { seed, relief_m };
        let inputs = inputs(&hills, &environment);
        let request =
            RelayRequest { max_hops: 3, ..request(&station, 50.0 * seed as f64, 13_000.0) };
        let best = by_all_chains(&inputs, &request);
        let (_, widest) = both(&inputs, &request, Objective::HighestBottleneck);
        let highest = best.iter().copied().fold(0.0, f64::max);
        assert_eq!(widest.bottleneck_rate_bps, highest, "seed {seed}");
        if highest > 0.0 {
            let hops = best.iter().position(|rate| *rate == highest).unwrap() + 1;
            assert_eq!(widest.segments.len(), hops, "seed {seed}");
        }
        let (_, fewest) = both(&inputs, &request, Objective::FewestRelays);
        let enough = best.iter().position(|rate| *rate >= request.target_data_rate_bps);
        assert_eq!(fewest.meets_target, enough.is_some(), "seed {seed}");
        if let Some(hops) = enough {
            assert_eq!(fewest.segments.len(), hops + 1, "seed {seed}");
            assert_eq!(fewest.bottleneck_rate_bps, best[hops], "seed {seed}");
            met += 1;
        }
    }
    assert!(met >= 2, "{met}");
}

/// [`Hills`] whose every second strip from south to north is a void.
struct Strips(Hills);
impl Terrain for Strips {
    fn sample(&self, lat: &[f64], lon: &[f64], out: &mut [f64]) -> crate::terrain::TerrainUse {
        let mut used = self.0.sample(lat, lon, out);
        for (lon, out) in lon.iter().zip(out) {
            if (lon * 60.0).floor() % 2.0 == 0.0 {
                *out = f64::NAN;
                used.void_samples += 1;
            }
        }
        used
    }
    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.0.undulation_m(at)
    }
    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.0.resolution_arcsec(at)
    }
    fn describe(&self) -> crate::terrain::TerrainSource {
        self.0.describe()
    }
}

#[test]
fn voids_under_the_ends_mislead_no_bound() {
    let (environment, mut station) = (Environment::default(), station());
    // A narrow lobe, which an end at another height would look past.
    station.antenna.elevation_beamwidth_deg = 3.0;
    let mut voids = 0;
    for seed in 0..10 {
        let relief_m = 40.0;
        let strips = Strips(Hills { seed, relief_m });
        let inputs = inputs(&strips, &environment);
        let request = request(&station, 90.0 + 9.0 * seed as f64, 12_000.0);
        let (greedy, best) = both(&inputs, &request, Objective::FewestRelays);
        let [one, other] = [&best, &greedy].map(|plan| plan.segments.len());
        // Over voids no target is met; the search compares rates over assumed heights.
        let carries = |plan: &RelayPlan| plan.bottleneck_rate_bps >= request.target_data_rate_bps;
        assert!(!carries(&greedy) || (carries(&best) && one <= other));
        let (_, widest) = both(&inputs, &request, Objective::HighestBottleneck);
        for plan in [&greedy, &best] {
            assert!(widest.bottleneck_rate_bps >= plan.bottleneck_rate_bps, "{seed}");
        }
        let segments = best.segments.iter();
        voids += segments.filter(|s| s.forward.terrain.void_samples > 0).count();
    }
    assert!(voids > 10, "{voids}");
}
