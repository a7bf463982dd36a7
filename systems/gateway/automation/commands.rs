//! Commands of automation: triggers and cancellations of users, acknowledgements, readings of the
//! gateway.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::basis::now_ms;
use super::components::{
    AlertId, AlertKind, AlertRecord, AlertState, Automation, AutomationId, ExecutionId,
    ExecutionKind, ExecutionState, ExecutionStatus, PlannedFlow, TriggerRecord,
};
use super::execution::{Executions, Flows, Start};
use super::state::GatewayReadings;
use crate::automation::language::{GATEWAY_PREFIX, StepKind, plan};

/// Refusal of a command whose system could not run.
fn not_run(error: impl std::fmt::Display) -> Refusal {
    Refusal::conflict(error.to_string())
}

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
        let entity = world.resource::<Index<Automation>>().get(self.flow)?;
        let flow = &world.get::<Automation>(entity).expect("a flow is one").0;
        if !flow.enabled && !self.dry_run {
            return Err(Refusal::conflict("this flow is disabled"));
        }
        let planned = plan(flow).map_err(|_| Refusal::conflict("this flow is not valid"))?;
        let mut triggers = planned.triggers();
        let found = triggers.find_map(|(_, step)| Some((step, by_request(&step.kind)?)));
        let Some((step, required)) = found else {
            let why = "this flow has no trigger of the kind manual or webhook_in";
            return Err(Refusal::conflict(why));
        };
        if let Some(name) = required.iter().find(|name| !self.inputs.contains_key(*name)) {
            let key = format!("inputs.{name}");
            return Err(Refusal::invalid(key, "nothing", "a value"));
        }
        let bytes = serde_json::to_string(&self.inputs).map_or(0, |text| text.len());
        if bytes > INPUT_BYTES_MAX {
            let allowed = format!("up to {INPUT_BYTES_MAX} bytes");
            return Err(Refusal::invalid("inputs", format!("{bytes} bytes"), allowed));
        }
        world.resource::<Index<ExecutionKind>>().vacant(self.execution)?;
        let mut data = self.inputs;
        data.insert("by".to_owned(), json!(self.by));
        let trigger = TriggerRecord {
            step_id: step.id.clone(),
            kind: step.kind.word().to_owned(),
            data,
            crossed: BTreeMap::new(),
            depth: 0,
        };
        world.entity_mut(entity).insert(PlannedFlow(Some(Arc::new(planned.clone()))));
        let start = Start {
            id: Some(self.execution),
            dry_run: self.dry_run,
            ..Start::of(self.flow, trigger)
        };
        let begin = |In(start): In<Start>, mut flows: Flows, mut executions: Executions| {
            let id = executions.start(&mut flows, start);
            executions.spawn();
            id.is_some()
        };
        world.run_system_cached_with(begin, start).map_err(not_run)
    }
}
impl Recorded for TriggerFlow {
    const NAME: &'static str = "automation.trigger";
    /// `false` beyond the rate of executions: then there is none.
    type Reply = bool;
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
        let entity = world.resource::<Index<ExecutionKind>>().get(self.execution)?;
        let status = world.get::<ExecutionStatus>(entity);
        if status.is_none_or(|status| status.state.is_final()) {
            return Err(Refusal::conflict("this execution is over already"));
        }
        let end = |In(cancel): In<Self>, flows: Flows, mut executions: Executions| {
            let why = Some(format!("cancelled by {}", cancel.by));
            executions.finish(&flows, cancel.execution, ExecutionState::Cancelled, why);
        };
        world.run_system_cached_with(end, self).map_err(not_run)
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
        let entity = world.resource::<Index<AlertKind>>().get(self.alert)?;
        let now_ms = now_ms(world);
        let mut alert = world.get_mut::<AlertRecord>(entity).expect("an alert is one");
        if alert.state != AlertState::Open {
            return Err(Refusal::conflict("this alert is not open"));
        }
        alert.state = AlertState::Acked;
        alert.acked_by = Some(self.by);
        alert.note = self.note;
        alert.acked_ms = Some(now_ms);
        Ok(())
    }
}
impl Recorded for AcknowledgeAlert {
    const NAME: &'static str = "automation.acknowledge";
    type Reply = ();
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
            let found = format!("{name:?}: {value}");
            let allowed = "gateway.* with a finite number";
            return Err(Refusal::invalid("readings", found, allowed));
        }
        if !world.resource::<Index<Automation>>().is_empty() {
            world.resource_mut::<GatewayReadings>().0.extend(self.readings);
        }
        Ok(())
    }
}
impl Recorded for ObserveGateway {
    const NAME: &'static str = "automation.observe";
    type Reply = ();
}
