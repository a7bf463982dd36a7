//! Roll-out endpoints.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use groundwave_engine::Id;
use groundwave_gateway::automation::TimeWindow;
use groundwave_gateway::config::Versioned;
use groundwave_gateway::fleet::FleetNode;
use groundwave_gateway::rollout::{
    CancelRollout, FIRMWARE, FirmwareImage, NodeProgress, RetryRollout, Rollout, RolloutNode,
    RolloutStage, RolloutState,
};
use groundwave_http::json_body::{OptionalJson, StrictJson};
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::tag::Tag;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_protocol::NodeState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::config_objects::{Revision, Shown, create, fetch, list, remove};
use crate::services::world::{World, refused};

/// Node of a roll-out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RolloutNodeView {
    /// Node id.
    pub node_id: Uuid,
    /// Version that it reported before.
    pub before: Option<String>,
    /// State.
    pub state: NodeRolloutState,
    /// Time of its command, RFC 3339, while one goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// Reason of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Reason why it did not run the image; it stays when the node is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// State of a node in a roll-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeRolloutState {
    /// The stage of the node has not begun.
    Waiting,
    /// Commanded to install the image.
    Installing,
    /// Reports the version; its heartbeats are watched.
    Watched,
    /// Runs the image.
    Healthy,
    /// Does not run the image.
    Failed,
    /// Commanded to install the image before.
    Reverting,
    /// Runs the image before.
    Reverted,
    /// Could not be taken back.
    Stuck,
}

impl RolloutNodeView {
    fn of(one: &RolloutNode) -> Self {
        use NodeRolloutState as State;
        let (state, since_ns, reason) = match &one.progress {
            NodeProgress::Waiting => (State::Waiting, None, None),
            NodeProgress::Installing { since_ns } => (State::Installing, Some(*since_ns), None),
            NodeProgress::Watched { since_ns, .. } => (State::Watched, Some(*since_ns), None),
            NodeProgress::Healthy => (State::Healthy, None, None),
            NodeProgress::Failed { reason } => (State::Failed, None, Some(reason)),
            NodeProgress::Reverting { since_ns } => (State::Reverting, Some(*since_ns), None),
            NodeProgress::Reverted => (State::Reverted, None, None),
            NodeProgress::Stuck { reason } => (State::Stuck, None, Some(reason)),
        };
        Self {
            node_id: one.node.uuid(),
            before: one.before.clone(),
            state,
            since: since_ns.map(rfc3339),
            reason: reason.cloned(),
            failure: one.failure.clone(),
        }
    }
}

/// Roll-out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RolloutView {
    /// Roll-out id.
    pub rollout_id: Uuid,
    /// Image id.
    pub image_id: Uuid,
    /// Image that nodes are taken back to.
    pub rollback_image_id: Option<Uuid>,
    /// State.
    pub state: RolloutState,
    /// Stages.
    pub stages: Vec<RolloutStage>,
    /// Stage that it is in, from 0.
    pub stage: u32,
    /// Share of failed nodes above which it stops, %.
    pub failures_max_percent: u8,
    /// Time for a node to report the version and be healthy, s.
    pub install_within_s: u32,
    /// Time of heartbeats with the version after which a node is healthy, s.
    pub healthy_s: u32,
    /// Times at which nodes may begin to install; always if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<TimeWindow>,
    /// Number of retries so far.
    pub retries: u32,
    /// Number of nodes that did not run the image, also of those that were taken back.
    pub failed: usize,
    /// Account that began it, or retried it last.
    pub by: String,
    /// Nodes in the order in which they get the image.
    pub nodes: Vec<RolloutNodeView>,
    /// Revision.
    #[serde(flatten)]
    pub revision: Revision,
}

impl Shown for RolloutView {
    type Object = Rollout;

