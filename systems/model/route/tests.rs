use groundwave_values::Seed;

use super::adjacency::Cuts;
use super::*;
use crate::id::NodeId;
use crate::link::{Direction, LinkBudget, LinkKey, Probe};
use crate::radio::Verdict;
use crate::radio::modulation::ModulationId;

/// Data is slow and lossy over the direct link, probes are not: their ETX prefers it, as routing daemons do.
#[test]
fn probes_choose_links_that_data_would_avoid() {
    let far = |mut budget: LinkBudget| {
        for direction in [&mut budget.forward, &mut budget.backward] {
            direction.link_margin_db = 20.0;
        }
        budget
    };
    let route = |probe| {
        let mut graph = Graph::new((0..3).map(id).collect(), 1500).with_probe(probe);
        for (a, b, per) in [(0, 1, 0.01), (1, 2, 0.01), (0, 2, 0.5)] {
            let budget = far(budget(1e6, per));
            graph.set(LinkKey::new(id(a), id(b)).unwrap(), Some(&budget));
        }
        find(&graph, id(0), id(2), Metric::Etx, None).unwrap()
    };
    let (by_data, by_probes) = (route(None), route(Some(Probe::default())));
    assert_eq!((by_data.hops.len(), by_probes.hops.len()), (2, 1));
    assert_eq!(by_data.hops[0].probe_etx, None);
    // What is sent costs what it costs: only the choice is that of probes.
    assert!(by_probes.etx > 3.9 && by_probes.hops[0].probe_etx.unwrap() < 1.001);
}

/// Node ids that sort by their number.
fn id(n: u128) -> NodeId {
    NodeId::from_u128(n + 1)
}

fn budget(rate_bps: f64, per: f64) -> LinkBudget {
    let direction = Direction {
        modulation: Some(ModulationId::Bpsk12),
        data_rate_bps: rate_bps,
        per,
        verdict: Verdict::Good,
        ..LinkBudget::default().forward
    };
    LinkBudget { forward: direction, backward: direction, ..LinkBudget::default() }
}

fn graph(nodes: u128, links: &[(u128, u128, f64, f64)]) -> Graph {
    let mut graph = Graph::new((0..nodes).map(id).collect(), 1500);
    for &(a, b, rate_bps, per) in links {
        graph.set(LinkKey::new(id(a), id(b)).unwrap(), Some(&budget(rate_bps, per)));
    }
    graph
}

fn way(graph: &Graph, from: u128, to: u128, metric: Metric, target: Option<f64>) -> Vec<u128> {
    let route = find(graph, id(from), id(to), metric, target).unwrap();
    route.hops.iter().map(|hop| hop.to.as_u128() - 1).collect()
}

/// 0 to 3 directly but slowly, over 1 quickly but lossily, over 2 cleanly at a middling rate.
fn diamond() -> Graph {
    graph(
        4,
        &[
            (0, 3, 1e6, 0.0),
            (0, 1, 60e6, 0.6),
            (1, 3, 60e6, 0.6),
            (0, 2, 20e6, 0.0),
            (2, 3, 20e6, 0.0),
        ],
    )
}

#[test]
fn each_metric_takes_its_own_way() {
    let graph = diamond();
    // ETX 6.25 a hop over 1 makes 12 kbit take 2 x 1.25 ms; over 2 it takes 2 x 0.6 ms.
    assert_eq!(way(&graph, 0, 3, Metric::Ett, None), [2, 3]);
    assert_eq!(way(&graph, 0, 3, Metric::Etx, None), [3]);
    assert_eq!(way(&graph, 0, 3, Metric::Bottleneck, None), [1, 3]);
    assert_eq!(way(&graph, 0, 3, Metric::Hops, None), [3]);
}

