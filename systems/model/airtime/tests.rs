use groundwave_values::Seed;

use super::*;
use crate::radio::Antenna;

/// Rate of every link of the tests, bit/s.
const RATE_BPS: f64 = 10e6;

/// A chain of `hops` links of which those fewer than `reach` apart contend.
fn chain(hops: usize, reach: usize) -> Contention {
    let mut contention = Contention::new(hops);
    for one in 0..hops {
        (one + 1..hops.min(one + reach)).for_each(|other| contention.insert(one, other));
    }
    contention
}

fn flow(rate_bps: f64, links: impl IntoIterator<Item = usize>) -> Demand {
    Demand { rate_bps, hops: links.into_iter().map(|link| (link, 1.0 / RATE_BPS)).collect() }
}

fn rates(contention: &Contention, flows: &[Demand]) -> Vec<f64> {
    share(flows, &contention.sets()).iter().map(|share| share.rate_bps / RATE_BPS).collect()
}

#[track_caller]
fn assert_close(rates: &[f64], expected: &[f64]) {
    assert_eq!(rates.len(), expected.len());
    let is_close = |(rate, expected): (&f64, &f64)| (rate - expected).abs() < 1e-9;
    assert!(rates.iter().zip(expected).all(is_close), "{rates:?} instead of {expected:?}");
}

/// J. Li et al., "Capacity of ad hoc wireless networks", MobiCom 2001, section 3: 1/3 of the rate of a link
/// where only neighbours hear each other, 1/4 where interference reaches two hops.
#[test]
fn chain_carries_what_the_interference_range_leaves() {
    for (hops, expected) in
        [(1, 1.0), (2, 1.0 / 2.0), (3, 1.0 / 3.0), (4, 1.0 / 3.0), (20, 1.0 / 3.0)]
    {
        assert_close(&rates(&chain(hops, 3), &[flow(1e12, 0..hops)]), &[expected]);
    }
    for (hops, expected) in [(3, 1.0 / 3.0), (4, 1.0 / 4.0), (5, 1.0 / 4.0), (20, 1.0 / 4.0)] {
        assert_close(&rates(&chain(hops, 4), &[flow(1e12, 0..hops)]), &[expected]);
    }
}

#[test]
fn chain_sets_are_its_windows() {
    assert_eq!(chain(5, 3).sets(), [[0, 1, 2], [1, 2, 3], [2, 3, 4]]);
    assert_eq!(Contention::new(2).sets(), [[0], [1]]);
    assert!(Contention::new(0).sets().is_empty());
}

#[test]
fn flows_over_one_link_get_equal_rates_and_small_ones_all_they_offer() {
    let one = Contention::new(1);
    assert_close(&rates(&one, &vec![flow(10e6, [0]); 4]), &[0.25; 4]);
    let flows = [flow(1e6, [0]), flow(1e12, [0]), flow(1e12, [0])];
    assert_close(&rates(&one, &flows), &[0.1, 0.45, 0.45]);
    let shares = share(&flows, &one.sets());
    assert_eq!(shares[0], Share { rate_bps: 1e6, set: None });
    assert_eq!(shares[1].set, Some(0));
}

