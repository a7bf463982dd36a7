//! Fixes that no receiver can have had: at 0 N 0 E, far away for a moment, or at a time out of order. The most that fit
//! together are believed, wherever in the document they are.

use std::collections::BTreeMap;

use groundwave_model::terrain::{GeoPoint, geodesic};

/// Speed above which a fix is not believed, m/s: three times that of sound.
const SPEED_M_S_MAX: f64 = 1_000.0;
/// Minimum time between two fixes for a speed, s: clocks of receivers have whole seconds.
const APART_S_MIN: f64 = 1.0;
/// Distance from 0 N 0 E up to which a fix is one of a receiver without a position, m.
const ORIGIN_M: f64 = 100.0;
/// Distance of other fixes from 0 N 0 E from which such a fix is not believed, m.
const ELSEWHERE_M: f64 = 100_000.0;
/// Fixes in a row that are believed although the node cannot have come there.
const RUN_MIN: usize = 5;
/// Runs of fixes that a run may be reached from, so that a track of noise takes linear time.
const RUNS_BACK_MAX: usize = 16;
/// Fixes of which the order may be that of falling times.
const FALLING_MIN: usize = 3;

/// A fix of a line.
#[derive(Debug, Clone, Copy)]
struct Fix {
    at_s: f64,
    position: GeoPoint,
    line: usize,
}

/// The fixes of a document by node, in its order, collected while it is read.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    nodes: BTreeMap<u32, Vec<Fix>>,
}

/// Reason not to believe a fix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doubt {
    /// At 0 N 0 E beside others far from there.
    Origin,
    /// Too far from the others for its time.
    Far,
    /// Before the fix before.
    Early,
    /// After the fix behind it.
    Late,
    /// At a time that no recording spans from the others.
    Apart,
}

/// Fixes that are not believed.
#[derive(Debug, Default)]
pub(super) struct Doubts {
    /// Reason and line, by node and number of the fix among those of the node.
    pub(super) fixes: BTreeMap<(u32, usize), (Doubt, usize)>,
    /// Lines of fixes that are believed although the node cannot have come there.
    pub(super) jumps: Vec<usize>,
}

fn is_reachable(from: &Fix, to: &Fix) -> bool {
    let apart_s = (to.at_s - from.at_s).abs().max(APART_S_MIN);
    geodesic::inverse(from.position, to.position).distance_m <= SPEED_M_S_MAX * apart_s
}

/// Distance from 0 N 0 E, m; of places more than a degree away infinite, which saves a geodesic.
fn from_origin_m(position: GeoPoint) -> f64 {
    if position.lat_deg().abs() >= 1.0 || position.lon_deg().abs() >= 1.0 {
        return f64::INFINITY;
    }
    let origin = GeoPoint::new(0.0, 0.0).expect("the origin is a place");
    geodesic::inverse(origin, position).distance_m
}

impl Suspects {
    /// Notes a fix of a line.
    pub(super) fn note(&mut self, node: u32, at_s: f64, position: GeoPoint, line: usize) {
        self.nodes.entry(node).or_default().push(Fix { at_s, position, line });
    }

    /// Forgets fixes before a time, s.
    pub(super) fn forget_before(&mut self, begin_s: f64) {
        for fixes in self.nodes.values_mut() {
            fixes.retain(|fix| fix.at_s >= begin_s);
        }
    }

    /// The fixes that do not fit most of the others; a recording is no longer than `span_s`.
    pub(super) fn doubts(&self, span_s: f64) -> Doubts {
        let mut doubts = Doubts::default();
        let has_origin = self.has_origin();
        let times_s = self.times_s(span_s);
        for (node, fixes) in &self.nodes {
            let mut rest: Vec<usize> = Vec::with_capacity(fixes.len());
            for (number, fix) in fixes.iter().enumerate() {
                let doubt = match fix {
                    fix if !(times_s[0]..=times_s[1]).contains(&fix.at_s) => Doubt::Apart,
                    fix if !has_origin && from_origin_m(fix.position) < ORIGIN_M => Doubt::Origin,
                    _ => {
                        rest.push(number);
                        continue;
                    }
                };
                doubts.fixes.insert((*node, number), (doubt, fix.line));
            }
            let (rest, out) = in_order(fixes, rest);
            let (far, jumps) = reached(fixes, &rest);
            let out = out.into_iter().chain(far.into_iter().map(|number| (number, Doubt::Far)));
            for (number, doubt) in out {
                doubts.fixes.insert((*node, number), (doubt, fixes[number].line));
            }
            doubts.jumps.extend(jumps.into_iter().map(|number| fixes[number].line));
        }
        doubts
    }

    /// True if the recording is about the place 0 N 0 E: no fix is far from there, or most are not and they differ, as
    /// those of a receiver without a position do not.
    fn has_origin(&self) -> bool {
        let (mut at_origin, mut elsewhere, mut differ) = (0_usize, 0_usize, false);
        let mut first = None;
        for fix in self.nodes.values().flatten() {
            match from_origin_m(fix.position) {
                apart_m if apart_m < ORIGIN_M => {
                    at_origin += 1;
                    differ |= *first.get_or_insert(fix.position) != fix.position;
                }
                apart_m => elsewhere += usize::from(apart_m > ELSEWHERE_M),
            }
        }
        elsewhere == 0 || elsewhere <= at_origin && differ
    }

