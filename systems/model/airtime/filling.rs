//! Max-min fair rates by progressive filling.

/// Share of the level of a set by which two sets count as full at once: beyond rounding, far below any
/// difference that matters.
const LEVEL_TOLERANCE: f64 = 1e-12;

/// Traffic of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Offered rate, bit/s, above 0; infinite for a flow that takes what it gets.
    pub rate_bps: f64,
    /// Links of its route and the time that a bit delivered keeps each busy, retransmissions included, s.
    pub hops: Vec<(usize, f64)>,
}

/// Result of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Rate, bit/s, at most the offered one and equal to it where the air suffices.
    pub rate_bps: f64,
    /// Contention set that is full and keeps the rate below the offered one.
    pub set: Option<usize>,
}

/// A contention set while rates grow.
#[derive(Debug, Clone, Default)]
struct Filling {
    /// Share of the time of flows whose rate is final.
    busy: f64,
    /// Time for a bit of each other flow, s.
    slope_s: f64,
    /// Flows whose rate still grows.
    growing: usize,
}

impl Filling {
    /// Rate of the growing flows at which the set is full, bit/s.
    fn level_bps(&self) -> f64 {
        if self.growing == 0 { f64::INFINITY } else { (1.0 - self.busy).max(0.0) / self.slope_s }
    }
}

/// Max-min fair rates of flows over contention sets: no rate can grow but at the cost of an equal or a
/// lower one. All rates grow together; a flow stops at its offered rate or where a set of its links is full
/// (D. Bertsekas and R. Gallager, "Data Networks", 2nd edition 1992, 6.5.2; for airtime of wireless links
/// L. Tassiulas and S. Sarkar, "Maxmin fair scheduling in wireless networks", INFOCOM 2002).
///
/// Links that are in no set are never full.
#[must_use]
pub fn share(flows: &[Demand], sets: &[Vec<usize>]) -> Vec<Share> {
    let uses = uses(flows, sets);
    let mut fillings = vec![Filling::default(); sets.len()];
    for (set, slope_s) in uses.iter().flatten() {
        fillings[*set].slope_s += slope_s;
        fillings[*set].growing += 1;
    }
    let mut shares: Vec<Option<Share>> = vec![None; flows.len()];
    let mut growing: Vec<usize> = (0..flows.len()).collect();
    while !growing.is_empty() {
        let level_bps = fillings.iter().map(Filling::level_bps).fold(f64::INFINITY, f64::min);
        let is_met = |flow: &usize| flows[*flow].rate_bps <= level_bps;
        let any_met = growing.iter().any(is_met);
        let full_bps = level_bps * (1.0 + LEVEL_TOLERANCE);
        let is_full: Vec<bool> =
            fillings.iter().map(|filling| filling.level_bps() <= full_bps).collect();
        growing.retain(|flow| {
            let share = if any_met {
                // What is offered can be carried before any set is full; the others have more time then.
                is_met(flow).then(|| Share { rate_bps: flows[*flow].rate_bps, set: None })
            } else {
                let full = uses[*flow].iter().find(|(set, _)| is_full[*set]);
                full.map(|(set, _)| Share { rate_bps: level_bps, set: Some(*set) })
            };
            let Some(share) = share else { return true };
            for (set, slope_s) in &uses[*flow] {
                let filling = &mut fillings[*set];
                filling.busy += slope_s * share.rate_bps;
                // What rounding leaves must not stop the others from growing.
                filling.slope_s = (filling.slope_s - slope_s).max(f64::MIN_POSITIVE);
                filling.growing -= 1;
            }
            shares[*flow] = Some(share);
            false
        });
    }
    shares.into_iter().map(|share| share.expect("every flow stopped growing")).collect()
}

/// The sets that each flow uses, rising, and the time that a bit of it keeps each busy, s.
fn uses(flows: &[Demand], sets: &[Vec<usize>]) -> Vec<Vec<(usize, f64)>> {
    let links = sets.iter().flatten().max().map_or(0, |link| link + 1);
    let mut sets_of: Vec<Vec<usize>> = vec![Vec::new(); links];
    for (set, links) in sets.iter().enumerate() {
        links.iter().for_each(|link| sets_of[*link].push(set));
    }
    let of_flow = |flow: &Demand| {
        let mut uses: Vec<(usize, f64)> = Vec::new();
        for (link, busy_s) in &flow.hops {
            let sets = sets_of.get(*link).into_iter().flatten();
            uses.extend(sets.map(|set| (*set, *busy_s)));
        }
        // Stable, so that the sums of floats have the order of the hops.
        uses.sort_by_key(|(set, _)| *set);
        uses.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            sum.1 += if is_same { next.1 } else { 0.0 };
            is_same
        });
        uses
    };
    flows.iter().map(of_flow).collect()
}
