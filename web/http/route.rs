//! Facts of the route of a request: its query parameters, the limit of its body.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::Uri;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Problem;

/// Names of the query parameters of an operation, as its document lists them.
#[derive(Debug, Clone)]
pub(super) struct QueryParameters(pub Arc<[String]>);

/// Passes on the requests whose query parameters the operation describes, also to a handler that takes none.
pub(super) async fn described_only(
    State(described): State<QueryParameters>,
    request: Request,
    next: Next,
) -> Response {
    match only_described(&described, request.uri()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    }
}

/// Checks that the operation describes each query parameter: one with a mistake in its name would be a
/// filter that lets everything pass. Names that begin with `_` keep caches away.
///
/// # Errors
/// 400 for others.
fn only_described(QueryParameters(described): &QueryParameters, uri: &Uri) -> Result<(), Problem> {
    let query = uri.query().unwrap_or_default();
    for (name, _) in form_urlencoded::parse(query.as_bytes()) {
        if !name.starts_with('_') && !described.iter().any(|parameter| **parameter == *name) {
            let allowed = match described.is_empty() {
                true => "none".to_owned(),
                false => described.join(", "),
            };
            let detail = format!("invalid query parameter: found {name:?}, allowed {allowed}");
            return Err(Problem::bad_request(detail));
        }
    }
    Ok(())
}

/// Maximum length of the body of a request, bytes.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit(pub(super) usize);

/// Layers that bound the bodies of requests, bytes.
pub fn body_limit(bytes: usize) -> (DefaultBodyLimit, Extension<BodyLimit>) {
    (DefaultBodyLimit::max(bytes), Extension(BodyLimit(bytes)))
}
