//! Readings of sensors, and the sensors that a node is to read.

use std::sync::Arc;

use axum::extract::State;
use groundwave_http::page::{Page, Paging};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_protocol::{Reading, unit_of};
use groundwave_sensor::{NAMESPACE, SensorPlan, is_prefix_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{NodeOrViewer, Viewer};
use crate::services::peripherals::{PeripheralHost, plan};
use crate::services::world::World;

/// Filter of readings.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReadingQuery {
    /// Node id
    pub node_id: Option<Uuid>,
    /// Template name
    pub template_id: Option<String>,
}

/// Latest reading of a metric of a sensor.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SensorReading {
    /// Node; `null` for the gateway's own machine.
    pub node_id: Option<Uuid>,
    /// Metric, `i2c.TEMPLATE.METRIC`; further sensors of a template have a number, `TEMPLATE_2`.
    pub metric: String,
    /// Value.
    pub value: f64,
    /// Unit, if it is known.
    pub unit: Option<String>,
    /// Time of the reading, RFC 3339.
    pub ts: String,
    /// Age, ms.
    pub age_ms: u64,
}

/// Latest readings of sensors
#[utoipa::path(get, path = "/v1/sensors/readings", tag = "sensors", params(ReadingQuery, Paging),
    responses((status = 200, description = "Latest reading of each metric, those of the gateway's own machine first")))]
pub async fn sensor_readings(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Query(query): Query<ReadingQuery>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<SensorReading>>, Problem> {
    let view = world.view();
    let now_ms = world.wall_ns() / 1_000_000;
    let own = view.peripherals.readings.iter().map(|(metric, reading)| (None, metric, reading));
    let of_nodes = view.fleet.nodes.values().flat_map(|node| {
        let from = NAMESPACE.to_owned();
        let sensors =
            node.latest.range(from..).take_while(|(metric, _)| metric.starts_with(NAMESPACE));
        sensors.map(|(metric, reading)| (Some(node.id.uuid()), metric, reading))
    });
    let fitting = own.chain(of_nodes).filter(|(node, metric, _)| {
        let prefix = prefix_of(metric);
        query.node_id.is_none_or(|id| *node == Some(id))
            && query.template_id.as_ref().is_none_or(|template| is_prefix_of(template, prefix))
    });
    let keyed = fitting.map(|(node, metric, reading)| {
        let key = node.map(|node| node.to_string()).unwrap_or_default();
        (format!("{key}-{metric}"), (node, metric, reading))
    });
    let show = |(node_id, metric, reading): (Option<Uuid>, &String, &Reading)| {
        let template = host.template_of(&view, prefix_of(metric));
        let name = metric.rsplit('.').next().unwrap_or_default();
        let unit = template.and_then(|template| template.unit_of(name));
        SensorReading {
            node_id,
            metric: metric.clone(),
            value: reading.value,
            unit: unit.or_else(|| unit_of(metric)).map(str::to_owned),
            ts: rfc3339(reading.ts_ms.saturating_mul(1_000_000)),
            age_ms: now_ms.saturating_sub(reading.ts_ms),
        }
    };
    Ok(Json(paging.of(keyed, show)?))
}

/// Middle part of a metric.
fn prefix_of(metric: &str) -> &str {
    let rest = metric.strip_prefix(NAMESPACE).unwrap_or_default();
    rest.split('.').next().unwrap_or_default()
}

/// Sensors that a node is to read.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeSensors {
    /// Revision, as in the acknowledgement of heartbeats; absent without assigned sensors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Sensors, and the templates that are not built in.
    #[serde(flatten)]
    pub plan: SensorPlan,
}

/// Get the sensors that a node is to read
#[utoipa::path(get, path = "/v1/nodes/{node_id}/sensors", tag = "sensors",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 200, description = "Assigned sensors with their templates"),
        (status = 404, description = "No such node")))]
pub async fn node_sensors(
    _: NodeOrViewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Path(node_id): Path<Uuid>,
) -> Result<Json<NodeSensors>, Problem> {
    let node = world.node(node_id)?.id;
    let view = world.view();
    Ok(Json(NodeSensors {
        revision: host.revision(&view, Some(node)),
        plan: plan(&view, Some(node)),
    }))
}
