//! Power supplies: latest samples, samples of the past, removal.

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::power::{RemoveUps, Ups, UpsSample, UpsSource, UpsStatus};
use groundwave_http::page::{Page, Paging};
use groundwave_http::time::rfc3339;
use groundwave_http::{Json, Path, Problem, Query, RawQuery};
use groundwave_telemetry::TelemetryStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Admin, Viewer};
use crate::services::nut::history_key;
use crate::services::world::{World, missing};
use crate::telemetry::series::{SeriesList, read_series};

/// Age of the latest sample after which it is stale, ms.
const STALE_MS: u64 = 60_000;

/// Power supply with its latest sample; fields that were not measured are null.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct UpsView {
    /// Name.
    pub ups_id: String,
    /// Source.
    pub source: UpsSource,
    /// Node that sent the sample.
    pub node_id: Option<Uuid>,
    /// Description.
    pub description: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// Time of the sample, RFC 3339; null before the first sample.
    pub ts: Option<String>,
    /// Age of the sample, ms; null before the first sample.
    pub age_ms: Option<u64>,
    /// The source has no data, or the sample is older than a minute.
    pub stale: bool,
    /// Status.
    pub status: Vec<UpsStatus>,
    /// Charge of the battery, %.
    pub battery_charge_pct: Option<f64>,
    /// Voltage of the battery, V.
    pub battery_voltage_v: Option<f64>,
    /// Current of the battery, A; negative while it discharges.
    pub battery_current_a: Option<f64>,
    /// Time until the battery is empty, s.
    pub battery_runtime_s: Option<f64>,
    /// Temperature of the battery, degrees Celsius.
    pub battery_temperature_c: Option<f64>,
    /// Input voltage, V.
    pub input_voltage_v: Option<f64>,
    /// Output voltage, V.
    pub output_voltage_v: Option<f64>,
    /// Load, % of the rated power.
    pub load_pct: Option<f64>,
    /// Power, W.
    pub power_w: Option<f64>,
}

impl UpsView {
    fn of(ups: &Ups, now_ns: u64) -> Self {
        let latest = &ups.latest;
        let age_ms = ups.sample().map(|sample| (now_ns / 1_000_000).saturating_sub(sample.ts_ms));
        Self {
            ups_id: ups.ups_id.clone(),
            source: ups.source,
            node_id: ups.node.map(|node| node.uuid()),
            description: ups.description.clone(),
            model: ups.model.clone(),
            ts: ups.sample().map(|sample| rfc3339(sample.ts_ms.saturating_mul(1_000_000))),
            age_ms,
            stale: ups.is_stale || age_ms.is_none_or(|age_ms| age_ms > STALE_MS),
            status: latest.status.clone(),
            battery_charge_pct: latest.battery_charge_pct,
            battery_voltage_v: latest.battery_voltage_v,
            battery_current_a: latest.battery_current_a,
            battery_runtime_s: latest.battery_runtime_s,
            battery_temperature_c: latest.battery_temperature_c,
            input_voltage_v: latest.input_voltage_v,
            output_voltage_v: latest.output_voltage_v,
            load_pct: latest.load_pct,
            power_w: latest.power_w,
        }
    }
}

/// List power supplies with their latest samples
#[utoipa::path(get, path = "/v1/power/ups", tag = "power", params(Paging),
    responses((status = 200, description = "Sorted by name")))]
pub async fn ups_list(
    _: Viewer,
    State(world): State<World>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<UpsView>>, Problem> {
    let view = world.view();
    let now_ns = world.wall_ns();
    let all = view.power.iter().map(|ups| (ups.ups_id.clone(), ups));
    Ok(Json(paging.of(all, |ups| UpsView::of(ups, now_ns))?))
}

/// Get a power supply with its latest sample
#[utoipa::path(get, path = "/v1/power/ups/{ups_id}", tag = "power",
    params(("ups_id" = String, Path, description = "Name")),
    responses((status = 200, description = "The power supply"),
        (status = 404, description = "No such power supply")))]
pub async fn ups_fetch(
    _: Viewer,
    State(world): State<World>,
    Path(ups_id): Path<String>,
) -> Result<Json<UpsView>, Problem> {
    let view = world.view();
    let ups = view.power.get(&ups_id).ok_or_else(|| missing("power supply", &ups_id))?;
    Ok(Json(UpsView::of(ups, world.wall_ns())))
}

/// Get samples of a power supply as series
///
/// Samples for two hours, minutes for a week, hours for 400 days; `ups.on_battery`, `ups.low_battery`,
/// `ups.forced_shutdown`, `ups.alarm` and `ups.overload` are 0 or 1.
#[utoipa::path(get, path = "/v1/power/ups/{ups_id}/samples", tag = "power",
    params(("ups_id" = String, Path, description = "Name"),
        ("metric" = Option<Vec<String>>, Query, description = "Metric names; default all", style = Form, explode),
        ("from" = Option<String>, Query, description = "Start, RFC 3339; default one hour before `to`"),
        ("to" = Option<String>, Query, description = "End, RFC 3339; default now"),
        ("step_s" = Option<u32>, Query, description = "Aggregation step, s", minimum = 1, maximum = 31536000),
        ("agg" = Option<String>, Query, description = "Aggregation: `last`, `avg`, `min`, `max`")),
    responses((status = 200, description = "Sorted by name; metrics without samples are left out"),
        (status = 404, description = "No such power supply")))]
pub async fn ups_samples(
    _: Viewer,
    State(world): State<World>,
    State(history): State<TelemetryStore>,
    Path(ups_id): Path<String>,
    RawQuery(query): RawQuery,
) -> Result<Json<SeriesList>, Problem> {
    if world.view().power.get(&ups_id).is_none() {
        return Err(missing("power supply", ups_id));
    }
    let key = history_key(&ups_id);
    let names = UpsSample::metric_names();
    Ok(Json(read_series(history, key, names, query.as_deref()).await?))
}

/// Delete a power supply
#[utoipa::path(delete, path = "/v1/power/ups/{ups_id}", tag = "power",
    params(("ups_id" = String, Path, description = "Name")),
    responses((status = 204, description = "Deleted"),
        (status = 404, description = "No such power supply")))]
pub async fn ups_delete(
    _: Admin,
    State(world): State<World>,
    Path(ups_id): Path<String>,
) -> Result<StatusCode, Problem> {
    world.submit(RemoveUps { ups_id }).await?;
    Ok(StatusCode::NO_CONTENT)
}