    fn of(id: Uuid, versioned: &Versioned<Rollout>) -> Self {
        let rollout = &versioned.object;
        let nodes = rollout.nodes.iter().map(RolloutNodeView::of);
        Self {
            rollout_id: id,
            image_id: rollout.image.uuid(),
            rollback_image_id: rollout.rollback_image.map(Id::uuid),
            state: rollout.state,
            stages: rollout.stages.clone(),
            stage: rollout.stage,
            failures_max_percent: rollout.failures_max_percent,
            install_within_s: rollout.install_within_s,
            healthy_s: rollout.healthy_s,
            window: rollout.window.clone(),
            retries: rollout.retries,
            failed: rollout.failed(),
            by: rollout.by.clone(),
            nodes: nodes.collect(),
            revision: Revision::of(versioned),
        }
    }
}

/// List roll-outs
#[utoipa::path(get, path = "/v1/firmware/rollouts", tag = "nodes", params(Paging),
    responses((status = 200, description = "Oldest first")))]
pub async fn rollouts(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<RolloutView>>, Problem> {
    list(&world, &paging, |_| true)
}

/// New roll-out.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRollout {
    /// Image.
    pub image_id: Uuid,
    /// Image that nodes are taken back to when too many fail; without one the roll-out stops.
    #[serde(default)]
    pub rollback_image_id: Option<Uuid>,
    /// Nodes with this tag get the image; all that can install it if absent.
    #[serde(default)]
    #[schemars(length(min = 1, max = 64))]
    pub tag: Option<String>,
    /// Stages, by default one node, 10 % and all.
    #[serde(default = "usual_stages")]
    #[schemars(length(min = 1, max = 16))]
    pub stages: Vec<RolloutStage>,
    /// Share of failed nodes among the begun ones above which it stops, %.
    #[serde(default = "usual_failures")]
    #[schemars(range(min = 0, max = 99))]
    pub failures_max_percent: u8,
    /// Time for a node to report the version and be healthy, s.
    #[serde(default = "half_an_hour")]
    #[schemars(range(min = 60, max = 86_400))]
    pub install_within_s: u32,
    /// Time of heartbeats with the version after which a node is healthy, s.
    #[serde(default = "five_minutes")]
    #[schemars(range(min = 0, max = 86_400))]
    pub healthy_s: u32,
    /// Times at which nodes may begin to install; always if absent.
    #[serde(default)]
    pub window: Option<TimeWindow>,
}

fn usual_stages() -> Vec<RolloutStage> {
    vec![RolloutStage::Nodes(1), RolloutStage::Percent(10), RolloutStage::Percent(100)]
}

fn usual_failures() -> u8 {
    10
}

fn half_an_hour() -> u32 {
    1_800
}

fn five_minutes() -> u32 {
    300
}

