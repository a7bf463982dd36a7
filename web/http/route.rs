//! Facts of the route of a request for extractors: its query parameters, the limit of its body.

use std::sync::Arc;

use axum::Extension;
use axum::extract::DefaultBodyLimit;

/// Names of the query parameters of an operation, as its document lists them.
#[derive(Debug, Clone)]
pub(super) struct QueryParameters(pub Arc<[String]>);

/// Maximum length of the body of a request, bytes.
#[derive(Debug, Clone, Copy)]
pub struct BodyLimit(pub(super) usize);

/// Layers that bound the bodies of requests, bytes.
pub fn body_limit(bytes: usize) -> (DefaultBodyLimit, Extension<BodyLimit>) {
    (DefaultBodyLimit::max(bytes), Extension(BodyLimit(bytes)))
}
