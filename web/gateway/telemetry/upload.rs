//! Upload of telemetry samples in batches.

use std::io::Read;
use std::marker::PhantomData;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use groundwave_files::wall::wall_ns;
use groundwave_gateway::fleet::{RecordSamples, SAMPLES_AT_ONCE_MAX};
use groundwave_http::endpoints::{Describe, add_body};
use groundwave_http::extract::whole_body;
use groundwave_http::json_body;
use groundwave_http::json_body::json_media;
use groundwave_http::lenient::{quoted_words, readable};
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem, Schemas, strict, time};
use groundwave_protocol::{Sample, check_metric, check_reading};
use groundwave_telemetry::TelemetryStore;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::access::NodeOrOperator;
use crate::services::history::{history_failed, takes_readings};
use crate::services::limits::BATCH_BYTES_MAX;
use crate::services::limits::RateLimits;
use crate::services::metrics::Metrics;
use crate::services::world::{World, blocking};

/// Maximum compression ratio of a batch.
const RATIO_MAX: usize = 20;
/// Oldest sample, ms: a week.
const OLDEST_MS: u64 = 7 * 24 * 3_600_000;
/// Maximum lead of a node's clock, ms.
const AHEAD_MS: u64 = 60_000;

/// Uploaded sample.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SampleIn {
    /// Time, RFC 3339.
    pub ts: String,
    /// Metric, such as `mesh.tx_mbps`; an invalid one is rejected alone.
    pub metric: String,
    /// Value.
    pub value: f64,
}

/// Batch of samples.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct TelemetryBatch {
    /// Samples, up to 512.
    #[schemars(length(max = 512))]
    #[expect(dead_code, reason = "describes the body, whose samples are read one by one")]
    samples: Vec<SampleIn>,
}

/// Rejected sample.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct RejectedSample {
    /// Index in the batch, from 0.
    pub index: usize,
    /// `metric`, `value`, `ts-format`, `ts-old`, `ts-ahead`; `minute-full` for more than 4,096 samples
    /// of a minute, `names-full` for more than 256 metrics within a day besides the core ones.
    pub code: String,
    /// 422 for an invalid sample, 429 for one too many, which passes later.
    pub status: u16,
}

/// Result of an upload.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct BatchResult {
    /// Number of samples accepted and stored.
    pub accepted: usize,
    /// Number of rejected samples.
    pub rejected_count: usize,
    /// Rejected samples.
    pub rejected: Vec<RejectedSample>,
}

/// JSON body, optionally compressed with gzip, to be read entry by entry; described as `T`.
pub struct GzipJson<T>(pub Value, PhantomData<T>);

impl<T, S: Send + Sync> FromRequest<S> for GzipJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let headers = request.headers().clone();
        let bytes = whole_body(request, state).await?;
        json_media(&headers)?;
        let json = unpacked(&headers, &bytes)?;
        Ok(Self(json_body::read(&quoted_words(readable(&json).as_bytes()))?, PhantomData))
    }
}

impl<T: JsonSchema> Describe for GzipJson<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        add_body(operation, &schemas.reference::<T>(), true);
    }
}

fn unpacked(headers: &HeaderMap, bytes: &Bytes) -> Result<Vec<u8>, Problem> {
    let too_long = || {
        Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!(
                "request body too long: allowed 0 to {BATCH_BYTES_MAX} bytes, compressed by at most {RATIO_MAX}"
            ),
        )
    };
    // Names of codings have no case, and `x-gzip` is another one of gzip (RFC 9110, 8.4.1).
    let packing = headers.get(header::CONTENT_ENCODING);
    let packing = packing.map(|packing| packing.to_str().unwrap_or("?").to_ascii_lowercase());
    match packing.as_deref() {
        None | Some("identity") => Ok(bytes.to_vec()),
        Some("gzip" | "x-gzip") => {
            let maximum = BATCH_BYTES_MAX.min(bytes.len().saturating_mul(RATIO_MAX));
            let mut body = Vec::new();
            let mut reader = flate2::read::GzDecoder::new(&bytes[..]).take(maximum as u64 + 1);
            reader
                .read_to_end(&mut body)
                .map_err(|err| Problem::bad_request(format!("invalid gzip body: {err}")))?;
            match body.len() > maximum {
                true => Err(too_long()),
                false => Ok(body),
            }
        }
        Some(_) => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported content encoding: allowed gzip, identity",
        )),
    }
}

fn read_sample(sample: Value) -> Result<SampleIn, &'static str> {
    let unfit = match &sample {
        Value::Object(fields) => {
            let is = |key: &str, fits: fn(&Value) -> bool| fields.get(key).is_some_and(fits);
            let texts = [("metric", "metric"), ("ts", "ts-format")];
            let text = texts.into_iter().find(|(key, _)| !is(key, Value::is_string));
            text.map_or("value", |(_, code)| code)
        }
        _ => "metric",
    };
    strict::read(sample).map_err(|_| unfit)
}

fn sound(sample: SampleIn, now_ms: u64) -> Result<Sample, &'static str> {
    let SampleIn { ts, metric, value, .. } = sample;
    check_metric(&metric, 0.0).map_err(|_| "metric")?;
    check_reading(&metric, value).map_err(|_| "value")?;
    let ts: jiff::Timestamp = time::timestamp(&ts).ok_or("ts-format")?;
    let ts_ms = u64::try_from(ts.as_millisecond()).map_err(|_| "ts-old")?;
    if ts_ms + OLDEST_MS < now_ms {
        return Err("ts-old");
    }
    if ts_ms > now_ms + AHEAD_MS {
        return Err("ts-ahead");
    }
    Ok(Sample { ts_ms, metric, value })
}

