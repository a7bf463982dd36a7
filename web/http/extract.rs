//! Extractors whose rejections are [`Problem`]s.

use axum::body::Bytes;
use axum::extract::{self, FromRequest, FromRequestParts, Json, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::endpoints::{Describe, add_body};
use super::route::BodyLimit;
use super::unique_keys::UniqueKeys;
use super::{Problem, Schemas, strict};

/// JSON request body.
#[derive(Debug)]
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        plain_encoding(request.headers())?;
        let limit = request.extensions().get().copied();
        let document = Json::<UniqueKeys>::from_request(request, state).await;
        let Json(UniqueKeys(document)) =
            document.map_err(|refused| with_limit(refused.into(), limit))?;
        let body = strict::read(document)
            .map_err(|why| Problem::bad_request(format!("the body: {why}")))?;
        Ok(Self(body))
    }
}

impl<T: schemars::JsonSchema> Describe for JsonBody<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        add_body(operation, &schemas.reference::<T>(), true);
    }
}

/// Path parameters.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let extract::Path(parts) = extract::Path::<T>::from_request_parts(parts, state).await?;
        Ok(Self(parts))
    }
}

/// Query parameters.
#[derive(Debug)]
pub struct Query<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let extract::Query(query) = extract::Query::<T>::from_request_parts(parts, state).await?;
        Ok(Self(query))
    }
}

/// Query, unparsed: for parameters that may occur several times.
#[derive(Debug)]
pub struct RawQuery(pub Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for RawQuery {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self(parts.uri.query().map(str::to_owned)))
    }
}

/// Checks that a body is not compressed.
///
/// # Errors
/// 415 for a `Content-Encoding` other than `identity`.
pub fn plain_encoding(headers: &HeaderMap) -> Result<(), Problem> {
    let encoding = headers.get(header::CONTENT_ENCODING);
    let is_plain = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    match encoding.is_none_or(is_plain) {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported content encoding: allowed identity",
        )),
    }
}

/// The whole body of a request.
///
/// # Errors
/// 413 for a body that is too long, 408 for one that does not arrive in time, 400 for one that
/// breaks off.
pub async fn whole_body<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let limit = request.extensions().get().copied();
    let bytes = Bytes::from_request(request, state).await;
    bytes.map_err(|refused| with_limit(refused.into(), limit))
}

/// The refusal of a body that is too long, with the length that is allowed.
fn with_limit(problem: Problem, limit: Option<BodyLimit>) -> Problem {
    match limit.filter(|_| problem.status == StatusCode::PAYLOAD_TOO_LARGE.as_u16()) {
        Some(BodyLimit(bytes)) => {
            let detail = format!("request body too long: allowed 0 to {bytes} bytes");
            Problem { detail, ..problem }
        }
        None => problem,
    }
}

/// Request body, unparsed.
#[derive(Debug)]
pub struct Raw(pub Bytes);

impl<S: Send + Sync> FromRequest<S> for Raw {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        plain_encoding(request.headers())?;
        Ok(Self(whole_body(request, state).await?))
    }
}

impl<T> Describe for Path<T> {}
impl<T> Describe for Query<T> {}
impl Describe for RawQuery {}
impl Describe for Raw {}
