//! Monotonic counters from those of the kernel.
//!
//! Most kernel counters have 32 bits and wrap, and all restart with a new discipline.

use std::collections::BTreeMap;

use groundwave_impair::LinkStats;

use super::query::InterfaceQdiscs;
use super::{Counters, Link, Qdisc};

/// Counters of the stack at one place since the first reading.
#[derive(Debug, Default)]
pub struct CounterTotals {
    last: Option<CounterSnapshot>,
    /// Last counters of the interface: packets, bytes and dropped packets.
    last_interface: [u64; 3],
    total: LinkStats,
    /// Packets that waited in removed disciplines, to be counted with the next reading.
    discarded: u64,
}

/// Counters of one interface in all its bands.
#[derive(Debug, Default)]
pub struct InterfaceTotals {
    main: CounterTotals,
    bands: BTreeMap<u16, CounterTotals>,
}

impl InterfaceTotals {
    /// Adds the increments since the last reading and returns the sums.
    pub fn add(&mut self, current: &InterfaceQdiscs) -> LinkStats {
        let mut sum = self.main.add(current);
        let bands = current.bands.as_ref().map(|bands| &bands.bands);
        for number in bands.iter().flat_map(|bands| bands.keys()) {
            self.bands.entry(*number).or_default();
        }
        for (number, totals) in &mut self.bands {
            let placed = bands.and_then(|bands| bands.get(number));
            let ours = placed.map(|placed| placed.ours.clone()).unwrap_or_default();
            let own = totals.add(&InterfaceQdiscs { ours, ..InterfaceQdiscs::default() });
            sum.packets_total += own.packets_total;
            sum.bytes_total += own.bytes_total;
            sum.drops_total += own.drops_total;
            sum.impairment_drops_total += own.impairment_drops_total;
            sum.rate_drops_total += own.rate_drops_total;
            sum.queue_drops_total += own.queue_drops_total;
            sum.overlimits_total += own.overlimits_total;
            sum.reordered_total += own.reordered_total;
            sum.backlog_packets += own.backlog_packets;
            sum.backlog_bytes += own.backlog_bytes;
        }
        sum
    }

    /// Counts packets that wait in a discipline which is removed before the next reading as dropped by
    /// a queue.
    pub fn discard(&mut self, packets: u64) {
        self.main.discard(packets);
    }
}

/// One reading: counters of each own discipline.
#[derive(Debug, Clone, Default)]
struct CounterSnapshot {
    root: Counters,
    /// Netem, tbf, queue; `None` without one.
    layers: [Option<Counters>; 3],
}

impl CounterTotals {
    /// Adds the increments since the last reading and returns the sums.
    pub fn add(&mut self, current: &InterfaceQdiscs) -> LinkStats {
        let now = CounterSnapshot::of(&current.ours);
        let anew = self.last.as_ref().is_none_or(|last| is_new(&last.root, &now.root));
        let before = match &self.last {
            Some(last) if !anew => last.clone(),
            _ => CounterSnapshot::default(),
        };
        let total = &mut self.total;
        total.resets_total += u64::from(anew && self.last.is_some());
        total.packets_total += now.root.packets - before.root.packets;
        total.bytes_total += now.root.bytes - before.root.bytes;
        // Each layer by itself: one may be made anew while the others stay.
        let grown = |layer: usize, of: fn(&Counters) -> u32| {
            let Some(now) = now.layers[layer] else {
                return 0;
            };
            let before = before.layers[layer].filter(|before| !is_new(before, &now));
            grown(of(&now), before.as_ref().map_or(0, of))
        };
        let [netem, tbf, queue] = [0, 1, 2].map(|layer| grown(layer, |counters| counters.drops));
        // A discipline also counts the drops of its children.
        let mut tbf_own = tbf.saturating_sub(queue);
        let mut netem_own = match now.layers[1] {
            Some(_) => netem.saturating_sub(tbf),
            None => netem.saturating_sub(queue),
        };
        // The disciplines above a removed one count the packets that waited in it; with the root none does.
        let discarded = std::mem::take(&mut self.discarded);
        let of_tbf = discarded.min(tbf_own);
        tbf_own -= of_tbf;
        netem_own -= netem_own.min(discarded - of_tbf);
        let queue = queue + discarded;
        total.impairment_drops_total += netem_own;
        total.rate_drops_total += tbf_own;
        total.queue_drops_total += queue;
        total.drops_total += netem_own + tbf_own + queue;
        // The shaper counts packets that wait for tokens.
        total.overlimits_total += grown(1, |tbf| tbf.overlimits);
        total.reordered_total += grown(0, |netem| netem.requeues);
        total.backlog_packets = now.root.backlog_packets;
        total.backlog_bytes = now.root.backlog_bytes;
        let [packets, bytes, dropped] = self.interface_growth(&current.link);
        let total = &mut self.total;
        total.interface_tx_packets_total += packets;
        total.interface_tx_bytes_total += bytes;
        total.interface_tx_dropped_total += dropped;
        self.last = Some(now);
        self.total.clone()
    }

    /// Growth of the counters of an interface, which begin anew with another one of its name, and with another device
    /// of incoming traffic.
    fn interface_growth(&mut self, link: &Link) -> [u64; 3] {
        let now = [link.tx_packets, link.tx_bytes, link.tx_dropped];
        let before = std::mem::replace(&mut self.last_interface, now);
        let is_anew = now.iter().zip(before).any(|(now, before)| *now < before);
        let before = if is_anew { [0; 3] } else { before };
        std::array::from_fn(|at| now[at] - before[at])
    }

