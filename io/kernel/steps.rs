//! The requests that change one stack into another.
//!
//! Remaining disciplines are changed in place, without loss of packets. Obsolete ones are deleted
//! by handle and kind, so that those of other programs are safe. New ones are created only where
//! there is none; a queue of another unit replaces the own one that was read there.

use groundwave_impair::{Distribution, equal};

use super::qdisc_params::qdisc_params;
use super::stack::{Layout, Stack};
use super::table;
use super::target::Target;
use super::tbf;
use super::{Handle, Request, Verb};

/// The requests for interface `index` that change the stack `from` into that of `to`, at the same place,
/// in order.
#[must_use]
pub fn steps(index: u32, from: &Stack, to: &Target) -> Vec<Request> {
    let goal = &to.stack;
    let mut steps = Steps { index, layout: goal.layout, requests: Vec::new() };
    let root = from.root() == goal.root() && from.root().is_some();
    let mut now = from.clone();
    if let (false, Some((handle, kind))) = (root, from.root()) {
        steps.delete(handle, goal.layout.parent, kind);
        now = Stack::at(goal.layout);
    }
    steps.netem(&now, goal);
    now.netem = goal.netem;
    let shaper = steps.tbf(&mut now, to);
    now.tbf = goal.tbf;
    steps.leaf(&now, goal, shaper);
    steps.requests
}

impl Stack {
    /// Handle and kind of the first discipline.
    pub fn root(&self) -> Option<(Handle, &'static str)> {
        let netem = self.netem.map(|_| (self.layout.netem(), "netem"));
        let tbf = || self.tbf.map(|_| (self.layout.tbf(), "tbf"));
        netem.or_else(tbf).or_else(|| self.leaf.map(|leaf| (self.leaf_handle(), leaf.kind())))
    }
}

struct Steps {
    index: u32,
    layout: Layout,
    requests: Vec<Request>,
}

impl Steps {
    fn push(&mut self, verb: Verb, handle: Handle, parent: Handle, kind: &'static str) {
        self.requests.push(Request {
            verb,
            index: self.index,
            handle,
            parent,
            kind,
            options: None,
        });
    }

    fn delete(&mut self, handle: Handle, parent: Handle, kind: &'static str) {
        self.push(Verb::Delete, handle, parent, kind);
    }

    fn set(
        &mut self,
        exists: bool,
        handle: Handle,
        parent: Handle,
        kind: &'static str,
        options: Vec<u8>,
    ) {
        let verb = if exists { Verb::Change } else { Verb::Create };
        self.push(verb, handle, parent, kind);
        self.requests.last_mut().expect("just pushed").options = Some(options);
    }

    fn netem(&mut self, now: &Stack, goal: &Stack) {
        let Some(netem) = &goal.netem else {
            return;
        };
        let exists = now.netem.is_some();
        // Without jitter the distribution has no effect; with jitter the current one is unknown.
        if netem.jitter_ns == 0 && now.netem.as_ref() == Some(netem) {
            return;
        }
        let uniform = || table::table(&Distribution::Uniform {}, "".as_ref()).ok();
        let table = match &goal.table {
            None if exists && netem.jitter_ns != 0 => uniform(),
            table => table.clone(),
        };
        let options = netem.payload(table.as_deref());
        self.set(exists, self.layout.netem(), self.layout.parent, "netem", options);
    }

    /// Creates, changes or deletes the shaper; returns a change of the queue under it.
    fn tbf(&mut self, now: &mut Stack, to: &Target) -> bool {
        let parent = to.stack.under_netem();
        match (&now.tbf, &to.stack.tbf) {
            (None, None) => false,
            (Some(_), None) => {
                self.delete(self.layout.tbf(), parent, "tbf");
                now.leaf = None;
                true
            }
            (None, Some(tbf)) => {
                if let Some(leaf) = now.leaf.take() {
                    self.delete(now.leaf_handle(), parent, leaf.kind());
                }
                self.set(false, self.layout.tbf(), parent, "tbf", tbf.payload(to.burst));
                true
            }
            (Some(before), Some(tbf)) => {
                if equivalent(before, tbf) {
                    return false;
                }
                self.set(true, self.layout.tbf(), parent, "tbf", tbf.payload(to.burst));
                true
            }
        }
    }

    fn leaf(&mut self, now: &Stack, goal: &Stack, touched: bool) {
        let parent = goal.under_tbf();
        let handle = now.leaf_handle();
        match (&now.leaf, &goal.leaf) {
            (None, None) => {}
            (Some(before), None) => self.delete(handle, parent, before.kind()),
            (None, Some(leaf)) => {
                self.set(false, self.layout.leaf(false), parent, leaf.kind(), leaf.payload());
            }
            (Some(before), Some(leaf)) if before.unit != leaf.unit => {
                // In one step: without a queue the shaper drops every packet.
                let other = self.layout.leaf(!now.second_leaf);
                self.push(Verb::Replace, other, parent, leaf.kind());
                self.requests.last_mut().expect("just pushed").options = Some(leaf.payload());
            }
            (Some(before), Some(leaf)) => {
                if touched || before != leaf {
                    self.set(true, handle, parent, leaf.kind(), leaf.payload());
                }
            }
        }
    }
}

/// Equality of shapers up to rounding. A change would fill the bucket.
fn equivalent(before: &tbf::Tbf, goal: &tbf::Tbf) -> bool {
    let alone = |tbf: &tbf::Tbf| Stack { tbf: Some(*tbf), ..Stack::default() };
    let goal = alone(goal);
    equal(&qdisc_params(&goal, None), &qdisc_params(&alone(before), Some(&goal)))
}
