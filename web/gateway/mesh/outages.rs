//! Outages endpoint.

use std::collections::BTreeSet;

use axum::extract::State;
use groundwave_gateway::Snapshot;
use groundwave_gateway::outage::{Outage, OutageId};
use groundwave_http::page::{Page, Paging};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Problem, Query};
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Viewer;
use crate::services::world::World;

/// State of an outage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutageStateView {
    /// Nodes are silent.
    Open,
    /// The relay is back.
    Over,
}

/// Node of an outage.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutageNode {
    /// Node id.
    pub node_id: Uuid,
    /// Name; absent for a node that left the fleet.
    pub name: Option<String>,
    /// `true` while it is not online; at the end of an outage, if it has one of its own since.
    pub is_silent: bool,
}

/// Nodes that went offline together: a relay, and the nodes that were reached through it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct OutageView {
    /// Outage id.
    pub outage_id: Uuid,
    /// State.
    pub state: OutageStateView,
    /// Node through which the others were reached; absent where no node of the group had a link to one
    /// that is online, or to the gateway.
    pub relay: Option<OutageNode>,
    /// Nodes behind the relay, in order of their ids.
    pub behind: Vec<OutageNode>,
    /// Last heartbeat of the relay, else of the first node, RFC 3339.
    pub silent_since: String,
    /// Time at which the group was complete, RFC 3339.
    pub opened_at: String,
    /// End, RFC 3339.
    pub over_at: Option<String>,
}

impl OutageView {
    fn of(view: &Snapshot, id: OutageId, outage: &Outage) -> Self {
        let silent: &BTreeSet<NodeId> = match &outage.end {
            Some(end) => &end.silent,
            None => &outage.silent,
        };
        let node = |node: NodeId| OutageNode {
            node_id: node.uuid(),
            name: view.fleet.nodes.get(&node).map(|node| node.record.name.clone()),
            is_silent: silent.contains(&node),
        };
        Self {
            outage_id: id.uuid(),
            state: match outage.is_open() {
                true => OutageStateView::Open,
                false => OutageStateView::Over,
            },
            relay: outage.relay.map(node),
            behind: outage.behind().map(node).collect(),
            silent_since: rfc3339(outage.since_ns),
            opened_at: rfc3339(outage.opened_ns),
            over_at: outage.end.as_ref().map(|end| rfc3339(end.at_ns)),
        }
    }
}

/// Filter of outages.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OutageQuery {
    /// State
    #[param(schema_with = groundwave_http::document::schema_ref::<OutageStateView>, required = false)]
    pub state: Option<OutageStateView>,
}

/// List outages: nodes that went offline together, by the relay through which they were reached
#[utoipa::path(get, path = "/v1/mesh/outages", tag = "mesh", params(OutageQuery, Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn mesh_outages(
    _: Viewer,
    State(world): State<World>,
    Query(query): Query<OutageQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<OutageView>>, Problem> {
    let view = world.view();
    let is_selected = |outage: &Outage| {
        query.state.is_none_or(|state| (state == OutageStateView::Open) == outage.is_open())
    };
    let all = view.outages.iter().filter(|(_, outage)| is_selected(outage));
    let all = all.map(|(id, outage)| (id.uuid().to_string(), (*id, outage)));
    Ok(Json(paging.of(all, |(id, outage)| OutageView::of(&view, id, outage))?))
}
