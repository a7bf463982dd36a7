//! Ends of what waits for a node or a flow that left.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::{Clock, Index};
use groundwave_simulation::site::NodeId;

use super::alert_record::{AlertEnd, AlertId, AlertOrigin};
use super::components::{
    Automation, AutomationId, ExecutionCause, ExecutionDefinition, ExecutionId, ExecutionState,
    FlowMemory, UnfinishedOf,
};
use super::execution::{Executions, Flows};
use super::state::Resolutions;

/// Alerts that are not closed.
#[derive(SystemParam)]
pub(super) struct OpenAlerts<'w, 's> {
    clock: Res<'w, Clock>,
    alerts: Query<'w, 's, (Entity, &'static AlertId, &'static AlertOrigin), Without<AlertEnd>>,
    resolutions: ResMut<'w, Resolutions>,
    commands: Commands<'w, 's>,
}

impl OpenAlerts<'_, '_> {
    /// Closes those whose origin fits, the oldest first: nothing else will ever do.
    fn close(&mut self, fits: impl Fn(&AlertOrigin) -> bool) {
        let fitting = self.alerts.iter().filter(|(.., origin)| fits(origin));
        let mut closing: Vec<_> = fitting.map(|(entity, id, _)| (*id, entity)).collect();
        closing.sort_unstable();
        let at_ms = self.clock.wall_ns / 1_000_000;
        for (id, entity) in closing {
            self.commands.entity(entity).insert(AlertEnd { at_ms });
            self.resolutions.0.push((id, 0));
        }
    }
}

/// Cancels executions whose flow was removed, and closes its alerts.
pub(super) fn end_orphans(
    orphans: Query<
        (&ExecutionId, &ExecutionCause),
        (With<ExecutionDefinition>, Without<UnfinishedOf>),
    >,
    index: Res<Index<Automation>>,
    flows: Flows,
    mut alerts: OpenAlerts,
    mut executions: Executions,
) {
    if !index.departed().is_empty() {
        alerts.close(|origin| index.departed().contains(&origin.flow));
    }
    let mut by_flow: BTreeMap<AutomationId, Vec<ExecutionId>> = BTreeMap::new();
    for (id, cause) in &orphans {
        by_flow.entry(cause.flow).or_default().push(*id);
    }
    for mut ids in by_flow.into_values() {
        // The latest first, as the queued ones are: none of them begins.
        ids.sort_unstable_by(|a, b| b.cmp(a));
        for id in ids {
            let why = Some("the flow was removed".to_owned());
            executions.finish(&flows, id, ExecutionState::Cancelled, why);
        }
    }
}

/// Closes the alerts of a node, and drops the memories that flows have of it.
pub(super) fn remove_node(world: &mut World, node: NodeId) -> Vec<String> {
    world.run_system_cached_with(forget, node).expect("the world has what automation keeps");
    Vec::new()
}

fn forget(In(node): In<NodeId>, mut alerts: OpenAlerts, mut flows: Query<&mut FlowMemory>) {
    let node = node.uuid();
    alerts.close(|origin| origin.node == Some(node));
    for mut memory in &mut flows {
        let mut subjects = memory.thresholds.keys().chain(memory.passes.keys());
        if subjects.any(|(_, of)| *of == node) {
            memory.thresholds.retain(|(_, of), _| *of != node);
            memory.passes.retain(|(_, of), _| *of != node);
        }
    }
}