#[test]
fn target_rate_excludes_slow_hops_or_gives_best_effort() {
    let graph = diamond();
    let route = |target| find(&graph, id(0), id(3), Metric::Hops, Some(target)).unwrap();
    let fast = route(10e6);
    assert!(fast.meets_target && fast.bottleneck_rate_bps >= Some(10e6));
    let best_effort = route(1e9);
    assert!(!best_effort.meets_target);
    assert_eq!(best_effort.hops.len(), 1);
    assert_eq!(find(&graph, id(0), id(9), Metric::Hops, None), None);
}

#[test]
fn throughput_counts_turns_and_retransmissions() {
    let graph =
        graph(5, &[(0, 1, 12e6, 0.0), (1, 2, 6e6, 0.5), (2, 3, 12e6, 0.0), (3, 4, 12e6, 0.0)]);
    let route = find(&graph, id(0), id(4), Metric::Ett, None).unwrap();
    assert_eq!(route.bottleneck_rate_bps, Some(6e6));
    // A bit keeps the second hop busy 4 / 6e6 s (ETX 4), each other 1 / 12e6 s.
    assert!((route.multi_radio_throughput_bps.unwrap() - 1.5e6).abs() < 1e-3);
    let three = 1.0 / (4.0 / 6e6 + 2.0 / 12e6);
    assert!((route.single_radio_throughput_bps.unwrap() - three).abs() < 1e-3);
    assert!((route.delivery_prob - 0.5).abs() < 1e-12);
    assert!((route.etx - 7.0).abs() < 1e-12);
}

#[test]
fn one_way_links_carry_nothing_and_the_source_reaches_itself() {
    let mut graph = Graph::new(vec![id(0), id(1)], 1500);
    let mut one_way = budget(1e6, 0.0);
    one_way.backward.modulation = None;
    graph.set(LinkKey::new(id(0), id(1)).unwrap(), Some(&one_way));
    assert!((0..graph.nodes().len()).all(|node| graph.out(node).is_empty()));
    let still = find(&graph, id(0), id(0), Metric::Ett, None).unwrap();
    assert_eq!((still.hops.len(), still.bottleneck_rate_bps), (0, None));
    assert!([still.etx, still.ett_s].iter().all(|sum| sum.is_sign_positive()));
}

/// A frame of LoRa has 255 octets at most: 2040 bits at 1 kbit/s.
#[test]
fn the_time_of_a_packet_is_that_of_the_longest_frame() {
    for (modulation, expected_s) in [(ModulationId::Lora, 2.04), (ModulationId::Bpsk12, 12.0)] {
        let mut budget = budget(1e3, 0.0);
        for direction in [&mut budget.forward, &mut budget.backward] {
            direction.modulation = Some(modulation);
        }
        let mut graph = Graph::new(vec![id(0), id(1)], 1500);
        graph.set(LinkKey::new(id(0), id(1)).unwrap(), Some(&budget));
        let route = find(&graph, id(0), id(1), Metric::Ett, None).unwrap();
        assert!((route.ett_s - expected_s).abs() < 1e-9, "{modulation:?}: {}", route.ett_s);
    }
}

/// A graph of `nodes` with each pair linked with probability one third.
fn random_graph(seed: u64, nodes: u128) -> Graph {
    let mut chance = Seed(seed).stream("graph", 0, 0);
    let mut links = Vec::new();
    for a in 0..nodes {
        for b in a + 1..nodes {
            if chance.unit_prob() < 0.33 {
                links.push((a, b, chance.between(1e6, 80e6), chance.between(0.0, 0.9)));
            }
        }
    }
    graph(nodes, &links)
}

/// Cost of the cheapest walk by relaxing every edge again and again (Bellman and Ford).
fn by_relaxation(graph: &Graph, source: usize, metric: Metric) -> Vec<Option<f64>> {
    let mut best = vec![None; graph.nodes().len()];
    best[source] = Some(Cost::ZERO);
    for _ in graph.nodes() {
        for from in 0..graph.nodes().len() {
            let Some(cost) = best[from] else { continue };
            for edge in graph.out(from) {
                let cost = metric.extend(cost, edge);
                if best[edge.to].is_none_or(|other| cost.total_cmp(&other).is_lt()) {
                    best[edge.to] = Some(cost);
                }
            }
        }
    }
    best.iter().map(|cost| cost.map(|cost| cost.first)).collect()
}

