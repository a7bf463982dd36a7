//! Flow builder endpoints: metadata and validation.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use groundwave_gateway::automation::{AutomationFlow, GATEWAY_PREFIX, StepRole, catalogue};
use groundwave_gateway::external::ExternalSystem;
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::FieldError;
use groundwave_http::{Json, Problem};
use groundwave_outbound::Outbound;
use groundwave_protocol::unit_of;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::definitions::errors;
use super::presets::{FlowPreset, presets};
use crate::access::{Operator, Viewer};
use crate::flow_workers::DISK_METRIC;
use crate::services::config_objects::objects;
use crate::services::flow_backends::check;
use crate::services::world::World;
use crate::settings::Settings;

/// Maximum number of listed metrics.
const METRICS_MAX: usize = 1_000;

/// Kind of a step.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KindView {
    /// Kind.
    pub kind: String,
    /// Title.
    pub title: String,
    /// JSON schema of the parameters.
    pub params: Value,
}

/// Value of the context.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VariableView {
    /// JSON pointer, for `{{POINTER}}` in texts.
    pub pointer: String,
    /// Meaning.
    pub title: String,
}

/// Metric of nodes or of the gateway.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MetricView {
    /// Name.
    pub name: String,
    /// Unit, if known.
    pub unit: Option<String>,
}

/// Metadata for flow builders.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BuilderMetadata {
    /// Triggers.
    pub triggers: Vec<KindView>,
    /// Conditions.
    pub conditions: Vec<KindView>,
    /// Actions.
    pub actions: Vec<KindView>,
    /// Values of the context.
    pub variables: Vec<VariableView>,
    /// Metrics with a reading.
    pub metrics: Vec<MetricView>,
    /// Flows to begin with.
    pub presets: Vec<FlowPreset>,
}

const VARIABLES: [(&str, &str); 9] = [
    ("/flow/flow_id", "Id of the flow"),
    ("/flow/name", "Name of the flow"),
    ("/execution/execution_id", "Id of the execution"),
    ("/execution/started_at", "Begin of the execution, RFC 3339"),
    ("/trigger", "Values of the trigger, or inputs of the request"),
    ("/trigger/node_id", "Node of the trigger, where it has one"),
    ("/variables", "Variables of the flow by name"),
    ("/steps", "Outputs of earlier steps by id"),
    ("/node", "Node, in the action of a step for each node"),
];

/// Get metadata for flow builders
#[utoipa::path(get, path = "/v1/flows/builder/metadata", tag = "flows",
    responses((status = 200, description = "Kinds of steps with their schemas, values, metrics, presets")))]
pub async fn flow_builder_metadata(
    _: Viewer,
    State(world): State<World>,
) -> Result<Json<BuilderMetadata>, Problem> {
    let all = catalogue();
    let of = |role: StepRole| -> Vec<KindView> {
        let kinds = all.iter().filter(|info| info.role == role);
        kinds
            .map(|info| KindView {
                kind: info.kind.to_owned(),
                title: info.title.to_owned(),
                params: info.params.clone(),
            })
            .collect()
    };
    let view = world.view();
    let of_nodes: BTreeSet<&str> = view
        .fleet
        .nodes
        .values()
        .flat_map(|node| node.latest.keys().map(String::as_str))
        .take(METRICS_MAX * 64)
        .collect();
    let own = view
        .peripherals
        .readings
        .keys()
        .map(|name| format!("{GATEWAY_PREFIX}{name}"))
        .chain([DISK_METRIC.to_owned()]);
    let metrics = own
        .chain(of_nodes.into_iter().map(str::to_owned))
        .take(METRICS_MAX)
        .map(|name| MetricView { unit: unit_of(&name).map(str::to_owned), name });
    let variables = VARIABLES.map(|(pointer, title)| VariableView {
        pointer: pointer.to_owned(),
        title: title.to_owned(),
    });
    Ok(Json(BuilderMetadata {
        triggers: of(StepRole::Trigger),
        conditions: of(StepRole::Condition),
        actions: of(StepRole::Action),
        variables: variables.into(),
        metrics: metrics.collect(),
        presets: presets(),
    }))
}

/// Result of a validation.
#[derive(Debug, Serialize, JsonSchema)]
pub struct FlowValidation {
    /// The flow can be created.
    pub valid: bool,
    /// Mistakes, each at the step or field that fails.
    pub errors: Vec<FieldError>,
}

/// Validate a flow
#[utoipa::path(post, path = "/v1/flows/validate", tag = "flows",
    responses((status = 200, description = "Validity and mistakes"),
        (status = 422, description = "No flow: the body does not fit its schema")))]
pub async fn flow_validate(
    _: Operator,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
    State(outbound): State<Outbound>,
    StrictJson(flow): StrictJson<AutomationFlow>,
) -> Result<Json<FlowValidation>, Problem> {
    let systems = objects::<ExternalSystem>(&world);
    let places = (&*systems, &*world.view().fleet);
    let checked = check(&settings.flow_servers, places, &outbound, &flow);
    let mistakes = checked.err().unwrap_or_default();
    Ok(Json(FlowValidation { valid: mistakes.is_empty(), errors: errors(mistakes) }))
}