/// Nodes with a tag, in id order.
struct TaggedNodes {
    /// Those that can install the image.
    nodes: Vec<Arc<FleetNode>>,
    /// Those that cannot, with the reason.
    others: Vec<(Arc<FleetNode>, &'static str)>,
}

fn tagged(world: &World, image: &FirmwareImage, tag: Option<&String>) -> TaggedNodes {
    let view = world.view();
    let nodes = view
        .fleet
        .nodes
        .values()
        .filter(|node| tag.is_none_or(|tag| node.record.tags.contains(tag)));
    let mut tagged = TaggedNodes { nodes: Vec::new(), others: Vec::new() };
    for node in nodes.cloned() {
        let installs = node.record.supported_commands.iter().any(|kind| kind == FIRMWARE);
        match (installs, image.fits(&node.record)) {
            (true, true) => tagged.nodes.push(node),
            (false, _) => tagged.others.push((node, "its agent does not install firmware")),
            (true, false) => tagged.others.push((node, "its board is not that of the image")),
        }
    }
    tagged
}

/// Image of a new roll-out.
///
/// # Errors
/// 422 without one.
fn image_of(world: &World, new: &NewRollout) -> Result<FirmwareImage, Problem> {
    let view = world.view();
    let image = view.config.firmware_images.get(Id::new(new.image_id));
    image.map(|image| image.object.clone()).ok_or_else(|| {
        let message = "invalid image: allowed the id of an existing firmware image";
        Problem::field("/image_id", FieldCode::NotAllowed, message)
    })
}

/// Refuses a roll-out that cannot begin, whether it is to begin or not.
///
/// # Errors
/// 422 with the value that is not allowed.
fn check_plan(world: &World, rollout: &Rollout, image: &FirmwareImage) -> Result<(), Problem> {
    let view = world.view();
    let before = rollout.rollback_image.map(|id| {
        let before = view.config.firmware_images.get(id);
        before.map(|before| &before.object).ok_or_else(|| {
            let message = "invalid image: allowed the id of an existing firmware image";
            Problem::field("/rollback_image_id", FieldCode::NotAllowed, message)
        })
    });
    rollout.check_plan(image, before.transpose()?).map_err(refused)
}

impl NewRollout {
    /// The roll-out of these nodes.
    ///
    /// # Errors
    /// 422 without nodes.
    fn plan(self, nodes: &[Arc<FleetNode>], by: &str) -> Result<Rollout, Problem> {
        if nodes.is_empty() {
            let (pointer, message) = match self.tag {
                Some(_) => ("/tag", "invalid tag: no node that can install the image has it"),
                None => ("/image_id", "invalid image: no node can install it"),
            };
            return Err(Problem::field(pointer, FieldCode::NotAllowed, message));
        }
        let version = |node: &FleetNode| node.record.firmware.get(FIRMWARE).cloned();
        Ok(Rollout {
            image: Id::new(self.image_id),
            rollback_image: self.rollback_image_id.map(Id::new),
            stages: self.stages,
            failures_max_percent: self.failures_max_percent,
            install_within_s: self.install_within_s,
            healthy_s: self.healthy_s,
            window: self.window,
            retries: 0,
            has_reasons: true,
            by: by.to_owned(),
            state: RolloutState::Running,
            stage: 0,
            nodes: nodes.iter().map(|node| RolloutNode::new(node.id, version(node))).collect(),
        })
    }
}

/// Begin a roll-out
///
/// Each stage gets the image once the nodes of the one before are healthy: online with its version for
/// `healthy_s`.
#[utoipa::path(post, path = "/v1/firmware/rollouts", tag = "nodes",
    responses((status = 201, description = "The roll-out",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Another roll-out goes on with some of the nodes")))]
pub async fn rollout_create(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(new): StrictJson<NewRollout>,
) -> Result<(StatusCode, Tag, Json<RolloutView>), Problem> {
    let image = image_of(&world, &new)?;
    let nodes = tagged(&world, &image, new.tag.as_ref()).nodes;
    let rollout = new.plan(&nodes, &caller.username)?;
    check_plan(&world, &rollout, &image)?;
    create(&world, rollout).await
}

/// Node of a planned roll-out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PlannedNodeView {
    /// Node id.
    pub node_id: Uuid,
    /// Name.
    pub name: String,
    /// Version that it reports.
    pub before: Option<String>,
    /// Liveness.
    pub liveness: NodeState,
    /// Stage in which it gets the image, from 0; absent if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<usize>,
    /// Reason why it does not get the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Nodes of a planned roll-out.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RolloutPlan {
    /// Number of nodes of each stage and those before it.
    pub stages: Vec<usize>,
    /// Nodes in the order in which they get the image, then those that do not.
    pub nodes: Vec<PlannedNodeView>,
}

/// List the nodes of a roll-out without beginning it
#[utoipa::path(post, path = "/v1/firmware/rollouts/dry-run", tag = "nodes",
    responses((status = 200, description = "Nodes by stages, and those left out with reasons")))]
