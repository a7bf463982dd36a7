//! Node commands: kinds that one endpoint alone sends, and secrets in arguments.

use std::collections::BTreeMap;

use groundwave_gateway::automation::{SEALED_PREFIX, SECRET_SHOWN, is_secret_field};
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

/// Minimum length of a secret that is looked for in the output of a command, bytes.
const SECRET_BYTES_MIN: usize = 4;

/// The output of a command without the secrets among its arguments, which programs may repeat.
#[must_use]
pub fn without_secrets(output: String, command: &NodeCommand, vault: &Vault) -> String {
    let sealed = command.args.values().filter(|value| value.starts_with(SEALED_PREFIX));
    let secrets = sealed.filter_map(|value| sealed_text::opened(value, vault).ok());
    let long = secrets.filter(|secret| secret.len() >= SECRET_BYTES_MIN);
    long.fold(output, |output, secret| output.replace(&secret, SECRET_SHOWN))
}

#[cfg(test)]
mod tests {
    use groundwave_gateway::fleet::CommandState;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn secrets_of_a_command_are_left_out_of_its_output() {
        let vault = Vault::new(&[7; 32]);
        let args = [("psk", "canary-1"), ("pin", "12"), ("text", "hello")];
        let args = args.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let command = NodeCommand {
            id: Uuid::nil(),
            kind: "echo".to_owned(),
            args: sealed_args(args, &vault).unwrap(),
            state: CommandState::Sent,
            output: None,
            by: "ada".to_owned(),
            at_ns: 0,
            expires_ns: 1,
            sent_with: None,
        };
        let output = "psk=canary-1 text=hello 12 canary-1".to_owned();
        let text = without_secrets(output, &command, &vault);
        assert_eq!(text, "psk=(set) text=hello 12 (set)");
    }
}
