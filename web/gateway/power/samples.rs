//! Samples of power supplies, as nodes and users send them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::power::{
    RecordUpsSamples, SAMPLES_AT_ONCE_MAX, STATUSES_MAX, UpsSample, UpsSource, UpsStatus,
    check_ups_id,
};
use groundwave_http::lenient::{LenientJson, Rejections, fits};
use groundwave_http::problem::FieldCode;
use groundwave_http::time;
use groundwave_http::{Json, Problem, strict};
use groundwave_protocol::RejectedEntry;
use groundwave_protocol::heartbeat::REJECTED_MAX;
use groundwave_telemetry::{HOUR_DAYS, TelemetryStore};
use groundwave_values::bounds;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::access::NodeOrOperator;
use crate::nodes::lenient::rejected_entries;
use crate::services::nut::keep;
use crate::services::world::World;

/// Lead of a clock of a sender that is allowed, ms.
const LEAD_MS: u64 = 60_000;

/// Age up to which the history keeps samples, ms; a sender without a clock is at 1970.
const AGE_MAX_MS: u64 = HOUR_DAYS * 24 * 3_600_000;

/// Sample of a power supply that fits, with its place in the body.
struct ReadSample {
    pointer: String,
    ups_id: String,
    sample: UpsSample,
}

/// Sample of a power supply; absent fields were not measured, unknown ones are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewUpsSample {
    /// Name of the power supply: 1 to 64 of a-z A-Z 0-9 . _ @ -
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._@-]+$"))]
    pub ups_id: String,
    /// Time, RFC 3339, within the last 400 days or at most a minute ahead.
    #[schemars(with = "jiff_time::Rfc3339")]
    pub ts: String,
    /// Status.
    #[serde(default)]
    #[schemars(length(max = 16))]
    pub status: Vec<UpsStatus>,
    /// Charge of the battery, %.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub battery_charge_pct: Option<f64>,
    /// Voltage of the battery, V.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub battery_voltage_v: Option<f64>,
    /// Current of the battery, A; negative while it discharges.
    #[serde(default)]
    #[schemars(range(min = -10_000.0, max = 10_000.0))]
    pub battery_current_a: Option<f64>,
    /// Time until the battery is empty, s.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e9))]
    pub battery_runtime_s: Option<f64>,
    /// Temperature of the battery, degrees Celsius.
    #[serde(default)]
    #[schemars(range(min = -100.0, max = 200.0))]
    pub battery_temperature_c: Option<f64>,
    /// Input voltage, V.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub input_voltage_v: Option<f64>,
    /// Output voltage, V.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub output_voltage_v: Option<f64>,
    /// Load, % of the rated power.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000.0))]
    pub load_pct: Option<f64>,
    /// Power, W.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e7))]
    pub power_w: Option<f64>,
}

/// Schema of times.
mod jiff_time {
    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    /// RFC 3339.
    pub struct Rfc3339;

    impl JsonSchema for Rfc3339 {
        fn inline_schema() -> bool {
            true
        }
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Rfc3339".into()
        }
        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({ "type": "string", "format": "date-time" })
        }
    }
}

/// One sample or an array of samples.
#[derive(Debug)]
pub struct OneOrMany;

impl JsonSchema for OneOrMany {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "UpsSamples".into()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let one = schemas.subschema_for::<NewUpsSample>();
        json_schema!({
            "description": "One sample or an array of samples",
            "oneOf": [one, { "type": "array", "items": one, "maxItems": SAMPLES_AT_ONCE_MAX }],
        })
    }
}

/// Number of accepted samples.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct AcceptedSamples {
    /// Number.
    pub accepted: usize,
    /// Number of entries that were not recorded.
    #[serde(default)]
    pub rejected_count: usize,
    /// Samples, or measurements of samples, that were not recorded, the first 64.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedEntry>,
}

/// Makes a list of a status as NUT writes it, `OB LB`.
fn split_status(status: &mut Value) {
    if let Value::String(text) = status {
        *status = text.split_ascii_whitespace().map(Value::from).collect();
    }
}

