//! Kinds of node commands that one endpoint alone sends.

use groundwave_gateway::fleet::CONFIGURE;
use groundwave_gateway::rollout::FIRMWARE;

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
