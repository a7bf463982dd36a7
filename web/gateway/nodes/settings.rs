//! Desired settings of nodes: pushed as node commands, kept by the node only if it reaches the gateway
//! afterwards.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_gateway::config::{Expected, Put, Versioned};
use groundwave_gateway::fleet::{
    BatmanSettings, CONFIGURE, CommandState, EnqueueCommand, FleetNode, NodeCommand, NodeSettings,
    SettingDifference, command_space,
};
use groundwave_http::json_body::StrictJson;
use groundwave_http::tag::{Tag, if_match_revision, tag};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, id};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::config_objects::{Revision, objects, remove};
use crate::services::world::{World, missing, refused};

/// Time that a node has for fetching pushed settings, s.
const FETCH_S: u32 = 600;

/// The last push of settings.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SettingsPush {
    /// Command id.
    pub command_id: Uuid,
    /// State: `done` once the node kept the settings, `failed` if it refused or undid them.
    pub state: CommandState,
    /// Settings in force, or the reason of a failure.
    pub result: Option<String>,
    /// Time of the last change, RFC 3339.
    pub at: String,
}

impl SettingsPush {
    fn of(command: &NodeCommand, now_ns: u64) -> Self {
        Self {
            command_id: command.id,
            state: command.state_at(now_ns),
            result: command.output.clone(),
            at: rfc3339(command.at_ns),
        }
    }
}

/// Desired settings of a node, and the reported ones.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeSettingsView {
    /// Node id.
    pub node_id: Uuid,
    /// Desired settings of batman-adv.
    pub batman: BatmanSettings,
    /// Time within which the node must reach the gateway after a change, s.
    pub confirm_within_s: u32,
    /// Values in force by name, as the node reported them.
    pub reported: BTreeMap<String, String>,
    /// Settings whose reported value is not the desired one.
    pub divergence: Vec<SettingDifference>,
    /// Last push, as far as it is among the node's commands.
    pub push: Option<SettingsPush>,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

/// The last push of settings to a node.
fn last_push(node: &FleetNode) -> Option<&NodeCommand> {
    node.commands.iter().rev().find(|command| command.kind == CONFIGURE)
}

fn settings_of(world: &World, node: &FleetNode) -> Option<Arc<Versioned<NodeSettings>>> {
    let all = objects::<NodeSettings>(world);
    all.get(NodeSettings::id(node.id)).cloned()
}

fn view_of(
    world: &World,
    node: &FleetNode,
    versioned: &Versioned<NodeSettings>,
) -> NodeSettingsView {
    let settings = &versioned.object;
    let now_ns = world.wall_ns();
    NodeSettingsView {
        node_id: node.id.uuid(),
        batman: settings.batman.clone(),
        confirm_within_s: settings.confirm_within_s,
        reported: node.record.settings.clone(),
        divergence: settings.divergence(&node.record.settings),
        push: last_push(node).map(|command| SettingsPush::of(command, now_ns)),
        revision: Revision::of(versioned),
    }
}

/// Queues the desired settings for a node.
async fn push(
    world: &World,
    node: &FleetNode,
    settings: &NodeSettings,
    by: &str,
) -> Result<(), Problem> {
    let mut args = settings.values();
    let confirm_s = settings.confirm_within_s.to_string();
    args.insert("confirm_within_s".to_owned(), confirm_s);
    let command = EnqueueCommand {
        node: node.id,
        id: id::mint(),
        kind: CONFIGURE.to_owned(),
        args,
        expires_s: FETCH_S,
        by: by.to_owned(),
    };
    world.submit(command).await
}

