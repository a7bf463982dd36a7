//! The air that flows share: each has a max-min fair rate over the links that contend.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use groundwave_model::airtime::{Contention, Demand, Ends, Peer, Share, contention, share};
use groundwave_model::radio::antenna::is_omnidirectional;
use groundwave_model::route::{Hop, Route};
use groundwave_model::terrain::geodesic;

use super::{Bottleneck, Flow, FlowKind, FlowRoute, FlowShare, MeshGraph, queue};
use crate::link::{
    AdminDown, Endpoints, Limits, LinkKey, LinkPosition, LinksOut, OutOfRange, Predicted,
    PredictedChanges,
};
use crate::site::{NodeId, NodeKind, StationConfig};

/// Contention of the links that carry traffic, as it was when the air was last shared.
#[derive(Default)]
pub(super) struct Air {
    /// Nodes of the routes of all flows, rising.
    nodes: Vec<NodeId>,
    contention: Contention,
    sets: Vec<Vec<usize>>,
}

/// Changes on which contention depends, beside routes.
#[derive(SystemParam)]
pub(super) struct Changes<'w, 's> {
    graph: Res<'w, MeshGraph>,
    flows: Res<'w, Index<FlowKind>>,
    routes: Query<'w, 's, (), Or<(Changed<FlowRoute>, Added<Flow>)>>,
    budgets: PredictedChanges<'w, 's>,
    out_of_range: Res<'w, OutOfRange>,
    taken_down: Query<'w, 's, &'static Endpoints, Added<AdminDown>>,
    restored: RemovedComponents<'w, 's, AdminDown>,
}

impl Changes<'_, '_> {
    /// `true` if a route changed, or a link between two of these nodes, which rise.
    fn touch(&mut self, nodes: &[NodeId]) -> bool {
        let is_restored = self.restored.read().count() > 0;
        let has_routes = self.flows.is_changed() || !self.routes.is_empty();
        let is_between =
            |key: &LinkKey| [key.a(), key.b()].iter().all(|end| nodes.binary_search(end).is_ok());
        has_routes
            || is_restored
            || self.graph.is_stale()
            || self.out_of_range.0.iter().any(is_between)
            || self.taken_down.iter().any(|endpoints| is_between(&endpoints.0))
            || self.budgets.iter().any(|(_, endpoints)| is_between(&endpoints.0))
    }
}

/// Nodes and links between which carriers are sensed.
#[derive(SystemParam)]
pub(super) struct Ether<'w, 's> {
    index: Res<'w, Index<NodeKind>>,
    nodes:
        Query<'w, 's, (Option<&'static LinksOut>, &'static LinkPosition, &'static StationConfig)>,
    links: Query<'w, 's, (&'static Endpoints, &'static Predicted), Without<AdminDown>>,
}

impl Ether<'_, '_> {
    /// The nodes with those of them that they sense.
    fn ends(&self, ids: &[NodeId]) -> Vec<Ends<'_>> {
        let node = |id: &NodeId| self.nodes.get(self.index.get(*id).ok()?).ok();
        let nodes: Vec<_> = ids.iter().map(node).collect();
        let ends = nodes.iter().map(|node| {
            let turning = node.map(|(.., station)| &station.0).filter(|station| {
                station.pointing.is_none() && !is_omnidirectional(&station.antenna)
            });
            Ends { peers: Vec::new(), turning: turning.map(|station| &station.antenna) }
        });
        let mut ends: Vec<Ends<'_>> = ends.collect();
        for (a, node) in nodes.iter().enumerate() {
            let Some((Some(out), from, _)) = node else { continue };
            for (endpoints, Predicted(budget)) in
                out.iter().filter_map(|link| self.links.get(link).ok())
            {
                let directions = [&budget.forward, &budget.backward];
                let margins = directions.iter().filter(|direction| direction.closes());
                let margin_db = margins.map(|direction| direction.link_margin_db).reduce(f64::max);
                let (Some(margin_db), Ok(b)) = (margin_db, ids.binary_search(&endpoints.0.b()))
                else {
                    continue;
                };
                let is_turned = ends[a].turning.is_some() || ends[b].turning.is_some();
                let to = nodes[b].as_ref().and_then(|(_, to, _)| to.0);
                let azimuths_deg = from.0.zip(to).filter(|_| is_turned).map(|(from, to)| {
                    let line = geodesic::inverse(from, to);
                    [line.azimuth_deg, line.back_azimuth_deg]
                });
                let [there, back] = azimuths_deg.unwrap_or_default();
                ends[a].peers.push(Peer { node: b, margin_db, azimuth_deg: there });
                ends[b].peers.push(Peer { node: a, margin_db, azimuth_deg: back });
            }
        }
        ends.iter_mut().for_each(|end| end.peers.sort_by_key(|peer| peer.node));
        ends
    }
}

