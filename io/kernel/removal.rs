//! Losses of a change: packets that wait, and disciplines of other programs.

use groundwave_impair::Warning;

use super::band_steps::all_steps;
use super::divergence_items::describe;
use super::query::InterfaceQdiscs;
use super::target::Target;
use super::{Counters, Handle, Qdisc, Request, Verb};

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

/// The discipline of another program in the place of one that the change to `target` makes.
pub(super) fn in_the_way<'q>(before: &'q InterfaceQdiscs, target: &Target) -> Option<&'q Qdisc> {
    let requests = all_steps(before, target).disciplines;
    before.others().find(|other| {
        let is_there = |request: &Request| request.parent == other.parent;
        requests.iter().any(|request| request.verb == Verb::Create && is_there(request))
    })
}

/// Reason why the discipline of another program is not replaced, with the ways to do so.
pub(super) fn refusal(other: &Qdisc) -> String {
    let text = describe(other);
    match other.parent {
        Handle::ROOT => format!("{text} has the root; impaird --take-over replaces it"),
        parent => format!(
            "{text} is below {parent}, an own class; `impair clear` removes both, impaird --take-over replaces it"
        ),
    }
}

/// Warning that names what goes with a discipline of another program.
pub(super) fn replaced_warning(other: &Qdisc) -> Warning {
    let Counters { packets, drops, backlog_packets, .. } = other.counters;
    let (field, place) = match other.parent {
        Handle::ROOT => ("root", "the root".to_owned()),
        parent => ("queue", format!("below {parent}")),
    };
    Warning {
        code: format!("{field}_replaced"),
        field: field.to_owned(),
        message: format!(
            "{} was {place}; lost with it are its options, all classes, disciplines and filters below it, \
             its counters ({packets} packets, {drops} dropped) and {backlog_packets} packets that waited",
            describe(other)
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
