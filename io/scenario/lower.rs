//! Order in which the sections of a scenario become scheduled records.

use super::lowering::Lowering;
use super::{lower_motion, lower_nodes, lower_setup, lower_traffic};

/// Lowers every section, in the order in which records of one time apply: the surroundings, the
/// nodes, how they move, traffic, failures, weather, nodes that leave, and commands written out.
pub(super) fn lower(lowering: &mut Lowering<'_>) {
    lower_setup::surroundings(lowering);
    lower_nodes::declared(lowering);
    lower_nodes::generated(lowering);
    let traces = lower_motion::traces(lowering);
    lower_nodes::added_by_commands(lowering);
    lower_nodes::leaving(lowering);
    lower_motion::generated(lowering);
    lower_motion::declared(lowering, traces);
    lower_traffic::flows(lowering);
    lower_traffic::failures(lowering);
    lower_setup::weather(lowering);
    lower_nodes::removed(lowering);
    lower_setup::commands(lowering);
    // Stable: what applies at the same time keeps the order above.
    lowering.records.sort_by_key(|placed| placed.record.at_ns);
}
