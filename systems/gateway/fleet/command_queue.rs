//! Command queue of a node. A command is dispatched with the next heartbeat; only types that the node
//! reported as supported are accepted, and none of them runs a shell.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Recorded, Refusal};
use groundwave_protocol::Heartbeat;
use groundwave_simulation::site::NodeId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::approved::{ApprovedNodes, approved_node};

/// Commands kept for each node, finished ones included.
const KEPT: usize = 64;
/// Maximum length of a recorded output, bytes.
pub const OUTPUT_BYTES_MAX: usize = 16 << 10;

/// State of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandState {
    /// Waits for a heartbeat.
    Queued,
    /// Dispatched to the node.
    Sent,
    /// Done.
    Done,
    /// Failed on the node.
    Failed,
    /// Not dispatched or not finished in time.
    Expired,
}

/// A command for a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeCommand {
    /// Command id.
    #[serde(rename = "order")]
    pub id: Uuid,
    /// Type.
    pub kind: String,
    /// Arguments.
    pub args: BTreeMap<String, String>,
    pub state: CommandState,
    /// Output of the node.
    pub output: Option<String>,
    /// User who enqueued it.
    pub by: String,
    /// Time of the last change, ns since the Unix epoch.
    pub at_ns: u64,
    /// Expiry, ns since the Unix epoch.
    pub expires_ns: u64,
    /// Boot and number of the heartbeat whose acknowledgement had it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_with: Option<(String, u64)>,
}

impl NodeCommand {
    /// `true` if it went with an acknowledgement that the sender of a later heartbeat does not have.
    fn is_lost(&self, heartbeat: &Heartbeat) -> bool {
        let sent_with = self.sent_with.as_ref().filter(|_| self.state == CommandState::Sent);
        sent_with.zip(heartbeat.acknowledged_seq).is_some_and(|((boot_id, seq), acknowledged)| {
            *boot_id == heartbeat.boot_id && *seq > acknowledged
        })
    }

    /// State at `now_ns`, ns since the Unix epoch: a command not fetched or finished in time
    /// has expired, also while its node is silent.
    #[must_use]
    pub fn state_at(&self, now_ns: u64) -> CommandState {
        let is_open = matches!(self.state, CommandState::Queued | CommandState::Sent);
        match is_open && self.expires_ns < now_ns {
            true => CommandState::Expired,
            false => self.state,
        }
    }
}

/// Commands of a node, oldest first.
pub type CommandQueue = VecDeque<NodeCommand>;

/// Index of the command that leaves a queue for a new one at `now_ns`, ns since the Unix epoch;
/// `None` while there is space.
///
/// # Errors
/// [`Refusal::Conflict`] while [`KEPT`] commands wait; those that expired do not.
pub fn command_space(queue: &CommandQueue, now_ns: u64) -> Result<Option<usize>, Refusal> {
    if queue.len() < KEPT {
        return Ok(None);
    }
    let is_over = |command: &NodeCommand| {
        !matches!(command.state_at(now_ns), CommandState::Queued | CommandState::Sent)
    };
    let over = queue.iter().position(is_over);
    over.map(Some).ok_or_else(|| Refusal::conflict(format!("{KEPT} orders wait already")))
}

/// Commands of a node. Written by `fleet.order`, `fleet.finish` and `fleet.hear`.
#[derive(Component, Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeCommands(pub Arc<CommandQueue>);

/// Enqueues a command for a node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EnqueueCommand {
    pub node: NodeId,
    /// Command id, unique.
    #[serde(rename = "order")]
    pub id: Uuid,
    /// Type.
    pub kind: String,
    /// Arguments.
    pub args: BTreeMap<String, String>,
    /// Time until expiry, s.
    pub expires_s: u32,
    /// User who enqueues it.
    pub by: String,
}
impl Command for EnqueueCommand {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let enqueue = |In(command): In<Self>, mut queues: CommandQueues| queues.enqueue(command);
        world
            .run_system_cached_with(enqueue, self)
            .map_err(|err| Refusal::conflict(err.to_string()))?
    }
}

/// Queues of commands of approved nodes.
#[derive(SystemParam)]
pub(crate) struct CommandQueues<'w, 's> {
    clock: Res<'w, Clock>,
    nodes: ApprovedNodes<'w, 's>,
    queues: Query<'w, 's, &'static mut NodeCommands>,
}

