//! The greedy walk.

use super::plan::Shortfall;
use super::stretch::{Place, Task, link_margin_db, rate_bps};
use crate::terrain::{GeoPoint, Path};

/// Into how many equal parts the rest of the way is cut: places are tested at 20/20 (the receiver
/// itself), then at 19/20, 18/20 and so on to 1/20 of it.
pub const FRACTIONS: usize = 20;

/// Places for relays in order, and why the last of them does not reach the receiver.
pub(super) struct Solution {
    pub relays: Vec<GeoPoint>,
    /// Their order along the way, from 1: of two neighbours in the chain the ground is walked from
    /// the lower to the higher.
    pub ranks: Vec<usize>,
    pub shortfall: Option<Shortfall>,
}

/// Walks the great circle from the transmitter toward the receiver, each step to the farthest
/// tested fraction of the remaining distance that closes for the target rate and the margin. On the last hop
/// allowed only the receiver itself is tested, and never a place in a void of the terrain.
pub(super) fn walk(task: &Task<'_>) -> Solution {
    let mut relays: Vec<GeoPoint> = Vec::new();
    let (mut lat_deg, mut lon_deg) = (Vec::new(), Vec::new());
    loop {
        let segment = relays.len();
        let at: Place<'_> = relays.last().map_or(task.tx, |&relay| (relay, task.relay));
        let path = Path::between(at.0, task.rx.0);
        path.positions(FRACTIONS + 1, &mut lat_deg, &mut lon_deg);
        let last = segment + 1 == task.max_hops as usize;
        // Farthest first, the receiver before all.
        let shares = (1..FRACTIONS).rev().take(if last { 0 } else { FRACTIONS });
        let place = |i: usize| {
            let at = GeoPoint::wrapping(lat_deg[i], lon_deg[i]);
            (i, at.expect("positions of a path lie on the Earth"))
        };
        let tested = shares.map(place).filter(|(_, at)| task.has_ground(*at));
        let tested: Vec<(usize, GeoPoint)> = tested.collect();
        let beyond = tested.iter().map(|&(_, relay)| (at, (relay, task.relay)));
        let stretches: Vec<_> = std::iter::once((at, task.rx)).chain(beyond).collect();
        let worths = task.worths(&stretches, task.target_bps);
        let shortfall = match worths.iter().position(|&rate| rate >= task.target_bps) {
            Some(0) => None,
            Some(reached) => {
                relays.push(tested[reached - 1].1);
                continue;
            }
            None if last => Some(Shortfall::HopsUsedUp {
                segment,
                remaining_m: path.distance_m(),
                max_hops: task.max_hops,
            }),
            None => {
                let (from, to) = stretches[stretches.len() - 1];
                let nearest = task.evaluate(from, to).ok();
                Some(Shortfall::Blocked {
                    segment,
                    remaining_m: path.distance_m(),
                    nearest_tested_m: path.step_m(FRACTIONS + 1)
                        * tested.last().map_or(FRACTIONS, |(i, _)| *i) as f64,
                    nearest_data_rate_bps: nearest.as_ref().map_or(0.0, rate_bps),
                    nearest_link_margin_db: nearest.as_ref().map(link_margin_db),
                })
            }
        };
        return Solution { ranks: (1..=relays.len()).collect(), relays, shortfall };
    }
}
