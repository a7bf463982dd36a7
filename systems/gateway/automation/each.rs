//! Actions for each of several nodes.

use serde_json::json;

use super::act::{Actions, act};
use super::acting::{Acted, Acting};
use super::components::EachProgress;
use super::execution::Flows;
use crate::automation::language::ForEachNode;
use crate::fleet::EventBuffer;

/// Performs an action for each node that fits; the step ends with the last of its deliveries.
pub(super) fn act_for_each(
    actions: &mut Actions<'_, '_>,
    flows: &mut Flows<'_, '_>,
    events: &mut EventBuffer,
    acting: &Acting<'_>,
    each: &ForEachNode,
) -> (Acted, usize) {
    let nodes = actions.fleet.fitting(each);
    let (count, most) = (nodes.len(), each.max_nodes as usize);
    let input = Some(json!({ "action": each.action.kind, "nodes": count }));
    if count > most {
        let why = format!("found {count} nodes, allowed {most}");
        return (Acted::failed(input, why), 1);
    }
    let kind = match each.action.parse() {
        Ok(kind) => kind,
        Err(bad) => return (Acted::failed(input, bad.to_string()), 1),
    };
    let mut context = acting.context.clone();
    let mut progress =
        EachProgress { nodes: u32::try_from(count).unwrap_or(u32::MAX), ..EachProgress::default() };
    for (node, values) in nodes {
        context["node"] = values;
        let for_node = Acting { context: &context, node: Some(node), ..*acting };
        let outcome = act(actions, flows, events, &for_node, &kind);
        match outcome.result {
            Some(Ok(_)) => {}
            Some(Err(error)) => progress.fail(node, &error),
            None => progress.waiting.extend(outcome.delivery),
        }
    }
    let result = progress.waiting.is_empty().then(|| progress.result());
    let progress = result.is_none().then_some(progress);
    let outcome = Acted { input, result, delivery: None, each: progress };
    (outcome, count.max(1))
}
