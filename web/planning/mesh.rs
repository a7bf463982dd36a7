//! Relays, routes and protocol advice over HTTP.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use groundwave_http::{Json, JsonBody, Origin, Path, Problem, Query};
use groundwave_model::advice::advise;
use groundwave_model::mesh::{Member, Mesh, RouteRequest, mesh, route as find};
use groundwave_model::radio::Environment;
use groundwave_model::relay::{RelayEnd, RelayRequest, plan as plan_relays};
use groundwave_model::terrain::Terrain;
use groundwave_simulation::deployment::PlannedNode;
use groundwave_simulation::link::Inputs;
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

use super::Planner;
use super::analysis_cache::CachedAnalysis;
use super::links::{ends, one_deployment};
use super::wire::PACKET_BYTES;
use super::wire::mesh::{
    AdviceQuestion, DeploymentLinks, LinkFilter, MeshRoute, ProtocolAdvice, RouteQuestion,
};
use super::wire::relay::{RelayChain, RelayQuestion};
use crate::problems::{mesh_problem, relay_problem};

/// Inputs of links over `terrain`.
pub(super) fn inputs<'a>(terrain: &'a dyn Terrain, environment: &'a Environment) -> Inputs<'a> {
    Inputs { terrain, environment, packet_bytes: PACKET_BYTES, spacing_m: None }
}

/// Find relay positions between two nodes
///
/// `greedy` walks from the transmitter toward the receiver and places each relay at the farthest
/// tested fraction of the remaining distance that still closes for the target rate. `optimal`
/// searches the great circle and the high ground beside it, and leaves a margin of 10 dB unless
/// `margin_db` asks for another.
#[utoipa::path(post, path = "/api/v1/relay/plan", tag = "analysis",
    responses(
        (status = 200, description = "Relay chain, also when it misses the target"),
        (status = 404, description = "No such node"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn relay(
    State(planner): State<Planner>,
    Origin(client): Origin,
    JsonBody(asked): JsonBody<RelayQuestion>,
) -> Result<Json<RelayChain>, Problem> {
    let (tx, rx) = ends(&planner, asked.tx_node_id, asked.rx_node_id)?;
    let environment = planner.deployment(tx.deployment.uuid())?.outline.environment.clone();
    let planned = planner.analyse_queued(client, move |terrain| {
        fn end(node: &PlannedNode) -> RelayEnd<'_> {
            RelayEnd { position: node.position, station: &node.station }
        }
        let request = RelayRequest {
            tx: end(&tx),
            rx: end(&rx),
            target_data_rate_bps: asked.target_data_rate_bps,
            margin_db: asked.margin_db(),
            relay_height_agl_m: asked.relay_height_agl_m,
            max_hops: asked.max_hops,
            strategy: asked.strategy(),
        };
        let plan = plan_relays(&inputs(terrain, &environment), &request).map_err(relay_problem)?;
        Ok(RelayChain::new(plan, [tx.id.uuid(), rx.id.uuid()], terrain))
    });
    Ok(Json(planned.await?))
}

/// The links of a deployment, computed unless they are cached.
fn links_of<'k>(
    cached: &'k CachedAnalysis,
    inputs: &Inputs<'_>,
    members: &[Member<'_>],
) -> Result<&'k Mesh, Problem> {
    if let Some(found) = cached.mesh.get() {
        return Ok(found);
    }
    let found = mesh(inputs, members).map_err(mesh_problem)?;
    Ok(cached.mesh.get_or_init(|| found))
}

/// A planned node as a member of a mesh.
pub(super) fn member(node: &Arc<PlannedNode>) -> Member<'_> {
    Member { id: node.id, position: node.position, station: &node.station }
}

