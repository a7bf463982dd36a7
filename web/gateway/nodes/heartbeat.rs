//! Heartbeats and node commands.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::fleet::{
    CommandQueue, CommandState, EnqueueCommand, FinishCommand, NodeCommand, OUTPUT_BYTES_MAX,
    ReadingRefusal, RecordHeartbeat, RecordJoinReport, ReportClone,
};
use groundwave_gateway::peripheral::{DEVICES_MAX, RecordScan};
use groundwave_http::json_body::StrictJson;
use groundwave_http::lenient::LenientJson;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, id};
use groundwave_protocol::heartbeat::REJECTED_MAX;
use groundwave_protocol::{Heartbeat, HeartbeatAck, RejectedEntry};
use groundwave_sensor::ScannedDevice;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{ClientAddress, NodeOrOperator, Operator, Viewer};
use crate::nodes::lenient::{
    JoinReport, NO_HOSTNAME, read_heartbeat, read_join_report, rejected_entries,
};
use crate::nodes::settings::push_after_join;
use crate::nodes::view::Node;
use crate::services::history::takes_readings;
use crate::services::node_commands;
use crate::services::peripherals::PeripheralHost;
use crate::services::vault::Vault;
use crate::services::world::World;
use crate::settings::Settings;
use crate::state::{Gateway, Services};

/// Send a heartbeat
///
/// May carry telemetry samples; one that does is refused while they could not be kept. Unknown fields
/// are ignored. An entry that does not fit is left out and listed in `rejected`; only the identity of
/// the node (`mac`, `hostname`, `boot_id`, `seq`) is required.
#[utoipa::path(post, path = "/v1/nodes/heartbeat", tag = "nodes",
    responses((status = 200, description = "Recorded on disk"),
        (status = 404, description = "No such approved node"),
        (status = 409, description = "Older than the last heartbeat"),
        (status = 507, description = "The disk of the history is full; nothing was recorded")))]
pub async fn heartbeat(
    caller: NodeOrOperator,
    State(gateway): State<Gateway>,
    client: ClientAddress,
    request: LenientJson<Heartbeat>,
) -> Result<Json<HeartbeatAck>, Problem> {
    let Services { world, settings, metrics, limits, peripherals, history, vault, .. } = &*gateway;
    let (mut heartbeat, mut rejections) = read_heartbeat(request.body, request.duplicates)?;
    let node = caller.node(heartbeat.node_id)?;
    if heartbeat.hostname == NO_HOSTNAME
        && let Some(member) = world.view().fleet.nodes.get(&node)
        && let Some(hostname) = &member.record.hostname
    {
        heartbeat.hostname.clone_from(hostname);
    }
    limits.heartbeats.allow(&node, "heartbeat rate limit exceeded")?;
    let sent_at = heartbeat.sent_at.as_deref().map(|text| time::read("/sent_at", text));
    let sent_at = sent_at.transpose().unwrap_or_else(|problem| {
        rejections.add("/sent_at".to_owned(), &problem.detail);
        None
    });
    let samples = heartbeat.metrics.len() as u64;
    if samples > 0 {
        takes_readings(history)?;
    }
    let command = RecordHeartbeat {
        node,
        heartbeat,
        source_ip: client.0,
        now_ns: world.now_ns(),
        sent_ms: sent_at.and_then(|sent_at| u64::try_from(sent_at.as_millisecond()).ok()),
    };
    let report = ReportClone {
        node,
        boot_id: command.heartbeat.boot_id.clone(),
        seq: command.heartbeat.seq,
        uptime_s: command.heartbeat.uptime_s,
        hostname: command.heartbeat.hostname.clone(),
        source_ip: client.0,
    };
    let outcome = match world.submit(command).await {
        Err(problem) if problem.status == StatusCode::CONFLICT.as_u16() => {
            // One of the present boot that comes once more is refused here.
            let _ = world.submit(report).await;
            return Err(problem);
        }
        outcome => outcome?,
    };
    let refused = outcome.refused.len() as u64;
    let is_reading = |(pointer, _): &&(String, String)| pointer.starts_with("/metrics");
    let unread = rejections.0.iter().filter(is_reading).count() as u64;
    metrics.samples.inc_by(samples - refused);
    metrics.samples_rejected.inc_by(refused + unread);
    let rejected_count = rejections.0.len() + outcome.refused.len();
    let mut rejected = rejected_entries(rejections);
    rejected.extend(outcome.refused.iter().map(rejected_reading));
    rejected.truncate(REJECTED_MAX);
    let mut commands = Vec::new();
    for command in &outcome.commands {
        commands.extend(node_commands::dispatched(world, vault, node, command).await);
    }
    Ok(Json(HeartbeatAck {
        node_id: node.uuid(),
        state: outcome.state,
        overlay_ip: outcome.overlay_ip,
        server_time: rfc3339(wall_ns()),
        next_heartbeat_s: settings.heartbeat.as_secs_f64(),
        config_revision: outcome.revision,
        sensors_revision: peripherals.revision(&world.view(), Some(node)),
        commands,
        rejected_count,
        rejected,
    }))
}

