//! From the mesh to the desired testbed: namespaces, shapes of veth pairs, routes. Each system computes
//! for what changed, and emits what it changed.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Index, Outbox, parallel};

use super::components::{
    NamespaceAssignment, Namespaces, NextHops, ObservedProgram, ObservedRoutes, Reports, Setup,
    Side, VethPair, VethPairs,
};
use super::hops::next_hops;
use super::manual::{ManualChanges, ManualShapes};
use super::nodes::{LastNumbers, MACHINE_NAMES};
use super::observed::LinkDirection;
use super::settings::{MediumAccess, Protocol, SEATS_MAX};
use super::shape::{Shape, shape};
use super::work::Work;
use crate::flow::MeshGraph;
use crate::link::{
    AdminDown, Endpoints, Limits, LinkFrom, LinkKey, LinkTo, Links, LinksIn, LinksOut, OutOfRange,
    Predicted, PredictedChanges,
};
use crate::site::{InDeployment, Label, NodeKind, OperState, StationConfig};

/// Assigns a namespace to each simulated node that has none, in id order.
pub(super) fn assign_namespaces(
    setup: Res<Setup>,
    added: Query<(), (Added<Label>, Without<InDeployment>)>,
    index: Res<Index<NodeKind>>,
    nodes: Query<&Label, Without<InDeployment>>,
    assigned: Query<&NamespaceAssignment>,
    mut namespaces: ResMut<Namespaces>,
    mut last: ResMut<LastNumbers>,
    mut out: ResMut<Outbox<Work>>,
    mut commands: Commands,
) {
    let Some(settings) = &setup.settings else {
        return;
    };
    if added.is_empty() && !setup.is_changed() {
        return;
    }
    let assigned = assigned.iter().map(|assignment| assignment.name.to_ascii_lowercase());
    let mut names: BTreeSet<String> = assigned.chain(MACHINE_NAMES.map(str::to_owned)).collect();
    let mut add = Vec::new();
    for (node, entity) in index.iter() {
        let count = last.node as usize + add.len();
        let Ok(label) = nodes.get(entity) else {
            continue;
        };
        if count >= SEATS_MAX || namespaces.0.contains_key(&node) {
            continue;
        }
        let number = u32::try_from(count).expect("bounded") + 1;
        let preferred = settings.names.get(&node).unwrap_or(&label.name);
        let name = free_name(&names, preferred, number);
        names.insert(name.to_ascii_lowercase());
        add.push((node, NamespaceAssignment { number, name }));
    }
    for (node, assignment) in add {
        let observed = (ObservedRoutes::default(), ObservedProgram::default());
        let parts = (assignment.clone(), NextHops::default(), observed);
        last.node = assignment.number;
        namespaces.0.insert(node, commands.spawn(parts).id());
        let settings = settings.clone();
        out.emit(Work::NamespaceAssignment { node, assignment, settings });
    }
}

