//! Passing of the nodes of a deployment to its live coverage.

use std::sync::Arc;

use groundwave_engine::Views;
use groundwave_http::Problem;
use groundwave_model::radio::Environment;
use groundwave_model::terrain::Terrain;
use groundwave_simulation::WorldView;
use groundwave_simulation::coverage::live::TRANSMITTERS_MAX;
use groundwave_simulation::coverage::{CoverageRequest, Sampling};
use groundwave_simulation::deployment::{DeploymentId, PlannedNode};
use groundwave_simulation::link::coverage_radius_m;
use groundwave_simulation::site::NodeId;

use super::super::Planner;
use super::super::live_coverages::Live;
use super::super::wire::PACKET_BYTES;

/// Follows the nodes until the deployment is gone or the coverage is ended.
pub fn begin(planner: &Planner, deployment: DeploymentId, live: &Arc<Live>) {
    let (planner, live) = (planner.clone(), Arc::clone(live));
    let views = planner.world.watch();
    tokio::spawn(async move {
        let stop = live.stop.clone();
        tokio::select! {
            () = follow(&planner, views, deployment, &live) => {}
            () = stop.cancelled() => {}
        }
        planner.live.end(deployment, &live);
    });
}

async fn follow(
    planner: &Planner,
    mut views: Views<WorldView>,
    deployment: DeploymentId,
    live: &Arc<Live>,
) {
    let mut failed = live.watch_failed();
    loop {
        views.borrow_and_update();
        let out = failed.borrow_and_update().clone();
        let Ok(view) = planner.deployment(deployment.uuid()) else {
            return;
        };
        let basis = planner.basis(&view);
        let known = Arc::clone(live);
        let set = planner.analyse(move |terrain| {
            let works = |node: &&Arc<PlannedNode>| !out.contains(&node.id.uuid());
            let nodes: Vec<_> = basis.nodes.iter().filter(works).collect();
            if nodes.len() > TRANSMITTERS_MAX {
                let found = nodes.len();
                let what = format!(
                    "too many nodes for a live coverage: found {found}, allowed {TRANSMITTERS_MAX}"
                );
                return Err(Problem::bad_request(what));
            }
            let request = |node: &&Arc<PlannedNode>| {
                let (air, receiver) = (&basis.environment, &known.receiver);
                (node.id, request(node, receiver, air, terrain))
            };
            let transmitters: Vec<(NodeId, CoverageRequest)> = nodes.iter().map(request).collect();
            Ok(known.hold_coverage().set(transmitters)?)
        });
        live.tell(set.await.err().map(|problem| problem.detail));
        // One layer at a time, so that a node that moves on meanwhile is seen.
        while live.coverage().await.progress().stale > 0 {
            let known = Arc::clone(live);
            let stepped = planner.analyse(move |_| Ok(known.hold_coverage().step()));
            if let Err(problem) = stepped.await {
                live.tell(Some(problem.detail));
                break;
            }
            live.tell(live.failure());
            if views.has_changed().unwrap_or(true) || failed.has_changed().unwrap_or(true) {
                break;
            }
        }
        // Without a transmitter left there is no layer, but there are cells to clear.
        let known = Arc::clone(live);
        if planner.analyse(move |_| Ok(known.hold_coverage().settle())).await.is_ok_and(|any| any) {
            live.tell(live.failure());
        }
        // The sender of the failed nodes lives in the coverage, which this task holds.
        let changed = tokio::select! {
            changed = views.changed() => changed,
            changed = failed.changed() => changed,
        };
        if changed.is_err() {
            return;
        }
    }
}

/// Coverage of a node as far as it reaches.
fn request(
    node: &PlannedNode,
    receiver: &groundwave_model::radio::Station,
    environment: &Environment,
    terrain: &dyn Terrain,
) -> CoverageRequest {
    CoverageRequest {
        position: node.position,
        transmitter: node.station.clone(),
        receiver: receiver.clone(),
        environment: environment.clone(),
        packet_octets: PACKET_BYTES,
        sampling: Sampling::Posts,
        radius_m: coverage_radius_m(terrain, node.position, [&node.station, receiver]),
    }
}
