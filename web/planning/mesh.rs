//! Relays, routes and protocol advice over HTTP.

use std::sync::Arc;

use axum::extract::State;
use groundwave_systems::advice::advise;
use groundwave_systems::deployment::{DeploymentId, PlannedNode};
use groundwave_systems::link::Inputs;
use groundwave_systems::mesh::{Member, MeshError, RouteRequest, mesh, route as find};
use groundwave_systems::radio::Environment;
use groundwave_systems::relay::{RelayEnd, RelayError, RelayRequest, plan as plan_relays};
use groundwave_systems::site::NodeId;
use groundwave_systems::terrain::Terrain;
use uuid::Uuid;

use super::Planner;
use super::links::ends;
use super::wire::PACKET_BYTES;
use super::wire::mesh::{AdviceQuestion, MeshRoute, ProtocolAdvice, RouteQuestion};
use super::wire::relay::{RelayChain, RelayQuestion};
use crate::http::{Json, JsonBody, Problem};

impl From<MeshError> for Problem {
    fn from(error: MeshError) -> Self {
        Self::bad_request(error.to_string())
    }
}

impl From<RelayError> for Problem {
    fn from(error: RelayError) -> Self {
        Self::bad_request(error.to_string())
    }
}

fn inputs<'a>(terrain: &'a dyn Terrain, environment: &'a Environment) -> Inputs<'a> {
    Inputs {
        terrain,
        environment,
        packet_bytes: PACKET_BYTES,
        spacing_m: None,
    }
}

/// Find relay positions between two nodes
///
/// `greedy` walks from the transmitter toward the receiver and places each relay at the farthest
/// tested fraction of the remaining distance that still closes for the target rate. `optimal`
/// searches the great circle and the high ground beside it.
#[utoipa::path(post, path = "/api/v1/relay/plan", tag = "analysis",
    responses(
        (status = 200, description = "Relay chain, also when it misses the target"),
        (status = 404, description = "No such node")))]
pub async fn relay(
    State(planner): State<Planner>,
    JsonBody(asked): JsonBody<RelayQuestion>,
) -> Result<Json<RelayChain>, Problem> {
    let (tx, rx) = ends(&planner, asked.tx_node_id, asked.rx_node_id)?;
    let environment = planner
        .deployment(tx.deployment.uuid())?
        .outline
        .environment
        .clone();
    let planned = planner.analyse(move |terrain| {
        fn end(node: &PlannedNode) -> RelayEnd<'_> {
            RelayEnd {
                position: node.position,
                station: &node.station,
            }
        }
        let request = RelayRequest {
            tx: end(&tx),
            rx: end(&rx),
            target_data_rate_bps: asked.target_data_rate_bps,
            relay_height_agl_m: asked.relay_height_agl_m,
            max_hops: asked.max_hops,
            strategy: asked.strategy(),
        };
        let plan = plan_relays(&inputs(terrain, &environment), &request)?;
        Ok(RelayChain::new(plan, [tx.id.uuid(), rx.id.uuid()], terrain))
    });
    Ok(Json(planned.await?))
}

/// Nodes of a deployment.
fn members(planner: &Planner, id: DeploymentId) -> Vec<Arc<PlannedNode>> {
    planner.world.view().plan.nodes_of(id).cloned().collect()
}

fn member(node: &Arc<PlannedNode>) -> Member<'_> {
    Member {
        id: node.id,
        position: node.position,
        station: &node.station,
    }
}

/// Find the best route between two nodes of a deployment
///
/// Dijkstra over all links of the deployment. With a target rate, links below it are excluded; if
/// no path remains, the best one there is comes back with `meets_target: false`.
#[utoipa::path(post, path = "/api/v1/mesh/route", tag = "analysis",
    responses(
        (status = 200, description = "Route, or the reason for none"),
        (status = 404, description = "No such node")))]
pub async fn route(
    State(planner): State<Planner>,
    JsonBody(asked): JsonBody<RouteQuestion>,
) -> Result<Json<MeshRoute>, Problem> {
    let source = planner.node(asked.src_node_id)?;
    let target = planner.node(asked.dst_node_id)?;
    if source.deployment != target.deployment {
        let what = "the nodes belong to two deployments; allowed are two of one";
        return Err(Problem::bad_request(what));
    }
    let deployment = planner.deployment(source.deployment.uuid())?;
    let nodes = members(&planner, deployment.id);
    let request = RouteRequest {
        source: NodeId::new(asked.src_node_id),
        target: NodeId::new(asked.dst_node_id),
        metric: asked.metric,
        target_data_rate_bps: asked.target_data_rate_bps,
    };
    let found = planner.analyse(move |terrain| {
        let inputs = inputs(terrain, &deployment.outline.environment);
        let members: Vec<_> = nodes.iter().map(member).collect();
        let all = mesh(&inputs, &members)?;
        Ok(MeshRoute::from(find(&inputs, &members, &all, &request)?))
    });
    Ok(Json(found.await?))
}

/// Recommend routing protocols for a deployment
#[utoipa::path(post, path = "/api/v1/mesh/recommend-protocol", tag = "analysis",
    responses(
        (status = 200, description = "Protocols, best first, each with reasons and trade-offs"),
        (status = 404, description = "No such deployment")))]
pub async fn recommend(
    State(planner): State<Planner>,
    JsonBody(asked): JsonBody<AdviceQuestion>,
) -> Result<Json<ProtocolAdvice>, Problem> {
    let deployment_id: Uuid = asked.deployment_id;
    let deployment = planner.deployment(deployment_id)?;
    let nodes = members(&planner, deployment.id);
    let advice = planner.analyse(move |terrain| {
        let members: Vec<_> = nodes.iter().map(member).collect();
        Ok(advise(
            &inputs(terrain, &deployment.outline.environment),
            &members,
        )?)
    });
    Ok(Json(ProtocolAdvice {
        deployment_id,
        advice: advice.await?,
    }))
}