/// Find the best route between two nodes of a deployment
///
/// Dijkstra over the links of the deployment. With a target rate, links below it are excluded; if
/// no path remains, the best one there is comes back with `meets_target: false`.
#[utoipa::path(post, path = "/api/v1/mesh/route", tag = "analysis",
    responses(
        (status = 200, description = "Route, or the reason for none"),
        (status = 404, description = "No such node"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn route(
    State(planner): State<Planner>,
    Origin(client): Origin,
    JsonBody(asked): JsonBody<RouteQuestion>,
) -> Result<Json<MeshRoute>, Problem> {
    let source = planner.node(asked.src_node_id)?;
    let target = planner.node(asked.dst_node_id)?;
    one_deployment(&source, &target)?;
    let deployment = planner.deployment(source.deployment.uuid())?;
    let request = RouteRequest {
        source: NodeId::new(asked.src_node_id),
        target: NodeId::new(asked.dst_node_id),
        metric: asked.metric,
        target_data_rate_bps: asked.target_data_rate_bps,
    };
    let basis = planner.basis(&deployment);
    let cached = planner.cache.of(basis.clone());
    if let Some(route) = cached.route(&request) {
        return Ok(Json(route));
    }
    let route = planner.analyse_queued(client, move |terrain| {
        let inputs = inputs(terrain, &basis.environment);
        let members: Vec<_> = basis.nodes.iter().map(member).collect();
        let all = links_of(&cached, &inputs, &members)?;
        let answer = find(&inputs, &members, all, &request).map_err(mesh_problem)?;
        let route = MeshRoute::new(answer, all);
        cached.cache_route(request, route.clone());
        Ok(route)
    });
    Ok(Json(route.await?))
}

/// List all links of a deployment
///
/// Every pair of nodes in reach of each other, usable or not, with the budgets that routes rest on. Of more than
/// 250,000 pairs each node has those with its nearest peers and some with peers farther away.
#[utoipa::path(get, path = "/api/v1/deployments/{id}/links", tag = "analysis",
    params(("id" = Uuid, Path, description = "Deployment id"), LinkFilter),
    responses(
        (status = 200, description = "Links by node id", body = DeploymentLinks),
        (status = 404, description = "No such deployment"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn links(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    Query(filter): Query<LinkFilter>,
) -> Result<Response, Problem> {
    let deployment = planner.deployment(id)?;
    let basis = planner.basis(&deployment);
    let cached = planner.cache.of(basis.clone());
    // A large deployment has a hundred megabytes of them: written off the threads of connections.
    let listed = planner.analyse_queued(client, move |terrain| {
        let inputs = inputs(terrain, &basis.environment);
        let members: Vec<_> = basis.nodes.iter().map(member).collect();
        let all = links_of(&cached, &inputs, &members)?;
        let listed = DeploymentLinks::new(id, all, filter.usable.unwrap_or(false));
        serde_json::to_vec(&listed).map_err(|err| Problem::internal(err.to_string()))
    });
    let media = [(header::CONTENT_TYPE, "application/json")];
    Ok((media, listed.await?).into_response())
}

/// Recommend routing protocols for a deployment
#[utoipa::path(post, path = "/api/v1/mesh/recommend-protocol", tag = "analysis",
    responses(
        (status = 200, description = "Protocols, best first, each with reasons and trade-offs"),
        (status = 404, description = "No such deployment"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn recommend(
    State(planner): State<Planner>,
    Origin(client): Origin,
    JsonBody(asked): JsonBody<AdviceQuestion>,
) -> Result<Json<ProtocolAdvice>, Problem> {
    let deployment_id: Uuid = asked.deployment_id;
    let deployment = planner.deployment(deployment_id)?;
    let basis = planner.basis(&deployment);
    let cached = planner.cache.of(basis.clone());
    let advice = match cached.advice.get() {
        Some(advice) => advice.clone(),
        None => {
            let advice = planner.analyse_queued(client, move |terrain| {
                // Another request may have computed it while this one waited.
                if let Some(advice) = cached.advice.get() {
                    return Ok(advice.clone());
                }
                let members: Vec<_> = basis.nodes.iter().map(member).collect();
                let advice =
                    advise(&inputs(terrain, &basis.environment), &members).map_err(mesh_problem)?;
                Ok(cached.advice.get_or_init(|| advice).clone())
            });
            advice.await?
        }
    };
    Ok(Json(ProtocolAdvice { deployment_id, advice }))
}

groundwave_http::schema_refs!(DeploymentLinks);