/// Reads the samples of a body; what does not fit is left out and named, after `rejections`, those of the body.
fn read_samples(
    body: Value,
    mut rejections: Rejections,
    now_ms: u64,
) -> (Vec<ReadSample>, Rejections) {
    let mut samples = Vec::new();
    let (items, is_list) = match body {
        Value::Array(items) => (items, true),
        one => (vec![one], false),
    };
    for (place, mut item) in items.into_iter().enumerate() {
        let pointer = if is_list { format!("/{place}") } else { String::new() };
        if let Some(status) = item.get_mut("status") {
            split_status(status);
        }
        let statuses = item.get_mut("status");
        rejections.items(&format!("{pointer}/status"), statuses, STATUSES_MAX, |_, _, status| {
            fits::<UpsStatus>(status)
        });
        let read = |item: &Value| {
            let new: NewUpsSample = strict::read(item.clone())?;
            checked(new, now_ms)
        };
        let outcome = match &mut item {
            Value::Object(fields) => {
                rejections.fields(&pointer, fields, &["ups_id", "ts"], |item| read(item).map(drop))
            }
            _ => Ok(()),
        };
        match outcome.and_then(|()| read(&item)) {
            Ok((ups_id, sample)) => samples.push(ReadSample { pointer, ups_id, sample }),
            Err(reason) => rejections.add(pointer, &reason),
        }
    }
    (samples, rejections)
}

/// Name and sample of a power supply.
fn checked(new: NewUpsSample, now_ms: u64) -> Result<(String, UpsSample), String> {
    check_ups_id(&new.ups_id).map_err(|refusal| refusal.to_string())?;
    let ts = time::read("/ts", &new.ts).map_err(|problem| problem.detail)?;
    let ts_ms = u64::try_from(ts.as_millisecond()).unwrap_or(0);
    if ts_ms > now_ms + LEAD_MS {
        return Err("invalid time: more than a minute ahead".to_owned());
    }
    if ts_ms.saturating_add(AGE_MAX_MS) < now_ms {
        return Err(format!("invalid time: found {}, allowed the last {HOUR_DAYS} days", new.ts));
    }
    let sample = UpsSample {
        ts_ms,
        status: new.status,
        battery_charge_pct: new.battery_charge_pct,
        battery_voltage_v: new.battery_voltage_v,
        battery_current_a: new.battery_current_a,
        battery_runtime_s: new.battery_runtime_s,
        battery_temperature_c: new.battery_temperature_c,
        input_voltage_v: new.input_voltage_v,
        output_voltage_v: new.output_voltage_v,
        load_pct: new.load_pct,
        power_w: new.power_w,
    };
    bounds::check(&sample, "").map_err(|bad| bad.to_string())?;
    Ok((new.ups_id, sample))
}

/// Upload samples of power supplies
///
/// Entries that do not fit are left out and listed in `rejected`; name and time of a sample are required.
#[utoipa::path(post, path = "/v1/power/ups/samples", tag = "power",
    responses((status = 202, description = "Stored and rejected entries"),
        (status = 409, description = "Power supply of another source"),
        (status = 413, description = "Body too long")))]
