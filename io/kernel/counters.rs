//! Monotonic counters from those of the kernel.
//!
//! Most kernel counters have 32 bits and wrap, and all restart with a new discipline.

use groundwave_systems::impair::LinkStats;

use super::query::InterfaceQdiscs;
use super::{Counters, Qdisc};

/// Counters of one interface since the first reading.
#[derive(Debug, Default)]
pub struct CounterTotals {
    last: Option<CounterSnapshot>,
    total: LinkStats,
}

/// One reading.
#[derive(Debug, Clone, Default)]
struct CounterSnapshot {
    root: Counters,
    /// Drops by layer: netem, tbf, queue.
    drops: [u32; 3],
}

impl CounterTotals {
    /// Adds the increments since the last reading and returns the sums.
    pub fn add(&mut self, current: &InterfaceQdiscs) -> LinkStats {
        let now = CounterSnapshot::of(&current.ours);
        let anew = self.last.as_ref().is_none_or(|last| {
            // Bytes have 64 bits and do not wrap: a lower value is that of a new discipline.
            now.root.bytes < last.root.bytes || now.root.packets < last.root.packets
        });
        let before = match &self.last {
            Some(last) if !anew => last.clone(),
            _ => CounterSnapshot::default(),
        };
        let total = &mut self.total;
        total.resets_total += u64::from(anew && self.last.is_some());
        total.packets_total += now.root.packets - before.root.packets;
        total.bytes_total += now.root.bytes - before.root.bytes;
        let grown = |now: u32, before: u32| u64::from(now.wrapping_sub(before));
        let drops: [u64; 3] = std::array::from_fn(|at| grown(now.drops[at], before.drops[at]));
        total.impairment_drops_total += drops[0];
        total.rate_drops_total += drops[1];
        total.queue_drops_total += drops[2];
        total.drops_total += drops.iter().sum::<u64>();
        total.overlimits_total += grown(now.root.overlimits, before.root.overlimits);
        total.reordered_total += grown(now.root.requeues, before.root.requeues);
        total.backlog_packets = now.root.backlog_packets;
        total.backlog_bytes = now.root.backlog_bytes;
        total.interface_tx_packets_total = current.link.tx_packets;
        total.interface_tx_bytes_total = current.link.tx_bytes;
        total.interface_tx_dropped_total = current.link.tx_dropped;
        self.last = Some(now);
        self.total.clone()
    }
}

impl CounterSnapshot {
    fn of(ours: &[Qdisc]) -> Self {
        let of = |kinds: &[&str]| {
            let found = ours
                .iter()
                .find(|qdisc| kinds.contains(&qdisc.kind.as_str()));
            found.map(|qdisc| qdisc.counters)
        };
        let (netem, tbf, leaf) = (of(&["netem"]), of(&["tbf"]), of(&["pfifo", "bfifo"]));
        let drops = |counters: Option<Counters>| counters.map_or(0, |counters| counters.drops);
        // A discipline also counts the drops of its children.
        let under_tbf = drops(leaf);
        let under_netem = if tbf.is_some() { drops(tbf) } else { under_tbf };
        let own = |all: u32, under: u32| all.saturating_sub(under);
        Self {
            root: Counters {
                // The shaper counts packets that wait for tokens.
                overlimits: tbf.map_or(0, |tbf| tbf.overlimits),
                requeues: netem.map_or(0, |netem| netem.requeues),
                ..ours.first().map(|root| root.counters).unwrap_or_default()
            },
            drops: [
                netem.map_or(0, |netem| own(netem.drops, under_netem)),
                tbf.map_or(0, |tbf| own(tbf.drops, under_tbf)),
                under_tbf,
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn current(of: &[(&str, u64, u32, u32)]) -> InterfaceQdiscs {
        let qdisc = |&(kind, packets, drops, requeues): &(&str, u64, u32, u32)| Qdisc {
            kind: kind.to_owned(),
            counters: Counters {
                packets,
                bytes: packets * 100,
                drops,
                requeues,
                ..Counters::default()
            },
            ..Qdisc::default()
        };
        InterfaceQdiscs {
            ours: of.iter().map(qdisc).collect(),
            ..InterfaceQdiscs::default()
        }
    }

    #[test]
    fn a_drop_is_counted_where_it_happened() {
        let seen = [("netem", 10, 9, 4), ("tbf", 10, 5, 0), ("bfifo", 10, 3, 0)];
        let stats = CounterTotals::default().add(&current(&seen));
        let drops = [
            stats.impairment_drops_total,
            stats.rate_drops_total,
            stats.queue_drops_total,
        ];
        assert_eq!((drops, stats.drops_total), ([4, 2, 3], 9));
        assert_eq!((stats.packets_total, stats.reordered_total), (10, 4));
    }

    #[test]
    fn counters_survive_wraps_and_new_disciplines() {
        let mut totals = CounterTotals::default();
        totals.add(&current(&[("netem", 100, u32::MAX - 1, 0)]));
        let wrapped = totals.add(&current(&[("netem", 150, 3, 0)]));
        assert_eq!(wrapped.drops_total, u64::from(u32::MAX) + 4);
        assert_eq!((wrapped.packets_total, wrapped.resets_total), (150, 0));
        let anew = totals.add(&current(&[("netem", 20, 2, 0)]));
        assert_eq!(anew.drops_total, u64::from(u32::MAX) + 6);
        assert_eq!((anew.packets_total, anew.resets_total), (170, 1));
        let gone = totals.add(&current(&[]));
        assert_eq!((gone.packets_total, gone.resets_total), (170, 2));
    }
}
