//! Nodes that the parameters of steps name.

use serde_json::{Map, Value};
use uuid::Uuid;

use super::templates::escaped;

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

/// Nodes that parameters name, at any depth, with the pointers to their ids.
#[must_use]
pub fn named_nodes(params: &Map<String, Value>) -> Vec<(String, Uuid)> {
    let id_of = |value: &Value| value.as_str().and_then(|text| text.parse().ok());
    let mut nodes = Vec::new();
    for (key, value) in params {
        match (key.as_str(), value) {
            ("node_id", value) => nodes.extend(id_of(value).map(|id| ("/node_id".to_owned(), id))),
            ("node_ids", Value::Array(ids)) => {
                let ids = ids.iter().enumerate();
                let ids = ids.filter_map(|(at, id)| Some((format!("/node_ids/{at}"), id_of(id)?)));
                nodes.extend(ids);
            }
            (key, Value::Object(inner)) => {
                let inner = named_nodes(inner).into_iter();
                nodes.extend(inner.map(|(at, id)| (format!("/{}{at}", escaped(key)), id)));
            }
            _ => {}
        }
    }
    nodes
}