/// Pushes the desired settings again to a node whose reported ones differ, after a restart for example;
/// not after a push that failed or is under way.
///
/// # Errors
/// When the world takes no commands.
pub async fn push_after_join(world: &World, node: &FleetNode) -> Result<(), Problem> {
    let Some(versioned) = settings_of(world, node) else {
        return Ok(());
    };
    let can = node.record.supported_commands.iter().any(|kind| kind == CONFIGURE);
    let now_ns = world.wall_ns();
    let may_repeat = |last: &NodeCommand| {
        matches!(last.state_at(now_ns), CommandState::Done | CommandState::Expired)
    };
    let was_kept = last_push(node).is_none_or(may_repeat);
    if can && was_kept && !versioned.object.divergence(&node.record.settings).is_empty() {
        push(world, node, &versioned.object, "gateway").await?;
    }
    Ok(())
}

/// Get the desired settings of a node and their divergence
#[utoipa::path(get, path = "/v1/nodes/{node_id}/settings", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "Desired and reported settings",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such node, or none desired")))]
pub async fn node_settings(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<NodeSettingsView>), Problem> {
    let node = world.node(id)?;
    let versioned = settings_of(&world, &node).ok_or_else(|| missing("settings of a node", id))?;
    Ok((tag(versioned.revision), Json(view_of(&world, &node, &versioned))))
}

/// Desired settings.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewNodeSettings {
    /// Settings of batman-adv; absent ones stay as they are.
    pub batman: BatmanSettings,
    /// Time within which the node must reach the gateway after the change, s; else it undoes it.
    #[serde(default = "minute")]
    #[schemars(range(min = 10, max = 600))]
    pub confirm_within_s: u32,
}

fn minute() -> u32 {
    60
}

/// Set the desired settings of a node and push them
///
/// The node gets them with the answer to its next heartbeat, applies them, and undoes them unless a
/// further heartbeat is acknowledged in time.
#[utoipa::path(put, path = "/v1/nodes/{node_id}/settings", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"),
        ("if-match" = Option<String>, Header, description = "Revision that the change applies to")),
    responses((status = 200, description = "Desired and reported settings",
            headers(("etag" = String, description = "New revision"))),
        (status = 404, description = "No such approved node"),
        (status = 409, description = "Too many queued commands"),
        (status = 412, description = "Changed since that revision")))]
pub async fn node_settings_put(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
    StrictJson(new): StrictJson<NewNodeSettings>,
) -> Result<(Tag, Json<NodeSettingsView>), Problem> {
    let node = world.node(id)?;
    // Settings that could not be pushed are not stored.
    command_space(&node.commands, world.wall_ns()).map_err(refused)?;
    let command = Put {
        id: NodeSettings::id(node.id),
        object: NodeSettings {
            node_id: node.id,
            batman: new.batman,
            confirm_within_s: new.confirm_within_s,
        },
        expected: match if_match_revision(&headers)? {
            Some(revision) => Expected::Revision(revision),
            None => Expected::Any,
        },
    };
    let versioned = world.submit(command).await?;
    push(&world, &node, &versioned.object, &caller.username).await?;
    let node = world.node(id)?;
    Ok((tag(versioned.revision), Json(view_of(&world, &node, &versioned))))
}

/// Push the desired settings of a node again
#[utoipa::path(post, path = "/v1/nodes/{node_id}/settings/push", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 202, description = "Queued for the next heartbeat"),
        (status = 404, description = "No such approved node, or no settings desired"),
        (status = 409, description = "Too many queued commands")))]
pub async fn node_settings_push(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(StatusCode, Json<NodeSettingsView>), Problem> {
    let node = world.node(id)?;
    let versioned = settings_of(&world, &node).ok_or_else(|| missing("settings of a node", id))?;
    push(&world, &node, &versioned.object, &caller.username).await?;
    let node = world.node(id)?;
    Ok((StatusCode::ACCEPTED, Json(view_of(&world, &node, &versioned))))
}

/// Forget the desired settings of a node; those in force stay
#[utoipa::path(delete, path = "/v1/nodes/{node_id}/settings", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"),
        ("if-match" = Option<String>, Header, description = "Revision that the removal applies to")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such node, or none desired"),
        (status = 412, description = "Changed since that revision")))]
pub async fn node_settings_delete(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    remove::<NodeSettings>(&world, id, &headers).await
}
