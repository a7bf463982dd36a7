//! Node commands: kinds that one endpoint alone sends, and secrets in arguments.

use std::collections::BTreeMap;

use groundwave_gateway::automation::is_secret_field;
use groundwave_gateway::fleet::{CONFIGURE, FinishCommand, NodeCommand};
use groundwave_gateway::rollout::FIRMWARE;
use groundwave_http::Problem;
use groundwave_http::time::rfc3339;
use groundwave_protocol::DispatchedCommand;
use groundwave_simulation::site::NodeId;

use super::sealed_text;
use super::vault::Vault;
use super::world::World;

/// Reason for refusing a node command of a kind that belongs to another endpoint, which checks its
/// arguments and follows its result; `None` for all other kinds.
#[must_use]
pub fn refused(kind: &str) -> Option<String> {
    let endpoint = match kind {
        CONFIGURE => "PUT /v1/nodes/{node_id}/settings",
        FIRMWARE => "POST /v1/firmware/rollouts",
        _ => return None,
    };
    Some(format!("commands of kind {kind} are sent by {endpoint}"))
}

/// Arguments of a command with those sealed that are secrets by their names.
///
/// # Errors
/// 500 without random bytes.
pub fn sealed_args(
    args: BTreeMap<String, String>,
    vault: &Vault,
) -> Result<BTreeMap<String, String>, Problem> {
    let sealed = args.into_iter().map(|(name, value)| match is_secret_field(&name) {
        true => Ok((name, sealed_text::sealed_whole(&value, vault)?)),
        false => Ok((name, value)),
    });
    sealed.collect::<Result<_, String>>().map_err(Problem::internal)
}

/// A command as its node gets it, with its secrets opened; a command that was sealed under another key fails.
pub async fn dispatched(
    world: &World,
    vault: &Vault,
    node: NodeId,
    command: &NodeCommand,
) -> Option<DispatchedCommand> {
    let args = command.args.iter();
    let args = args.map(|(name, value)| Ok((name.clone(), sealed_text::opened(value, vault)?)));
    match args.collect::<Result<_, String>>() {
        Ok(args) => Some(DispatchedCommand {
            command_id: command.id,
            kind: command.kind.clone(),
            args,
            expires_at: rfc3339(command.expires_ns),
        }),
        Err(_) => {
            let output = "not sent: its secrets were sealed under another key".to_owned();
            let result = FinishCommand { node, id: command.id, done: false, output: Some(output) };
            if let Err(problem) = world.submit(result).await {
                tracing::warn!("command {} of node {node}: {}", command.id, problem.detail);
            }
            None
        }
    }
}