pub async fn ups_samples_post(
    caller: NodeOrOperator,
    State(world): State<World>,
    State(history): State<TelemetryStore>,
    request: LenientJson<OneOrMany>,
) -> Result<(StatusCode, Json<AcceptedSamples>), Problem> {
    let count = request.body.as_array().map_or(1, Vec::len);
    if count > SAMPLES_AT_ONCE_MAX {
        let message = format!("too many samples: found {count}, allowed {SAMPLES_AT_ONCE_MAX}");
        return Err(Problem::field("", FieldCode::Length, message));
    }
    let (samples, rejections) =
        read_samples(request.body, request.duplicates, world.wall_ns() / 1_000_000);
    if let Some((pointer, message)) = rejections.0.first()
        && samples.is_empty()
    {
        // Nothing of it is kept: that is no success.
        return Err(Problem::field(pointer, FieldCode::Invalid, message.clone()));
    }
    let mut accepted = samples.len();
    let mut by_ups: BTreeMap<String, (Vec<String>, Vec<UpsSample>)> = BTreeMap::new();
    for ReadSample { pointer, ups_id, sample } in samples {
        let (pointers, samples) = by_ups.entry(ups_id).or_default();
        pointers.push(pointer);
        samples.push(sample);
    }
    let view = world.view();
    let mut refused = Vec::new();
    for (ups_id, (pointers, samples)) in by_ups {
        let before = view.power.get(&ups_id);
        let text = |of: fn(&groundwave_gateway::power::Ups) -> &Option<String>| {
            before.map(Arc::as_ref).and_then(|ups| of(ups).clone())
        };
        let command = RecordUpsSamples {
            source: UpsSource::Agent,
            node: caller.0.node,
            description: text(|ups| &ups.description),
            model: text(|ups| &ups.model),
            ups_id,
            samples,
        };
        match keep(&world, &history, command).await {
            Ok(()) => {}
            // Of another source: the samples of other power supplies are recorded.
            Err(problem) if problem.status < 500 && accepted > pointers.len() => {
                accepted -= pointers.len();
                let Problem { status, detail: message, .. } = problem;
                let entry = |pointer| RejectedEntry { pointer, status, message: message.clone() };
                refused.extend(pointers.into_iter().map(entry));
            }
            Err(problem) => return Err(problem),
        }
    }
    let rejected_count = rejections.0.len() + refused.len();
    let mut rejected = rejected_entries(rejections);
    rejected.extend(refused);
    rejected.truncate(REJECTED_MAX);
    Ok((StatusCode::ACCEPTED, Json(AcceptedSamples { accepted, rejected_count, rejected })))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_bad_measurement_is_named_and_the_others_are_recorded() {
        let ts = "2027-01-15T08:00:00Z";
        let body = json!([
            {"ups_id": "a", "ts": ts, "status": ["OB", "NEW"], "load_pct": null, "power_w": 5},
            {"ups_id": "a", "ts": ts, "battery_charge_pct": 101, "battery_voltage_v": "NaN"},
            {"ups_id": "a b", "ts": ts},
            7,
        ]);
        let (samples, rejections) = read_samples(body, Rejections::default(), 1_800_000_000_000);
        assert_eq!(samples.len(), 2);
        let first = &samples[0].sample;
        assert_eq!((first.power_w, first.status.len()), (Some(5.0), 1));
        let pointers: Vec<_> = rejections.0.iter().map(|(pointer, _)| pointer.as_str()).collect();
        let expected = ["/0/status/1", "/1/battery_charge_pct", "/1/battery_voltage_v", "/2", "/3"];
        assert_eq!(pointers, expected);
    }

    #[test]
    fn a_status_may_be_the_text_of_nut() {
        let body = json!([
            {"ups_id": "a", "ts": "2027-01-15T08:00:00Z", "status": "OB LB NEW"},
            {"ups_id": "a", "ts": "2027-01-15T08:00:01Z", "status": null},
        ]);
        let (samples, rejections) = read_samples(body, Rejections::default(), 1_800_000_000_000);
        assert_eq!(samples[0].sample.status, [UpsStatus::Ob, UpsStatus::Lb]);
        assert!(samples[1].sample.status.is_empty());
        let pointers: Vec<_> = rejections.0.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/0/status/2", "/1/status"]);
    }

    #[test]
    fn a_sample_that_is_too_old_to_be_kept_is_refused() {
        let now_ms = 1_800_000_000_000;
        let read = |ts: &str| {
            let body = json!({"ups_id": "a", "ts": ts});
            read_samples(body, Rejections::default(), now_ms).0.len()
        };
        // A node without a clock.
        assert_eq!(read("1970-01-01T00:05:00Z"), 0);
        assert_eq!(read("2025-12-10T00:00:00Z"), 0);
        assert_eq!(read("2025-12-12T00:00:00Z"), 1);
    }
}
