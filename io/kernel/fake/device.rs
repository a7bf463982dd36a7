//! The disciplines of one interface, treated as by `tc_modify_qdisc` and `tc_get_qdisc`.

use std::collections::BTreeMap;

use groundwave_impair::QueueUnit;
use nix::libc::{EEXIST, EINVAL, ENOENT};

use super::super::fifo::Fifo;
use super::super::{Counters, FilterMessage, FilterRequest, Handle, Link, Qdisc, Request, Verb};
use super::Refusal;
use super::options::{self, QdiscState};

/// An interface.
#[derive(Debug)]
pub struct Device {
    pub link: Link,
    /// From the root down; each comes after its parent.
    tree: Vec<Node>,
    /// Filters by discipline, preference and handle.
    filters: BTreeMap<(Handle, u16, u32), FilterMessage>,
    /// Hook of filters beside the disciplines.
    has_hook: bool,
}

/// Kind of the hook.
const HOOK: &str = "clsact";

#[derive(Debug, Clone)]
struct Node {
    kind: String,
    handle: Handle,
    parent: Handle,
    state: QdiscState,
    counters: Counters,
}

impl Device {
    pub fn new(index: u32) -> Self {
        Self {
            link: Link {
                index,
                mtu_bytes: 1500,
                gso_bytes_max: 65_536,
                tx_queue_packets: 1000,
                ..Link::default()
            },
            tree: Vec::new(),
            filters: BTreeMap::new(),
            has_hook: false,
        }
    }

    pub fn all(&self) -> Vec<Qdisc> {
        self.tree.iter().map(Node::dumped).collect()
    }

    pub fn under(&self, parent: Handle) -> Option<Qdisc> {
        self.place(parent).map(|at| self.tree[at].dumped())
    }

    pub fn table(&self) -> Option<Vec<i16>> {
        match &self.tree.first()?.state {
            QdiscState::Netem(_, table) => table.clone(),
            _ => None,
        }
    }

    pub fn set_counters(&mut self, kind: &str, counters: Counters) {
        for node in self.tree.iter_mut().filter(|node| node.kind == kind) {
            node.counters = counters;
        }
    }

    pub fn insert_foreign(&mut self, qdisc: Qdisc) {
        if let Some(at) = self.place(qdisc.parent) {
            self.remove(at);
        }
        self.tree.push(Node {
            kind: qdisc.kind,
            handle: qdisc.handle,
            parent: qdisc.parent,
            state: QdiscState::Other(qdisc.options),
            counters: qdisc.counters,
        });
    }

    /// Position in the tree of the discipline under `parent`. All classes of a discipline of the
    /// kinds modelled here have the same child, but those of `prio`.
    fn place(&self, parent: Handle) -> Option<usize> {
        let is_prio = |node: &Node| {
            node.kind == "prio" && node.handle.major() == parent.major() && parent != Handle::ROOT
        };
        let has_classes = self.tree.iter().any(is_prio);
        let same = |at: Handle| match parent {
            Handle::ROOT => at == Handle::ROOT,
            _ if has_classes => at == parent,
            _ => at != Handle::ROOT && at.major() == parent.major(),
        };
        self.tree.iter().position(|node| same(node.parent))
    }

    pub fn change(&mut self, request: &Request, unknown_kind: bool) -> Result<(), Refusal> {
        if request.kind == HOOK {
            return self.change_hook(request);
        }
        let known = |node: &Node| node.handle == Handle::new(request.parent.major(), 0);
        if request.parent != Handle::ROOT && !self.tree.iter().any(known) {
            return Err((ENOENT, "Failed to find specified qdisc"));
        }
        let place = self.place(request.parent);
        match request.verb {
            Verb::Delete => self.delete(request, place),
            Verb::Create => self.create(request, place, unknown_kind),
            Verb::Replace => self.replace(request, place, unknown_kind),
            Verb::Change => {
                let at = place
                    .ok_or((ENOENT, "Qdisc not found. To create specify NLM_F_CREATE flag"))?;
                self.update(request, at)
            }
        }
    }

    fn delete(&mut self, request: &Request, place: Option<usize>) -> Result<(), Refusal> {
        let at = place.ok_or((ENOENT, "Cannot delete qdisc with handle of zero"))?;
        if self.tree[at].handle != request.handle {
            return Err((EINVAL, "Invalid handle"));
        }
        if self.tree[at].kind != request.kind {
            return Err((EINVAL, "Invalid qdisc name"));
        }
        self.remove(at);
        Ok(())
    }

    /// Removes a discipline with all below it, and their filters.
    fn remove(&mut self, at: usize) -> Vec<Node> {
        let mut removed = vec![self.tree.remove(at)];
        while let Some(below) = self.tree.iter().position(|node| {
            removed.iter().any(|other| {
                node.parent != Handle::ROOT && node.parent.major() == other.handle.major()
            })
        }) {
            removed.push(self.tree.remove(below));
        }
        self.filters.retain(|(parent, ..), _| !removed.iter().any(|node| node.handle == *parent));
        removed
    }

    fn change_hook(&mut self, request: &Request) -> Result<(), Refusal> {
        match (request.verb, self.has_hook) {
            (Verb::Create, true) => Err((EEXIST, "Exclusivity flag on, cannot modify")),
            (Verb::Delete, false) => {
                Err((ENOENT, "Cannot find specified qdisc on specified device"))
            }
            (verb, _) => {
                self.has_hook = verb != Verb::Delete;
                Ok(())
            }
        }
    }

