//! From links to wishes.

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Index, Outbox};

use super::desired::{Desired, Seat, Side, Wire, Work};
use super::hops::{NextHops, next_hops};
use super::settings::{Mac, Protocol, SEATS_MAX};
use super::shape::{Shape, shape};
use crate::deployment::InDeployment;
use crate::link::{Limits, LinkFrom, LinkKey, LinkTo, Links, Predicted, Severed};
use crate::route::GraphBuilder;
use crate::site::{Label, NodeId, NodeKind, OperState, StationConfig};

type Changes = Or<(
    Changed<Predicted>,
    Changed<OperState>,
    Changed<StationConfig>,
    Changed<Label>,
)>;
type Node = (&'static Label, &'static OperState, &'static StationConfig);

/// What wishes follow from.
#[derive(SystemParam)]
pub(super) struct Mesh<'w, 's> {
    changed: Query<'w, 's, (), Changes>,
    links: Res<'w, Links>,
    severed: Res<'w, Severed>,
    limits: Res<'w, Limits>,
    index: Res<'w, Index<NodeKind>>,
    budgets: Query<'w, 's, (&'static Predicted, &'static LinkFrom, &'static LinkTo)>,
    nodes: Query<'w, 's, Node, Without<InDeployment>>,
}

/// Brings the wishes up to date with the links and emits those that moved.
pub(super) fn mirror_wires(
    mesh: Mesh,
    mut desired: ResMut<Desired>,
    mut out: ResMut<Outbox<Work>>,
) {
    let moved = mesh.links.is_changed() || mesh.severed.is_changed() || mesh.limits.is_changed();
    let stale = moved || mesh.index.is_changed() || !mesh.changed.is_empty();
    if !(stale || desired.is_changed()) {
        return;
    }
    let Some(settings) = &desired.settings else {
        return;
    };
    let mac = settings.mac;
    let mut mirror = Mirror {
        // Marked as changed below, when something did.
        desired: desired.bypass_change_detection(),
        out: &mut out,
        changed: false,
    };
    mirror.seat(&mesh);
    for (ends, entity) in mesh.links.iter() {
        if let Some(shapes) = mesh.shapes(ends, entity, &mac) {
            mirror.wire(ends, shapes);
        }
    }
    mirror.cut_those_gone(&mesh.links);
    mirror.route(&mesh);
    if mirror.changed {
        desired.set_changed();
    }
}

impl Mesh<'_, '_> {
    /// What both directions of a link should do; `None` where an end is only planned.
    fn shapes(&self, ends: LinkKey, entity: Entity, mac: &Mac) -> Option<[Shape; 2]> {
        let (Predicted(budget), from, to) = self.budgets.get(entity).ok()?;
        let (_, a_runs, a) = self.nodes.get(from.0).ok()?;
        let (_, b_runs, b) = self.nodes.get(to.0).ok()?;
        let bytes = self.limits.packet_bytes;
        let distance_m = budget.distance_m;
        let shapes = [
            shape(&budget.forward, distance_m, &a.0.radio, bytes, mac),
            shape(&budget.backward, distance_m, &b.0.radio, bytes, mac),
        ];
        let open = a_runs.0 && b_runs.0 && !self.severed.0.contains(&ends);
        Some(if open { shapes } else { shapes.map(Shape::cut) })
    }

    /// Next hops of the nodes whose routes are the world's.
    fn next_hops(&self, followers: Vec<NodeId>) -> NextHops {
        let runs = |entity| self.nodes.get(entity).is_ok_and(|(_, runs, _)| runs.0);
        let running = self.index.iter().filter(|(_, entity)| runs(*entity));
        let running = running.map(|(id, _)| id).collect();
        let mut graph = GraphBuilder::new(running, self.limits.packet_bytes);
        for (ends, entity) in self.links.iter() {
            if let Ok((Predicted(budget), ..)) = self.budgets.get(entity)
                && !self.severed.0.contains(&ends)
            {
                graph.link(ends, budget);
            }
        }
        next_hops(&graph.build(), self.limits.metric, followers)
    }
}

/// The wishes while they are brought up to date.
struct Mirror<'a> {
    desired: &'a mut Desired,
    out: &'a mut Outbox<Work>,
    changed: bool,
}

impl Mirror<'_> {
    /// Seats for nodes that have none, in id order.
    fn seat(&mut self, mesh: &Mesh) {
        let settings = self.desired.settings.clone().expect("the testbed began");
        for (node, entity) in mesh.index.iter() {
            let Ok((label, ..)) = mesh.nodes.get(entity) else {
                continue;
            };
            let taken = self.desired.seats.len();
            if self.desired.seats.contains_key(&node) || taken >= SEATS_MAX {
                continue;
            }
            let number = u32::try_from(taken).expect("bounded") + 1;
            let wanted = settings.names.get(&node).unwrap_or(&label.name);
            let name = self.free_name(wanted, number);
            let seat = Seat { number, name };
            self.desired.seats.insert(node, seat.clone());
            let settings = settings.clone();
            self.out.emit(Work::Seat {
                node,
                seat,
                settings,
            });
            self.changed = true;
        }
    }

    /// `wanted` without what names of interfaces and files cannot have; with its number where
    /// somebody has that name already, or nothing is left of it.
    fn free_name(&self, wanted: &str, number: u32) -> String {
        let allowed = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
        let name: String = wanted.chars().filter(allowed).collect();
        let name = name.trim_start_matches('.');
        let taken = self.desired.seats.values().any(|seat| seat.name == name);
        if taken || name.is_empty() {
            return format!("{name}-{number}");
        }
        name.to_owned()
    }

    /// Sets the shapes of a pair. A pair that never heard each other gets no wire.
    fn wire(&mut self, ends: LinkKey, shapes: [Shape; 2]) {
        let number = u32::try_from(self.desired.wires.len()).expect("pairs are bounded") + 1;
        let new = !self.desired.wires.contains_key(&ends);
        if new && !shapes.iter().any(|shape| shape.up) {
            return;
        }
        let wire = self.desired.wires.entry(ends).or_insert_with(|| Wire {
            number,
            sides: shapes.map(|shape| Side {
                generation: 0,
                shape,
            }),
        });
        let directions = [(ends.a(), ends.b()), (ends.b(), ends.a())];
        for ((side, shape), (from, to)) in wire.sides.iter_mut().zip(shapes).zip(directions) {
            if !new && !shape.moved_from(&side.shape) {
                continue;
            }
            *side = Side {
                generation: side.generation + 1,
                shape,
            };
            let (number, side) = (wire.number, *side);
            self.out.emit(Work::Shape {
                from,
                to,
                number,
                side,
            });
            self.changed = true;
        }
    }

    /// Wires of pairs that are out of range now.
    fn cut_those_gone(&mut self, links: &Links) {
        let gone = |ends: &LinkKey| links.get(*ends).is_none();
        let gone: Vec<LinkKey> = self.desired.wires.keys().copied().filter(gone).collect();
        for ends in gone {
            let shapes = self.desired.wires[&ends].sides.map(|side| side.shape.cut());
            self.wire(ends, shapes);
        }
    }

    /// Routes of the nodes that follow the world's.
    fn route(&mut self, mesh: &Mesh) {
        let settings = self.desired.settings.as_ref().expect("the testbed began");
        let follows = |node: &NodeId| settings.protocol(*node) == Protocol::Static;
        let followers: Vec<NodeId> = self.desired.seats.keys().copied().filter(follows).collect();
        if followers.is_empty() {
            return;
        }
        let mut found = mesh.next_hops(followers.clone());
        for node in followers {
            let next_hops = found.remove(&node).unwrap_or_default();
            if self.desired.routes.get(&node) != Some(&next_hops) {
                self.desired.routes.insert(node, next_hops.clone());
                self.out.emit(Work::Routes { node, next_hops });
                self.changed = true;
            }
        }
    }
}