fn rejected_reading((name, refusal): &(String, ReadingRefusal)) -> RejectedEntry {
    RejectedEntry {
        pointer: format!("/metrics/{name}"),
        status: StatusCode::TOO_MANY_REQUESTS.as_u16(),
        message: refusal.to_string(),
    }
}

/// Configuration of a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeConfig {
    /// Heartbeat period, s.
    pub heartbeat_period_s: f64,
    /// Telemetry interval, s.
    pub telemetry_interval_s: f64,
    /// Revision of the sensor templates.
    pub templates_revision: u64,
}

/// Node with its configuration.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Joined {
    /// Node.
    #[serde(flatten)]
    pub node: Node,
    /// Configuration.
    pub config: NodeConfig,
    /// Number of entries of the report that were not recorded.
    #[serde(default)]
    pub rejected_count: usize,
    /// Entries of the report that were not recorded, the first 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedEntry>,
}

/// Report board, firmware and supported commands of a node
#[utoipa::path(post, path = "/v1/nodes/join", tag = "nodes",
    responses((status = 200, description = "Node and its configuration"),
        (status = 404, description = "No such approved node")))]
pub async fn node_join(
    caller: NodeOrOperator,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(peripherals): State<Arc<PeripheralHost>>,
    request: LenientJson<JoinReport>,
) -> Result<Json<Joined>, Problem> {
    let (report, rejections) = read_join_report(request.body, request.duplicates)?;
    let node = caller.node(report.node_id)?;
    let command = RecordJoinReport {
        node,
        board: report.board,
        firmware: report.firmware,
        supported_commands: report.supported_commands,
        settings: report.settings,
    };
    world.submit(command).await?;
    let joined = world.node(node.uuid())?;
    if let Err(problem) = push_after_join(&world, &joined).await {
        tracing::warn!("settings of {} not pushed: {}", joined.record.name, problem.detail);
    }
    let view = world.view();
    Ok(Json(Joined {
        node: Node::of(&view, &joined, wall_ns()),
        config: NodeConfig {
            heartbeat_period_s: settings.heartbeat.as_secs_f64(),
            telemetry_interval_s: settings.telemetry.as_secs_f64(),
            templates_revision: peripherals.revision(&view, Some(node)).unwrap_or_default(),
        },
        rejected_count: rejections.0.len(),
        rejected: rejected_entries(rejections),
    }))
}

/// New command for a node.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOrder {
    /// Kind, one of the node's `supported_commands`.
    #[schemars(length(min = 1, max = 64))]
    pub kind: String,
    /// Arguments.
    #[serde(default)]
    #[schemars(extend("maxProperties" = 32))]
    pub args: BTreeMap<String, String>,
    /// Lifetime, s.
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 86_400))]
    pub expires_s: u32,
}

fn minute() -> u32 {
    60
}

/// Command for a node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct OrderView {
    /// Command id.
    pub command_id: Uuid,
    /// Kind.
    pub kind: String,
    /// State.
    pub state: CommandState,
    /// Output of the node.
    pub result: Option<String>,
    /// Account that enqueued it.
    pub by: String,
    /// Time of the last change, RFC 3339.
    pub at: String,
}

impl OrderView {
    fn of(command: &NodeCommand, now_ns: u64) -> Self {
        Self {
            command_id: command.id,
            kind: command.kind.clone(),
            state: command.state_at(now_ns),
            result: command.output.clone(),
            by: command.by.clone(),
            at: rfc3339(command.at_ns),
        }
    }
}

/// Enqueue a command for a node; dispatched with its next heartbeat
#[utoipa::path(post, path = "/v1/nodes/{node_id}/commands", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 202, description = "Queued for the next heartbeat"),
        (status = 404, description = "No such approved node"),
        (status = 409, description = "Too many queued commands")))]
pub async fn node_command_create(
    Operator(caller): Operator,
    State(world): State<World>,
    State(vault): State<Vault>,
    Path(node_id): Path<Uuid>,
    StrictJson(new): StrictJson<NewOrder>,
) -> Result<(StatusCode, Json<OrderView>), Problem> {
    let node = world.node(node_id)?.id;
    if !(1..=86_400).contains(&new.expires_s) {
        let message = format!("invalid lifetime: found {}, allowed 1 to 86400", new.expires_s);
        return Err(Problem::field("/expires_s", FieldCode::NotAllowed, message));
    }
    if let Some(reason) = node_commands::refused(&new.kind) {
        return Err(Problem::field("/kind", FieldCode::NotAllowed, reason));
    }
    let long = |text: &String| text.chars().count() > 256;
    if new.args.len() > 32 || new.args.iter().any(|(key, value)| long(key) || long(value)) {
        let message = "too long: allowed 0 to 32 entries of up to 256 characters";
        return Err(Problem::field("/args", FieldCode::Length, message));
    }
    let command_id = id::mint();
    let command = EnqueueCommand {
        node,
        id: command_id,
        kind: new.kind,
        args: node_commands::sealed_args(new.args, &vault)?,
        expires_s: new.expires_s,
        by: caller.username.clone(),
    };
    world.submit(command).await?;
    let receiver = world.node(node_id)?;
    let command = receiver
        .commands
        .iter()
        .find(|command| command.id == command_id)
        .ok_or_else(|| Problem::internal("the enqueued command is missing"))?;
    let view = OrderView::of(command, world.wall_ns());
    Ok((StatusCode::ACCEPTED, Json(view)))
}

