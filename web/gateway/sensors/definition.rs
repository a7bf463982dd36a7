//! Request bodies with a definition, JSON or TOML.

use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use groundwave_http::endpoints::Describe;
use groundwave_http::extract::{plain_encoding, whole_body};
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_http::{Problem, Schemas, json_body};
use groundwave_toml_document::TomlErrors;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Definition that people write as JSON or TOML.
pub trait Definable: DeserializeOwned + JsonSchema {
    /// Maximum length of a document, bytes.
    const BYTES_MAX: usize;

    /// Parses a TOML document.
    ///
    /// # Errors
    /// All errors, with line, key and allowed values.
    fn of_toml(text: &str) -> Result<Self, TomlErrors>;
}

/// Request body with a definition.
#[derive(Debug)]
pub struct Definition<T>(pub T);

impl<T: Definable, S: Send + Sync> FromRequest<S> for Definition<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let media = request.headers().get(header::CONTENT_TYPE);
        let media = media.and_then(|media| media.to_str().ok()).unwrap_or("");
        let essence = media.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
        plain_encoding(request.headers())?;
        if !["application/json", "application/toml"].contains(&essence.as_str()) {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported media type: allowed application/json, application/toml",
            ));
        }
        let bytes = whole_body(request, state).await?;
        if bytes.len() > T::BYTES_MAX {
            let message = format!("request body too long: allowed 0 to {} bytes", T::BYTES_MAX);
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message));
        }
        if essence == "application/json" {
            return Ok(Self(json_body::read(&bytes)?));
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|err| Problem::bad_request(format!("invalid TOML body: {err}")))?;
        let definition = T::of_toml(text).map_err(|errors| {
            Problem::field("", FieldCode::Invalid, errors.to_string())
                .of_kind(ProblemKind::TemplateInvalid)
        })?;
        Ok(Self(definition))
    }
}

impl<T: JsonSchema> Describe for Definition<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        operation["requestBody"] = json!({
            "content": {
                "application/json": { "schema": schemas.reference::<T>() },
                "application/toml": { "schema": { "type": "string" } },
            },
            "required": true,
        });
    }
}