    /// `tc_new_tfilter` and `tc_del_tfilter`: a filter of one preference.
    pub fn change_filter(
        &mut self,
        request: &FilterRequest,
        unknown_kind: bool,
    ) -> Result<(), Refusal> {
        let of_hook = request.parent.major() == u16::MAX && self.has_hook;
        let classful = |node: &Node| node.handle == request.parent && node.kind == "prio";
        if !of_hook && !self.tree.iter().any(classful) {
            return Err((EINVAL, "Parent Qdisc doesn't exists"));
        }
        if unknown_kind {
            return Err((ENOENT, "TC classifier not found"));
        }
        let place = (request.parent, request.preference, request.handle);
        let same = |(parent, preference, _): &(Handle, u16, u32)| {
            (*parent, *preference) == (request.parent, request.preference)
        };
        let others: Vec<_> = self.filters.iter().filter(|(at, _)| same(at)).collect();
        let Some(options) = &request.options else {
            let missing = (ENOENT, "Filter with specified priority/protocol not found");
            return self.filters.remove(&place).map(|_| ()).ok_or(missing);
        };
        if others.iter().any(|(_, other)| other.protocol != request.protocol) {
            return Err((EINVAL, "Specified filter protocol does not match existing one"));
        }
        let keys = options::flower(options)?;
        for (at, other) in others {
            let of_other = options::flower(&other.options)?;
            let kinds = |keys: &[(u16, Vec<u8>)]| keys.iter().map(|(kind, _)| *kind).collect();
            let (own, theirs): (Vec<_>, Vec<_>) = (kinds(&keys), kinds(&of_other));
            if at.2 == request.handle && own != theirs {
                return Err((EINVAL, ""));
            }
            if at.2 != request.handle && keys == of_other {
                return Err((EEXIST, ""));
            }
        }
        let message = FilterMessage {
            preference: request.preference,
            protocol: request.protocol,
            handle: request.handle,
            kind: request.kind.to_owned(),
            options: options.clone(),
        };
        self.filters.insert(place, message);
        Ok(())
    }

    pub fn filters(&self, parent: Handle) -> Vec<FilterMessage> {
        let filters = self.filters.iter().filter(|((own, ..), _)| *own == parent);
        filters.map(|(_, message)| message.clone()).collect()
    }

    fn create(
        &mut self,
        request: &Request,
        place: Option<usize>,
        unknown_kind: bool,
    ) -> Result<(), Refusal> {
        if let Some(at) = place {
            return Err(if self.tree[at].handle == request.handle {
                (EEXIST, "Exclusivity flag on, cannot modify")
            } else {
                (EEXIST, "NLM_F_REPLACE needed to override")
            });
        }
        if request.handle.minor() != 0 {
            return Err((EINVAL, "Invalid minor handle"));
        }
        if self.tree.iter().any(|node| node.handle == request.handle) {
            return Err((EEXIST, "Exclusivity flag on, cannot override"));
        }
        if unknown_kind {
            return Err((ENOENT, "Specified qdisc kind is unknown"));
        }
        let state = self.state(request, None)?;
        self.tree.push(Node {
            kind: request.kind.to_owned(),
            handle: request.handle,
            parent: request.parent,
            state,
            counters: Counters::default(),
        });
        Ok(())
    }

    fn replace(
        &mut self,
        request: &Request,
        place: Option<usize>,
        unknown_kind: bool,
    ) -> Result<(), Refusal> {
        if let Some(at) = place
            && self.tree[at].handle == request.handle
        {
            return self.update(request, at);
        }
        let before = (self.tree.clone(), self.filters.clone());
        if let Some(at) = place {
            self.remove(at);
        }
        let created = self.create(request, None, unknown_kind);
        if created.is_err() {
            (self.tree, self.filters) = before;
        }
        created
    }

    fn update(&mut self, request: &Request, at: usize) -> Result<(), Refusal> {
        if self.tree[at].handle != request.handle {
            return Err((EEXIST, "NLM_F_REPLACE needed to override"));
        }
        if self.tree[at].kind != request.kind {
            return Err((EINVAL, "Invalid qdisc name"));
        }
        let state = self.state(request, Some(&self.tree[at].state))?;
        if let QdiscState::Tbf(tbf) = &state
            && let class = Handle::new(request.handle.major(), 1)
            && let Some(below) = self.place(class)
            && let QdiscState::Fifo(child) = &mut self.tree[below].state
        {
            // A number of bytes, whatever the unit of the child.
            child.limit = tbf.limit;
        }
        self.tree[at].state = state;
        Ok(())
    }

    fn state(&self, request: &Request, before: Option<&QdiscState>) -> Result<QdiscState, Refusal> {
        let options = request.options.as_deref();
        let fifo = |unit| {
            let packets = self.link.tx_queue_packets;
            options::fifo(unit, options, packets, self.link.frame_bytes())
        };
        match (request.kind, before) {
            ("netem", Some(QdiscState::Netem(netem, table))) => {
                options::netem(options, Some((**netem, table.clone())))
            }
            ("netem", _) => options::netem(options, None),
            ("tbf", _) => options::tbf(options),
            ("prio", _) => options::prio(options),
            ("pfifo", _) => fifo(QueueUnit::Packets),
            ("bfifo", _) => fifo(QueueUnit::Bytes),
            (_, _) => Ok(QdiscState::Other(options.unwrap_or_default().to_vec())),
        }
    }
}

impl Node {
    fn dumped(&self) -> Qdisc {
        debug_assert!(!matches!(&self.state, QdiscState::Fifo(Fifo { unit, .. })
                if (*unit == QueueUnit::Bytes) != (self.kind == "bfifo")));
        Qdisc {
            kind: self.kind.clone(),
            handle: self.handle,
            parent: self.parent,
            options: self.state.dumped(),
            counters: self.counters,
            offloaded: false,
        }
    }
}
