//! Topology and health of the mesh.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use futures_util::stream::unfold;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::fleet::ScoreComponent;
use groundwave_http::show::typed;
use groundwave_http::tag::{is_known, tag};
use groundwave_http::{Json, Problem, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::task::block_in_place;
use uuid::Uuid;

use crate::access::Viewer;
use crate::mesh::graph::{Drawing, NetworkGraph, drawing, geojson, revision};
use crate::mesh::topology_history::{graph_at, past_ms};
use crate::nodes::view::Origin;
use crate::state::Gateway;

/// Format of the topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TopologyFormat {
    /// NetJSON NetworkGraph.
    #[default]
    Netjson,
    /// GeoJSON: nodes with a location as points, links between them as lines.
    Geojson,
}

/// Topology query.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TopologyQuestion {
    /// `netjson` if absent
    #[serde(default)]
    #[param(inline, required = false)]
    pub format: TopologyFormat,
    /// Only of this origin; `live` if absent
    #[param(value_type = Option<Origin>)]
    pub origin: Option<Origin>,
    /// At this time, RFC 3339; now if absent. Snapshots are kept a minute apart for a day, an hour
    /// apart for a month, 256 MiB of them at most; the last one before this time answers
    #[param(required = false)]
    pub at: Option<String>,
}

/// Pieces waiting to be sent: a bound on how far the writer runs ahead of a slow reader.
const WAITING: usize = 16;

/// The graph as a response, sent while it is written.
fn netjson(drawing: Drawing) -> Response {
    let (sender, receiver) = tokio::sync::mpsc::channel(WAITING);
    tokio::task::spawn_blocking(move || {
        for piece in drawing.pieces() {
            // The client closed the connection.
            if sender.blocking_send(Ok::<_, Infallible>(piece)).is_err() {
                break;
            }
        }
    });
    // Fused: a layer that compresses responses may poll once more.
    let pieces =
        unfold(receiver, |mut receiver| async { Some((receiver.recv().await?, receiver)) }).fuse();
    typed("application/json", Body::from_stream(pieces))
}

fn on_map(graph: &NetworkGraph) -> Response {
    typed("application/geo+json", geojson(graph).to_string())
}

/// Get the mesh topology, measured beside predicted
#[utoipa::path(get, path = "/v1/mesh/topology", tag = "mesh", params(TopologyQuestion,
        ("if-none-match" = Option<String>, Header, description = "ETag of the caller's copy")),
    responses((status = 200, description = "NetJSON NetworkGraph, or GeoJSON", content((NetworkGraph = "application/json"), (serde_json::Value = "application/geo+json")),
            headers(("etag" = String, description = "Revision"))),
        (status = 304, description = "Not modified")))]
pub async fn mesh_topology(
    _: Viewer,
    State(gateway): State<Gateway>,
    headers: HeaderMap,
    Query(question): Query<TopologyQuestion>,
) -> Result<Response, Problem> {
    // Computed or replayed data is not mixed with live data.
    let live = !matches!(question.origin, Some(Origin::Replay | Origin::Sim));
    let view = match live {
        true => gateway.world.view(),
        false => Arc::default(),
    };
    let now_ns = wall_ns();
    let at_ms = question.at.as_deref().map(|at| past_ms(at, now_ns)).transpose()?;
    let past = match at_ms.filter(|_| live) {
        Some(at_ms) => Some(graph_at(&gateway, at_ms).await?),
        None => None,
    };
    let revision = past.as_ref().map_or_else(|| revision(&view), |graph| graph.revision.clone());
    if is_known(&headers, &revision) {
        return Ok((tag(&revision), StatusCode::NOT_MODIFIED).into_response());
    }
    let answer = match (past, question.format) {
        (Some(graph), TopologyFormat::Netjson) => Json(graph).into_response(),
        (Some(graph), TopologyFormat::Geojson) => on_map(&graph),
        (None, format) => {
            let drawing = drawing(&view, revision.clone(), now_ns);
            match format {
                TopologyFormat::Netjson => netjson(drawing),
                TopologyFormat::Geojson => block_in_place(|| on_map(&drawing.graph())),
            }
        }
    };
    Ok((tag(&revision), answer).into_response())
}

/// Health of the mesh.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct MeshHealth {
    /// 0 to 100.
    pub score: f64,
    /// `A` to `F`.
    pub grade: String,
    /// Components of the score: the sum of weights times values.
    pub components: Vec<ScoreComponent>,
    /// Connected components of the mesh.
    pub partitions: usize,
    /// Nodes without which a part would be cut off.
    pub articulation_nodes: Vec<Uuid>,
}

/// Get the mesh health score
#[utoipa::path(get, path = "/v1/mesh/health", tag = "mesh",
    responses((status = 200, description = "Score and components")))]
pub async fn mesh_health(_: Viewer, State(gateway): State<Gateway>) -> Json<MeshHealth> {
    let view = gateway.world.view();
    let score = view.fleet.mesh_score();
    Json(MeshHealth {
        score: score.score,
        grade: score.grade.to_owned(),
        components: score.components.clone(),
        partitions: score.partitions,
        articulation_nodes: score.articulation_nodes.iter().map(|id| id.uuid()).collect(),
    })
}
