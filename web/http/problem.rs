//! Problems: error responses, RFC 7807.

use axum::extract::path::ErrorKind;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use groundwave_values::Refusal;
use groundwave_values::bounds::BadValue;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Problem: error response, `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// Type URN; `about:blank` without a kind.
    #[serde(rename = "type")]
    pub kind: String,
    /// Reason phrase of the status.
    pub title: String,
    /// HTTP status.
    #[schemars(range(min = 400, max = 599))]
    pub status: u16,
    /// Explanation: found and allowed values.
    pub detail: String,
    /// Request path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Mistakes by field.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// Request id, as in the server log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// `Retry-After`, s.
    #[serde(skip)]
    pub retry_after_s: Option<u32>,
}

/// Mistake in a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FieldError {
    /// JSON pointer, RFC 6901.
    pub pointer: String,
    /// Code.
    pub code: String,
    /// Explanation.
    pub message: String,
}

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $code:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[$doc])* $code),+
        }

        impl $name {
            /// The code on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => $text),+
                }
            }
        }
    };
}

codes! {
    /// Kind of a problem: the end of its type URN.
    ProblemKind {
        /// Body, query or path malformed or not allowed.
        InvalidBody = "invalid-body",
        /// Missing or invalid token.
        Unauthenticated = "unauthenticated",
        /// Expired token.
        TokenExpired = "token-expired",
        /// Revoked token.
        TokenRevoked = "token-revoked",
        /// Insufficient role or unknown host name.
        Forbidden = "forbidden",
        /// Unknown id or path.
        NotFound = "not-found",
        /// Contradiction to the present state.
        Conflict = "conflict",
        /// Changed since the revision in `If-Match`.
        PreconditionFailed = "precondition-failed",
        /// Method that the path does not have.
        MethodNotAllowed = "method-not-allowed",
        /// Request body that did not arrive in time.
        RequestTimeout = "request-timeout",
        /// Request body too long.
        PayloadTooLarge = "payload-too-large",
        /// Media type or encoding of the request body that is not taken.
        UnsupportedMediaType = "unsupported-media-type",
        /// Range outside the content.
        RangeNotSatisfiable = "range-not-satisfiable",
        /// Rate limit exceeded.
        RateLimited = "rate-limited",
        /// Registration rejected or blocked.
        RegistrationRejected = "registration-rejected",
        /// Public key registered with another MAC address.
        KeyConflict = "key-conflict",
        /// No free overlay address.
        IpamExhausted = "ipam-exhausted",
        /// Kernel facility or configuration absent on this host.
        BackendAbsent = "backend-absent",
        /// Address that the gateway does not connect to.
        TargetForbidden = "target-forbidden",
        /// Older than the present revision or sequence number.
        StaleRevision = "stale-revision",
        /// Invalid definition, or registers that do not fit a template.
        TemplateInvalid = "template-invalid",
        /// Disk full or read-only.
        StorageFull = "storage-full",
    }
}

impl ProblemKind {
    /// Usual kind of a status.
    #[must_use]
    pub const fn of_status(status: u16) -> Option<Self> {
        Some(match status {
            400 | 422 => Self::InvalidBody,
            401 => Self::Unauthenticated,
            403 => Self::Forbidden,
            404 => Self::NotFound,
            405 => Self::MethodNotAllowed,
            408 => Self::RequestTimeout,
            409 => Self::Conflict,
            412 => Self::PreconditionFailed,
            413 => Self::PayloadTooLarge,
            415 => Self::UnsupportedMediaType,
            416 => Self::RangeNotSatisfiable,
            429 => Self::RateLimited,
            507 => Self::StorageFull,
            _ => return None,
        })
    }
}

codes! {
    /// Kind of mistake in a field.
    FieldCode {
        /// Not supported by this kernel.
        Absent = "absent",
        /// Cannot be changed.
        Fixed = "fixed",
        /// Malformed.
        Format = "format",
        /// Wrong type or unknown field.
        Invalid = "invalid",
        /// Too short, too long or too many.
        Length = "length",
        /// Missing.
        Missing = "missing",
        /// Node without such an address.
        NoAddress = "no-address",
        /// Value outside the allowed set or range.
        NotAllowed = "not-allowed",
        /// Not offered by this gateway.
        NotOffered = "not-offered",
        /// Weak or unchanged password.
        Password = "password",
        /// Too many results.
        TooMany = "too-many",
    }
}

/// Prefix of the type URNs of problems.
const URN_PREFIX: &str = "urn:groundwave:problem:";

/// Type of problems without a kind.
const UNTYPED: &str = "about:blank";

/// Wait before a request that found no space on the disk is repeated, s: space is looked for each
/// second.
const STORAGE_RETRY_S: u32 = 5;

/// Media type of problems.
pub const MEDIA_TYPE: &str = "application/problem+json";

impl Problem {
    /// Problem with a status.
    #[must_use]
    pub fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            kind: UNTYPED.to_owned(),
            title: status.canonical_reason().unwrap_or("Error").to_owned(),
            status: status.as_u16(),
            detail: detail.into(),
            instance: None,
            errors: Vec::new(),
            request_id: None,
            retry_after_s: None,
        }
    }

    /// The same problem, of a kind: `urn:groundwave:problem:KIND`.
    #[must_use]
    pub fn of_kind(self, kind: ProblemKind) -> Self {
        Self { kind: format!("{URN_PREFIX}{}", kind.as_str()), ..self }
    }

    /// The same problem; without a kind it gets the usual one of its status.
    #[must_use]
    pub fn with_usual_kind(self) -> Self {
        match ProblemKind::of_status(self.status) {
            Some(kind) if self.kind == UNTYPED => self.of_kind(kind),
            _ => self,
        }
    }

    /// The same problem with `Retry-After`, s.
    #[must_use]
    pub fn retry_after(self, wait_s: u32) -> Self {
        Self { retry_after_s: Some(wait_s), ..self }
    }

    /// Status 422 for a field.
    #[must_use]
    pub fn field(pointer: &str, code: FieldCode, message: impl Into<String>) -> Self {
        let message = message.into();
        let detail = match pointer {
            "" => message.clone(),
            _ => format!("{pointer}: {message}"),
        };
        let mut problem = Self::new(StatusCode::UNPROCESSABLE_ENTITY, detail);
        problem.errors.push(FieldError {
            pointer: pointer.to_owned(),
            code: code.as_str().to_owned(),
            message,
        });
        problem
    }

    /// Status 400.
    #[must_use]
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, detail)
    }

    /// Status 404.
    #[must_use]
    pub fn not_found(kind: &str, id: impl std::fmt::Display) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("no {kind} has the id {id}"))
    }

    /// Status 500.
    #[must_use]
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// Status 507 with `Retry-After`: the disk is full or read-only, and the request changed nothing.
    #[must_use]
    pub fn storage_full(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INSUFFICIENT_STORAGE, detail).retry_after(STORAGE_RETRY_S)
    }

    /// Status 503.
    #[must_use]
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, detail)
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let status = match &refusal {
            Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
            Refusal::Conflict { .. } | Refusal::Outdated { .. } => StatusCode::CONFLICT,
            Refusal::Stale { .. } => StatusCode::PRECONDITION_FAILED,
            Refusal::Exhausted { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::Invalid { .. } => StatusCode::BAD_REQUEST,
            Refusal::Unsupported { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            Refusal::Denied { .. } => StatusCode::FORBIDDEN,
            Refusal::Full { .. } => return Self::storage_full(refusal.to_string()),
            Refusal::Busy | Refusal::Stopped => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::Broken { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, refusal.to_string())
    }
}

impl From<BadValue> for Problem {
    fn from(bad: BadValue) -> Self {
        Self::bad_request(bad.to_string())
    }
}

/// A request body that did not arrive in time.
#[derive(Debug, Error)]
#[error("the request body did not arrive in time")]
pub struct BodyTimeout;

/// A body that did not arrive in time is 408, whatever axum makes of it.
impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        match is_timeout(&rejection) {
            true => Self::new(StatusCode::REQUEST_TIMEOUT, BodyTimeout.to_string()),
            false => Self::new(rejection.status(), rejection.body_text()),
        }
    }
}

/// True for errors caused by a body that did not arrive in time.
#[must_use]
pub fn is_timeout(error: &(dyn std::error::Error + 'static)) -> bool {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.into_iter().any(|cause| cause.is::<BodyTimeout>())
}

/// axum answers a wrong type with 422, the interfaces with 400.
impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        let rejection = match rejection {
            JsonRejection::BytesRejection(rejection) => return rejection.into(),
            other => other,
        };
        let status = match rejection.status() {
            StatusCode::UNPROCESSABLE_ENTITY => StatusCode::BAD_REQUEST,
            other => other,
        };
        Self::new(status, rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        let status = rejection.status();
        let detail = match &rejection {
            PathRejection::FailedToDeserializePathParams(failure) => match failure.kind() {
                ErrorKind::ParseErrorAtKey { key, value, expected_type } => {
                    Some(invalid_parameter(key, value, expected_type))
                }
                ErrorKind::DeserializeError { key, value, message } => {
                    Some(format!("invalid {key}: found {value:?}: {message}"))
                }
                _ => None,
            },
            _ => None,
        };
        Self::new(status, detail.unwrap_or_else(|| rejection.body_text()))
    }
}

/// The refusal of a parameter of a path that is none of its type.
fn invalid_parameter(key: &str, value: &str, type_name: &str) -> String {
    let allowed = match type_name {
        "bool" => "true or false",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        _ => "another form",
    };
    format!("invalid {key}: found {value:?}, allowed {allowed}")
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        // The text begins with words of the parser: only the cause is of use.
        let cause = rejection.body_text();
        let cause = cause.strip_prefix("Failed to deserialize query string: ").unwrap_or(&cause);
        Self::bad_request(format!("invalid query parameter: {cause}"))
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        // The one place where errors are logged. A full disk is logged by the world, once; what this host
        // lacks is not a failure of the server.
        let is_absent =
            self.kind.strip_prefix(URN_PREFIX) == Some(ProblemKind::BackendAbsent.as_str());
        let is_failure = status.is_server_error() && status != StatusCode::INSUFFICIENT_STORAGE;
        if is_failure && !is_absent {
            tracing::error!(status = self.status, detail = self.detail, "server error");
        } else {
            tracing::debug!(status = self.status, detail = self.detail, "client error");
        }
        let mut answer = self.answer();
        // Layers further out may know more about the request, and say it all once more.
        answer.extensions_mut().insert(self);
        answer
    }
}

impl Problem {
    /// Response with the problem.
    #[must_use]
    pub fn answer(&self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let body = serde_json::to_vec(self).unwrap_or_default();
        let media = HeaderValue::from_static(MEDIA_TYPE);
        let mut answer = (status, [(header::CONTENT_TYPE, media)], body).into_response();
        if let Some(wait_s) = self.retry_after_s {
            let headers = answer.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait_s));
        }
        answer
    }
}

/// Fallback for unknown paths.
pub async fn no_such_path(uri: axum::http::Uri) -> Problem {
    Problem::new(StatusCode::NOT_FOUND, format!("there is nothing at {}", uri.path()))
}

/// Fallback for methods that a path does not accept; `Allow` lists those it does.
pub async fn no_such_method(method: axum::http::Method, uri: axum::http::Uri) -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("{} does not take {method}", uri.path()))
}

/// Response of a handler that panicked.
pub fn panicked(payload: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let what = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned());
    tracing::error!(what = what.as_deref().unwrap_or("?"), "a handler panicked");
    Problem::internal("the server failed on this request; its log says more").into_response()
}