/// List commands of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/commands", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"), Paging),
    responses((status = 200, description = "Oldest first"),
        (status = 404, description = "No such node")))]
pub async fn node_commands(
    _: Viewer,
    State(world): State<World>,
    Path(node_id): Path<Uuid>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<OrderView>>, Problem> {
    let node = world.node(node_id)?;
    let all = node.commands.iter().map(|command| (command.id.to_string(), command));
    let now_ns = world.wall_ns();
    Ok(Json(paging.of(all, |command| OrderView::of(command, now_ns))?))
}

/// Devices that a node reports as the result of a scan; `None` for other commands, for those that are
/// over, and for other reports.
fn scan_of(commands: &CommandQueue, result: &FinishCommand) -> Option<RecordScan> {
    let is_open =
        |one: &NodeCommand| matches!(one.state, CommandState::Queued | CommandState::Sent);
    let is_scan = |one: &&NodeCommand| one.id == result.id && one.kind == "i2c_scan";
    let scan = commands.iter().find(is_scan).filter(|one| is_open(one))?;
    let bus = scan.args.get("bus")?.parse().ok()?;
    let text = result.output.as_ref().filter(|_| result.done)?;
    let devices: Vec<ScannedDevice> = serde_json::from_str(text).ok()?;
    let fits =
        |device: &ScannedDevice| device.bus == bus && (0x03..=0x77).contains(&device.address);
    let is_report = devices.len() <= DEVICES_MAX && devices.iter().all(fits);
    is_report.then_some(RecordScan { node: Some(result.node), bus, devices })
}

/// Outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Succeeded.
    Done,
    /// Failed.
    Failed,
}

/// Result of a command.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OrderResult {
    /// Outcome.
    pub state: Outcome,
    /// Output, up to 16 KiB.
    #[serde(default)]
    #[schemars(length(max = 16_384))]
    pub output: Option<String>,
}

/// Report the result of a command
#[utoipa::path(post, path = "/v1/nodes/{node_id}/commands/{command_id}/result", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"), ("command_id" = Uuid, Path, description = "Command id")),
    responses((status = 204, description = "Recorded"),
        (status = 404, description = "No such node or command"),
        (status = 409, description = "Command already finished")))]
pub async fn node_command_result(
    _: NodeOrOperator,
    State(world): State<World>,
    State(vault): State<Vault>,
    Path((node_id, command_id)): Path<(Uuid, Uuid)>,
    StrictJson(result): StrictJson<OrderResult>,
) -> Result<StatusCode, Problem> {
    if result.output.as_ref().is_some_and(|output| output.len() > OUTPUT_BYTES_MAX) {
        let message = format!("output too long: allowed 0 to {OUTPUT_BYTES_MAX} bytes");
        let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message);
        return Err(problem);
    }
    let record = world.node(node_id)?;
    let node = record.id;
    let mut command = FinishCommand {
        node,
        id: command_id,
        done: result.state == Outcome::Done,
        output: result.output,
    };
    let scan = scan_of(&record.commands, &command);
    // The scan first: a command that is over is not reported again.
    if let Some(scan) = scan {
        world.submit(scan).await?;
    }
    if let Some(order) = record.commands.iter().find(|one| one.id == command_id) {
        let hide = |output| node_commands::without_secrets(output, order, &vault);
        command.output = command.output.map(hide);
    }
    world.submit(command).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use groundwave_simulation::site::NodeId;

    use super::*;

    #[test]
    fn only_a_scan_that_is_not_over_is_recorded() {
        let id = Uuid::from_u128(1);
        let scan = NodeCommand {
            id,
            kind: "i2c_scan".to_owned(),
            args: BTreeMap::from([("bus".to_owned(), "1".to_owned())]),
            state: CommandState::Sent,
            output: None,
            by: "ada".to_owned(),
            at_ns: 0,
            expires_ns: 1,
            sent_with: None,
        };
        let output = Some(r#"[{"bus": 1, "address": 72}]"#.to_owned());
        let result = FinishCommand { node: NodeId::from_u128(2), id, done: true, output };
        let recorded = |state: CommandState| {
            let commands = CommandQueue::from([NodeCommand { state, ..scan.clone() }]);
            scan_of(&commands, &result).map(|scan| (scan.bus, scan.devices.len()))
        };
        assert_eq!(recorded(CommandState::Sent), Some((1, 1)));
        // The result of a finished one is refused, and must not replace a later scan.
        assert_eq!([CommandState::Done, CommandState::Expired].map(recorded), [None, None]);
    }
}
