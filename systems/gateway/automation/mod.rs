//! Automation: flows that answer readings, events, link changes, schedules and requests.
//!
//! A flow is a configuration object, an execution an entity: its cause, its status, its steps and its
//! deadline are components; it points at its flow while it is unfinished
//! ([`UnfinishedOf`](components::UnfinishedOf)) and after it ([`FinishedOf`](components::FinishedOf)).
//! Deliveries and alerts are entities of such components too; documents and views have them as records.
//! Systems match triggers and queue what is to begin; `advance_executions` runs a bounded number of
//! steps in each tick; deliveries that are due go to the workers as the effect [`Deliver`]. Outcomes
//! come back as `automation.finish`, so a replay sends nothing and comes to the same executions.

mod act;
mod acting;
mod advance;
mod alert_record;
mod alerts;
mod attempts;
mod basis;
mod commands;
mod components;
mod delivery;
mod delivery_id;
mod departures;
mod document;
mod each;
mod evaluate;
mod execution;
mod execution_record;
mod fleet_states;
pub mod language;
mod links;
mod outage_values;
mod readings;
mod request;
mod resolutions;
mod retention;
mod state;
#[cfg(test)]
mod tests;
mod times;
mod triggers;
mod view;

use groundwave_engine::{Builder, Phase};

pub use crate::automation::language::*;
use crate::dependents;
pub use alert_record::{AlertId, AlertKind, AlertRecord, AlertState};
pub use attempts::{DiscardDelivery, FinishAttempt, ResendDelivery, ResumeDeliveries};
pub use commands::{
    AcknowledgeAlert, CancelExecution, INPUT_BYTES_MAX, ObserveGateway, TriggerFlow,
};
pub use components::{
    Automation, AutomationId, EachProgress, ExecutionCause, ExecutionDefinition, ExecutionId,
    ExecutionKind, ExecutionState, ExecutionStatus, ExecutionSteps, FlowMemory, StepRecord,
    TriggerRecord,
};
pub use delivery::{AttemptOutcome, Deliver, Delivery, DeliveryId, DeliveryKind};
pub use document::{AlertDocument, DeliveryDocument, ExecutionDocument, MemoryDocument};
pub use execution_record::ExecutionRecord;
pub use request::DeliveryRequest;
pub use state::AutomationState;
pub use view::AutomationView;

pub fn automation(engine: &mut Builder) {
    dependents::register(engine.world(), departures::remove_node);
    engine
        .kind::<ExecutionKind>()
        .kind::<DeliveryKind>()
        .kind::<AlertKind>()
        .resource(state::Progress::default())
        .resource(state::Pass::default())
        .resource(execution::Starts::default())
        .resource(state::GatewayReadings::default())
        .resource(triggers::Watched::default())
        .resource(state::Resolutions::default())
        .section::<AutomationView>()
        .effect::<Deliver>()
        .command::<TriggerFlow>()
        .command::<CancelExecution>()
        .command::<ResumeDeliveries>()
        .command::<FinishAttempt>()
        .command::<ResendDelivery>()
        .command::<DiscardDelivery>()
        .command::<AcknowledgeAlert>()
        .command::<ObserveGateway>()
        .document::<MemoryDocument>()
        .document::<ExecutionDocument>()
        .document::<DeliveryDocument>()
        .document::<AlertDocument>()
        .state::<AutomationState>()
        .systems(Phase::Respond, evaluate::systems())
        .systems(Phase::Publish, view::publish_automation);
}
