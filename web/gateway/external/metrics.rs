//! Metrics of external systems: series and latest values.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::external::ExternalSystem;
use groundwave_http::problem::FieldCode;
use groundwave_http::time;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_simulation::site::NodeId;
use groundwave_telemetry::{Point, TelemetryStore};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Viewer;
use crate::services::config_objects::find;
use crate::services::external::state::ExternalStates;
use crate::services::world::{World, blocking};
use crate::telemetry::series::{HOUR_MS, LatestReading, POINTS_MAX, Series, stepped};

/// Metrics of an external system.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct ExternalMetrics {
    /// Series by metric.
    pub series: Vec<Series>,
    /// Latest values by metric.
    pub latest: BTreeMap<String, LatestReading>,
}

/// Selection of metrics.
#[derive(Debug, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Selection {
    /// Metric; default all
    pub metric: Option<String>,
    /// Start, RFC 3339; default one hour before `to`
    pub from: Option<String>,
    /// End, RFC 3339; default now
    pub to: Option<String>,
    /// Aggregation step, s
    #[param(minimum = 1, maximum = 31_536_000)]
    pub step_s: Option<u64>,
}

/// Unit of a metric of a system.
fn unit_of(system: &ExternalSystem, metric: &str) -> Option<String> {
    let own = match metric {
        "latency_ms" => Some("ms"),
        "loss_pct" => Some("%"),
        _ => None,
    };
    let check = system.checks.iter().find(|check| check.metric == metric);
    let mut polls = system.endpoints.iter().filter_map(|endpoint| endpoint.poll.as_ref());
    let poll = polls.find(|poll| poll.metric == metric);
    let of_poll = poll.and_then(|poll| poll.unit.clone());
    let of_check = check.and_then(|check| check.unit.clone());
    of_check.or(of_poll).or(own.map(str::to_owned))
}

/// Get the metrics of an external system
#[utoipa::path(get, path = "/v1/external-systems/{system_id}/metrics", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id"), Selection),
    responses((status = 200, description = "Series and latest values, sorted by name"),
        (status = 404, description = "No such system")))]
pub async fn external_metrics(
    _: Viewer,
    State(world): State<World>,
    State(states): State<Arc<ExternalStates>>,
    State(history): State<TelemetryStore>,
    Path(id): Path<Uuid>,
    Query(selection): Query<Selection>,
) -> Result<Json<ExternalMetrics>, Problem> {
    let versioned = find::<ExternalSystem>(&world, id)?;
    let time = |pointer: &str, text: &Option<String>, usual_ms: u64| match text {
        None => Ok(usual_ms),
        Some(text) => {
            let at = time::read(pointer, text)?;
            Ok::<_, Problem>(u64::try_from(at.as_millisecond()).unwrap_or(0))
        }
    };
    let now_ms = wall_ns() / 1_000_000;
    let to_ms = time("/to", &selection.to, now_ms)?;
    let from_ms = time("/from", &selection.from, to_ms.saturating_sub(HOUR_MS))?;
    let wrong = |key: &str, message: &str| Problem::field(key, FieldCode::NotAllowed, message);
    time::check_range(from_ms, to_ms)?;
    if let Some(step_s) = selection.step_s.filter(|step_s| !(1..=31_536_000).contains(step_s)) {
        let message = format!("invalid step: found {step_s}, allowed 1 to 31536000 s");
        return Err(wrong("/step_s", &message));
    }
    let status = states.status(id);
    let system = &versioned.object;
    let mut names: Vec<String> = match selection.metric {
        Some(metric) => vec![metric],
        None => {
            let polls = system
                .endpoints
                .iter()
                .filter_map(|endpoint| endpoint.poll.as_ref())
                .map(|poll| poll.metric.clone());
            let checks = system.checks.iter().map(|check| check.metric.clone());
            let latest = status.latest.keys().cloned();
            latest.chain(checks).chain(polls).collect()
        }
    };
    names.sort();
    names.dedup();
    let versioned = Arc::clone(&versioned);
    let work = move || {
        let mut count = 0;
        let mut all = Vec::new();
        for metric in names {
            let stored = history.read(NodeId::new(id), &metric, from_ms, to_ms);
            let mut points = stored.map_err(|err| Problem::internal(err.to_string()))?;
            let last_ms = points.last().map(|point| point.last.0);
            let fresh = states
                .pending(id, &metric)
                .into_iter()
                .filter(|(ts_ms, _)| (from_ms..=to_ms).contains(ts_ms))
                .filter(|(ts_ms, _)| last_ms.is_none_or(|last_ms| *ts_ms > last_ms));
            points.extend(fresh.map(|(ts_ms, value)| Point::one(ts_ms, value)));
            let points = stepped(points, selection.step_s.map(|step_s| step_s * 1_000));
            count += points.len();
            if count > POINTS_MAX {
                let message = format!(
                    "more than {POINTS_MAX} points: allowed are shorter times or longer steps"
                );
                return Err(Problem::field("/step_s", FieldCode::TooMany, message));
            }
            all.push(Series {
                unit: unit_of(&versioned.object, &metric),
                points: points.iter().map(|point| (point.ts_ms, point.last.1)).collect(),
                metric,
            });
        }
        Ok((versioned, all))
    };
    let (versioned, series) = blocking(work).await?;
    let latest = status.latest.into_iter().map(|(metric, (ts_ms, value))| {
        let reading = LatestReading {
            value,
            unit: unit_of(&versioned.object, &metric),
            ts: rfc3339(ts_ms * 1_000_000),
        };
        (metric, reading)
    });
    Ok(Json(ExternalMetrics { series, latest: latest.collect() }))
}
