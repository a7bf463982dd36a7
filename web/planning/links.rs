//! Links over HTTP.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::{Json, JsonBody, Problem};
use groundwave_model::radio::Environment;
use groundwave_model::radio::budget::Workspace;
use groundwave_model::terrain::Terrain;
use groundwave_simulation::deployment::PlannedNode;
use groundwave_simulation::link::{Inputs, judge, percentiles, trace};
use uuid::Uuid;

use super::Planner;
use super::wire::PACKET_BYTES;
use super::wire::link::{LinkAnalysis, LinkQuestion, SAMPLES_MIN};
use super::wire::terrain::{SAMPLES_MAX, TerrainProfile};

/// Compute the link budget between two nodes, in both directions
#[utoipa::path(post, path = "/api/v1/links/analyze", tag = "analysis",
    responses(
        (status = 200, description = "The profile and the link"),
        (status = 400, description = "One node twice, or nodes of two deployments"),
        (status = 404, description = "No such node")))]
pub async fn analyze(
    State(planner): State<Planner>,
    JsonBody(asked): JsonBody<LinkQuestion>,
) -> Result<Json<LinkAnalysis>, Problem> {
    let (tx, rx) = ends(&planner, asked.tx_node_id, asked.rx_node_id)?;
    let environment = planner.deployment(tx.deployment.uuid())?.outline.environment.clone();
    let samples = match asked.is_per_post {
        true => None,
        false => Some(asked.samples.clamp(SAMPLES_MIN, SAMPLES_MAX) as usize),
    };
    let found = planner.analyse(move |terrain| link(terrain, &environment, &tx, &rx, samples));
    Ok(Json(found.await?))
}

/// The two nodes of a request, which must differ and belong to one deployment.
///
/// # Errors
/// 404 for an unknown node, 400 for the same node twice and for nodes of two deployments.
pub(super) fn ends(
    planner: &Planner,
    tx: Uuid,
    rx: Uuid,
) -> Result<(Arc<PlannedNode>, Arc<PlannedNode>), Problem> {
    let ends = (planner.node(tx)?, planner.node(rx)?);
    if tx == rx {
        let what = "both ends are one node; allowed are two different nodes";
        return Err(Problem::bad_request(what));
    }
    one_deployment(&ends.0, &ends.1)?;
    Ok(ends)
}

/// Refuses nodes of two deployments: each has an environment of its own.
///
/// # Errors
/// 400 for such nodes.
pub(super) fn one_deployment(one: &PlannedNode, other: &PlannedNode) -> Result<(), Problem> {
    if one.deployment == other.deployment {
        return Ok(());
    }
    let what = "the nodes belong to two deployments; allowed are nodes of one";
    Err(Problem::bad_request(what))
}

fn link(
    terrain: &dyn Terrain,
    environment: &Environment,
    tx: &PlannedNode,
    rx: &PlannedNode,
    samples: Option<usize>,
) -> Result<LinkAnalysis, Problem> {
    let inputs = Inputs { terrain, environment, packet_bytes: PACKET_BYTES, spacing_m: None };
    let profile = trace(&inputs, tx.position, rx.position, samples);
    let (one, other) = ((tx.position, &tx.station), (rx.position, &rx.station));
    let mut workspace = Workspace::default();
    let (result, reverse) = judge(&inputs, &profile, one, other, &mut workspace)?;
    let percentiles = percentiles(&result, &reverse);
    let named = |mut result: groundwave_model::radio::LinkResult, from: Uuid, to: Uuid| {
        result.tx_node_id = Some(from.to_string());
        result.rx_node_id = Some(to.to_string());
        result
    };
    let (tx_node_id, rx_node_id) = (tx.id.uuid(), rx.id.uuid());
    Ok(LinkAnalysis {
        tx_node_id,
        rx_node_id,
        profile: TerrainProfile::new(&profile, terrain),
        terrain_known: profile.ground.is_enough(),
        result: named(result, tx_node_id, rx_node_id),
        reverse: named(reverse, rx_node_id, tx_node_id),
        percentiles: percentiles.map(Into::into).to_vec(),
        assumptions: environment
            .assumptions(Some((tx.station.radio.frequency_mhz, profile.distance_m)))
            .over([&tx.station, &rx.station], &profile),
    })
}
