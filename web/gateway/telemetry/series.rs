//! Telemetry of the past and of now: series, latest values.

use std::collections::{BTreeMap, BTreeSet};

use axum::extract::State;
use groundwave_files::wall::wall_ns;
use groundwave_gateway::fleet::FleetNode;
use groundwave_http::page::{Page, Paging};
use groundwave_http::problem::FieldCode;
use groundwave_http::time;
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, RawQuery};
use groundwave_protocol::{check_metric, unit_of};
use groundwave_simulation::site::NodeId;
use groundwave_telemetry::Point;
use groundwave_telemetry::TelemetryStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Viewer;
use crate::services::world::{World, blocking};

/// Maximum number of points of a reply.
pub(crate) const POINTS_MAX: usize = 10_000;
/// Time before the end that is read where no start is named, ms.
pub(crate) const HOUR_MS: u64 = 3_600_000;
/// Maximum number of metrics of a request.
const NAMES_MAX: usize = 64;

/// Aggregation of the samples of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Fold {
    #[default]
    Last,
    Avg,
    Min,
    Max,
}

impl Fold {
    fn of(self, point: &Point) -> f64 {
        match self {
            Self::Last => point.last.1,
            Self::Avg => point.sum / f64::from(point.count.max(1)),
            Self::Min => point.min,
            Self::Max => point.max,
        }
    }
}

struct Question {
    metrics: BTreeSet<String>,
    from_ms: u64,
    to_ms: u64,
    step_ms: Option<u64>,
    fold: Fold,
    paging: Paging,
    prefix: Option<String>,
}

/// Parses the query; `metric` may occur several times.
fn question(query: Option<&str>, allowed: &[&str]) -> Result<Question, Problem> {
    let now_ms = wall_ns() / 1_000_000;
    let mut question = Question {
        metrics: BTreeSet::new(),
        from_ms: 0,
        to_ms: now_ms,
        step_ms: None,
        fold: Fold::default(),
        paging: Paging::default(),
        prefix: None,
    };
    let mut from_ms = None;
    let wrong =
        |key: &str, message: &str| Problem::field(&format!("/{key}"), FieldCode::Format, message);
    for (key, value) in form_urlencoded::parse(query.unwrap_or("").as_bytes()) {
        if !allowed.contains(&&*key) {
            continue;
        }
        let time = || -> Result<u64, Problem> {
            let time = time::read(&format!("/{key}"), &value)?;
            Ok(u64::try_from(time.as_millisecond()).unwrap_or(0))
        };
        match &*key {
            "metric" => {
                check_metric(&value, 0.0).map_err(|err| wrong(&key, &err.to_string()))?;
                question.metrics.insert(value.into_owned());
            }
            "from" => from_ms = Some(time()?),
            "to" => question.to_ms = time()?,
            "step_s" => {
                let step_s: u64 = value.parse().unwrap_or(0);
                if !(1..=31_536_000).contains(&step_s) {
                    let message = format!("invalid step: found {value:?}, allowed 1 to 31536000 s");
                    return Err(wrong(&key, &message));
                }
                question.step_ms = Some(step_s * 1_000);
            }
            "agg" => {
                question.fold = match &*value {
                    "last" => Fold::Last,
                    "avg" => Fold::Avg,
                    "min" => Fold::Min,
                    "max" => Fold::Max,
                    _ => {
                        return Err(wrong(
                            &key,
                            "invalid aggregation: allowed last, avg, min, max",
                        ));
                    }
                };
            }
            "limit" => {
                let limit =
                    value.parse().map_err(|_| wrong(&key, "invalid limit: allowed 1 to 1000"))?;
                question.paging.limit = Some(limit);
            }
            "cursor" => question.paging.cursor = Some(value.into_owned()),
            "prefix" => question.prefix = Some(value.into_owned()),
            _ => {}
        }
    }
    if question.metrics.len() > NAMES_MAX {
        return Err(wrong("metric", "too many metrics: allowed 1 to 64"));
    }
    question.from_ms = from_ms.unwrap_or_else(|| question.to_ms.saturating_sub(HOUR_MS));
    time::check_range(question.from_ms, question.to_ms)?;
    Ok(question)
}

/// Series of a metric.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Metric.
    pub metric: String,
    /// Unit.
    pub unit: Option<String>,
    /// Timestamps, ms since the Unix epoch, and values.
    pub points: Vec<(u64, f64)>,
}

/// Series.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SeriesList {
    /// Series by metric.
    pub series: Vec<Series>,
}

