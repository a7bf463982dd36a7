//! Parts of a recording that list the nodes of each step.

use std::collections::BTreeSet;

/// Time, s, and nodes of a step.
pub(super) type Step = (f64, BTreeSet<u32>);

/// First and last step of a document that lists the nodes of each step.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) first: Step,
    pub(super) last: Step,
}

impl Part {
    /// The part with its numbers of nodes as others, and `shift_s` later.
    pub(super) fn shifted(self, shift_s: f64, number: impl Fn(u32) -> Option<u32>) -> Self {
        let step =
            |(at_s, nodes): Step| (at_s + shift_s, nodes.into_iter().filter_map(&number).collect());
        Self { first: step(self.first), last: step(self.last) }
    }
}