pub async fn rollout_dry_run(
    Admin(caller): Admin,
    State(world): State<World>,
    StrictJson(new): StrictJson<NewRollout>,
) -> Result<Json<RolloutPlan>, Problem> {
    let image = image_of(&world, &new)?;
    let TaggedNodes { nodes, others } = tagged(&world, &image, new.tag.as_ref());
    let rollout = new.plan(&nodes, &caller.username)?;
    check_plan(&world, &rollout, &image)?;
    let counts: Vec<_> =
        rollout.stages.iter().map(|stage| stage.count(rollout.nodes.len())).collect();
    let planned =
        |node: &Arc<FleetNode>, stage: Option<usize>, reason: Option<&str>| PlannedNodeView {
            node_id: node.id.uuid(),
            name: node.record.name.clone(),
            before: node.record.firmware.get(FIRMWARE).cloned(),
            liveness: node.liveness.state,
            stage,
            reason: reason.map(str::to_owned),
        };
    let stage_of = |at: usize| counts.iter().position(|count| at < *count);
    let in_stages = nodes.iter().enumerate().map(|(at, node)| match stage_of(at) {
        Some(stage) => planned(node, Some(stage), None),
        None => planned(node, None, Some("the last stage does not reach it")),
    });
    let without = others.iter().map(|(node, reason)| planned(node, None, Some(reason)));
    let nodes = in_stages.chain(without).collect();
    Ok(Json(RolloutPlan { stages: counts, nodes }))
}

/// Get a roll-out
#[utoipa::path(get, path = "/v1/firmware/rollouts/{rollout_id}", tag = "nodes",
    params(("rollout_id" = Uuid, Path, description = "Roll-out id")),
    responses((status = 200, description = "The roll-out and its nodes",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such roll-out")))]
pub async fn rollout_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RolloutView>), Problem> {
    fetch(&world, id)
}

/// End of a roll-out.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RolloutEnd {
    /// Take its nodes back to the image before; by default they stay as they are.
    #[serde(default)]
    pub roll_back: bool,
}

/// Cancel a roll-out, or take its nodes back
#[utoipa::path(post, path = "/v1/firmware/rollouts/{rollout_id}/cancel", tag = "nodes",
    params(("rollout_id" = Uuid, Path, description = "Roll-out id")),
    responses((status = 200, description = "The roll-out and its nodes",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such roll-out"),
        (status = 409, description = "It is over, or has no image to roll back to")))]
pub async fn rollout_cancel(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    OptionalJson(end): OptionalJson<RolloutEnd>,
) -> Result<(Tag, Json<RolloutView>), Problem> {
    let command = CancelRollout { rollout: Id::new(id), roll_back: end.roll_back };
    world.submit(command).await?;
    fetch(&world, id)
}

/// Retry a roll-out that is over, on the nodes that do not run its image
#[utoipa::path(post, path = "/v1/firmware/rollouts/{rollout_id}/retry", tag = "nodes",
    params(("rollout_id" = Uuid, Path, description = "Roll-out id")),
    responses((status = 200, description = "The roll-out and its nodes",
            headers(("etag" = String, description = "Revision"))),
        (status = 404, description = "No such roll-out"),
        (status = 409, description = "It goes on, or no node can be retried")))]
pub async fn rollout_retry(
    Admin(caller): Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
) -> Result<(Tag, Json<RolloutView>), Problem> {
    let command = RetryRollout { rollout: Id::new(id), by: caller.username.clone() };
    world.submit(command).await?;
    fetch(&world, id)
}

/// Remove a roll-out that is over
#[utoipa::path(delete, path = "/v1/firmware/rollouts/{rollout_id}", tag = "nodes",
    params(("rollout_id" = Uuid, Path, description = "Roll-out id"),
        ("if-match" = Option<String>, Header, description = "Revision that the removal applies to")),
    responses((status = 204, description = "Removed"),
        (status = 404, description = "No such roll-out"),
        (status = 409, description = "It goes on"),
        (status = 412, description = "Changed since that revision")))]
pub async fn rollout_delete(
    _: Admin,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    remove::<Rollout>(&world, id, &headers).await
}
