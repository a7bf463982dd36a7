//! Nodes of a recording without positions: their links cannot be compared with the model.

use std::collections::BTreeSet;

use groundwave_gateway::Snapshot;
use groundwave_http::Failure;
use groundwave_scenario::formats;
use groundwave_simulation::history::LevelsHistory;

/// Most names in the message.
const NAMES_MAX: usize = 5;

/// The measured nodes that are at placeholders, and the number of all measured nodes; nothing
/// where each has a position.
pub fn nodes_without_position(levels: &LevelsHistory, view: &Snapshot) -> Option<String> {
    let measured: BTreeSet<_> = levels.ways.keys().flat_map(|way| [way.0, way.1]).collect();
    let nodes = measured.iter().filter_map(|id| view.node(*id));
    let placed = |position| !formats::is_placeholder(position);
    let without = nodes.filter(|node| !placed(node.position));
    let names: Vec<&str> = without.map(|node| node.name.as_str()).collect();
    if names.is_empty() {
        return None;
    }
    let mut listed = names[..names.len().min(NAMES_MAX)].join(", ");
    if names.len() > NAMES_MAX {
        listed += ", …";
    }
    let (count, all) = (names.len(), measured.len());
    Some(format!("{count} of {all} measured nodes have no position ({listed})"))
}

/// Refuses a comparison with the model at invented positions.
pub fn refuse(levels: &LevelsHistory, view: &Snapshot) -> Result<(), Failure> {
    match nodes_without_position(levels, view) {
        None => Ok(()),
        Some(what) => Err(Failure::Input(format!(
            "{what}: the model has nothing to compare with; convert the recording with --places FILE"
        ))),
    }
}