/// Points aggregated by step; the last step may be incomplete.
pub(crate) fn stepped(points: Vec<Point>, step_ms: Option<u64>) -> Vec<Point> {
    let Some(step_ms) = step_ms else {
        return points;
    };
    let mut steps: BTreeMap<u64, Point> = BTreeMap::new();
    for point in points {
        let ts_ms = point.ts_ms / step_ms * step_ms;
        match steps.get_mut(&ts_ms) {
            Some(step) => step.fold(&point),
            None => {
                steps.insert(ts_ms, Point { ts_ms, ..point });
            }
        }
    }
    steps.into_values().collect()
}

/// Samples of a metric: stored history and recent samples not stored yet.
fn gather(
    history: &TelemetryStore,
    node: &FleetNode,
    metric: &str,
    question: &Question,
) -> Result<Vec<Point>, Problem> {
    let (from_ms, to_ms) = (question.from_ms, question.to_ms);
    let mut points = history
        .read(node.id, metric, from_ms, to_ms)
        .map_err(|err| Problem::internal(err.to_string()))?;
    let stored: BTreeSet<(u64, u64)> = points
        .iter()
        .filter(|point| point.count == 1)
        .map(|point| (point.ts_ms, point.last.1.to_bits()))
        .collect();
    let within = from_ms..=to_ms;
    let fresh = node
        .recent_samples
        .of(metric)
        .filter(|(ts_ms, _)| within.contains(ts_ms))
        .filter(|(ts_ms, value)| !stored.contains(&(*ts_ms, value.to_bits())));
    points.extend(fresh.map(|(ts_ms, value)| Point::one(ts_ms, value)));
    points.sort_by_key(|point| point.ts_ms);
    Ok(points)
}

/// Get telemetry series of a node
///
/// Samples for two hours, minutes for a week, hours for 400 days.
#[utoipa::path(get, path = "/v1/nodes/{node_id}/telemetry", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"),
        ("metric" = Option<Vec<String>>, Query, description = "Metric names; default all", style = Form, explode),
        ("from" = Option<String>, Query, description = "Start, RFC 3339; default one hour before `to`"),
        ("to" = Option<String>, Query, description = "End, RFC 3339; default now"),
        ("step_s" = Option<u32>, Query, description = "Aggregation step, s", minimum = 1, maximum = 31536000),
        ("agg" = Option<String>, Query, description = "Aggregation: `last`, `avg`, `min`, `max`")),
    responses((status = 200, description = "Sorted by name"),
        (status = 404, description = "No such node")))]
pub async fn telemetry_fetch(
    _: Viewer,
    State(world): State<World>,
    State(history): State<TelemetryStore>,
    Path(id): Path<Uuid>,
    RawQuery(query): RawQuery,
) -> Result<Json<SeriesList>, Problem> {
    let allowed = ["metric", "from", "to", "step_s", "agg"];
    let mut question = question(query.as_deref(), &allowed)?;
    let node = world.node(id)?;
    if question.metrics.is_empty() {
        question.metrics = node.latest.keys().cloned().collect();
    }
    let series = blocking(move || {
        let mut count = 0;
        let mut series = Vec::new();
        for metric in &question.metrics {
            let points = stepped(gather(&history, &node, metric, &question)?, question.step_ms);
            count += points.len();
            if count > POINTS_MAX {
                let message = format!(
                    "more than {POINTS_MAX} points: allowed are a shorter time, fewer readings or longer steps"
                );
                return Err(Problem::field("/step_s", FieldCode::TooMany, message));
            }
            series.push(Series {
                unit: unit_of(metric).map(str::to_owned),
                points: points.iter().map(|point| (point.ts_ms, question.fold.of(point))).collect(),
                metric: metric.clone(),
            });
        }
        Ok(series)
    });
    Ok(Json(SeriesList { series: series.await? }))
}

/// Series of what the history has under a key, by the times, step and metrics of a query. Metrics
/// that were not requested and have no points are left out.
///
/// # Errors
/// 422 for a malformed query, for other metrics than `names`, and for too many points.
pub async fn read_series(
    history: TelemetryStore,
    key: NodeId,
    names: Vec<String>,
    query: Option<&str>,
) -> Result<SeriesList, Problem> {
    let mut question = question(query, &["metric", "from", "to", "step_s", "agg"])?;
    if let Some(other) = question.metrics.iter().find(|name| !names.contains(name)) {
        let message = format!("invalid metric: found {other:?}, allowed {}", names.join(", "));
        return Err(Problem::field("/metric", FieldCode::NotAllowed, message));
    }
    let is_all = question.metrics.is_empty();
    if is_all {
        question.metrics = names.into_iter().collect();
    }
    let read = move || {
        let mut series = Vec::new();
        for metric in &question.metrics {
            let points = history
                .read(key, metric, question.from_ms, question.to_ms)
                .map_err(|err| Problem::internal(err.to_string()))?;
            let points = stepped(points, question.step_ms);
            if points.is_empty() && is_all {
                continue;
            }
            series.push(Series {
                metric: metric.clone(),
                unit: unit_of(metric).map(str::to_owned),
                points: points.iter().map(|point| (point.ts_ms, question.fold.of(point))).collect(),
            });
        }
        bounded(&series)?;
        Ok(SeriesList { series })
    };
    blocking(read).await
}

