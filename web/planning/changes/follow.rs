//! Comparison of a deployment in one snapshot with that in the next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use groundwave_engine::Views;
use groundwave_http::Problem;
use groundwave_model::mesh::links_of;
use groundwave_simulation::WorldView;
use groundwave_simulation::deployment::{DeploymentId, DeploymentView, PlannedNode};
use groundwave_simulation::site::NodeId;
use serde_json::json;

use super::super::Planner;
use super::super::analysis_cache::Basis;
use super::super::change_log::ChangeLog;
use super::super::mesh::{inputs, member};
use super::super::wire::deployment::Deployment;
use super::super::wire::node::Node;
use super::super::wire::preview::NodeLinks;
use crate::problems::mesh_problem;

/// Most nodes of one snapshot whose links are computed one by one.
const RELINKED_MAX: usize = 32;

/// Time between two looks for watchers.
const IDLE: Duration = Duration::from_secs(300);

/// A deployment in a snapshot.
struct Known {
    outline: Arc<DeploymentView>,
    nodes: BTreeMap<NodeId, Arc<PlannedNode>>,
}

impl Known {
    /// The deployment now; `None` where it is gone.
    fn of(planner: &Planner, deployment: DeploymentId) -> Option<Self> {
        let view = planner.world.view();
        let outline = view.plan.deployments.get(&deployment)?;
        let nodes = view.plan.nodes_of(deployment);
        Some(Self {
            outline: Arc::clone(outline),
            nodes: nodes.map(|node| (node.id, Arc::clone(node))).collect(),
        })
    }
}

/// Adds every change of a deployment from now on to its log, until the deployment is gone, nobody
/// watches, or the server stops.
pub fn begin(planner: Planner, deployment: DeploymentId, log: Arc<ChangeLog>) {
    // Taken now: a change before the task runs is one too.
    let known = Known::of(&planner, deployment);
    let views = planner.world.watch();
    tokio::spawn(follow(planner, views, known, deployment, log));
}

async fn follow(
    planner: Planner,
    mut views: Views<WorldView>,
    mut known: Option<Known>,
    deployment: DeploymentId,
    log: Arc<ChangeLog>,
) {
    let mut idle = tokio::time::interval(IDLE);
    idle.tick().await;
    loop {
        tokio::select! {
            changed = views.changed() => if changed.is_err() {
                break;
            },
            _ = idle.tick() => if planner.changes.forget(deployment, &log, false) {
                return;
            },
            () = planner.stop.cancelled() => break,
        }
        let now = Known::of(&planner, deployment);
        let (Some(before), Some(now)) = (known, now) else {
            log.add("removed", &json!({}));
            break;
        };
        compare(&planner, &log, &before, &now).await;
        known = Some(now);
    }
    planner.changes.forget(deployment, &log, true);
}

async fn compare(planner: &Planner, log: &ChangeLog, before: &Known, now: &Known) {
    let reset = |reason: &str| log.add("reset", &json!({ "reason": reason }));
    if !Arc::ptr_eq(&before.outline, &now.outline) && before.outline != now.outline {
        log.add("deployment", &Deployment::from(&*now.outline));
    }
    let gone = before.nodes.keys().filter(|id| !now.nodes.contains_key(*id));
    let gone: Vec<_> = gone.collect();
    let is_new = |node: &&Arc<PlannedNode>| {
        let was = before.nodes.get(&node.id);
        !was.is_some_and(|was| Arc::ptr_eq(was, node) || was == *node)
    };
    let changed: Vec<_> = now.nodes.values().filter(is_new).collect();
    if gone.len() + changed.len() > RELINKED_MAX {
        reset("many nodes changed");
        return;
    }
    for id in gone {
        log.add("node_removed", &json!({ "node_id": id.uuid() }));
    }
    for node in &changed {
        log.add("node", &Node::from(&***node));
    }
    if before.outline.outline.environment != now.outline.outline.environment {
        reset("the environment changed");
        return;
    }
    let is_relinked = |node: &&&Arc<PlannedNode>| {
        let was = before.nodes.get(&node.id);
        !was.is_some_and(|was| was.position == node.position && was.station == node.station)
    };
    let basis = Basis {
        deployment: now.outline.id,
        environment: now.outline.outline.environment.clone(),
        nodes: now.nodes.values().cloned().collect(),
    };
    let basis = Arc::new(basis);
    for node in changed.iter().filter(is_relinked) {
        relink(planner, log, &basis, node.id).await;
    }
}

/// Adds all links of a node to the log.
async fn relink(planner: &Planner, log: &ChangeLog, basis: &Arc<Basis>, id: NodeId) {
    let basis = Arc::clone(basis);
    let links = planner.analyse(move |terrain| {
        let members: Vec<_> = basis.nodes.iter().map(member).collect();
        links_of(&inputs(terrain, &basis.environment), &members, id).map_err(mesh_problem)
    });
    let node_id = id.uuid();
    match links.await {
        Ok(links) => {
            log.add("links", &NodeLinks::new(Some(node_id), &links));
        }
        Err(Problem { detail, .. }) => {
            let failed = json!({ "node_id": node_id, "detail": detail });
            log.add("links_failed", &failed);
        }
    }
}
