//! Automation flows: documents, their validation, and the evaluation of triggers, conditions and steps.

mod actions;
mod condition;
mod conditions;
mod context;
mod cron;
mod definition;
mod each;
mod kinds;
mod mistake;
mod node_use;
mod outside;
mod plan;
mod secret_names;
mod templates;
#[cfg(test)]
mod tests;
mod threshold;
mod triggers;
mod validate;

pub use actions::{Alert, Command, SetVariable, Severity};
pub use condition::{check_window, compare, in_window};
pub use conditions::{
    Comparison, Cooldown, CooldownScope, Response, ResponseOperator, Threshold, TimeWindow, Weekday,
};
pub use context::{ContextParts, context, fill, fill_topic, fill_value};
pub use cron::{check_cron, next_run_ms, time};
pub use definition::{
    AutomationFlow, FlowEdge, FlowMode, FlowStep, Retention, STEPS_MAX, StepRole, When,
};
pub use each::{EACH_NODES_MAX, EachAction, EachKind, ForEachNode, NodeLiveness};
pub use kinds::{KindInfo, StepKind, catalogue};
pub use mistake::{FlowMistake, MistakeCode};
pub use node_use::{NodeUse, named_nodes, remove_node};
pub use outside::{
    Analysis, ApplyImpairment, Email, ExternalCall, HttpMethod, MqttPublish, Retry, RunPlan,
    SEALED_END, SEALED_PATH, SEALED_PREFIX, SECRET_SHOWN, WebhookOut, hide_sealed, hide_secrets,
    replace_sealed, shown_url, url_parts, visit_secret_texts,
};
pub use plan::{FlowPlan, Outcome, PlannedStep, Progress, StepState, next_step, outcome};
pub use secret_names::{is_secret_field, is_secret_header};
pub use templates::template_mistakes;
pub use threshold::{Crossing, ThresholdMemory};
pub use triggers::{
    GATEWAY_PREFIX, LinkEvent, LinkEventKind, Manual, NodeEvent, NodeEventKind, Schedule,
    SensorValue, WebhookIn,
};
pub use validate::plan;
