//! Which k of n sites cover most.
//!
//! Maximum coverage is NP-hard; the greedy choice reaches at least `1 - 1/e` (63 %) of the optimum,
//! and no polynomial method can promise more (Nemhauser, Wolsey and Fisher, "An analysis of
//! approximations for maximizing submodular set functions", 1978; Feige, 1998). Gains only shrink
//! as sites are chosen, so a stale gain is an upper bound, and most need not be looked at again
//! (Minoux, "Accelerated greedy algorithms", 1978).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A chosen site.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Site.
    pub site: u16,
    /// Weight it adds to those before it.
    pub gain: f64,
    /// Weight covered with it.
    pub covered: f64,
}

/// Result of a choice of sites.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Sites in the order they were chosen.
    pub steps: Vec<Step>,
    /// No choice of as many sites covers more than this: the best single sites added up, or the
    /// sum of what is covered and the k largest remaining gains, whichever is less, at most the
    /// union of all.
    pub upper_bound: f64,
    /// Gains that were computed; greedy without laziness computes `k n`.
    pub gains_computed: usize,
}

/// Gain of a site: the weight, and the tie-breaker among equals.
type Gain = [f64; 2];

struct Bound {
    gain: Gain,
    site: u16,
    round: usize,
}
impl Ord for Bound {
    fn cmp(&self, other: &Self) -> Ordering {
        let [gain, tie] = self.gain;
        let [other_gain, other_tie] = other.gain;
        gain.total_cmp(&other_gain).then(tie.total_cmp(&other_tie)).then(other.site.cmp(&self.site))
    }
}
impl PartialOrd for Bound {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Bound {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Bound {}

/// Chooses up to `count` of `sites` sites by greedy choice with lazy evaluation.
///
/// `gain(site)` is the weight that site adds to what is covered so far, and a second figure that
/// breaks ties, both 0 or more and never growing as more is covered; `take(site)` covers it. A tie
/// in both goes to the lower site. Stops early when nothing adds any weight.
pub fn choose<S>(
    sites: u16,
    count: usize,
    state: &mut S,
    mut gain: impl FnMut(&S, u16) -> [f64; 2],
    mut take: impl FnMut(&mut S, u16),
) -> Choice {
    let mut heap = BinaryHeap::new();
    let mut computed = 0;
    for site in 0..sites {
        heap.push(Bound { gain: gain(state, site), site, round: 0 });
        computed += 1;
    }
    let mut alone: Vec<f64> = heap.iter().map(|bound| bound.gain[0]).collect();
    alone.sort_by(|a, b| b.total_cmp(a));
    let mut upper_bound: f64 = alone.iter().take(count).sum();
    let mut steps = Vec::new();
    let mut covered = 0.0;
    for round in 0..count {
        let best = loop {
            let Some(top) = heap.pop() else { break None };
            if top.round == round {
                break Some(top);
            }
            computed += 1;
            heap.push(Bound { gain: gain(state, top.site), site: top.site, round });
        };
        let Some(best) = best.filter(|best| best.gain[0] > 0.0) else {
            break;
        };
        take(state, best.site);
        covered += best.gain[0];
        steps.push(Step { site: best.site, gain: best.gain[0], covered });
        // Adding any k sites to what is covered adds at most their gains, of which the heap
        // holds upper bounds.
        let mut rest: Vec<f64> = heap.iter().map(|bound| bound.gain[0]).collect();
        rest.sort_by(|a, b| b.total_cmp(a));
        upper_bound = upper_bound.min(covered + rest.iter().take(count).sum::<f64>());
    }
    Choice { steps, upper_bound: upper_bound.max(covered), gains_computed: computed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundwave_values::Seed;

    type Sets = Vec<Vec<bool>>;

    fn weight(sets: &Sets, chosen: &[usize]) -> f64 {
        let cells = 0..sets[0].len();
        cells.filter(|&cell| chosen.iter().any(|&site| sets[site][cell])).count() as f64
    }

    fn lazily(sets: &Sets, count: usize) -> Choice {
        let mut covered = vec![false; sets[0].len()];
        let gain = |covered: &Vec<bool>, site: u16| {
            let set = sets[usize::from(site)].iter().zip(covered);
            [set.filter(|(has, covered)| **has && !**covered).count() as f64, 0.0]
        };
        let take = |covered: &mut Vec<bool>, site: u16| {
            for (covered, has) in covered.iter_mut().zip(&sets[usize::from(site)]) {
                *covered |= has;
            }
        };
        choose(sets.len() as u16, count, &mut covered, gain, take)
    }

    fn random_sets(seed: u64) -> Sets {
        let mut chance = Seed(seed).stream("sets", 0, 0);
        let densities: Vec<f64> = (0..9).map(|_| chance.between(0.05, 0.4)).collect();
        densities
            .iter()
            .map(|density| (0..60).map(|_| chance.unit_prob() < *density).collect())
            .collect()
    }

    #[test]
    fn lazy_choice_is_the_greedy_choice_and_looks_less() {
        let mut saved = 0;
        for seed in 0..50 {
            let sets = random_sets(seed);
            let lazy = lazily(&sets, 4);
            let mut chosen: Vec<usize> = Vec::new();
            for step in &lazy.steps {
                let before = weight(&sets, &chosen);
                let gains = (0..sets.len()).map(|site| {
                    let mut with = chosen.clone();
                    with.push(site);
                    weight(&sets, &with) - before
                });
                let best = gains.enumerate().fold((0, -1.0), |best, (site, gain)| {
                    if gain > best.1 { (site, gain) } else { best }
                });
                assert_eq!((usize::from(step.site), step.gain), best, "seed {seed}");
                chosen.push(usize::from(step.site));
            }
            saved += 4 * sets.len() - lazy.gains_computed;
        }
        assert!(saved > 0);
    }

    #[test]
    fn the_bounds_hold_against_trying_everything() {
        for seed in 0..30 {
            let sets = random_sets(seed);
            let lazy = lazily(&sets, 3);
            let mut optimum: f64 = 0.0;
            for a in 0..9 {
                for b in a + 1..9 {
                    for c in b + 1..9 {
                        optimum = optimum.max(weight(&sets, &[a, b, c]));
                    }
                }
            }
            let covered = lazy.steps.last().unwrap().covered;
            assert!(covered >= (1.0 - (-1.0f64).exp()) * optimum, "seed {seed}");
            assert!(lazy.upper_bound >= optimum, "seed {seed}: {} {optimum}", lazy.upper_bound);
        }
    }

    #[test]
    fn useless_sites_are_not_chosen() {
        let sets = vec![vec![true, true], vec![true, false], vec![false, false]];
        let choice = lazily(&sets, 3);
        assert_eq!(choice.steps.len(), 1);
        assert_eq!(choice.steps[0].site, 0);
    }
}