    /// Counts packets that wait in a discipline which is removed before the next reading as dropped by
    /// a queue.
    pub fn discard(&mut self, packets: u64) {
        self.discarded += packets;
    }
}

/// A discipline made anew since `before`. Bytes and packets have 64 bits and do not wrap: a lower value
/// is that of a new discipline.
pub fn is_new(before: &Counters, now: &Counters) -> bool {
    now.bytes < before.bytes || now.packets < before.packets
}

/// Growth of a counter of 32 bits, which wraps. A growth of more than half its range is the restart of a
/// discipline that passed nothing before.
pub fn grown(now: u32, before: u32) -> u64 {
    match now.wrapping_sub(before) {
        grown if grown <= u32::MAX / 2 => grown.into(),
        _ => now.into(),
    }
}

impl CounterSnapshot {
    fn of(ours: &[Qdisc]) -> Self {
        let of = |kinds: &[&str]| {
            let found = ours.iter().find(|qdisc| kinds.contains(&qdisc.kind.as_str()));
            found.map(|qdisc| qdisc.counters)
        };
        Self {
            root: ours.first().map(|root| root.counters).unwrap_or_default(),
            layers: [of(&["netem"]), of(&["tbf"]), of(&["pfifo", "bfifo"])],
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
        InterfaceQdiscs { ours: of.iter().map(qdisc).collect(), ..InterfaceQdiscs::default() }
    }

    #[test]
    fn a_drop_is_counted_where_it_happened() {
        let seen = [("netem", 10, 9, 4), ("tbf", 10, 5, 0), ("bfifo", 10, 3, 0)];
        let stats = CounterTotals::default().add(&current(&seen));
        let drops = [stats.impairment_drops_total, stats.rate_drops_total, stats.queue_drops_total];
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

    #[test]
    fn layers_made_anew_under_a_remaining_one_restart_alone() {
        let mut totals = CounterTotals::default();
        let shaped = [("netem", 900, 2155, 0), ("tbf", 900, 2155, 0), ("pfifo", 900, 2155, 0)];
        assert_eq!(totals.add(&current(&shaped)).queue_drops_total, 2155);
        // The unit of the queue changes: netem and the shaper keep their counters.
        let queue_anew = [("netem", 950, 2160, 0), ("tbf", 950, 2160, 0), ("bfifo", 20, 5, 0)];
        let stats = totals.add(&current(&queue_anew));
        let drops = |stats: &LinkStats| {
            [
                stats.drops_total,
                stats.impairment_drops_total,
                stats.rate_drops_total,
                stats.queue_drops_total,
            ]
        };
        assert_eq!((drops(&stats), stats.resets_total), ([2160, 0, 0, 2160], 0));
        // The shaper goes, and comes again without a packet: netem stays.
        let stats = totals.add(&current(&[("netem", 980, 2161, 0)]));
        assert_eq!(drops(&stats), [2161, 1, 0, 2160]);
        let shaper_anew = [("netem", 990, 2161, 0), ("tbf", 0, 0, 0), ("bfifo", 0, 0, 0)];
        let stats = totals.add(&current(&shaper_anew));
        assert_eq!((drops(&stats), stats.resets_total), ([2161, 1, 0, 2160], 0));
    }

    #[test]
    fn counters_of_an_interface_survive_another_one_of_its_name() {
        let mut totals = CounterTotals::default();
        let mut add = |tx_packets: u64, tx_dropped: u64| {
            let link =
                Link { tx_packets, tx_bytes: tx_packets * 100, tx_dropped, ..Link::default() };
            let stats = totals.add(&InterfaceQdiscs { link, ..InterfaceQdiscs::default() });
            assert_eq!(stats.interface_tx_bytes_total, stats.interface_tx_packets_total * 100);
            (stats.interface_tx_packets_total, stats.interface_tx_dropped_total)
        };
        assert_eq!([add(40, 2), add(50, 2)], [(40, 2), (50, 2)]);
        assert_eq!([add(7, 3), add(9, 3)], [(57, 5), (59, 5)], "another one");
        assert_eq!([add(0, 0), add(6, 0)], [(59, 5), (65, 5)], "none, and another one");
    }

    #[test]
    fn a_restart_without_a_packet_is_no_wrap() {
        let mut totals = CounterTotals::default();
        // Every frame exceeded the bucket.
        let dropping = [("netem", 0, 700, 0), ("tbf", 0, 700, 0), ("bfifo", 0, 0, 0)];
        totals.add(&current(&dropping));
        let anew = [("netem", 0, 703, 0), ("tbf", 0, 3, 0), ("bfifo", 0, 0, 0)];
        let stats = totals.add(&current(&anew));
        assert_eq!((stats.drops_total, stats.rate_drops_total), (703, 703));
    }

    #[test]
    fn packets_of_a_removed_discipline_are_drops_of_a_queue() {
        let mut totals = CounterTotals::default();
        totals.add(&current(&[("netem", 9, 0, 0), ("tbf", 9, 0, 0), ("pfifo", 9, 0, 0)]));
        totals.discard(7);
        // netem and the shaper count what the queue held.
        let anew = [("netem", 9, 7, 0), ("tbf", 9, 7, 0), ("bfifo", 0, 0, 0)];
        let stats = totals.add(&current(&anew));
        assert_eq!((stats.drops_total, stats.queue_drops_total), (7, 7));
        // The root goes: nothing counts them.
        totals.discard(2);
        let stats = totals.add(&current(&[]));
        assert_eq!((stats.drops_total, stats.queue_drops_total), (9, 9));
    }
}
