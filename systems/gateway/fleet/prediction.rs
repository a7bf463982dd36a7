//! Predicted budgets of measured links whose ends are both planned, beside the measurements of their
//! ends.

use std::collections::BTreeSet;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, parallel};
use groundwave_model::radio::{Environment, Expectation};
use groundwave_model::terrain::Terrain;
use groundwave_simulation::deployment::Outline;
use groundwave_simulation::link::{Inputs, score};
use groundwave_simulation::site::{
    InDeployment, Members, NodeId, NodeKind, Position, Site, StationConfig, WorldTerrain,
};

use super::topology::{MeshEdges, PredictedLink, TopologyIndex};

/// Links evaluated in one tick; further ones follow in the next ticks.
const LINKS_PER_TICK: usize = 128;
/// Links one task evaluates.
const LINKS_PER_TASK: usize = 8;
/// Packet length of packet loss and data rate, bytes.
const PACKET_BYTES: u32 = 1500;

/// Links whose prediction is stale. Derived: written by `queue_predictions` and `predict_mesh_links`.
#[derive(Resource, Debug, Default)]
pub(super) struct PredictionQueue {
    pub stale: BTreeSet<(NodeId, NodeId)>,
    /// Predictions evaluated since the world was built.
    pub evaluated: u64,
}

type PlanChanged = Or<(Changed<Position>, Changed<StationConfig>, Changed<InDeployment>)>;

/// Queues links that appeared between planned nodes, links whose plan changed, and all over other terrain.
pub(super) fn queue_predictions(
    topology: Res<TopologyIndex>,
    nodes: Res<Index<NodeKind>>,
    (ids, planned): (Query<&NodeId>, Query<(), With<InDeployment>>),
    changed: Query<&NodeId, (With<InDeployment>, PlanChanged)>,
    outlines: Query<&Members, Changed<Outline>>,
    terrain: Res<WorldTerrain>,
    mut unplanned: RemovedComponents<InDeployment>,
    mut queue: ResMut<PredictionQueue>,
) {
    let is_planned = |id: NodeId| nodes.get(id).is_ok_and(|node| planned.contains(node));
    let both = |ends: &&(NodeId, NodeId)| is_planned(ends.0) && is_planned(ends.1);
    let appeared = topology.appeared.iter().filter(both).copied();
    let members = outlines.iter().flat_map(RelationshipTarget::iter);
    let replanned = unplanned.read().chain(members).filter_map(|node| ids.get(node).ok());
    let is_renewed = terrain.is_changed() && !terrain.is_added();
    let everywhere = is_renewed.then(|| ids.iter()).into_iter().flatten();
    let links =
        changed.iter().chain(replanned).chain(everywhere).flat_map(|id| topology.links_of(*id));
    let stale: Vec<_> = appeared.chain(links).collect();
    if !stale.is_empty() {
        queue.stale.extend(stale);
    }
}

struct Job<'w> {
    ends: (NodeId, NodeId),
    sites: Option<[Site<'w>; 2]>,
    environment: Option<&'w Environment>,
    predicted: Option<PredictedLink>,
}

/// Evaluates queued links over the terrain, several at once.
pub(super) fn predict_mesh_links(
    terrain: Res<WorldTerrain>,
    nodes: Res<Index<NodeKind>>,
    sites: Query<(&InDeployment, Site<'static>)>,
    outlines: Query<&Outline>,
    mut edges: Query<&mut MeshEdges>,
    mut queue: ResMut<PredictionQueue>,
) {
    if queue.stale.is_empty() {
        return;
    }
    let site = |id: NodeId| sites.get(nodes.get(id).ok()?).ok();
    let mut jobs = Vec::new();
    while jobs.len() < LINKS_PER_TICK
        && let Some(ends) = queue.stale.pop_first()
    {
        let planned = site(ends.0).zip(site(ends.1));
        let environment = planned.and_then(|((deployment, _), _)| outlines.get(deployment.0).ok());
        jobs.push(Job {
            ends,
            sites: planned.map(|((_, a), (_, b))| [a, b]),
            environment: environment.map(|outline| &outline.environment),
            predicted: None,
        });
    }
    parallel::for_each(&mut jobs, LINKS_PER_TASK, |job| {
        job.predicted = evaluate(&*terrain.0, job);
    });
    queue.evaluated += jobs.iter().filter(|job| job.sites.is_some()).count() as u64;
    for job in jobs {
        let Ok(mut node_edges) =
            nodes.get(job.ends.0).map_or(Err(()), |node| edges.get_mut(node).map_err(|_| ()))
        else {
            continue;
        };
        let position = node_edges.0.binary_search_by_key(&job.ends.1, |edge| edge.b);
        if let Ok(at) = position
            && node_edges.0[at].predicted != job.predicted
        {
            Arc::make_mut(&mut node_edges.0)[at].predicted = job.predicted;
        }
    }
}

/// The weaker direction; `None` where the link cannot be evaluated.
fn evaluate(terrain: &dyn Terrain, job: &Job<'_>) -> Option<PredictedLink> {
    let [a, b] = job.sites?;
    let usual = Environment::default();
    let inputs = Inputs {
        terrain,
        environment: job.environment.unwrap_or(&usual),
        packet_bytes: PACKET_BYTES,
        spacing_m: None,
    };
    let (there, back) = score(&inputs, (a.0.0, &a.1.0), (b.0.0, &b.1.0)).ok()?;
    let weaker = match there.margin.link_margin_db <= back.margin.link_margin_db {
        true => there,
        false => back,
    };
    Some(PredictedLink {
        rx_power_dbm: weaker.receiver.rx_power_dbm,
        snr_db: weaker.receiver.sinr_db,
        margin_db: weaker.margin.link_margin_db,
        path_loss_db: weaker.losses.total_path_loss_db,
        viable: weaker.closes(),
        expectation: Expectation::of(&weaker),
    })
}
