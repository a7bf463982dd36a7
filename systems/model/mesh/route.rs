//! The best route between two nodes of a plan, its links evaluated in full.

use std::collections::BTreeSet;

use groundwave_values::parallel;

use super::answer::{Gap, PlannedRoute, RouteAnswer, Segment, Summary};
use super::evaluate::{Mesh, MeshLink};
use super::member::{Member, MeshError, Roster};
use crate::id::NodeId;
use crate::link::{Inputs, LinkKey, score};
use crate::radio::{BadValue, LinkResult};
use crate::route::{Graph, Hop, Metric, Route, find};

/// Request for a route.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RouteRequest {
    /// Node at which the route begins.
    pub source: NodeId,
    /// Node at which the route ends.
    pub target: NodeId,
    /// Metric to minimise.
    pub metric: Metric,
    /// Rate every link must keep along the route, bit/s, above 0; absent asks for none.
    pub target_data_rate_bps: Option<f64>,
}

/// The best route over `mesh`, which [`super::mesh`] made of the same `inputs` and `members`.
///
/// Links below the target rate are excluded; when no route remains, the best over all links is the
/// answer, with `meets_target` false. Links over unknown ground count only where there is no route without
/// them, with `meets_target` false as well. Only links usable in both directions carry anything: a
/// one-way link carries no acknowledgements.
///
/// # Errors
/// [`MeshError::Unknown`] for a source or target outside the members, [`MeshError::Rate`],
/// [`MeshError::Link`], and what is wrong with the members.
pub fn route(
    inputs: &Inputs<'_>,
    members: &[Member<'_>],
    mesh: &Mesh,
    request: &RouteRequest,
) -> Result<RouteAnswer, MeshError> {
    let roster = Roster::new(inputs, members)?;
    let target_bps = request.target_data_rate_bps;
    if let Some(rate) = target_bps.filter(|rate| !(rate.is_finite() && *rate > 0.0)) {
        return Err(MeshError::Rate(rate));
    }
    let graph = mesh.graph();
    for end in [request.source, request.target] {
        roster.get(end)?;
        graph.index(end).ok_or(MeshError::Unknown(end))?;
    }
    let source = request.source;
    let Some(path) = best(mesh, &graph, request) else {
        return Ok(no_path(inputs, &roster, mesh, &graph, request));
    };
    let reached = path.hops.iter().map(|hop| hop.to);
    Ok(RouteAnswer::Found(Box::new(PlannedRoute {
        path: std::iter::once(source).chain(reached).collect(),
        segments: segments(inputs, &roster, &path.hops)?,
        summary: Summary::of(&path, target_bps),
    })))
}

/// The best route over ground that is not unknown; without one that over all links, which meets no target
/// because its budgets rest on assumed ground.
fn best(mesh: &Mesh, graph: &Graph, request: &RouteRequest) -> Option<Route> {
    let over = |graph: &Graph| {
        let RouteRequest { source, target, metric, target_data_rate_bps } = *request;
        find(graph, source, target, metric, target_data_rate_bps)
    };
    let assumed = || over(graph).map(|route| Route { meets_target: false, ..route });
    over(&mesh.graph_over_known_ground()).or_else(assumed)
}

/// The links of a route in full: what their budgets were cut from, evaluated again.
fn segments(
    inputs: &Inputs<'_>,
    roster: &Roster<'_>,
    hops: &[Hop],
) -> Result<Vec<Segment>, MeshError> {
    let mut work = Vec::with_capacity(hops.len());
    for hop in hops {
        work.push((hop, roster.get(hop.from)?, roster.get(hop.to)?, None));
    }
    parallel::for_each(&mut work, 1, |(_, from, to, result)| {
        // In id order, as the budgets were: the ground is walked in the same direction, so that
        // the results agree to the bit.
        let turned = from.id > to.id;
        let (a, b) = if turned { (*to, *from) } else { (*from, *to) };
        let scored = score(inputs, (a.position, a.station), (b.position, b.station));
        let along = |(there, back)| if turned { (back, there) } else { (there, back) };
        *result = Some(scored.map(along));
    });
    let segment = |(hop, _, _, result): (&Hop, _, _, Option<Result<_, BadValue>>)| {
        let both = result.expect("every link was evaluated");
        let (mut forward, mut backward) = both.map_err(|cause| {
            LinkKey::new(hop.from, hop.to)
                .map_or(MeshError::Unknown(hop.to), |ends| MeshError::Link { ends, cause })
        })?;
        name(&mut forward, hop.from, hop.to);
        name(&mut backward, hop.to, hop.from);
        Ok(Segment {
            source: hop.from,
            target: hop.to,
            distance_m: hop.distance_m,
            data_rate_bps: hop.data_rate_bps,
            per: hop.per,
            etx: hop.etx,
            ett_s: hop.ett_s,
            forward,
            backward,
        })
    };
    work.into_iter().map(segment).collect()
}

fn name(result: &mut LinkResult, tx: NodeId, rx: NodeId) {
    result.tx_node_id = Some(tx.to_string());
    result.rx_node_id = Some(rx.to_string());
}

/// The nearest pair across the gap, evaluated although the range bound leaves it out; `None` where
/// its radios do not understand each other.
fn nearest(
    inputs: &Inputs<'_>,
    roster: &Roster<'_>,
    near: &BTreeSet<NodeId>,
    far: &BTreeSet<NodeId>,
) -> Option<Gap> {
    // The chord through the Earth rises with the distance and costs a thousandth of a geodesic.
    let points = |side: &BTreeSet<NodeId>| {
        let members = side.iter().filter_map(|&id| roster.get(id).ok());
        let point = |member: &Member<'_>| (member.id, member.position.unit_vector());
        members.map(point).collect::<Vec<_>>()
    };
    let (near, far) = (points(near), points(far));
    let mut best: Option<(f64, NodeId, NodeId)> = None;
    for (a, from) in &near {
        for (b, to) in &far {
            let towards: f64 = from.iter().zip(to).map(|(x, y)| x * y).sum();
            if best.is_none_or(|(highest, ..)| towards > highest) {
                best = Some((towards, *a, *b));
            }
        }
    }
    let (_, source_side, target_side) = best?;
    let [a, b] = [source_side, target_side].map(|id| roster.get(id).ok());
    let (a, b) = (a?, b?);
    let (there, back) = score(inputs, (a.position, a.station), (b.position, b.station)).ok()?;
    let link_margin_db = there.margin.link_margin_db.min(back.margin.link_margin_db);
    (link_margin_db < 0.0).then_some(Gap {
        source_side,
        target_side,
        distance_m: there.geometry.distance_m,
        link_margin_db,
    })
}

fn no_path(
    inputs: &Inputs<'_>,
    roster: &Roster<'_>,
    mesh: &Mesh,
    graph: &Graph,
    request: &RouteRequest,
) -> RouteAnswer {
    let [near, far] = [request.source, request.target].map(|end| side(graph, end));
    let gap = |link: &MeshLink| {
        let (a, b) = (link.ends.a(), link.ends.b());
        let across = |one, other| near.contains(&one) && far.contains(&other);
        let (source_side, target_side) = match (across(a, b), across(b, a)) {
            (true, _) => (a, b),
            (_, true) => (b, a),
            _ => return None,
        };
        let (forward, backward) = (&link.budget.forward, &link.budget.backward);
        let link_margin_db = forward.link_margin_db.min(backward.link_margin_db);
        // No link in spite of its margin: the radios do not understand each other.
        (link_margin_db < 0.0).then_some(Gap {
            source_side,
            target_side,
            distance_m: link.budget.distance_m,
            link_margin_db,
        })
    };
    let better = |best: Gap, other: Gap| {
        if other.link_margin_db > best.link_margin_db { other } else { best }
    };
    RouteAnswer::NoPath {
        source_side_nodes: near.len(),
        target_side_nodes: far.len(),
        closest: mesh
            .links
            .iter()
            .filter_map(gap)
            .reduce(better)
            .or_else(|| nearest(inputs, roster, &near, &far)),
    }
}

/// Nodes connected with `end`, itself included. Links count both ways or not at all, so that this
/// is one set for both directions.
fn side(graph: &Graph, end: NodeId) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::from([end]);
    let mut waiting: Vec<usize> = graph.index(end).into_iter().collect();
    while let Some(node) = waiting.pop() {
        for edge in graph.out(node) {
            if nodes.insert(graph.nodes()[edge.to]) {
                waiting.push(edge.to);
            }
        }
    }
    nodes
}
