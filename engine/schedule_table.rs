//! The schedule as a table: the stages of a tick, and the data that each system reads and writes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use bevy_ecs::component::ComponentId;
use bevy_ecs::prelude::*;
use bevy_ecs::query::ComponentAccessKind;
use bevy_ecs::schedule::{NodeId, SystemKey};
use bevy_ecs::system::{System, SystemAccess};

/// A Markdown table of the systems of a schedule that was built for `world`, by phase and stage. Systems of
/// one stage run side by side: neither is ordered before the other, and neither writes what the other
/// accesses.
pub(crate) fn schedule_table(schedule: &Schedule, world: &World) -> String {
    let systems = schedule.systems_with_access();
    let systems: Vec<_> = systems.expect("the schedule was built").collect();
    let before = orders(schedule);
    let phases = phases(schedule);
    let mut stages: Vec<usize> = Vec::with_capacity(systems.len());
    for (at, (key, system)) in systems.iter().enumerate() {
        let earlier = systems[..at].iter().zip(&stages).filter(|((other, one), _)| {
            let ordered = before.get(other).is_some_and(|after| after.contains(key));
            ordered || !one.access().is_compatible(system.access())
        });
        stages.push(earlier.map(|(_, stage)| stage + 1).max().unwrap_or(1));
    }
    let rows = systems.iter().zip(stages).map(|((key, system), stage)| {
        let (reads, writes) = accesses(system.access(), world);
        let phase = phases.get(key).cloned().unwrap_or_default();
        (stage, phase, short(&system.name().to_string()), reads, writes)
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort();
    let mut table =
        "| stage | phase | system | reads | writes |\n|---|---|---|---|---|\n".to_owned();
    for (stage, phase, system, reads, writes) in rows {
        let (reads, writes) = (reads.join(", "), writes.join(", "));
        // Writing to a string does not fail.
        let _ = writeln!(table, "| {stage} | {phase} | {system} | {reads} | {writes} |");
    }
    table
}

/// The systems in a node of the graph: itself, or all in the set.
fn systems_in(node: NodeId, children: &BTreeMap<NodeId, Vec<NodeId>>) -> Vec<SystemKey> {
    match node {
        NodeId::System(key) => vec![key],
        NodeId::Set(_) => {
            let inside = children.get(&node).into_iter().flatten();
            inside.flat_map(|child| systems_in(*child, children)).collect()
        }
    }
}

fn children(schedule: &Schedule) -> BTreeMap<NodeId, Vec<NodeId>> {
    let mut children: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for (set, child) in schedule.graph().hierarchy().graph().all_edges() {
        children.entry(set).or_default().push(child);
    }
    children
}

/// The systems that are declared to run after each system.
fn orders(schedule: &Schedule) -> BTreeMap<SystemKey, Vec<SystemKey>> {
    let children = children(schedule);
    let mut after: BTreeMap<SystemKey, Vec<SystemKey>> = BTreeMap::new();
    for (first, then) in schedule.graph().dependency().graph().all_edges() {
        let then = systems_in(then, &children);
        for key in systems_in(first, &children) {
            after.entry(key).or_default().extend(&then);
        }
    }
    after
}

/// The phase of each system.
fn phases(schedule: &Schedule) -> BTreeMap<SystemKey, String> {
    let children = children(schedule);
    let mut phases = BTreeMap::new();
    for node in children.keys() {
        let set = node.as_set().and_then(|key| schedule.graph().system_sets.get(key));
        let Some(phase) = set.filter(|set| !set.is_anonymous() && set.system_type().is_none())
        else {
            continue;
        };
        for system in systems_in(*node, &children) {
            phases.insert(system, format!("{phase:?}"));
        }
    }
    phases
}

/// The names of the data that a system reads, and of the data that it writes.
fn accesses(access: &SystemAccess, world: &World) -> (Vec<String>, Vec<String>) {
    let everything = || (vec!["everything".to_owned()], vec!["everything".to_owned()]);
    let set = match access {
        SystemAccess::None => return (Vec::new(), Vec::new()),
        SystemAccess::Shared(set) => set.combined_access().try_iter_access(),
        SystemAccess::Exclusive => return everything(),
    };
    let Ok(accesses) = set else {
        return everything();
    };
    let name = |id: ComponentId| {
        let name = world.components().get_name(id);
        name.map(|name| short(&name.to_string())).unwrap_or_default()
    };
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    for one in accesses {
        match one {
            ComponentAccessKind::Exclusive(id) => writes.push(name(id)),
            ComponentAccessKind::Shared(id) => reads.push(name(id)),
            ComponentAccessKind::Archetypal(_) => {}
        }
    }
    reads.sort();
    writes.sort();
    (reads, writes)
}

/// A type's or function's path without its modules.
fn short(path: &str) -> String {
    let (mut out, mut segment) = (String::new(), 0);
    for symbol in path.chars() {
        if symbol == ':' {
            out.truncate(segment);
        } else {
            out.push(symbol);
            if !symbol.is_alphanumeric() && symbol != '_' {
                segment = out.len();
            }
        }
    }
    out
}
