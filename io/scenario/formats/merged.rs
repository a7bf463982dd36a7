//! Several measurements of one link at one time as one: what two tables or two radios state of it.

use std::collections::BTreeMap;

use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Event};
use super::error::Location;

/// A link that a table does not list any more.
pub(super) const ABSENT: f64 = 0.0;

impl Dataset {
    /// Makes the measurements of a link and time one: fields that only one states, and of those that several state
    /// the better.
    pub(super) fn merge_links(&mut self) {
        let mut first: BTreeMap<(u64, u32, u32), usize> = BTreeMap::new();
        let mut surplus = vec![false; self.events.len()];
        let mut radios = 0_usize;
        for index in 0..self.events.len() {
            let (at_s, Event::Observe(from, to, values)) = self.events[index] else { continue };
            let before = *first.entry((at_s.to_bits(), from, to)).or_insert(index);
            if before == index {
                continue;
            }
            if let (_, Event::Observe(.., merged)) = &mut self.events[before] {
                radios += usize::from(is_other(merged, &values));
                *merged = both(*merged, values);
                surplus[index] = true;
            }
        }
        if radios > 0 {
            let what = "a second radio link between the same nodes: the better one counts";
            self.report.add_many(what, radios, Location::default);
        }
        let mut surplus = surplus.into_iter();
        self.events.retain(|_| !surplus.next().unwrap_or_default());
    }
}

/// Values by which one link is better than another, the first that both have.
fn scores(values: &Measured) -> [Option<f64>; 5] {
    let Measured { quality, delivery_prob, rx_power_dbm, snr_db, rate_bps, .. } = *values;
    [quality, delivery_prob, rx_power_dbm, snr_db, rate_bps]
}

/// True for a link that is no more than absent from a table.
fn is_absent(values: &Measured) -> bool {
    *values == Measured { delivery_prob: Some(ABSENT), ..Measured::default() }
}

/// True if both state a value other than a rate, and not the same.
fn is_other(one: &Measured, other: &Measured) -> bool {
    let pairs = scores(one).into_iter().zip(scores(other)).take(4);
    let differs = |(one, other): (Option<f64>, Option<f64>)| {
        one.zip(other).is_some_and(|(one, other)| one != other)
    };
    !is_absent(one) && !is_absent(other) && pairs.into_iter().any(differs)
}

/// The better of two with the fields that only the other has.
fn both(one: Measured, other: Measured) -> Measured {
    if is_absent(&one) || is_absent(&other) {
        return if is_absent(&one) { other } else { one };
    }
    let mut pairs = scores(&one).into_iter().zip(scores(&other));
    let is_better =
        pairs.find_map(|pair| pair.0.zip(pair.1)).is_none_or(|(one, other)| one >= other);
    let (better, rest) = if is_better { (one, other) } else { (other, one) };
    Measured {
        rx_power_dbm: better.rx_power_dbm.or(rest.rx_power_dbm),
        tx_power_dbm: better.tx_power_dbm.or(rest.tx_power_dbm),
        path_loss_db: better.path_loss_db.or(rest.path_loss_db),
        snr_db: better.snr_db.or(rest.snr_db),
        delivery_prob: better.delivery_prob.or(rest.delivery_prob),
        quality: better.quality.or(rest.quality),
        rate_bps: better.rate_bps.or(rest.rate_bps),
        frequency_mhz: better.frequency_mhz.or(rest.frequency_mhz),
    }
}
