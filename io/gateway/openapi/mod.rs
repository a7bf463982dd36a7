//! OpenAPI documents of other systems, versions 3.0 and 3.1, as operations of one own type.
//!
//! Parameters and JSON body of an operation become one JSON schema (draft 2020-12) with local
//! references inlined. Remote references are not fetched;
//! operations that need something unsupported are skipped, with the reason.

mod call;
mod draft;
mod operation;
mod schema;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use groundwave_gateway::external::{HttpMethod, ParameterPlace};
use serde_json::Value;
use thiserror::Error;

pub use call::{BadParameter, Call, call};
use draft::Draft;
use operation::Reader;

/// Longest document, bytes.
pub const DOCUMENT_BYTES_MAX: usize = 2 << 20;

/// Most operations of a document.
const OPERATIONS_MAX: usize = 500;

/// Longest schema of the parameters of an operation, bytes of JSON.
const SCHEMA_BYTES_MAX: usize = 16 << 10;

/// Error of a document as a whole.
#[derive(Debug, Error)]
pub enum OpenApiError {
    /// Neither JSON nor YAML.
    #[error("invalid document: {0}")]
    Syntax(String),
    /// No OpenAPI document of a supported version.
    #[error("invalid openapi: found {0}, allowed 3.0.x or 3.1.x")]
    Version(String),
    /// No paths.
    #[error("invalid paths: found {0}, allowed an object")]
    Paths(String),
}

/// Operation of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// Method.
    pub method: HttpMethod,
    /// Path template.
    pub path: String,
    /// Operation id.
    pub operation_id: Option<String>,
    /// Summary.
    pub summary: String,
    /// JSON schema of the parameters.
    pub params: Value,
    /// Places of the parameters by name.
    pub places: BTreeMap<String, ParameterPlace>,
}

/// Operation that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Method and path.
    pub path: String,
    /// Reason.
    pub reason: String,
}

/// Document of an API.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ApiDocument {
    /// Title.
    pub title: String,
    /// Version of the OpenAPI specification.
    pub version: String,
    /// Path of the first server, without the final slash.
    pub base_path: String,
    /// Operations.
    pub operations: Vec<Operation>,
    /// Operations that were not imported.
    pub skipped: Vec<Skipped>,
}

/// Parses JSON or YAML.
///
/// # Errors
/// [`OpenApiError::Syntax`].
fn parse(text: &str) -> Result<Value, OpenApiError> {
    match text.trim_start().starts_with('{') {
        true => serde_json::from_str(text).map_err(|err| OpenApiError::Syntax(err.to_string())),
        false => {
            // YAML 1.2: `no` and `on` are texts.
            let options = serde_saphyr::options! { strict_booleans: true };
            serde_saphyr::from_str_with_options(text, options).map_err(|err| {
                let text = err.to_string();
                OpenApiError::Syntax(text.lines().next().unwrap_or_default().to_owned())
            })
        }
    }
}

/// Path of the first server of a document.
fn base_path(document: &Value) -> String {
    let server = document.pointer("/servers/0/url").and_then(Value::as_str).unwrap_or("");
    let path = match server.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |at| &rest[at..]),
        None => server,
    };
    let path = path.split(['?', '#']).next().unwrap_or("").trim_end_matches('/');
    // Variables of servers have no values here.
    match path.starts_with('/') && !path.contains('{') {
        true => path.to_owned(),
        false => String::new(),
    }
}

fn method(word: &str) -> Option<HttpMethod> {
    Some(match word {
        "get" => HttpMethod::Get,
        "head" => HttpMethod::Head,
        "options" => HttpMethod::Options,
        "post" => HttpMethod::Post,
        "put" => HttpMethod::Put,
        "patch" => HttpMethod::Patch,
        "delete" => HttpMethod::Delete,
        _ => return None,
    })
}

/// Reads a document.
///
/// # Errors
/// When it is no OpenAPI document of version 3.0 or 3.1.
pub fn read(text: &str) -> Result<ApiDocument, OpenApiError> {
    let document = parse(text)?;
    let version = document.get("openapi").and_then(Value::as_str);
    let version = version.map(str::to_owned).unwrap_or_else(|| {
        let swagger = document.get("swagger").and_then(Value::as_str);
        swagger.map_or_else(|| "none".to_owned(), |version| format!("swagger {version}"))
    });
    let is_30 = match version.get(..4) {
        Some("3.0.") => true,
        Some("3.1.") => false,
        _ => return Err(OpenApiError::Version(version)),
    };
    let reader = Reader { document: &document, is_30 };
    let paths = document.get("paths").unwrap_or(&Value::Null);
    // 3.1 allows documents without paths.
    let none = serde_json::Map::new();
    let paths = match paths {
        Value::Object(paths) => paths,
        Value::Null => &none,
        other => {
            return Err(OpenApiError::Paths(other.to_string().chars().take(64).collect()));
        }
    };
    let title = document.pointer("/info/title").and_then(Value::as_str);
    let mut api = ApiDocument {
        title: title.unwrap_or("").chars().take(256).collect(),
        base_path: base_path(&document),
        version,
        ..ApiDocument::default()
    };
    for (path, item) in paths {
        let path_start: String = path.chars().take(256).collect();
        let item = match schema::resolve(item, &document) {
            Ok(Value::Object(item)) => item,
            Ok(_) => continue,
            Err(reason) => {
                api.skipped.push(Skipped { path: path_start, reason });
                continue;
            }
        };
        let shared = item.get("parameters").cloned().unwrap_or_default();
        for (word, operation) in item {
            let label = format!("{} {path_start}", word.to_uppercase());
            let mut skip =
                |reason: String| api.skipped.push(Skipped { path: label.clone(), reason });
            let Some(method) = method(word) else {
                if word == "trace" {
                    skip("TRACE is not called".to_owned());
                }
                continue;
            };
            if api.operations.len() >= OPERATIONS_MAX {
                skip(format!("more than {OPERATIONS_MAX} operations"));
                continue;
            }
            let draft = reader.operation(operation, &shared);
            match draft.and_then(|draft| operation_of(method, path, draft)) {
                Ok(operation) => api.operations.push(operation),
                Err(reason) => skip(reason),
            }
        }
    }
    Ok(api)
}

/// The operation of a draft.
fn operation_of(method: HttpMethod, path: &str, draft: Draft) -> Result<Operation, String> {
    if !path.starts_with('/') || path.len() > 1024 {
        return Err("invalid path: allowed 1 to 1024 bytes from /".to_owned());
    }
    let cut = |text: String, most: usize| -> String { text.chars().take(most).collect() };
    let (operation_id, summary) = (draft.operation_id.clone(), draft.summary.clone());
    let (params, places) = draft.params(path)?;
    let bytes = params.to_string().len();
    if bytes > SCHEMA_BYTES_MAX {
        return Err(format!(
            "schema of the parameters too long: found {bytes} bytes, allowed {SCHEMA_BYTES_MAX}"
        ));
    }
    call::check_schema(&params)?;
    Ok(Operation {
        method,
        path: path.to_owned(),
        operation_id: operation_id.map(|id| cut(id, 64)),
        summary: cut(summary, 256),
        params,
        places,
    })
}
