//! Samples of power supplies, as nodes and users send them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_gateway::power::{
    RecordUpsSamples, SAMPLES_AT_ONCE_MAX, UpsSample, UpsSource, UpsStatus, check_ups_id,
};
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::FieldCode;
use groundwave_http::time;
use groundwave_http::{Json, Problem};
use groundwave_telemetry::TelemetryStore;
use groundwave_values::bounds;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use crate::access::NodeOrOperator;
use crate::services::nut::keep;
use crate::services::world::World;

/// Lead of a clock of a sender that is allowed, ms.
const LEAD_MS: u64 = 60_000;

/// Sample of a power supply; absent fields were not measured, unknown ones are ignored.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct NewUpsSample {
    /// Name of the power supply: 1 to 64 of a-z A-Z 0-9 . _ @ -
    #[schemars(length(min = 1, max = 64), regex(pattern = r"^[A-Za-z0-9._@-]+$"))]
    pub ups_id: String,
    /// Time, RFC 3339, at most a minute ahead.
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
pub struct OneOrMany(Vec<NewUpsSample>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a sample or an array of samples")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<OneOrMany, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(OneOrMany)
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<OneOrMany, A::Error> {
                let one = NewUpsSample::deserialize(MapAccessDeserializer::new(fields))?;
                Ok(OneOrMany(vec![one]))
            }
        }

        deserializer.deserialize_any(Either)
    }
}

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
}

/// The sample at a place of the request.
fn checked(place: usize, new: NewUpsSample, now_ms: u64) -> Result<(String, UpsSample), Problem> {
    let at = |key: &str| format!("/{place}/{key}");
    if check_ups_id(&new.ups_id).is_err() {
        let message = "invalid name: allowed 1 to 64 characters of a-z A-Z 0-9 . _ @ -";
        return Err(Problem::field(&at("ups_id"), FieldCode::NotAllowed, message));
    }
    let ts = time::read(&at("ts"), &new.ts)?.as_millisecond();
    let ts_ms = u64::try_from(ts).unwrap_or(0);
    if ts_ms > now_ms + LEAD_MS {
        let message = "invalid time: more than a minute ahead";
        return Err(Problem::field(&at("ts"), FieldCode::NotAllowed, message));
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
    bounds::check(&sample, "")
        .map_err(|bad| Problem::field(&at(&bad.key), FieldCode::NotAllowed, bad.to_string()))?;
    Ok((new.ups_id, sample))
}

/// Upload samples of power supplies
#[utoipa::path(post, path = "/v1/power/ups/samples", tag = "power",
    responses((status = 202, description = "Stored"),
        (status = 409, description = "Power supply of another source"),
        (status = 413, description = "Body too long")))]
pub async fn ups_samples_post(
    caller: NodeOrOperator,
    State(world): State<World>,
    State(history): State<TelemetryStore>,
    StrictJson(OneOrMany(new)): StrictJson<OneOrMany>,
) -> Result<(StatusCode, Json<AcceptedSamples>), Problem> {
    let accepted = new.len();
    if accepted > SAMPLES_AT_ONCE_MAX {
        let message = format!("too many samples: found {accepted}, allowed {SAMPLES_AT_ONCE_MAX}");
        return Err(Problem::field("", FieldCode::Length, message));
    }
    let now_ms = world.wall_ns() / 1_000_000;
    let mut by_ups: BTreeMap<String, Vec<UpsSample>> = BTreeMap::new();
    for (place, new) in new.into_iter().enumerate() {
        let (ups_id, sample) = checked(place, new, now_ms)?;
        by_ups.entry(ups_id).or_default().push(sample);
    }
    let view = world.view();
    for (ups_id, samples) in by_ups {
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
        keep(&world, &history, command).await?;
    }
    Ok((StatusCode::ACCEPTED, Json(AcceptedSamples { accepted })))
}
