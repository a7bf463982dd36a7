//! Links of nodes that are not stored, over HTTP.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::{Json, JsonBody, Path, Problem};
use groundwave_model::mesh::{MeshLink, links_of};
use groundwave_model::radio::Station;
use groundwave_model::terrain::{GeoPoint, Terrain};
use groundwave_simulation::deployment::PlannedNode;
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

use super::Planner;
use super::analysis_cache::Basis;
use super::mesh::{inputs, member};
use super::wire::preview::{AssumedNode, NodeLinks, PointScan, ScanCandidate};
use crate::problems::mesh_problem;

/// Compute the links of a node that is being moved or changed
///
/// Nothing is stored. The answer has every pair of the node and another one in reach, as
/// `/api/v1/deployments/{id}/links` would have them.
#[utoipa::path(post, path = "/api/v1/deployments/{id}/links/preview", tag = "analysis",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "Links of the node"),
        (status = 404, description = "No such deployment or node")))]
pub async fn preview(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    JsonBody(asked): JsonBody<AssumedNode>,
) -> Result<Json<NodeLinks>, Problem> {
    let node_id = asked.node_id;
    let assumed = Assumed::new(&planner, id, asked)?;
    let links = planner.analyse(move |terrain| assumed.links(terrain)).await?;
    Ok(Json(NodeLinks::new(node_id, &links)))
}

/// Rank the nodes that a point can reach
///
/// Every node of the deployment in reach of a node at the point, by the margin of the worse
/// direction; those over unknown ground, which have no verdict, come last.
#[utoipa::path(post, path = "/api/v1/deployments/{id}/scan", tag = "analysis",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "Nodes, largest margin first"),
        (status = 404, description = "No such deployment or node")))]
pub async fn scan(
    State(planner): State<Planner>,
    Path(id): Path<Uuid>,
    JsonBody(asked): JsonBody<AssumedNode>,
) -> Result<Json<PointScan>, Problem> {
    let assumed = Assumed::new(&planner, id, asked)?;
    let scanned = planner.analyse(move |terrain| {
        let links = assumed.links(terrain)?;
        let mut candidates: Vec<_> =
            links.iter().filter_map(|link| assumed.candidate(link)).collect();
        candidates.sort_by(|a, b| {
            let by_ground = b.ground.is_enough().cmp(&a.ground.is_enough());
            let by_margin = b.link_margin_db.total_cmp(&a.link_margin_db);
            by_ground.then(by_margin).then(a.node_id.cmp(&b.node_id))
        });
        let ground = candidates.iter().map(|candidate| candidate.ground).collect();
        Ok(PointScan { ground, candidates })
    });
    Ok(Json(scanned.await?))
}

/// A deployment and a node of it as it might be.
struct Assumed {
    basis: Basis,
    id: NodeId,
    position: GeoPoint,
    station: Station,
}

impl Assumed {
    /// Inputs of a request.
    ///
    /// # Errors
    /// 404 for an unknown deployment or node, 400 for a value that is not allowed.
    fn new(planner: &Planner, deployment: Uuid, asked: AssumedNode) -> Result<Self, Problem> {
        let deployment = planner.deployment(deployment)?;
        let basis = planner.basis(&deployment);
        let base = match asked.node_id {
            None => None,
            Some(id) => {
                let of_it = |node: &&Arc<PlannedNode>| node.id.uuid() == id;
                let found = basis.nodes.iter().find(of_it);
                Some(found.ok_or_else(|| Problem::not_found("node of the deployment", id))?)
            }
        };
        let id = NodeId::new(asked.node_id.unwrap_or_default());
        let (position, station) = asked.resolve(base.map(|node| &**node))?;
        Ok(Self { basis, id, position, station })
    }

    /// Links of the node.
    fn links(&self, terrain: &dyn Terrain) -> Result<Vec<MeshLink>, Problem> {
        let others = self.basis.nodes.iter().filter(|node| node.id != self.id);
        let mut members: Vec<_> = others.map(member).collect();
        members.push(groundwave_model::mesh::Member {
            id: self.id,
            position: self.position,
            station: &self.station,
        });
        let inputs = inputs(terrain, &self.basis.environment);
        links_of(&inputs, &members, self.id).map_err(mesh_problem)
    }

    /// The other end of a link.
    fn candidate(&self, link: &MeshLink) -> Option<ScanCandidate> {
        let other = match link.ends.a() == self.id {
            true => link.ends.b(),
            false => link.ends.a(),
        };
        let nodes = &self.basis.nodes;
        let found = nodes.binary_search_by_key(&other, |node| node.id).ok()?;
        Some(ScanCandidate::new(self.position, &nodes[found], link))
    }
}
