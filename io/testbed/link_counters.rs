//! Counters of a link direction from those of its queueing disciplines, each of which may be made anew.

use groundwave_kernel::counters::{grown, is_new};
use groundwave_kernel::{Counters, Handle, Qdisc};
use groundwave_simulation::testbed::{Counted, LinkDirection, Tally};

use super::veth_qdiscs::QdiscLayout;

/// Counters of one direction since its disciplines were created first.
#[derive(Debug, Clone, Default)]
pub struct LinkCounters {
    /// Last reading: unicast, shaper, broadcast.
    last: [Option<Counters>; 3],
    unicast: Tally,
    broadcast: Tally,
}

impl LinkCounters {
    /// Adds the increments since the last reading of all disciplines of the interface, and returns the
    /// sums.
    pub fn add(&mut self, side: LinkDirection, qdiscs: &[Qdisc], layout: &QdiscLayout) -> Counted {
        let of = |handle: Handle| {
            let found = qdiscs.iter().find(|qdisc| qdisc.handle == handle);
            found.map(|qdisc| qdisc.counters)
        };
        let now = [of(layout.unicast), of(layout.shaper), of(layout.broadcast)];
        let growth = [0, 1, 2].map(|at| Growth::of(self.last[at], now[at]));
        let [unicast, shaper, broadcast] = &growth;
        let passing = if now[0].is_some() { unicast } else { shaper };
        self.unicast.passed_total += passing.packets;
        self.unicast.bytes_total += passing.bytes;
        // A parent's drops include those below it.
        self.unicast.lost_total += unicast.drops.saturating_sub(shaper.drops);
        self.unicast.overflowed_total += shaper.drops;
        self.broadcast.passed_total += broadcast.packets;
        self.broadcast.bytes_total += broadcast.bytes;
        self.broadcast.lost_total += broadcast.drops;
        self.last = now;
        Counted { side, unicast: self.unicast, broadcast: self.broadcast }
    }
}

/// Growth of the counters of one discipline.
struct Growth {
    packets: u64,
    bytes: u64,
    drops: u64,
}

impl Growth {
    fn of(before: Option<Counters>, now: Option<Counters>) -> Self {
        let now = now.unwrap_or_default();
        let before = before.filter(|before| !is_new(before, &now)).unwrap_or_default();
        Self {
            packets: now.packets - before.packets,
            bytes: now.bytes - before.bytes,
            drops: grown(now.drops, before.drops),
        }
    }
}

#[cfg(test)]
mod tests {
    use groundwave_simulation::site::NodeId;

    use super::*;

    #[test]
    fn a_shaper_made_anew_under_its_netem_does_not_count_its_drops_as_loss() {
        let layout = QdiscLayout::VETH;
        let side = LinkDirection { from: NodeId::named("a"), to: NodeId::named("b") };
        let qdisc = |handle, packets, drops| Qdisc {
            handle,
            counters: Counters { packets, bytes: packets * 100, drops, ..Counters::default() },
            ..Qdisc::default()
        };
        let mut counters = LinkCounters::default();
        let of = |unicast: (u64, u32), shaper: (u64, u32)| {
            [qdisc(layout.unicast, unicast.0, unicast.1), qdisc(layout.shaper, shaper.0, shaper.1)]
        };
        let seen = counters.add(side, &of((100, 30), (100, 20)), &layout).unicast;
        assert_eq!((seen.lost_total, seen.overflowed_total), (10, 20));
        let seen = counters.add(side, &of((110, 33), (5, 2)), &layout).unicast;
        assert_eq!((seen.lost_total, seen.overflowed_total), (11, 22));
        let seen = counters.add(side, &of((4, 1), (4, 0)), &layout).unicast;
        assert_eq!((seen.passed_total, seen.lost_total), (114, 12));
        assert_eq!(seen.bytes_total, 11_400);
    }
}