/// Upload telemetry samples with their timestamps
#[utoipa::path(post, path = "/v1/nodes/{node_id}/telemetry", tag = "nodes",
    params(("node_id" = Uuid, Path, description = "Node id")),
    responses((status = 202, description = "Accepted and rejected entries"),
        (status = 404, description = "No such approved node"),
        (status = 429, description = "Too many samples of this node"),
        (status = 507, description = "The disk of the history is full; no sample was accepted")))]
pub async fn telemetry_post(
    _: NodeOrOperator,
    State(world): State<World>,
    State(metrics): State<Arc<Metrics>>,
    State(history): State<TelemetryStore>,
    State(limits): State<Arc<RateLimits>>,
    Path(id): Path<Uuid>,
    GzipJson(mut batch, _): GzipJson<TelemetryBatch>,
) -> Result<(StatusCode, Json<BatchResult>), Problem> {
    let Some(Value::Array(batch)) = batch.get_mut("samples").map(Value::take) else {
        let message = "invalid samples: allowed an array";
        return Err(Problem::field("/samples", FieldCode::Invalid, message));
    };
    if batch.len() > SAMPLES_AT_ONCE_MAX {
        let message = format!("too many samples: allowed 0 to {SAMPLES_AT_ONCE_MAX}");
        return Err(Problem::field("/samples", FieldCode::Length, message));
    }
    let node = world.node(id)?.id;
    takes_readings(&history)?;
    limits.samples.allow_n(&node, batch.len(), "too many samples")?;
    let now_ms = wall_ns() / 1_000_000;
    // Samples, and their indices in the batch.
    let (mut samples, mut places) = (Vec::new(), Vec::new());
    let mut rejected = Vec::new();
    let entries: Vec<_> = batch.into_iter().map(read_sample).collect();
    if let Some(Err(part)) = entries.first()
        && entries.iter().all(Result::is_err)
    {
        // A node that sends nothing but this is told so by the status.
        let message = format!(
            "invalid samples: found no sample in {} entries, the first without a valid {part}",
            entries.len()
        );
        return Err(Problem::field("/samples/0", FieldCode::Invalid, message));
    }
    for (index, sample) in entries.into_iter().enumerate() {
        match sample.and_then(|sample| sound(sample, now_ms)) {
            Ok(sample) => {
                samples.push(sample);
                places.push(index);
            }
            Err(code) => {
                rejected.push(RejectedSample { index, code: code.to_owned(), status: 422 })
            }
        }
    }
    let command = RecordSamples { node, samples: samples.clone() };
    // Samples older than the world keeps go to the history: on disk before the answer.
    let reply = world.submit(command).await?;
    rejected.extend(reply.refused.iter().map(|(place, refusal)| RejectedSample {
        index: places[*place],
        code: refusal.code().to_owned(),
        status: 429,
    }));
    rejected.sort_by_key(|sample| sample.index);
    let accepted = samples.len() - reply.refused.len();
    if !reply.late.is_empty() {
        let late: Vec<_> = reply.late.iter().map(|place| samples[*place].clone()).collect();
        let added = blocking(move || history.add(node, &late).map_err(history_failed));
        added.await?;
    }
    metrics.samples.inc_by(accepted as u64);
    metrics.samples_rejected.inc_by(rejected.len() as u64);
    let result = BatchResult { accepted, rejected_count: rejected.len(), rejected };
    Ok((StatusCode::ACCEPTED, Json(result)))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use axum::http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn codings_have_no_case() {
        let body = b"{\"samples\": []}";
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(body).unwrap();
        let packed = Bytes::from(packed.finish().unwrap());
        for name in ["gzip", "GZIP", "x-gzip"] {
            let headers =
                HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static(name))]);
            assert_eq!(unpacked(&headers, &packed).unwrap(), body, "{name}");
        }
        let headers =
            HeaderMap::from_iter([(header::CONTENT_ENCODING, HeaderValue::from_static("br"))]);
        assert_eq!(unpacked(&headers, &packed).unwrap_err().status, 415);
    }

    #[test]
    fn a_sample_that_does_not_fit_has_a_code_of_its_own() {
        let now_ms = 1_800_000_000_000;
        let code = |sample: Value| {
            read_sample(sample).and_then(|sample| sound(sample, now_ms)).map(drop).err()
        };
        let ts = "2027-01-15T08:00:00Z";
        for (sample, expected) in [
            (json!({"ts": ts, "metric": "sys.load1", "value": 1}), None),
            (json!({"ts": ts, "metric": "sys.load1", "value": null}), Some("value")),
            (json!({"ts": ts, "metric": "sys.load1", "value": "1e999"}), Some("value")),
            (json!({"ts": ts, "metric": "sys.load1"}), Some("value")),
            (json!({"ts": ts, "metric": "foo.bar", "value": 1}), Some("metric")),
            (json!({"ts": ts, "metric": 7, "value": 1}), Some("metric")),
            (json!({"ts": 5, "metric": "sys.load1", "value": 1}), Some("ts-format")),
            (json!({"ts": "noon", "metric": "sys.load1", "value": 1}), Some("ts-format")),
            (json!(null), Some("metric")),
        ] {
            assert_eq!(code(sample.clone()), expected, "{sample}");
        }
    }
}
