//! Readings: thresholds of sensor triggers, and the executions that start when they are crossed.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use groundwave_engine::Index;
use groundwave_protocol::unit_of;
use groundwave_simulation::site::NodeId;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::basis::object;
use super::components::{Automation, AutomationId, FlowMemory, TriggerRecord};
use super::execution::{Start, Starts};
use super::state::{GatewayReadings, Pass};
use super::triggers::{FleetNodes, Watch, Watched, admits, record, thresholds};
use crate::automation::language::{
    Crossing, FlowPlan, GATEWAY_PREFIX, StepKind, ThresholdMemory, When,
};
use crate::fleet::LatestReadings;
use crate::peripheral;

/// A reading of a node, or of the gateway where there is none.
struct CurrentReading<'o> {
    node: Option<NodeId>,
    name: Option<&'o str>,
    tags: &'o [String],
    metric: &'o str,
    value: f64,
}

/// Memories of flows, and the executions that they lead to.
#[derive(SystemParam)]
pub(super) struct Memories<'w, 's> {
    index: Res<'w, Index<Automation>>,
    memories: Query<'w, 's, &'static mut FlowMemory>,
    starts: ResMut<'w, Starts>,
}

impl Memories<'_, '_> {
    /// Memory of a flow.
    pub fn of(&mut self, flow: AutomationId) -> Option<Mut<'_, FlowMemory>> {
        self.memories.get_mut(self.index.get(flow).ok()?).ok()
    }

    /// Takes times of a clock that was ahead of `now_ms` back: what waits for them waits from now on.
    pub fn set_back(&mut self, now_ms: u64) {
        for mut memory in &mut self.memories {
            let FlowMemory { thresholds, passes, .. } = &mut *memory;
            let since = thresholds.values_mut().filter_map(|threshold| threshold.since_ms.as_mut());
            for at_ms in since.chain(passes.values_mut()) {
                *at_ms = now_ms.min(*at_ms);
            }
        }
    }

    /// Queues an execution.
    pub fn start(&mut self, flow: AutomationId, trigger: TriggerRecord) {
        self.starts.0.push(Start::of(flow, trigger));
    }

    /// Changes the memory of a threshold; writes nothing where nothing changes.
    pub fn remember(
        &mut self,
        flow: AutomationId,
        plan: &FlowPlan,
        step: usize,
        node: Option<Uuid>,
        change: impl FnOnce(&mut ThresholdMemory) -> Option<Crossing>,
    ) -> Option<Crossing> {
        let mut flow_memory = self.of(flow)?;
        let key = (plan.steps[step].id.clone(), node.unwrap_or_default());
        let before = flow_memory.thresholds.get(&key).copied().unwrap_or_default();
        let mut memory = before;
        let crossing = change(&mut memory);
        if memory == before {
            return crossing;
        }
        match memory == ThresholdMemory::default() {
            true => flow_memory.thresholds.remove(&key),
            false => flow_memory.thresholds.insert(key, memory),
        };
        crossing
    }

    /// Queues an execution for thresholds that were crossed, where an edge follows the result.
    pub fn cross(
        &mut self,
        flow: AutomationId,
        plan: &FlowPlan,
        trigger: usize,
        data: Map<String, Value>,
        crossed: &[(usize, Crossing)],
    ) {
        let leads = |(step, crossing): &(usize, Crossing)| {
            let when = match crossing {
                Crossing::Entered => When::True,
                Crossing::Left => When::False,
            };
            let mut outgoing = plan.steps[*step].outgoing.iter();
            outgoing.any(|(_, condition)| *condition == when)
        };
        if !crossed.iter().any(leads) {
            return;
        }
        let mut trigger = record(plan, trigger, data);
        trigger.crossed = crossed
            .iter()
            .map(|(step, crossing)| (plan.steps[*step].id.clone(), *crossing == Crossing::Entered))
            .collect();
        self.start(flow, trigger);
    }
}

/// Queues executions for readings that arrived in this tick.
pub(super) fn match_readings(
    (pass, watched): (Res<Pass>, Res<Watched>),
    updates: Query<(&NodeId, &LatestReadings), Changed<LatestReadings>>,
    nodes: FleetNodes,
    peripherals: Res<peripheral::Observed>,
    mut own: ResMut<GatewayReadings>,
    mut memories: Memories,
) {
    if !pass.evaluates {
        return;
    }
    let mut own = std::mem::take(&mut own.0);
    let watched = &watched.0.sensors;
    own.extend(watched.keys().filter_map(|metric| {
        let reading = peripherals.host_reading(metric.strip_prefix(GATEWAY_PREFIX)?)?;
        (reading.ts_ms == pass.now_ms).then(|| (metric.clone(), reading.value))
    }));
    for (metric, value) in &own {
        let reading = CurrentReading { node: None, name: None, tags: &[], metric, value: *value };
        observe(&mut memories, watched, &reading, pass.now_ms);
    }
    if !pass.watches || watched.is_empty() {
        return;
    }
    let updates: BTreeMap<NodeId, &LatestReadings> =
        updates.iter().map(|(id, latest)| (*id, latest)).collect();
    for (node, latest) in updates {
        let values =
            watched.keys().filter_map(|metric| Some((metric, latest.0.get(metric)?.value)));
        let values: Vec<_> = values.collect();
        if values.is_empty() {
            continue;
        }
        let (name, tags) = nodes.described(node);
        for (metric, value) in values {
            let reading = CurrentReading {
                node: Some(node),
                name: name.as_deref(),
                tags: &tags,
                metric,
                value,
            };
            observe(&mut memories, watched, &reading, pass.now_ms);
        }
    }
}

fn observe(
    memories: &mut Memories,
    watched: &BTreeMap<String, Vec<Watch>>,
    reading: &CurrentReading<'_>,
    now_ms: u64,
) {
    let node = reading.node.map(NodeId::uuid);
    let of_metric = watched.get(reading.metric);
    for (flow, number, plan) in of_metric.into_iter().flatten() {
        let StepKind::SensorValue(sensor) = &plan.steps[*number].kind else {
            continue;
        };
        if !admits(sensor.node_id, sensor.tag.as_ref(), node, reading.tags) {
            continue;
        }
        let mut crossed = Vec::new();
        for (step, threshold) in thresholds(plan, *number) {
            let crossing = memories.remember(*flow, plan, step, node, |memory| {
                threshold.observe(memory, reading.value, now_ms)
            });
            crossed.extend(crossing.map(|crossing| (step, crossing)));
        }
        let data = json!({
            "node_id": node,
            "node_name": reading.name,
            "metric": reading.metric,
            "value": reading.value,
            "unit": unit_of(reading.metric),
        });
        memories.cross(*flow, plan, *number, object(data), &crossed);
    }
}
