//! Commands of automation: triggers and cancellations of users, acknowledgements, readings of the
//! gateway.

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::basis::now_ms;
use super::components::{
    AlertId, AlertKind, AlertRecord, AlertState, Automation, AutomationId, ExecutionId,
    ExecutionKind, ExecutionState, TriggerRecord,
};
use super::execution::{self, Start, record_of};
use super::state::{GatewayReadings, Work};
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
        execution::plan_flow(world, entity, planned.clone());
        let start = Start {
            id: Some(self.execution),
            dry_run: self.dry_run,
            ..Start::of(self.flow, trigger)
        };
        Ok(execution::start(world, start).is_some())
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
        world.resource::<Index<ExecutionKind>>().get(self.execution)?;
        Work::ensure(world);
        let (_, held) = record_of(world, self.execution).expect("an execution has one");
        if held.state.is_final() {
            return Err(Refusal::conflict("this execution is over already"));
        }
        let why = format!("cancelled by {}", self.by);
        execution::finish(world, self.execution, ExecutionState::Cancelled, Some(why));
        Ok(())
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
        let mut held = world.get_mut::<AlertRecord>(entity).expect("an alert is one");
        if held.state != AlertState::Open {
            return Err(Refusal::conflict("this alert is not open"));
        }
        held.state = AlertState::Acked;
        held.acked_by = Some(self.by);
        held.note = self.note;
        held.acked_ms = Some(now_ms);
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
            let mut held = world.resource_mut::<GatewayReadings>();
            held.0.extend(self.readings);
        }
        Ok(())
    }
}
impl Recorded for ObserveGateway {
    const NAME: &'static str = "automation.observe";
    type Reply = ();
}