/// Shares the air between flows anew where a route, or what the nodes of routes sense, changed.
pub(super) fn share_air(
    mut changes: Changes,
    ether: Ether,
    limits: Res<Limits>,
    mut flows: Query<(&Flow, &FlowRoute, &mut FlowShare)>,
    mut air: Local<Air>,
) {
    if !changes.touch(&air.nodes) && !limits.is_changed() {
        return;
    }
    let order: Vec<Entity> = changes.flows.iter().map(|(_, flow)| flow).collect();
    let routed = |flow: &Entity| {
        let (flow_of, route, _) = flows.get(*flow).ok()?;
        Some((*flow, flow_of.rate_bps, route.0.as_ref()?))
    };
    let routed: Vec<(Entity, f64, &Route)> = order.iter().filter_map(routed).collect();
    let hops = || routed.iter().flat_map(|(.., route)| &route.hops);
    let links: Vec<LinkKey> = hops().filter_map(key).collect::<BTreeSet<_>>().into_iter().collect();
    let nodes: BTreeSet<NodeId> = links.iter().flat_map(|key| [key.a(), key.b()]).collect();
    air.nodes = nodes.into_iter().collect();
    let number = |id| air.nodes.binary_search(&id).expect("the nodes of all links are listed");
    let pairs: Vec<_> = links.iter().map(|key| [key.a(), key.b()].map(number)).collect();
    let contention = contention(&ether.ends(&air.nodes), &pairs);
    if air.contention != contention {
        air.sets = contention.sets();
        air.contention = contention;
    }
    let number = |hop: &Hop| links.binary_search(&key(hop)?).ok();
    let demand = |(_, rate_bps, route): &(Entity, f64, &Route)| {
        let busy_s = |hop: &Hop| Some((number(hop)?, hop.etx / hop.data_rate_bps));
        Demand { rate_bps: *rate_bps, hops: route.hops.iter().filter_map(busy_s).collect() }
    };
    let demands: Vec<Demand> = routed.iter().map(demand).collect();
    let shares = share(&demands, &air.sets);
    let users = |set: &[usize]| {
        let is_user =
            |demand: &&Demand| demand.hops.iter().any(|(link, _)| set.binary_search(link).is_ok());
        demands.iter().filter(is_user).count()
    };
    let mut busy = vec![0.0; links.len()];
    for (demand, share) in demands.iter().zip(&shares) {
        for (link, busy_s) in &demand.hops {
            busy[*link] += share.rate_bps * busy_s;
        }
    }
    let around = queue::utilisation(&busy, &air.sets);
    let packet_bits = f64::from(limits.packet_bytes) * 8.0;
    let wait_s = |demand: &Demand| {
        queue::wait_s(
            demand.hops.iter().map(|(link, busy_s)| (around[*link], packet_bits * busy_s)),
        )
    };
    let outcome = |share: &Share, route: &Route, demand: &Demand| {
        let set = share.set.map(|set| &air.sets[set]);
        let bottleneck = set.and_then(|set| {
            let within = route
                .hops
                .iter()
                .filter(|hop| number(hop).is_some_and(|link| set.binary_search(&link).is_ok()));
            // Of equals the first.
            let busiest = within.reduce(|one, other| {
                let busy_s = |hop: &Hop| hop.etx / hop.data_rate_bps;
                if busy_s(other) > busy_s(one) { other } else { one }
            })?;
            let (from, to) = (busiest.from, busiest.to);
            Some(Bottleneck { from, to, links: set.len(), flows: users(set) })
        });
        FlowShare { carried_bps: share.rate_bps, bottleneck, queue_wait_s: wait_s(demand) }
    };
    let results: Vec<(Entity, FlowShare)> = routed
        .iter()
        .zip(shares.iter().zip(&demands))
        .map(|((flow, _, route), (share, demand))| (*flow, outcome(share, route, demand)))
        .collect();
    let mut results = results.into_iter().peekable();
    for entity in order {
        let next = results.next_if(|(flow, _)| *flow == entity);
        let share = next.map_or_else(FlowShare::default, |(_, share)| share);
        if let Ok((.., mut before)) = flows.get_mut(entity) {
            before.set_if_neq(share);
        }
    }
}

fn key(hop: &Hop) -> Option<LinkKey> {
    LinkKey::new(hop.from, hop.to)
}
