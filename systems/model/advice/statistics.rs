//! Statistics of the sampled links.

use schemars::JsonSchema;
use serde::Serialize;

use crate::link::LinkBudget;
use crate::mesh::MeshLink;
use crate::radio::Verdict;

/// From this difference of SNR between its directions on a link counts as asymmetric, dB: two
/// steps of modulation or more apart.
pub const ASYMMETRIC_DB: f64 = 6.0;

/// Below this link margin of the worse direction a link counts as fragile, dB: ordinary fading
/// reaches 10 dB for one per cent of the time under Rayleigh's distribution and more.
pub const FRAGILE_DB: f64 = 10.0;

/// Loss from which on a link counts as lossy, PER of the worse direction, [0, 1]: what a
/// modulation's sensitivity is defined by.
const LOSSY_PER: f64 = 0.1;

/// Statistics of the sampled pairs in reach. Shares are of usable links, [0, 1]; 0 without any.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LinkStatistics {
    /// Pairs usable in both directions.
    pub usable: usize,
    /// Pairs usable in one direction only, which carry nothing that must be acknowledged.
    pub one_way: usize,
    /// Pairs not usable at all, and those over unknown ground.
    pub unusable: usize,
    /// Pairs by the verdict of their worse direction.
    pub verdicts: Verdicts,
    /// Share of links below [`FRAGILE_DB`] of margin in the worse direction.
    pub fragile_prob: f64,
    /// Share of links that lose 10 % of packets or more in the worse direction.
    pub lossy_prob: f64,
    /// Share of links whose directions differ by [`ASYMMETRIC_DB`] or more.
    pub asymmetric_prob: f64,
    /// SNR of the worse direction of links, dB; absent without links, as are those below.
    pub snr_db: Option<Quantiles>,
    /// Rate of the slower direction, bit/s.
    pub data_rate_bps: Option<Quantiles>,
    /// Packet loss of the worse direction, [0, 1].
    pub per: Option<Quantiles>,
    /// Expected transmissions.
    pub etx: Option<Quantiles>,
}

/// Number of pairs by verdict, that is by the probability that a link like it works.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Verdicts {
    /// Probability of 99 % or more.
    pub excellent: usize,
    /// 90 % or more.
    pub good: usize,
    /// 50 % or more.
    pub marginal: usize,
    /// 10 % or more.
    pub poor: usize,
    /// Below 10 %, radios that cannot decode each other, or unknown ground, over which there is no verdict.
    pub no_link: usize,
}

/// Five quantiles of a sample, each one of its values: the one of rank `ceil(p n)`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Quantiles {
    /// Smallest.
    pub min: f64,
    /// Exceeded by nine tenths.
    pub p10: f64,
    /// Median.
    pub p50: f64,
    /// Exceeded by one tenth.
    pub p90: f64,
    /// Largest.
    pub max: f64,
}

impl Quantiles {
    /// The quantiles of `values`; `None` of nothing.
    #[must_use]
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let rank = |tenths: usize| values[(tenths * values.len()).div_ceil(10) - 1];
        Some(Self { min: values[0], p10: rank(1), p50: rank(5), p90: rank(9), max: values[last] })
    }
}

impl LinkStatistics {
    pub(super) fn of(links: &[MeshLink]) -> Self {
        let rated = links.iter().filter(|link| link.is_over_known_ground());
        let budgets = rated.map(|link| &link.budget);
        let unknown_ground = links.len() - budgets.clone().count();
        let usable: Vec<&LinkBudget> = budgets.clone().filter(|b| b.etx().is_some()).collect();
        let is_linked = |b: &&LinkBudget| b.forward.usable() || b.backward.usable();
        let linked = budgets.clone().filter(is_linked).count();
        let values = |value: fn(&LinkBudget) -> f64| {
            Quantiles::of(usable.iter().map(|budget| value(budget)).collect())
        };
        let share = |is: fn(&LinkBudget) -> bool| {
            let count = usable.iter().filter(|budget| is(budget)).count();
            count as f64 / usable.len().max(1) as f64
        };
        Self {
            usable: usable.len(),
            one_way: linked - usable.len(),
            unusable: links.len() - linked,
            verdicts: Verdicts::of(budgets, unknown_ground),
            fragile_prob: share(|b| margin_db(b) < FRAGILE_DB),
            lossy_prob: share(|b| per(b) >= LOSSY_PER),
            asymmetric_prob: share(|b| {
                (b.forward.snr_db - b.backward.snr_db).abs() >= ASYMMETRIC_DB
            }),
            snr_db: values(|b| b.forward.snr_db.min(b.backward.snr_db)),
            data_rate_bps: values(|b| b.forward.data_rate_bps.min(b.backward.data_rate_bps)),
            per: values(per),
            etx: values(|b| b.etx().unwrap_or(f64::INFINITY)),
        }
    }
}

fn margin_db(budget: &LinkBudget) -> f64 {
    let [there, back] = [&budget.forward, &budget.backward];
    there.link_margin_db.min(back.link_margin_db)
}

fn per(budget: &LinkBudget) -> f64 {
    budget.forward.per.max(budget.backward.per)
}

impl Verdicts {
    fn of<'a>(budgets: impl Iterator<Item = &'a LinkBudget>, unknown_ground: usize) -> Self {
        let mut counts = Self { no_link: unknown_ground, ..Self::default() };
        for budget in budgets {
            *match budget.forward.verdict.min(budget.backward.verdict) {
                Verdict::Excellent => &mut counts.excellent,
                Verdict::Good => &mut counts.good,
                Verdict::Marginal => &mut counts.marginal,
                Verdict::Poor => &mut counts.poor,
                Verdict::NoLink => &mut counts.no_link,
            } += 1;
        }
        counts
    }
}
