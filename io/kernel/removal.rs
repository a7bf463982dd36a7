//! Losses of a change: packets that wait, and the root of another program.

use groundwave_impair::Warning;

use super::band_steps::all_steps;
use super::divergence_items::describe;
use super::query::InterfaceQdiscs;
use super::target::Target;
use super::{Counters, Handle, Qdisc, Verb};

/// Packets waiting in the queue, if the change to `target` makes it anew or removes it.
pub(super) fn discarded(before: &InterfaceQdiscs, target: &Target) -> u64 {
    let requests = all_steps(before, target).disciplines;
    let is_removed = |qdisc: &&Qdisc| {
        requests.iter().any(|request| match request.verb {
            Verb::Delete => request.handle == qdisc.handle || request.parent == Handle::ROOT,
            Verb::Replace => [qdisc.parent, Handle::ROOT].contains(&request.parent),
            Verb::Create | Verb::Change => false,
        })
    };
    // A discipline counts the packets below it as well.
    let waiting = before.places().map(|ours| {
        let first = ours.iter().find(is_removed);
        first.map_or(0, |qdisc| u64::from(qdisc.counters.backlog_packets))
    });
    waiting.sum()
}

/// Warning that names what goes with the root of another program.
pub(super) fn replaced_warning(root: &Qdisc) -> Warning {
    let Counters { packets, drops, backlog_packets, .. } = root.counters;
    Warning {
        code: "root_replaced".to_owned(),
        field: "root".to_owned(),
        message: format!(
            "{} was the root; lost with it are its options, all classes, disciplines and filters below it, \
             its counters ({packets} packets, {drops} dropped) and {backlog_packets} packets that waited",
            describe(root)
        ),
    }
}

/// Warning about packets that went with a removed discipline.
pub(super) fn discarded_warning(packets: u64) -> Warning {
    Warning {
        code: "packets_discarded".to_owned(),
        field: "queue".to_owned(),
        message: format!(
            "{packets} packets that waited in a discipline which this change removed were dropped; \
             they are counted in queue_drops_total"
        ),
    }
}
