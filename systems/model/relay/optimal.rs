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
use super::stretch::{Place, Task, Worth};

/// The best chain by `objective`. When none keeps the target rate and the margin, the one that keeps the rate with
/// the highest margin; when none keeps the rate, the one with the highest bottleneck.
pub(super) fn search(task: &Task<'_>, objective: Objective) -> Solution {
    let walked = walk(task);
    let among = candidates(task, &walked.relays);
    let mut places = vec![task.tx];
    places.extend(among.into_iter().map(|at| (at, task.relay)));
    places.push(task.rx);
    let best = match objective {
        Objective::FewestRelays => Field::new(task, &places).fewest(task.target_bps),
        Objective::HighestBottleneck => Field::new(task, &places).best(),
    };
    let is_enough = |chain: &Chain| task.margin_db == 0.0 || chain.least >= task.target_bps;
    let best = best.filter(is_enough).map(|chain| (chain, Worth::Rate));
    let relaxed = match task.margin_db > 0.0 {
        true => [Worth::Margin, Worth::Rate].as_slice(),
        false => &[Worth::Rate],
    };
    let nearest = || {
        relaxed.iter().find_map(|&worth| {
            let task = task.relaxed(worth);
            Some((Field::new(&task, &places).best()?, worth))
        })
    };
    let Some((chain, worth)) = best.or_else(nearest) else {
        // Nothing gets through at all; the greedy walk went as far as one can.
        return walked;
    };
    let relays = &chain.places[1..chain.places.len() - 1];
    let short = worth == Worth::Rate && chain.least < task.target_bps;
    Solution {
        relays: relays.iter().map(|&place| places[place].0).collect(),
        ranks: relays.to_vec(),
        shortfall: short.then_some(Shortfall::NoChain {
            segment: chain.weakest,
            data_rate_bps: chain.least,
            places: places.len() - 2,
        }),
    }
}

/// A chain as indices of places, and its hop of the least worth, the first of equals.
struct Chain {
    places: Vec<usize>,
    weakest: usize,
    least: f64,
}

/// All places, the transmitter first, the receiver last, relays between in order along the way;
/// and what is known of the stretches between them.
struct Field<'a> {
    task: &'a Task<'a>,
    places: &'a [Place<'a>],
    /// Worths, for the earlier place times their number plus the later; NaN where unknown.
    worths: Vec<f64>,
}

impl<'a> Field<'a> {
    fn new(task: &'a Task<'a>, places: &'a [Place<'a>]) -> Self {
        Self { task, places, worths: vec![f64::NAN; places.len() * places.len()] }
    }

    fn slot(&self, (a, b): (usize, usize)) -> usize {
        a.min(b) * self.places.len() + a.max(b)
    }

    /// Makes known what these stretches are worth, 0 where that is surely less than `least`. Over
    /// the life of a field it must not fall, or that 0 would be wrong.
    fn learn(&mut self, pairs: &[(usize, usize)], least: f64) {
        let unknown = pairs.iter().map(|&pair| self.slot(pair));
        let unknown: Vec<usize> = unknown.filter(|&at| self.worths[at].is_nan()).collect();
        let place = |at: usize| self.places[at];
        let count = self.places.len();
        let stretch = |&at: &usize| (place(at / count), place(at % count));
        let stretches: Vec<_> = unknown.iter().map(stretch).collect();
        let worths = self.task.worths(&stretches, least);
        for (at, worth) in unknown.into_iter().zip(worths) {
            self.worths[at] = worth;
        }
    }

    /// The chain of the fewest hops that all have a worth of `least`, among those the one with the
    /// highest bottleneck. `None` when there is none within the hops allowed.
    ///
    /// Breadth first: a place first reached after `k` hops is at no other place of any shortest
    /// chain, so that one pass over growing circles finds both. Stretches of a circle are evaluated
    /// together, each at most once, and none beyond the circle that reaches the receiver.
    fn fewest(&mut self, least: f64) -> Option<Chain> {
        let rx = self.places.len() - 1;
        let mut reached: Vec<Option<(usize, f64)>> = vec![None; self.places.len()];
        reached[0] = Some((0, f64::INFINITY));
        let mut circle = vec![0];
        for hop in 1..=self.task.max_hops {
            let before = reached.clone();
            self.widen(&circle, &[rx], least, &mut reached);
            if reached[rx].is_some() {
                return Some(self.trail(&reached));
            }
            if circle.is_empty() || hop == self.task.max_hops {
                break;
            }
            let open: Vec<_> = (1..rx).filter(|&to| before[to].is_none()).collect();
            self.widen(&circle, &open, least, &mut reached);
            circle = open.into_iter().filter(|&to| reached[to].is_some()).collect();
        }
        None
    }

    /// Reaches `open` places from those of the `circle`, from wherever the bottleneck is highest.
    fn widen(
        &mut self,
        circle: &[usize],
        open: &[usize],
        least: f64,
        reached: &mut [Option<(usize, f64)>],
    ) {
        let from_all = |&to: &usize| circle.iter().map(move |&from| (from, to));
        let pairs: Vec<_> = open.iter().flat_map(from_all).collect();
        self.learn(&pairs, least);
        for pair @ (from, to) in pairs {
            let worth = self.worths[self.slot(pair)];
            let (_, before) = reached[from].expect("the circle is reached");
            let width = before.min(worth);
            let wider = reached[to].is_none_or(|(_, best)| width > best);
            if worth >= least && wider {
                reached[to] = Some((from, width));
            }
        }
    }

    /// The chain of the highest bottleneck within the hops allowed, among those the one of the
    /// fewest hops. `None` when nothing gets through.
    ///
    /// Searches for more than the last answer until there is none. The last answer has the fewest hops
    /// of all chains that carry something less, hence of those that carry as much as itself.
    fn best(&mut self) -> Option<Chain> {
        let mut best = self.fewest(f64::MIN_POSITIVE)?;
        while let Some(faster) = self.fewest(best.least.next_up()) {
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
        let worths: Vec<f64> = hops.map(|pair| self.worths[self.slot(pair)]).collect();
        let weaker =
            |weakest: usize, hop: usize| if worths[hop] < worths[weakest] { hop } else { weakest };
        let weakest = (0..worths.len()).fold(0, weaker);
        Chain { places, weakest, least: worths[weakest] }
    }
}
