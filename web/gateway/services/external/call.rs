//! Calls of imported endpoints, for requests and for automation.

use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use groundwave_gateway::account::AccountRole;
use groundwave_gateway::external::{Endpoint, ExternalSystem};
use groundwave_http::Problem;
use groundwave_http::problem::{FieldCode, FieldError, ProblemKind};
use groundwave_io_gateway::openapi;
use groundwave_io_gateway::openapi::BadParameter;
use groundwave_outbound::{Outbound, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::auth::SystemCredentials;
use crate::services::config_objects::find;
use crate::services::outbound::unreached;
use crate::services::vault::Vault;
use crate::services::world::{World, missing};

/// Maximum length of a body in a reply, bytes.
const SHOWN_BYTES_MAX: usize = 64 << 10;

/// Answer of an endpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndpointAnswer {
    /// HTTP status.
    pub status: u16,
    /// Time until the whole answer, ms.
    pub latency_ms: f64,
    /// Media type of the body.
    pub content_type: Option<String>,
    /// Body: JSON, or text of at most 64 KiB.
    pub body: Value,
    /// The body was longer than 64 KiB.
    pub truncated: bool,
}

/// Calls endpoint `endpoint_id` of the external system `id` with parameters, which are checked by their
/// schema; GET and HEAD for operators, other methods for admins.
///
/// # Errors
/// 404 without such a system or endpoint, 403 for a role that is too low, 422 for parameters that do
/// not fit, a disabled endpoint and a target that is not allowed, 502 and 504 when the system is not
/// reached: these two may pass.
pub async fn call_endpoint(
    (world, vault, outbound): (&World, &Vault, &Outbound),
    role: AccountRole,
    (id, endpoint_id): (Uuid, Uuid),
    params: &Map<String, Value>,
) -> Result<EndpointAnswer, Problem> {
    let versioned = find::<ExternalSystem>(world, id)?;
    let system = &versioned.object;
    let endpoint = system
        .endpoints
        .iter()
        .find(|endpoint| endpoint.endpoint_id == endpoint_id)
        .ok_or_else(|| missing("endpoint", endpoint_id))?;
    check(endpoint, role)?;
    let credentials = SystemCredentials::open(vault, id, system)?;
    let request = request(endpoint, params, system, &credentials)?;
    let response = outbound.send(&request).await.map_err(|err| unreached("/base_url", &err))?;
    let media = response.headers.get(header::CONTENT_TYPE);
    let (body, truncated) = body_value(&response.body);
    Ok(EndpointAnswer {
        status: response.status.as_u16(),
        latency_ms: response.latency_ms,
        content_type: media.and_then(|media| media.to_str().ok()).map(str::to_owned),
        body,
        truncated,
    })
}

/// Checks that an endpoint may be called.
fn check(endpoint: &Endpoint, role: AccountRole) -> Result<(), Problem> {
    if !endpoint.method.is_read() && role < AccountRole::Admin {
        let method = endpoint.method.word();
        let what = format!("insufficient role: {method} is called by admins");
        return Err(Problem::new(StatusCode::FORBIDDEN, what).of_kind(ProblemKind::Forbidden));
    }
    match endpoint.enabled {
        true => Ok(()),
        false => {
            let message = "the endpoint is disabled";
            Err(Problem::field("/endpoint_id", FieldCode::NotAllowed, message))
        }
    }
}

/// Mistakes in the parameters of a call.
fn mistaken(bad: Vec<BadParameter>) -> Problem {
    let mut problem = Problem::field("/params", FieldCode::Invalid, "invalid parameters");
    let errors = bad.into_iter().map(|bad| FieldError {
        pointer: format!("/params{}", bad.pointer),
        code: FieldCode::Invalid.as_str().to_owned(),
        message: bad.message,
    });
    problem.errors = errors.collect();
    problem
}

/// Request of a call, with the credentials of the system.
fn request(
    endpoint: &Endpoint,
    params: &Map<String, Value>,
    system: &ExternalSystem,
    credentials: &SystemCredentials,
) -> Result<Request, Problem> {
    let call = openapi::call(endpoint, params).map_err(mistaken)?;
    let method = Method::from_bytes(endpoint.method.word().as_bytes())
        .map_err(|err| Problem::internal(err.to_string()))?;
    let mut request = credentials.request(system, method, &call.path)?;
    for (name, value) in call.headers {
        let pair = HeaderName::from_bytes(name.as_bytes()).ok();
        let Some((field, value)) = pair.zip(HeaderValue::from_str(&value).ok()) else {
            let pointer = format!("/params/{name}");
            let message = "not allowed in a header field";
            return Err(Problem::field(&pointer, FieldCode::Format, message));
        };
        // Credentials are those of the system.
        request.headers.entry(field).or_insert(value);
    }
    let accepted = HeaderValue::from_static("application/json, */*;q=0.1");
    request.headers.insert(header::ACCEPT, accepted);
    if let Some(body) = call.body {
        request.body = body.to_string().into();
        let json = HeaderValue::from_static("application/json");
        request.headers.insert(header::CONTENT_TYPE, json);
    }
    Ok(request)
}

/// The body as it is shown.
fn body_value(body: &[u8]) -> (Value, bool) {
    let truncated = body.len() > SHOWN_BYTES_MAX;
    if !truncated && let Ok(document) = serde_json::from_slice(body) {
        return (document, false);
    }
    let part = &body[..body.len().min(SHOWN_BYTES_MAX)];
    let text = String::from_utf8_lossy(part).into_owned();
    (Value::String(text), truncated)
}
