//! Commands of automation: triggers and cancellations of users, acknowledgements, readings of the
//! gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Clock, Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::alert_record::{Acknowledgement, AlertEnd, AlertId, AlertKind};
use super::basis::run;
use super::components::{Automation, AutomationId, ExecutionId, ExecutionState, TriggerRecord};
use super::execution::{Executions, Flows, Start};
use super::state::GatewayReadings;
use crate::automation::language::{GATEWAY_PREFIX, StepKind, plan};

/// Inputs that a trigger by request needs; `None` for other triggers.
fn by_request(kind: &StepKind) -> Option<&[String]> {
    match kind {
        StepKind::Manual(_) => Some(&[]),
        StepKind::WebhookIn(webhook) => Some(&webhook.required),
        _ => None,
    }
}

/// Longest inputs of a trigger, bytes of their JSON.
pub const INPUT_BYTES_MAX: usize = 16 << 10;

/// Starts an execution of a flow with a trigger of the kind `manual` or `webhook_in`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerFlow {
    /// Flow.
    pub flow: AutomationId,
    /// Execution id, unique.
    pub execution: ExecutionId,
    /// Inputs, for the context.
    pub inputs: Map<String, Value>,
    /// User who starts it.
    pub by: String,
    /// Nothing leaves the gateway, and nothing changes in it.
    pub dry_run: bool,
}
impl Command for TriggerFlow {
    type Out = Result<bool, Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        run(world, trigger_flow, self)
    }
}
impl Recorded for TriggerFlow {
    const NAME: &'static str = "automation.trigger";
    /// `false` beyond the rate of executions: then there is none.
    type Reply = bool;
}

fn trigger_flow(
    In(command): In<TriggerFlow>,
    mut flows: Flows,
    mut executions: Executions,
) -> Result<bool, Refusal> {
    let flow = &flows.get(command.flow)?.flow.0;
    if !flow.enabled && !command.dry_run {
        return Err(Refusal::conflict("this flow is disabled"));
    }
    // The flow may have been put in this tick, before `plan_flows` runs.
    let plan = plan(flow).map_err(|_| Refusal::conflict("this flow is not valid"))?;
    let mut triggers = plan.triggers();
    let requested = triggers.find_map(|(_, step)| Some((step, by_request(&step.kind)?)));
    let Some((step, required)) = requested else {
        let why = "this flow has no trigger of the kind manual or webhook_in";
        return Err(Refusal::conflict(why));
    };
    if let Some(name) = required.iter().find(|name| !command.inputs.contains_key(*name)) {
        let key = format!("inputs.{name}");
        return Err(Refusal::invalid(key, "nothing", "a value"));
    }
    let bytes = serde_json::to_string(&command.inputs).map_or(0, |text| text.len());
    if bytes > INPUT_BYTES_MAX {
        let allowed = format!("up to {INPUT_BYTES_MAX} bytes");
        return Err(Refusal::invalid("inputs", format!("{bytes} bytes"), allowed));
    }
    executions.vacant(command.execution)?;
    let mut data = command.inputs;
    data.insert("by".to_owned(), json!(command.by));
    let trigger = TriggerRecord {
        step_id: step.id.clone(),
        kind: step.kind.word().to_owned(),
        data,
        crossed: BTreeMap::new(),
        depth: 0,
    };
    drop(triggers);
    let start = Start {
        id: Some(command.execution),
        dry_run: command.dry_run,
        plan: Some(Arc::new(plan)),
        ..Start::of(command.flow, trigger)
    };
    let id = executions.start(&mut flows, start);
    executions.spawn();
    Ok(id.is_some())
}

/// Cancels an unfinished execution and its deliveries.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelExecution {
    /// Execution.
    pub execution: ExecutionId,
    /// User who cancels it.
    pub by: String,
}
impl Command for CancelExecution {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let cancel = |In(command): In<Self>, flows: Flows, mut executions: Executions| {
            if executions.state(command.execution)?.is_none_or(ExecutionState::is_final) {
                return Err(Refusal::conflict("this execution is over already"));
            }
            let why = Some(format!("cancelled by {}", command.by));
            executions.finish(&flows, command.execution, ExecutionState::Cancelled, why);
            Ok(())
        };
        run(world, cancel, self)
    }
}
impl Recorded for CancelExecution {
    const NAME: &'static str = "automation.cancel";
    type Reply = ();
}

/// Acknowledges an open alert.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcknowledgeAlert {
    /// Alert.
    pub alert: AlertId,
    /// User who acknowledges it.
    pub by: String,
    /// Note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}
impl Command for AcknowledgeAlert {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        run(world, acknowledge_alert, self)
    }
}
impl Recorded for AcknowledgeAlert {
    const NAME: &'static str = "automation.acknowledge";
    type Reply = ();
}

fn acknowledge_alert(
    In(command): In<AcknowledgeAlert>,
    clock: Res<Clock>,
    index: Res<Index<AlertKind>>,
    settled: Query<(), Or<(With<Acknowledgement>, With<AlertEnd>)>>,
    mut commands: Commands,
) -> Result<(), Refusal> {
    let entity = index.get(command.alert)?;
    if settled.contains(entity) {
        return Err(Refusal::conflict("this alert is not open"));
    }
    let AcknowledgeAlert { by, note, .. } = command;
    let at_ms = clock.wall_ns / 1_000_000;
    commands.entity(entity).insert(Acknowledgement { by, note, at_ms });
    Ok(())
}

/// Records readings of the gateway itself, for sensor triggers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObserveGateway {
    /// Values by metric; names begin with `gateway.`.
    pub readings: BTreeMap<String, f64>,
}
impl Command for ObserveGateway {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let unfit = |(name, value): &(&String, &f64)| {
            !name.starts_with(GATEWAY_PREFIX) || name.len() > 100 || !value.is_finite()
        };
        if let Some((name, value)) = self.readings.iter().find(unfit) {
            let reading = format!("{name:?}: {value}");
            let allowed = "gateway.* with a finite number";
            return Err(Refusal::invalid("readings", reading, allowed));
        }
        let observe = |In(command): In<Self>,
                       flows: Res<Index<Automation>>,
                       mut readings: ResMut<GatewayReadings>| {
            if !flows.is_empty() {
                readings.0.extend(command.readings);
            }
            Ok(())
        };
        run(world, observe, self)
    }
}
impl Recorded for ObserveGateway {
    const NAME: &'static str = "automation.observe";
    type Reply = ();
}
