//! Flow endpoints: automation flows, their executions, deliveries and alerts.

pub mod alerts;
pub mod builder;
pub mod definitions;
pub mod deliveries;
pub mod executions;
pub mod presets;

use groundwave_gateway::automation::{AlertState, ExecutionState, StepState};
use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;

use crate::access::{Access, rule_of};
use crate::state::Gateway;

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default()
        .schema::<AlertState>()
        .schema::<ExecutionState>()
        .schema::<StepState>()
        .schema::<deliveries::DeliveryState>()
        .with(operations!(
            rule_of;
            definitions::flows,
            definitions::flow_create,
            definitions::flow_fetch,
            definitions::flow_replace,
            definitions::flow_patch,
            definitions::flow_remove,
            executions::flow_trigger,
            executions::flow_executions,
            executions::flow_execution,
            executions::flow_execution_cancel,
            builder::flow_builder_metadata,
            builder::flow_validate,
            alerts::flow_alerts,
            alerts::flow_alert_ack,
            deliveries::flow_deliveries,
            deliveries::flow_delivery_resend,
            deliveries::flow_delivery_discard,
        ))
}