/// `preferred` without characters that names of interfaces and files cannot have; with its number where
/// that name is taken or empty, more than once where another node is called so. Host names have no case: `names`
/// are in lower case.
fn free_name(names: &BTreeSet<String>, preferred: &str, number: u32) -> String {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let name: String = preferred.chars().filter(allowed).collect();
    let mut name = name.trim_start_matches('.').to_owned();
    while names.contains(&name.to_ascii_lowercase()) || name.is_empty() {
        name = format!("{name}-{number}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_is_taken_with_its_number_gets_another() {
        let mut names = BTreeSet::new();
        let labels = ["mast-3", "mast", "mäst", "Ä", "..", "mast"];
        for (label, number) in labels.into_iter().zip(1..) {
            assert!(names.insert(free_name(&names, label, number)), "{label} {number}: {names:?}");
        }
        let expected = ["-4", "-5", "mast", "mast-3", "mast-6", "mst"];
        assert_eq!(names.iter().collect::<Vec<_>>(), expected);
        let in_use = BTreeSet::from(["mast".to_owned(), "mast-3".to_owned()]);
        assert_eq!(free_name(&in_use, "mast", 3), "mast-3-3");
        assert_eq!(free_name(&in_use, "Mast", 4), "Mast-4", "of one host name");
    }
}

type Switched = Or<(Changed<OperState>, Changed<StationConfig>)>;
type Budget = (&'static Predicted, &'static LinkFrom, &'static LinkTo, Has<AdminDown>);

/// Inputs of the shapes, and which of them changed.
#[derive(SystemParam)]
pub(super) struct Mesh<'w, 's> {
    links: Res<'w, Links>,
    limits: Res<'w, Limits>,
    out_of_range: Res<'w, OutOfRange>,
    budgets: Query<'w, 's, Budget>,
    nodes: Query<'w, 's, (&'static OperState, &'static StationConfig), Without<InDeployment>>,
    endpoints: Query<'w, 's, &'static Endpoints>,
    changed: PredictedChanges<'w, 's>,
    taken_down: Query<'w, 's, &'static Endpoints, Added<AdminDown>>,
    restored: RemovedComponents<'w, 's, AdminDown>,
    switched: Query<'w, 's, (Option<&'static LinksOut>, Option<&'static LinksIn>), Switched>,
}

/// Updates the shapes of links that changed, in key order, and cuts those that went out of range.
pub(super) fn shape_links(
    setup: Res<Setup>,
    mut mesh: Mesh,
    mut pairs: ResMut<VethPairs>,
    mut wires: Query<(&mut VethPair, &ManualShapes)>,
    mut set_by_hand: ResMut<ManualChanges>,
    mut last: ResMut<LastNumbers>,
    mut out: ResMut<Outbox<Work>>,
    mut commands: Commands,
) {
    let restored: Vec<Entity> = mesh.restored.read().collect();
    let Some(settings) = &setup.settings else {
        return;
    };
    let mut touched = mesh.touched(setup.is_changed(), &restored);
    touched.extend(&set_by_hand.0);
    for key in touched {
        let Some(shapes) = mesh.shapes(key, &settings.mac) else {
            continue;
        };
        if let Some(pair) = pairs.0.get(&key) {
            let (wire, manual) = wires.get_mut(*pair).expect("an indexed veth pair");
            let shapes = [0, 1].map(|side| manual.0[side].over(shapes[side]));
            // What somebody asks for is in force to the last digit.
            let moved = |side: usize| {
                let before = wire.sides[side].shape;
                shapes[side].moved_from(&before)
                    || (set_by_hand.0.contains(&key) && shapes[side] != before)
            };
            update(key, [0, 1].map(moved), wire, shapes, &mut out);
        } else if shapes.iter().any(|shape| shape.up) {
            let number = last.pair + 1;
            last.pair = number;
            let sides = shapes.map(|shape| Side { generation: 1, shape });
            let wire = VethPair { number, sides };
            emit(key, &wire, [true; 2], &mut out);
            pairs.0.insert(
                key,
                commands.spawn((wire, Reports::default(), ManualShapes::default())).id(),
            );
        }
    }
    if !set_by_hand.0.is_empty() {
        set_by_hand.0.clear();
    }
    let departed: BTreeSet<LinkKey> = mesh.out_of_range.0.iter().copied().collect();
    for key in departed.into_iter().filter(|key| !mesh.in_range(*key)) {
        if let Some(pair) = pairs.0.get(&key) {
            let (wire, _) = wires.get_mut(*pair).expect("an indexed veth pair");
            let shapes = wire.sides.map(|side| side.shape.cut());
            let moved = [0, 1].map(|side| shapes[side].moved_from(&wire.sides[side].shape));
            update(key, moved, wire, shapes, &mut out);
        }
    }
}

/// Takes over those of `shapes` that moved.
fn update(
    key: LinkKey,
    moved: [bool; 2],
    mut wire: Mut<VethPair>,
    shapes: [Shape; 2],
    out: &mut Outbox<Work>,
) {
    let mut now = *wire;
    for side in [0, 1].into_iter().filter(|side| moved[*side]) {
        now.sides[side] = Side { generation: wire.sides[side].generation + 1, shape: shapes[side] };
    }
    emit(key, &now, moved, out);
    wire.set_if_neq(now);
}

fn emit(key: LinkKey, wire: &VethPair, moved: [bool; 2], out: &mut Outbox<Work>) {
    let sides = LinkDirection::both(key).into_iter().zip(wire.sides).zip(moved);
    for ((LinkDirection { from, to }, side), _) in sides.filter(|(_, moved)| *moved) {
        let number = wire.number;
        out.emit(Work::Shape { from, to, number, side });
    }
}

impl Mesh<'_, '_> {
    /// The links whose shapes may have changed.
    fn touched(&self, all: bool, restored: &[Entity]) -> BTreeSet<LinkKey> {
        if all || self.limits.is_changed() {
            return self.links.iter().map(|(key, _)| key).collect();
        }
        let of_switched = self.switched.iter().flat_map(|(out, into)| {
            let out = out.map(|links| links.iter()).into_iter().flatten();
            out.chain(into.map(|links| links.iter()).into_iter().flatten())
        });
        let restored = of_switched
            .chain(restored.iter().copied())
            .filter_map(|link| self.endpoints.get(link).ok());
        let changed = self.changed.iter().map(|(_, endpoints)| endpoints);
        let down = self.taken_down.iter().copied();
        let touched = changed.chain(down).chain(restored.copied());
        touched.map(|endpoints| endpoints.0).collect()
    }

    fn in_range(&self, key: LinkKey) -> bool {
        let link = self.links.get(key);
        link.is_some_and(|link| self.budgets.contains(link))
    }

    /// The shapes of both directions of a link; `None` out of range.
    fn shapes(&self, key: LinkKey, mac: &MediumAccess) -> Option<[Shape; 2]> {
        let (Predicted(budget), from, to, down) = self.budgets.get(self.links.get(key)?).ok()?;
        let (a_runs, a) = self.nodes.get(from.0).ok()?;
        let (b_runs, b) = self.nodes.get(to.0).ok()?;
        let bytes = self.limits.packet_bytes;
        let distance_m = budget.distance_m;
        let shapes = [
            shape(&budget.forward, distance_m, &a.0.radio, bytes, mac),
            shape(&budget.backward, distance_m, &b.0.radio, bytes, mac),
        ];
        let open = a_runs.0 && b_runs.0 && !down;
        Some(if open { shapes } else { shapes.map(Shape::cut) })
    }
}

/// Updates the routes of the namespaces that follow the world's, where the mesh changed around them.
pub(super) fn route_namespaces(
    setup: Res<Setup>,
    mesh: Res<MeshGraph>,
    limits: Res<Limits>,
    namespaces: Res<Namespaces>,
    mut tables: Query<&mut NextHops>,
    mut out: ResMut<Outbox<Work>>,
) {
    let Some(settings) = &setup.settings else {
        return;
    };
    if !mesh.is_stale() && !namespaces.is_changed() {
        return;
    }
    let follows = namespaces.0.iter().filter(|(node, namespace)| {
        let new = tables.get(**namespace).is_ok_and(|table| table.0.is_none());
        settings.protocol(**node) == Protocol::Static && (new || mesh.is_stale_at(**node))
    });
    let mut work: Vec<_> =
        follows.map(|(node, namespace)| (*node, *namespace, BTreeMap::new())).collect();
    parallel::for_each(&mut work, 1, |(node, _, hops)| {
        *hops = next_hops(mesh.graph(), limits.metric, *node);
    });
    for (node, namespace, next_hops) in work {
        let mut table = tables.get_mut(namespace).expect("an indexed namespace");
        if table.set_if_neq(NextHops(Some(next_hops.clone()))) {
            out.emit(Work::Routes { node, next_hops });
        }
    }
}