    /// The first and the last time that a recording of `span_s` around the median may have, s.
    fn times_s(&self, span_s: f64) -> [f64; 2] {
        let times = || self.nodes.values().flatten().map(|fix| fix.at_s);
        let [first_s, last_s] =
            [times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max)];
        if last_s - first_s <= span_s || first_s > last_s {
            return [f64::NEG_INFINITY, f64::INFINITY];
        }
        let mut times: Vec<f64> = times().collect();
        let middle = times.len() / 2;
        let (_, median_s, _) = times.select_nth_unstable_by(middle, f64::total_cmp);
        [*median_s - span_s, *median_s + span_s]
    }
}

/// Of fixes by number those whose times are in order, in that of time, and the others.
fn in_order(fixes: &[Fix], numbers: Vec<usize>) -> (Vec<usize>, Vec<(usize, Doubt)>) {
    let times: Vec<f64> = numbers.iter().map(|number| fixes[*number].at_s).collect();
    if times.is_sorted() {
        return (numbers, Vec::new());
    }
    let rising = longest_rise(&times);
    let count = |is_in: &[bool]| is_in.iter().filter(|is_in| **is_in).count();
    if times.len() >= FALLING_MIN {
        // Some tables have the last row first.
        let opposite: Vec<f64> = times.iter().map(|at_s| -at_s).collect();
        let falling = longest_rise(&opposite);
        if count(&falling) > count(&rising) && count(&falling) * 2 > times.len() {
            let (mut rest, out) = split(&numbers, &falling, &opposite);
            rest.reverse();
            return (rest, out);
        }
    }
    split(&numbers, &rising, &times)
}

/// Divides fixes, by number, into those in order and the others, by their times.
fn split(numbers: &[usize], is_in: &[bool], times: &[f64]) -> (Vec<usize>, Vec<(usize, Doubt)>) {
    let (mut rest, mut out) = (Vec::new(), Vec::new());
    let mut last_s = f64::NEG_INFINITY;
    for ((number, is_in), at_s) in numbers.iter().zip(is_in).zip(times) {
        match is_in {
            true => {
                last_s = *at_s;
                rest.push(*number);
            }
            false if *at_s < last_s => out.push((*number, Doubt::Early)),
            false => out.push((*number, Doubt::Late)),
        }
    }
    (rest, out)
}

/// Marks the most times that rise from one to the next; of several such sets that with the earlier ones.
fn longest_rise(times: &[f64]) -> Vec<bool> {
    // From the end: the number of times in a rise that begins with each, by the greatest first time of each number.
    let mut firsts: Vec<f64> = Vec::new();
    let mut counts = vec![0_usize; times.len()];
    for (index, at_s) in times.iter().enumerate().rev() {
        let count = firsts.partition_point(|first_s| first_s >= at_s);
        match firsts.get_mut(count) {
            Some(first_s) => *first_s = *at_s,
            None => firsts.push(*at_s),
        }
        counts[index] = count + 1;
    }
    let (mut missing, mut last_s) = (firsts.len(), f64::NEG_INFINITY);
    let mark = |(at_s, count): (&f64, &usize)| {
        let is_in = *count == missing && *at_s >= last_s;
        if is_in {
            (missing, last_s) = (missing - 1, *at_s);
        }
        is_in
    };
    times.iter().zip(&counts).map(mark).collect()
}

/// A run of fixes that the node can have passed one after the other.
struct Run {
    from: usize,
    until: usize,
    /// Fixes of the best course that ends with the run, the run before in it, and true if that is a jump.
    total: usize,
    before: Option<(usize, bool)>,
}

impl Run {
    const fn len(&self) -> usize {
        self.until - self.from
    }
}

/// Of fixes by number in the order of time, those that are not on the course of the most, and the first ones of long
/// runs that the node cannot have come to.
fn reached(fixes: &[Fix], numbers: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let fix = |index: usize| &fixes[numbers[index]];
    let mut runs: Vec<Run> = Vec::new();
    for index in 0..numbers.len() {
        match runs.last_mut() {
            Some(run) if is_reachable(fix(index - 1), fix(index)) => run.until += 1,
            _ => runs.push(Run { from: index, until: index + 1, total: 0, before: None }),
        }
    }
    if runs.len() < 2 {
        return (Vec::new(), Vec::new());
    }
    // The best course so far that ends with a long run, from which a jump is believed.
    let mut long: Option<usize> = None;
    for index in 0..runs.len() {
        let (own, from) = (runs[index].len(), runs[index].from);
        let (mut best, mut before) = (0, None);
        for other in index.saturating_sub(RUNS_BACK_MAX)..index {
            let run = &runs[other];
            if run.total > best && is_reachable(fix(run.until - 1), fix(from)) {
                (best, before) = (run.total, Some((other, false)));
            }
        }
        if let Some(other) = long.filter(|other| own >= RUN_MIN && runs[*other].total > best) {
            (best, before) = (runs[other].total, Some((other, true)));
        }
        (runs[index].total, runs[index].before) = (best + own, before);
        if own >= RUN_MIN && long.is_none_or(|other| runs[other].total < best + own) {
            long = Some(index);
        }
    }
    // The first one of equals.
    let last = (0..runs.len()).rev().max_by_key(|index| runs[*index].total);
    let (mut is_on, mut jumps) = (vec![false; runs.len()], Vec::new());
    let mut next = last;
    while let Some(index) = next {
        is_on[index] = true;
        let before = runs[index].before;
        jumps.extend(before.filter(|before| before.1).map(|_| numbers[runs[index].from]));
        next = before.map(|before| before.0);
    }
    let off = runs.iter().zip(is_on).filter(|(_, is_on)| !is_on);
    (off.flat_map(|(run, _)| numbers[run.from..run.until].to_vec()).collect(), jumps)
}
