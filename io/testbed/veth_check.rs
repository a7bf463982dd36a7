//! Queueing disciplines of a link direction as found in the kernel, compared with the desired ones.

use groundwave_kernel::{Handle, Qdisc, Request, Verb};
use groundwave_simulation::testbed::{Means, Shape};

use super::veth_qdiscs::{
    QdiscLayout, ROOT_QDISC, VethQdiscs, child, comparable, equivalent, two_bands,
};

/// Text of a direction whose loss and delay the kernel cannot emulate.
pub const RATE_ONLY: &str = "rate only: the kernel has no netem, loss and delay are not emulated";

/// The part of `shape` that a kernel with `means` does not emulate, in words.
#[must_use]
pub fn not_emulated(shape: &Shape, means: Means) -> Option<String> {
    let needs_netem = shape.up
        && (shape.loss_prob > 0.0
            || shape.broadcast_loss_prob > 0.0
            || shape.delay_ns > 0
            || shape.jitter_ns > 0);
    (means == Means::Rate && needs_netem).then(|| RATE_ONLY.to_owned())
}

impl VethQdiscs {
    /// Differences of `self`, as read, from `goal` at `layout`, in words; `None` without any.
    #[must_use]
    pub fn difference(&self, goal: &Self, layout: &QdiscLayout) -> Option<String> {
        let mut parts = Vec::new();
        let mut part = |name: &str, handle: Handle, there: bool, equal: bool| {
            if !equal {
                let what = if there { "differs" } else { "is missing" };
                parts.push(format!("{name} {handle} {what}"));
            }
        };
        if layout.exclusive && goal.bands {
            part("prio", ROOT_QDISC, false, self.bands);
        }
        let lines = [
            (self.broadcast, goal.broadcast, layout.broadcast),
            (self.unicast, goal.unicast, layout.unicast),
        ];
        for (found, goal, handle) in lines {
            if let Some(goal) = goal {
                let equal = found.map(comparable) == Some(comparable(goal));
                part("netem", handle, found.is_some(), equal);
            }
        }
        if let Some(goal) = goal.shaper {
            let equal = self.shaper.is_some_and(|found| equivalent(&found, &goal));
            part("tbf", layout.shaper, self.shaper.is_some(), equal);
        }
        if let Some(goal) = goal.queue {
            let equal = self.queue == Some(goal);
            part(goal.kind(), layout.queue, self.queue.is_some(), equal);
        }
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

/// Requests that delete disciplines of other programs, among all of interface `index`, in the places
/// of those at `layout`. Each names handle and kind, which the kernel checks in the same step.
#[must_use]
pub fn obstacles(
    qdiscs: &[Qdisc],
    layout: &QdiscLayout,
    means: Means,
    index: u32,
) -> Vec<(String, Request)> {
    let mut places: Vec<(Handle, Handle, &[&str])> = Vec::new();
    if layout.exclusive && means == Means::Full {
        places.push((Handle::ROOT, ROOT_QDISC, &["prio"]));
    }
    let shaper_parent = match means {
        Means::Full => {
            places.push((layout.bands[0], layout.broadcast, &["netem"]));
            places.push((layout.bands[1], layout.unicast, &["netem"]));
            child(layout.unicast)
        }
        Means::Rate => layout.shaper_parent,
    };
    places.push((shaper_parent, layout.shaper, &["tbf"]));
    places.push((child(layout.shaper), layout.queue, &["bfifo"]));
    let mut found = Vec::new();
    for (parent, handle, kinds) in places {
        let Some(there) = qdiscs.iter().find(|qdisc| qdisc.parent == parent) else {
            continue;
        };
        let bands = there.kind != "prio" || there.options.starts_with(&two_bands());
        if there.handle == handle && kinds.contains(&there.kind.as_str()) && bands {
            continue;
        }
        let Some(kind) = kind(&there.kind) else {
            continue;
        };
        let request = Request {
            verb: Verb::Delete,
            index,
            handle: there.handle,
            parent,
            kind,
            options: None,
        };
        found.push((format!("{} {} of another program", there.kind, there.handle), request));
        // The rest is below it and goes with it.
        if parent == Handle::ROOT {
            break;
        }
    }
    found
}

/// Kinds of disciplines that another program may have put in the place of an own one.
pub(crate) fn kind(name: &str) -> Option<&'static str> {
    const KINDS: [&str; 36] = [
        "atm",
        "bfifo",
        "blackhole",
        "cake",
        "cbq",
        "cbs",
        "choke",
        "codel",
        "drr",
        "dsmark",
        "dualpi2",
        "etf",
        "ets",
        "fq",
        "fq_codel",
        "fq_pie",
        "gred",
        "hfsc",
        "hhf",
        "htb",
        "mq",
        "multiq",
        "netem",
        "noqueue",
        "pfifo",
        "pfifo_fast",
        "pfifo_head_drop",
        "pie",
        "plug",
        "prio",
        "qfq",
        "red",
        "sfb",
        "sfq",
        "skbprio",
        "tbf",
    ];
    KINDS.into_iter().find(|known| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape() -> Shape {
        Shape { delay_ns: 2_000_000, ..Shape::DOWN }
    }

    #[test]
    fn differences_name_what_is_missing_and_what_differs() {
        let goal = VethQdiscs::of(&shape(), Means::Full);
        let layout = QdiscLayout::VETH;
        assert_eq!(goal.difference(&goal, &layout), None);
        let mut found = goal;
        found.broadcast = None;
        found.unicast.as_mut().unwrap().loss.prob = 1;
        assert_eq!(
            found.difference(&goal, &layout).as_deref(),
            Some("netem 11: is missing, netem 12: differs")
        );
        let nothing = VethQdiscs::default().difference(&goal, &layout).unwrap();
        assert!(nothing.starts_with("prio 1: is missing"), "{nothing}");
    }

    #[test]
    fn option_that_no_link_has_differs_and_is_changed_back() {
        let goal = VethQdiscs::of(&shape(), Means::Full);
        let layout = QdiscLayout::VETH;
        type Change = fn(&mut VethQdiscs);
        let cases: [(Change, &str); 5] = [
            (|qdiscs| qdiscs.unicast.as_mut().unwrap().unsupported.rate = 1250, "netem 12:"),
            (|qdiscs| qdiscs.unicast.as_mut().unwrap().unsupported.ecn = true, "netem 12:"),
            (|qdiscs| qdiscs.broadcast.as_mut().unwrap().unsupported.slots = true, "netem 11:"),
            (|qdiscs| qdiscs.unicast.as_mut().unwrap().unsupported.four_states = true, "netem 12:"),
            (|qdiscs| qdiscs.shaper.as_mut().unwrap().peak_rate = 1250, "tbf 22:"),
        ];
        for (change, name) in cases {
            let mut qdiscs = goal;
            change(&mut qdiscs);
            assert_eq!(qdiscs.difference(&goal, &layout), Some(format!("{name} differs")));
            let steps = qdiscs.steps(&goal, &layout, 7, shape().burst_bytes());
            let first =
                steps.first().map(|step| (step.verb, format!("{} {}", step.kind, step.handle)));
            assert_eq!(first, Some((Verb::Change, name.to_owned())));
        }
    }

    #[test]
    fn disciplines_of_others_in_our_places_are_deleted_by_handle_and_kind() {
        let foreign = |kind: &str, handle, parent| Qdisc {
            kind: kind.to_owned(),
            handle,
            parent,
            ..Qdisc::default()
        };
        let root = foreign("pfifo", Handle::new(7, 0), Handle::ROOT);
        let below = foreign("sfq", Handle::new(8, 0), Handle::new(7, 1));
        let found = obstacles(&[root, below], &QdiscLayout::VETH, Means::Full, 9);
        let [(text, request)] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(text, "pfifo 7: of another program");
        assert_eq!(
            (request.verb, request.handle, request.parent, request.kind),
            (Verb::Delete, Handle::new(7, 0), Handle::ROOT, "pfifo")
        );
        let mut own = foreign("prio", ROOT_QDISC, Handle::ROOT);
        own.options = two_bands();
        let band = foreign("fq", Handle::new(9, 0), Handle::new(1, 1));
        let found = obstacles(&[own, band], &QdiscLayout::VETH, Means::Full, 9);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].1.kind, "fq");
    }

    #[test]
    fn discipline_of_any_kind_in_our_place_is_deleted() {
        for kind in ["ets", "qfq", "hhf", "plug", "multiq", "sfb", "skbprio", "dualpi2"] {
            let root = Qdisc {
                kind: kind.to_owned(),
                handle: Handle::new(7, 0),
                parent: Handle::ROOT,
                ..Qdisc::default()
            };
            let deletions = obstacles(&[root], &QdiscLayout::VETH, Means::Full, 9);
            assert_eq!(deletions.len(), 1, "{kind}");
            assert_eq!(deletions[0].1.kind, kind);
        }
    }

    #[test]
    fn without_netem_a_link_says_that_it_has_the_rate_only() {
        let open = Shape { up: true, ..shape() };
        assert_eq!(not_emulated(&open, Means::Full), None);
        assert_eq!(not_emulated(&open, Means::Rate).as_deref(), Some(RATE_ONLY));
        assert_eq!(not_emulated(&open.cut(), Means::Rate), None, "down is down");
    }
}
