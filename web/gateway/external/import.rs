//! Import of OpenAPI documents as endpoints of an external system.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{Method, StatusCode};
use groundwave_gateway::config::Expected;
use groundwave_gateway::external::{ENDPOINTS_BYTES_MAX, Endpoint, ExternalSystem, HttpMethod};
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::{Json, Path, Problem};
use groundwave_io_gateway::openapi;
use groundwave_io_gateway::openapi::{ApiDocument, DOCUMENT_BYTES_MAX, OpenApiError};
use groundwave_outbound::{Outbound, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::access::Admin;
use crate::services::config_objects::{find, write};
use crate::services::outbound::unreached;
use crate::services::world::{World, blocking};

/// Maximum length of a request, bytes: a document of the greatest length as a JSON string.
pub const BODY_BYTES_MAX: usize = 2 * DOCUMENT_BYTES_MAX;

/// OpenAPI document to import: `document` or `url`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Import {
    /// Document: an object, or JSON or YAML text of at most 2 MiB.
    #[serde(default)]
    pub document: Option<Value>,
    /// URL of the document, at most 1 MiB.
    #[serde(default)]
    #[schemars(length(max = 2048))]
    pub url: Option<String>,
    /// Operation ids or paths to import; default all.
    #[serde(default)]
    #[schemars(length(max = 500))]
    pub include: Vec<String>,
}

/// Operation that was not imported.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct SkippedOperation {
    /// Method and path.
    pub path: String,
    /// Reason.
    pub reason: String,
}

/// Result of an import.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// Title of the document.
    pub title: String,
    /// Version of the OpenAPI specification.
    pub openapi: String,
    /// Number of imported endpoints.
    pub imported: usize,
    /// Operations that were not imported.
    pub skipped: Vec<SkippedOperation>,
}

/// Text of the document.
async fn text(outbound: &Outbound, import: Import) -> Result<String, Problem> {
    let text = match (import.document, import.url) {
        (Some(Value::String(text)), None) => text,
        (Some(document @ Value::Object(_)), None) => document.to_string(),
        (None, Some(url)) => {
            let failed = |err| unreached("/url", &err);
            let request = Request::new(Method::GET, &url).map_err(failed)?;
            let response = outbound.send(&request).await.map_err(failed)?;
            let status = response.status;
            if status != StatusCode::OK {
                let message = format!("the server answers with status {}", status.as_u16());
                return Err(Problem::field("/url", FieldCode::NotAllowed, message));
            }
            String::from_utf8(response.body.to_vec()).map_err(|_| {
                Problem::field(
                    "/url",
                    FieldCode::Format,
                    "invalid document: found other bytes, allowed UTF-8 text",
                )
            })?
        }
        (Some(_), None) => {
            let message = "allowed an object or text";
            return Err(Problem::field("/document", FieldCode::Invalid, message));
        }
        (Some(_), Some(_)) | (None, None) => {
            let message = "allowed exactly one of document and url";
            return Err(Problem::field("/document", FieldCode::Missing, message));
        }
    };
    match text.len() <= DOCUMENT_BYTES_MAX {
        true => Ok(text),
        false => {
            let message = format!("document longer than {DOCUMENT_BYTES_MAX} bytes");
            let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message);
            Err(problem.of_kind(ProblemKind::PayloadTooLarge))
        }
    }
}

/// Endpoints of a document; those held keep their id, switch and poll.
fn endpoints_of(id: Uuid, before: &ExternalSystem, document: &mut ApiDocument) -> Vec<Endpoint> {
    let endpoints_before: BTreeMap<Uuid, &Endpoint> =
        before.endpoints.iter().map(|endpoint| (endpoint.endpoint_id, endpoint)).collect();
    let base = before.base_url.trim_end_matches('/');
    let prefix = match base.ends_with(&document.base_path) {
        true => "",
        false => &document.base_path,
    };
    let mut bytes = 2;
    let mut endpoints = Vec::new();
    for operation in std::mem::take(&mut document.operations) {
        let path = format!("{prefix}{}", operation.path);
        let name = format!("{} {path}", operation.method.word());
        let endpoint_id = Uuid::new_v5(&id, name.as_bytes());
        let before = endpoints_before.get(&endpoint_id);
        let reads = matches!(operation.method, HttpMethod::Get | HttpMethod::Head);
        let endpoint = Endpoint {
            endpoint_id,
            method: operation.method,
            path,
            operation_id: operation.operation_id,
            summary: operation.summary,
            params: operation.params,
            places: operation.places,
            enabled: before.map_or(reads, |before| before.enabled),
            poll: before.and_then(|before| before.poll.clone()),
        };
        bytes += serde_json::to_vec(&endpoint).map_or(usize::MAX, |bytes| bytes.len() + 1);
        if bytes > ENDPOINTS_BYTES_MAX {
            document.skipped.push(openapi::Skipped {
                path: name,
                reason: format!(
                    "endpoints longer than {ENDPOINTS_BYTES_MAX} bytes; import fewer with `include`"
                ),
            });
            break;
        }
        endpoints.push(endpoint);
    }
    endpoints
}

/// Import an OpenAPI document
///
/// Versions 3.0 and 3.1, JSON or YAML. The endpoints of an earlier import are replaced; those that
/// both have keep their id, switch and periodic call. Remote references are not fetched.
#[utoipa::path(post, path = "/v1/external-systems/{system_id}/import-oas", tag = "external",
    params(("system_id" = Uuid, Path, description = "System id")),
    responses((status = 200, description = "Number of endpoints, and operations that were skipped"),
        (status = 404, description = "No such system"),
        (status = 412, description = "The system changed meanwhile"),
        (status = 502, description = "URL not reachable"),
        (status = 504, description = "No answer in time")))]
pub async fn external_import_oas(
    _: Admin,
    State(world): State<World>,
    State(outbound): State<Outbound>,
    Path(id): Path<Uuid>,
    StrictJson(import): StrictJson<Import>,
) -> Result<Json<Imported>, Problem> {
    let versioned = find::<ExternalSystem>(&world, id)?;
    let pointer = if import.url.is_some() { "/url" } else { "/document" };
    let include = import.include.clone();
    let text = text(&outbound, import).await?;
    let read = blocking(move || Ok(openapi::read(&text))).await?;
    let mut document = read
        .map_err(|err: OpenApiError| Problem::field(pointer, FieldCode::Format, err.to_string()))?;
    if !include.is_empty() {
        let names = |operation: &openapi::Operation| {
            let id = operation.operation_id.as_ref();
            include.contains(&operation.path) || id.is_some_and(|id| include.contains(id))
        };
        document.operations.retain(names);
    }
    let mut object = versioned.object.clone();
    object.endpoints = endpoints_of(id, &versioned.object, &mut document);
    let imported = object.endpoints.len();
    let expected = Expected::Revision(versioned.revision);
    write(&world, id, object, expected).await?;
    let skipped = document.skipped.into_iter().map(|skipped_operation| SkippedOperation {
        path: skipped_operation.path,
        reason: skipped_operation.reason,
    });
    Ok(Json(Imported {
        title: document.title,
        openapi: document.version,
        imported,
        skipped: skipped.collect(),
    }))
}
