//! The best chain over all places considered.
//!
//! Places are ordered along the way, and a stretch is always evaluated from the earlier to the
//! later one, as the greedy walk does: so every stretch of the greedy chain is known here by the
//! same number, and no chain found is worse. Chains may turn back; a stretch carries the same in
//! both directions, for its rate is that of the slower one.

use super::candidates::candidates;
use super::greedy::{Solution, walk};
use super::plan::Shortfall;
use super::request::Objective;
use super::stretch::{Place, Task};

/// The best chain by `objective`; when none keeps the target rate, the one with the highest
/// bottleneck.
pub(super) fn search(task: &Task<'_>, objective: Objective) -> Solution {
    let walked = walk(task);
    let among = candidates(task, &walked.relays);
    let mut places = vec![task.tx];
    places.extend(among.into_iter().map(|at| (at, task.relay)));
    places.push(task.rx);
    let best = match objective {
        Objective::FewestRelays => Field::new(task, &places).fewest(task.target_bps),
        Objective::HighestBottleneck => None,
    };
    let Some(chain) = best.or_else(|| Field::new(task, &places).fastest()) else {
        // Nothing gets through at all; the greedy walk went as far as one can.
        return walked;
    };
    let relays = &chain.places[1..chain.places.len() - 1];
    let short = chain.bottleneck_bps < task.target_bps;
    Solution {
        relays: relays.iter().map(|&place| places[place].0).collect(),
        ranks: relays.to_vec(),
        shortfall: short.then_some(Shortfall::NoChain {
            segment: chain.slowest,
            data_rate_bps: chain.bottleneck_bps,
            places: places.len() - 2,
        }),
    }
}

/// A chain as indices of places, and its slowest hop, the first of equals.
struct Chain {
    places: Vec<usize>,
    slowest: usize,
    bottleneck_bps: f64,
}

/// All places, the transmitter first, the receiver last, relays between in order along the way;
/// and what is known of the stretches between them.
struct Field<'a> {
    task: &'a Task<'a>,
    places: &'a [Place<'a>],
    /// Rates, bit/s, for the earlier place times their number plus the later; NaN where unknown.
    known_bps: Vec<f64>,
}

impl<'a> Field<'a> {
    fn new(task: &'a Task<'a>, places: &'a [Place<'a>]) -> Self {
        Self { task, places, known_bps: vec![f64::NAN; places.len() * places.len()] }
    }

    fn slot(&self, (a, b): (usize, usize)) -> usize {
        a.min(b) * self.places.len() + a.max(b)
    }

    /// Makes known what these stretches carry, 0 where that is surely less than `least_bps`. Over
    /// the life of a field it must not fall, or that 0 would be wrong.
    fn learn(&mut self, pairs: &[(usize, usize)], least_bps: f64) {
        let unknown = pairs.iter().map(|&pair| self.slot(pair));
        let unknown: Vec<usize> = unknown.filter(|&at| self.known_bps[at].is_nan()).collect();
        let place = |at: usize| self.places[at];
        let count = self.places.len();
        let stretch = |&at: &usize| (place(at / count), place(at % count));
        let stretches: Vec<_> = unknown.iter().map(stretch).collect();
        let rates_bps = self.task.rates_bps(&stretches, least_bps);
        for (at, rate_bps) in unknown.into_iter().zip(rates_bps) {
            self.known_bps[at] = rate_bps;
        }
    }

    /// The chain of the fewest hops that all carry `least_bps`, among those the one with the
    /// highest bottleneck. `None` when there is none within the hops allowed.
    ///
    /// Breadth first: a place first reached after `k` hops is at no other place of any shortest
    /// chain, so that one pass over growing circles finds both. Stretches of a circle are evaluated
    /// together, each at most once, and none beyond the circle that reaches the receiver.
    fn fewest(&mut self, least_bps: f64) -> Option<Chain> {
        let rx = self.places.len() - 1;
        let mut reached: Vec<Option<(usize, f64)>> = vec![None; self.places.len()];
        reached[0] = Some((0, f64::INFINITY));
        let mut circle = vec![0];
        for hop in 1..=self.task.max_hops {
            let before = reached.clone();
            self.widen(&circle, &[rx], least_bps, &mut reached);
            if reached[rx].is_some() {
                return Some(self.trail(&reached));
            }
            if circle.is_empty() || hop == self.task.max_hops {
                break;
            }
            let open: Vec<_> = (1..rx).filter(|&to| before[to].is_none()).collect();
            self.widen(&circle, &open, least_bps, &mut reached);
            circle = open.into_iter().filter(|&to| reached[to].is_some()).collect();
        }
        None
    }

    /// Reaches `open` places from those of the `circle`, from wherever the bottleneck is highest.
    fn widen(
        &mut self,
        circle: &[usize],
        open: &[usize],
        least_bps: f64,
        reached: &mut [Option<(usize, f64)>],
    ) {
        let from_all = |&to: &usize| circle.iter().map(move |&from| (from, to));
        let pairs: Vec<_> = open.iter().flat_map(from_all).collect();
        self.learn(&pairs, least_bps);
        for pair @ (from, to) in pairs {
            let rate_bps = self.known_bps[self.slot(pair)];
            let (_, before_bps) = reached[from].expect("the circle is reached");
            let width_bps = before_bps.min(rate_bps);
            let wider = reached[to].is_none_or(|(_, best_bps)| width_bps > best_bps);
            if rate_bps >= least_bps && wider {
                reached[to] = Some((from, width_bps));
            }
        }
    }

    /// The chain of the highest bottleneck within the hops allowed, among those the one of the
    /// fewest hops. `None` when nothing gets through.
    ///
    /// Searches for more than the last answer until there is none. The last answer has the fewest hops
    /// of all chains that carry something less, hence of those that carry as much as itself.
    fn fastest(&mut self) -> Option<Chain> {
        let mut best = self.fewest(f64::MIN_POSITIVE)?;
        while let Some(faster) = self.fewest(best.bottleneck_bps.next_up()) {
            best = faster;
        }
        Some(best)
    }

    fn trail(&self, reached: &[Option<(usize, f64)>]) -> Chain {
        let mut places = vec![self.places.len() - 1];
        while places[places.len() - 1] != 0 {
            let (from, _) = reached[places[places.len() - 1]].expect("a trail is reached");
            places.push(from);
        }
        places.reverse();
        let hops = places.windows(2).map(|ends| (ends[0], ends[1]));
        let rates_bps: Vec<f64> = hops.map(|pair| self.known_bps[self.slot(pair)]).collect();
        let slower = |best: usize, hop: usize| {
            if rates_bps[hop] < rates_bps[best] { hop } else { best }
        };
        let slowest = (0..rates_bps.len()).fold(0, slower);
        Chain { places, slowest, bottleneck_bps: rates_bps[slowest] }
    }
}