/// The classic of max-min fairness: a flow over two links beside one over each, and the time that it leaves.
#[test]
fn long_flow_gets_the_share_of_its_fullest_link_and_others_the_rest() {
    let line = Contention::new(2);
    let flows = [flow(1e12, [0, 1]), flow(1e12, [0]), flow(1e12, [1]), flow(1e12, [1])];
    assert_close(&rates(&line, &flows), &[1.0 / 3.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
}

/// The flow in the middle, which carrier sense may starve, has half of the time when shares are fair.
#[test]
fn flow_in_the_middle_gets_half() {
    let mut contention = Contention::new(3);
    contention.insert(0, 1);
    contention.insert(1, 2);
    let flows: Vec<_> = (0..3).map(|link| flow(1e12, [link])).collect();
    assert_close(&rates(&contention, &flows), &[0.5; 3]);
    contention.insert(0, 2);
    assert_close(&rates(&contention, &flows), &[1.0 / 3.0; 3]);
}

fn random(seed: u64, links: usize, prob: f64) -> (Contention, Vec<Demand>) {
    let mut chance = Seed(seed).stream("airtime", 0, 0);
    let mut contention = Contention::new(links);
    for one in 0..links {
        for other in one + 1..links {
            if chance.between(0.0, 1.0) < prob {
                contention.insert(one, other);
            }
        }
    }
    let demand = |_| {
        let mut hop = |_| (chance.between(0.0, links as f64) as usize, chance.between(1e-8, 1e-6));
        let hops = (0..3).map(&mut hop).collect();
        Demand { rate_bps: chance.between(1e4, 1e7), hops }
    };
    let flows = (0..12).map(demand).collect();
    (contention, flows)
}

#[test]
fn sets_are_all_maximal_cliques() {
    for seed in 0..20 {
        let links = 10;
        let (contention, _) = random(seed, links, 0.5);
        let is_clique = |set: &[usize]| {
            set.iter().all(|a| set.iter().all(|b| a == b || contention.contains(*a, *b)))
        };
        let members = |mask: usize| (0..links).filter(|link| mask >> link & 1 == 1).collect();
        let cliques: Vec<Vec<usize>> =
            (1..1usize << links).map(members).filter(|set: &Vec<usize>| is_clique(set)).collect();
        let is_maximal = |set: &&Vec<usize>| {
            let is_within = |other: &Vec<usize>| set.iter().all(|link| other.contains(link));
            !cliques.iter().any(|other| other.len() > set.len() && is_within(other))
        };
        let mut expected: Vec<_> = cliques.iter().filter(is_maximal).cloned().collect();
        expected.sort_unstable();
        assert_eq!(contention.sets(), expected, "seed {seed}");
    }
}

/// 3^(n / 3) maximal cliques (J. W. Moon and L. Moser, 1965): every pair that contends is still in a set.
#[test]
fn graph_with_too_many_cliques_still_bounds_every_pair() {
    let links = 60;
    let mut contention = Contention::new(links);
    for one in 0..links {
        (one + 1..links)
            .filter(|other| other / 3 != one / 3)
            .for_each(|other| contention.insert(one, other));
    }
    let sets = contention.sets();
    assert!(sets.len() < SETS_STEPS_MAX + links * links, "{}", sets.len());
    for one in 0..links {
        for other in one + 1..links {
            let is_together = sets.iter().any(|set| set.contains(&one) && set.contains(&other));
            assert_eq!(is_together, contention.contains(one, other), "{one} and {other}");
        }
    }
}

/// Max-min fairness by its definition: sets hold, and a flow below its offered rate uses a full set in
/// which none has a higher rate.
#[test]
fn shares_are_max_min_fair() {
    for seed in 0..50 {
        let (contention, flows) = random(seed, 15, 0.3);
        let sets = contention.sets();
        let shares = share(&flows, &sets);
        let busy = |flow: &Demand, set: &[usize]| -> f64 {
            let hops = flow.hops.iter().filter(|(link, _)| set.contains(link));
            hops.map(|(_, busy_s)| busy_s).sum()
        };
        let load = |set: &Vec<usize>| -> f64 {
            flows.iter().zip(&shares).map(|(flow, share)| busy(flow, set) * share.rate_bps).sum()
        };
        assert!(sets.iter().all(|set| load(set) < 1.0 + 1e-9), "seed {seed}");
        for (flow, share) in flows.iter().zip(&shares) {
            let Some(set) = share.set else {
                assert_eq!(share.rate_bps, flow.rate_bps, "seed {seed}");
                continue;
            };
            let set = &sets[set];
            assert!(busy(flow, set) > 0.0 && load(set) > 1.0 - 1e-9, "seed {seed}");
            let mut users = flows.iter().zip(&shares).filter(|(flow, _)| busy(flow, set) > 0.0);
            assert!(
                users.all(|(_, other)| other.rate_bps <= share.rate_bps * (1.0 + 1e-9)),
                "seed {seed}"
            );
        }
    }
}

/// Two links side by side, east and west of each other: ends 0 and 1, 2 and 3. Peers as `margin_db` has them.
fn two_links(margin_db: f64, turning: Option<&Antenna>) -> Contention {
    // 0 and 1 look east and west at each other, 2 and 3 likewise, further east on the same line.
    let peers = |node: usize| {
        let others = (0..4).filter(|other| *other != node);
        let peer = |other: usize| Peer {
            node: other,
            margin_db,
            azimuth_deg: if other > node { 90.0 } else { 270.0 },
        };
        others.map(peer).collect()
    };
    let nodes: Vec<Ends<'_>> = (0..4).map(|node| Ends { peers: peers(node), turning }).collect();
    contention(&nodes, &[[0, 1], [2, 3]])
}

#[test]
fn links_contend_where_ends_sense_each_other() {
    assert!(two_links(0.0, None).contains(0, 1));
    let nodes: Vec<Ends<'_>> = vec![Ends::default(); 5];
    let without_peers = contention(&nodes, &[[0, 1], [2, 3], [3, 4]]);
    assert!(!without_peers.contains(0, 1) && without_peers.contains(1, 2));
}

/// The ends that look away from each other lose both fronts to backs; 0 and 3 look along the line.
#[test]
fn antennas_that_look_away_sense_less() {
    let mut dish = crate::sample::station().antenna;
    (dish.azimuth_beamwidth_deg, dish.front_to_back_db) = (6.0, 30.0);
    assert!(two_links(10.0, Some(&dish)).contains(0, 1));
    // All but 0 and 3 out of range: 1 looks west, away from 2, which looks east.
    let peer = |node, azimuth_deg| Peer { node, margin_db: 59.0, azimuth_deg };
    let ends = |peers: Vec<Peer>| Ends { peers, turning: Some(&dish) };
    let nodes = [
        ends(vec![peer(1, 90.0)]),
        ends(vec![peer(0, 270.0), peer(2, 90.0)]),
        ends(vec![peer(1, 270.0), peer(3, 90.0)]),
        ends(vec![peer(2, 270.0)]),
    ];
    assert!(!contention(&nodes, &[[0, 1], [2, 3]]).contains(0, 1));
    let fixed: Vec<Ends<'_>> =
        nodes.iter().map(|ends| Ends { turning: None, ..ends.clone() }).collect();
    assert!(contention(&fixed, &[[0, 1], [2, 3]]).contains(0, 1));
}
