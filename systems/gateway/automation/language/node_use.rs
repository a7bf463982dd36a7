//! Nodes that the parameters of steps name.

use serde_json::{Map, Value};
use uuid::Uuid;

/// Use of a node by parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeUse {
    /// One of several nodes of a list.
    AmongOthers,
    /// The only node.
    Only,
}

/// Removes a node from the lists of parameters, at any depth; its use before, `None` without one. As the
/// only node it stays named.
pub fn remove_node(params: &mut Map<String, Value>, node: Uuid) -> Option<NodeUse> {
    let names = |value: &Value| value.as_str().is_some_and(|text| text.parse() == Ok(node));
    let uses = params.iter_mut().filter_map(|(key, value)| match (key.as_str(), value) {
        ("node_id", value) if names(value) => Some(NodeUse::Only),
        ("node_ids", Value::Array(ids)) if ids.iter().any(names) => {
            if ids.iter().all(names) {
                return Some(NodeUse::Only);
            }
            ids.retain(|id| !names(id));
            Some(NodeUse::AmongOthers)
        }
        (_, Value::Object(inner)) => remove_node(inner, node),
        _ => None,
    });
    uses.max()
}