/// Refuses too many points.
fn bounded(series: &[Series]) -> Result<(), Problem> {
    let count: usize = series.iter().map(|series| series.points.len()).sum();
    if count <= POINTS_MAX {
        return Ok(());
    }
    let message = format!(
        "more than {POINTS_MAX} points: allowed are a shorter time, fewer readings or longer steps"
    );
    Err(Problem::field("/step_s", FieldCode::TooMany, message))
}

/// Latest sample of a metric.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct LatestReading {
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: Option<String>,
    /// Time, RFC 3339.
    pub ts: String,
}

/// Latest samples of a node by metric.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct LatestReadings(pub BTreeMap<String, LatestReading>);

/// Get the latest samples of a node
#[utoipa::path(get, path = "/v1/nodes/{node_id}/telemetry/latest", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id"),
        ("prefix" = Option<String>, Query, description = "Prefix of metric names, such as `mesh.`")),
    responses((status = 200, description = "Sorted by name"),
        (status = 404, description = "No such node")))]
pub async fn telemetry_latest(
    _: Viewer,
    State(world): State<World>,
    Path(id): Path<Uuid>,
    RawQuery(query): RawQuery,
) -> Result<Json<LatestReadings>, Problem> {
    let question = question(query.as_deref(), &["prefix"])?;
    let prefix = question.prefix.unwrap_or_default();
    let node = world.node(id)?;
    let fits = node.latest.iter().filter(|(name, _)| name.starts_with(&prefix));
    let readings = fits.map(|(name, reading)| {
        let reading = LatestReading {
            value: reading.value,
            unit: unit_of(name).map(str::to_owned),
            ts: rfc3339(reading.ts_ms * 1_000_000),
        };
        (name.clone(), reading)
    });
    Ok(Json(LatestReadings(readings.collect())))
}

/// The latest of one reading of one node.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NodeReading {
    /// Node id.
    pub node_id: Uuid,
    /// Metric.
    pub metric: String,
    /// Value.
    pub value: f64,
    /// Unit.
    pub unit: Option<String>,
    /// Time, RFC 3339.
    pub ts: String,
}

/// List the latest samples of all nodes
#[utoipa::path(get, path = "/v1/telemetry/latest", tag = "nodes",
    params(("metric" = Vec<String>, Query, description = "Metric names", style = Form, explode), Paging),
    responses((status = 200, description = "Sorted by node id and name")))]
pub async fn telemetry_latest_all(
    _: Viewer,
    State(world): State<World>,
    RawQuery(query): RawQuery,
) -> Result<Json<Page<NodeReading>>, Problem> {
    let question = question(query.as_deref(), &["metric", "limit", "cursor"])?;
    if question.metrics.is_empty() {
        return Err(Problem::field(
            "/metric",
            FieldCode::Missing,
            "missing metric: allowed 1 or more names",
        ));
    }
    let view = world.view();
    let all = view.fleet.nodes.values().flat_map(|node| {
        question.metrics.iter().filter_map(move |metric| {
            let reading = node.latest.get(metric)?;
            let key = format!("{} {metric}", node.id.uuid());
            Some((key, (node.id.uuid(), metric, *reading)))
        })
    });
    let show =
        |(node_id, metric, reading): (Uuid, &String, groundwave_protocol::Reading)| NodeReading {
            node_id,
            metric: metric.clone(),
            value: reading.value,
            unit: unit_of(metric).map(str::to_owned),
            ts: rfc3339(reading.ts_ms * 1_000_000),
        };
    Ok(Json(question.paging.of(all, show)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_without_a_start_begins_an_hour_before_its_end() {
        let range = question(Some("to=2026-11-30T20:00:00Z"), &["to"]).ok().unwrap();
        assert_eq!((range.from_ms, range.to_ms), (1_796_065_200_000, 1_796_068_800_000));
        let reversed = "from=2026-11-30T20:00:01Z&to=2026-11-30T20:00:00Z";
        assert!(question(Some(reversed), &["from", "to"]).is_err());
    }
}