#[test]
fn no_walk_is_cheaper_than_dijkstras() {
    for seed in 0..60 {
        let graph = random_graph(seed, 9);
        for metric in [Metric::Ett, Metric::Etx, Metric::Bottleneck, Metric::Hops] {
            let expected = by_relaxation(&graph, 0, metric);
            for (target, expected) in expected.iter().enumerate() {
                let path = shortest(&graph, 0, Some(target), metric, |_| true).path(target);
                let cost = path.map(|hops| {
                    let zero = Cost::ZERO;
                    hops.iter().fold(zero, |cost, (_, edge)| metric.extend(cost, edge)).first
                });
                match (cost, expected) {
                    (Some(cost), Some(expected)) => {
                        let tolerance = 1e-12 * expected.max(1e-12);
                        assert!(
                            (cost - expected).abs() <= tolerance,
                            "{metric:?} {cost} {expected}"
                        );
                    }
                    (None, None) => {}
                    other => panic!("seed {seed} {metric:?} to {target}: {other:?}"),
                }
            }
        }
    }
}

/// Components by flooding.
fn components(nodes: usize, pairs: &[(usize, usize)], without: Option<usize>) -> usize {
    let mut group: Vec<usize> = (0..nodes).collect();
    for _ in 0..nodes {
        for &(a, b) in pairs.iter().filter(|(a, b)| Some(*a) != without && Some(*b) != without) {
            let least = group[a].min(group[b]);
            (group[a], group[b]) = (least, least);
        }
    }
    let roots = (0..nodes).filter(|&node| group[node] == node && Some(node) != without);
    roots.count()
}

#[test]
fn cuts_are_where_taking_away_cuts() {
    for seed in 0..80 {
        let mut chance = Seed(seed).stream("cuts", 0, 0);
        let nodes = 3 + (seed % 12) as usize;
        let density = chance.between(0.1, 0.5);
        let pairs = (0..nodes).flat_map(|a| (a + 1..nodes).map(move |b| (a, b)));
        let pairs: Vec<_> = pairs.filter(|_| chance.unit_prob() < density).collect();
        let whole = components(nodes, &pairs, None);
        let isolated = |node| !pairs.iter().any(|&(a, b)| a == node || b == node);
        let cut_by = |node| {
            // Without an isolated node there is one part fewer.
            components(nodes, &pairs, Some(node)) + usize::from(isolated(node)) > whole
        };
        let without = |cut: (usize, usize)| {
            let rest: Vec<_> = pairs.iter().copied().filter(|pair| *pair != cut).collect();
            components(nodes, &rest, None) > whole
        };
        let cuts = Adjacency::of(nodes, &pairs).cuts();
        let expected = Cuts {
            component_sizes: cuts.component_sizes.clone(),
            points: (0..nodes).filter(|&node| cut_by(node)).collect(),
            bridges: pairs.iter().copied().filter(|&pair| without(pair)).collect(),
        };
        assert_eq!(cuts, expected, "seed {seed}: {pairs:?}");
        assert_eq!(cuts.component_sizes.len(), whole, "seed {seed}");
        assert_eq!(cuts.component_sizes.iter().sum::<usize>(), nodes);
    }
    let chain: Vec<_> = (0..4_999).map(|node| (node, node + 1)).collect();
    let chain = Adjacency::of(5_000, &chain);
    assert_eq!(chain.cuts().bridges.len(), 4_999);
    assert_eq!(chain.cuts().points.len(), 4_998);
    let ring: Vec<_> = (0..10).map(|node| (node, (node + 1) % 10)).collect();
    assert_eq!(Adjacency::of(10, &ring).diameter_hops(), 5);
}