impl CommandQueues<'_, '_> {
    /// Enqueues a command for a node.
    ///
    /// # Errors
    /// When the node is not approved or does not support the command, the id is taken, or
    /// [`KEPT`] commands wait.
    pub fn enqueue(&mut self, command: EnqueueCommand) -> Result<(), Refusal> {
        let (entity, record) = self.nodes.get(command.node)?;
        if !record.0.supported_commands.contains(&command.kind) {
            let supported = record.0.supported_commands.join(", ");
            let allowed = format!("commands of the node: {supported}");
            return Err(Refusal::invalid("kind", format!("{:?}", command.kind), allowed));
        }
        let at_ns = self.clock.wall_ns;
        let mut commands = self.queues.get_mut(entity).expect("members have them");
        let queue = Arc::make_mut(&mut commands.0);
        if queue.iter().any(|queued| queued.id == command.id) {
            return Err(Refusal::conflict("there is an order with this id"));
        }
        if let Some(over) = command_space(queue, at_ns)? {
            queue.remove(over);
        }
        queue.push_back(NodeCommand {
            id: command.id,
            kind: command.kind,
            args: command.args,
            state: CommandState::Queued,
            output: None,
            by: command.by,
            at_ns,
            expires_ns: at_ns + u64::from(command.expires_s) * 1_000_000_000,
            sent_with: None,
        });
        Ok(())
    }
}
impl Recorded for EnqueueCommand {
    const NAME: &'static str = "fleet.order";
    type Reply = ();
}

/// Records the result of a command.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FinishCommand {
    pub node: NodeId,
    /// Command id.
    #[serde(rename = "order")]
    pub id: Uuid,
    /// `true` if the command succeeded.
    pub done: bool,
    /// Output of the node.
    pub output: Option<String>,
}
impl Command for FinishCommand {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = approved_node(world, self.node)?;
        let at_ns = world.resource::<Clock>().wall_ns;
        let mut commands = world.get_mut::<NodeCommands>(entity).expect("members have them");
        let index = commands
            .0
            .iter()
            .position(|command| command.id == self.id)
            .ok_or_else(|| Refusal::NotFound { kind: "command", id: self.id.to_string() })?;
        let state = commands.0[index].state;
        if !matches!(state, CommandState::Queued | CommandState::Sent) {
            return Err(Refusal::conflict("that command is over already"));
        }
        let command = &mut Arc::make_mut(&mut commands.0)[index];
        command.state = match self.done {
            true => CommandState::Done,
            false => CommandState::Failed,
        };
        command.output = self.output;
        command.at_ns = at_ns;
        Ok(())
    }
}
impl Recorded for FinishCommand {
    const NAME: &'static str = "fleet.finish";
    type Reply = ();
}

/// Withdraws a command that its node has not fetched; `true` if there was one.
pub(crate) fn withdraw_command(world: &mut World, node: NodeId, id: Uuid) -> bool {
    let Ok(entity) = approved_node(world, node) else {
        return false;
    };
    let at_ns = world.resource::<Clock>().wall_ns;
    let Some(mut commands) = world.get_mut::<NodeCommands>(entity) else {
        return false;
    };
    let waits = |one: &NodeCommand| one.id == id && one.state == CommandState::Queued;
    let Some(index) = commands.0.iter().position(waits) else {
        return false;
    };
    let command = &mut Arc::make_mut(&mut commands.0)[index];
    command.state = CommandState::Expired;
    command.at_ns = at_ns;
    true
}

/// Commands to dispatch with the acknowledgement of a heartbeat, those whose acknowledgement got lost among
/// them; they count as sent, late ones as expired. Writes nothing where nothing changes.
pub(super) fn dispatch(
    commands: &mut Mut<'_, NodeCommands>,
    heartbeat: &Heartbeat,
    now_ns: u64,
) -> Vec<NodeCommand> {
    let open =
        |command: &NodeCommand| command.state == CommandState::Queued || command.is_lost(heartbeat);
    let late = |command: &NodeCommand| {
        command.expires_ns < now_ns
            && matches!(command.state, CommandState::Queued | CommandState::Sent)
    };
    if !commands.0.iter().any(|command| open(command) || late(command)) {
        return Vec::new();
    }
    let mut dispatched = Vec::new();
    for command in Arc::make_mut(&mut commands.0) {
        if late(command) {
            command.state = CommandState::Expired;
            command.at_ns = now_ns;
        } else if open(command) {
            command.state = CommandState::Sent;
            command.at_ns = now_ns;
            command.sent_with = Some((heartbeat.boot_id.clone(), heartbeat.seq));
            dispatched.push(command.clone());
        }
    }
    dispatched
}
