//! Spans of requests and of what they wait for, by the semantic conventions of OpenTelemetry for HTTP servers (1.38).
//!
//! Without an exporter there are none, and no request pays for them.

use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use opentelemetry::trace::{FutureExt as _, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Context, KeyValue, global};
use opentelemetry_http::HeaderExtractor;

/// Name of the instrumentation.
const SCOPE: &str = "groundwave";

static ARE_EXPORTED: AtomicBool = AtomicBool::new(false);

/// Makes spans from now on: routers that are built later have them. The tracer provider and the propagator of the
/// process are set before.
pub fn enable() {
    ARE_EXPORTED.store(true, Ordering::Relaxed);
}

/// Adds a span to each request; a `traceparent` in its header is the parent (W3C Trace Context).
pub(super) fn with_spans(router: Router) -> Router {
    match ARE_EXPORTED.load(Ordering::Relaxed) {
        true => router.layer(from_fn(in_server_span)),
        false => router,
    }
}

/// Result of `work`, with a span of this name below that of its request.
pub async fn in_span<T>(name: &'static str, work: impl Future<Output = T>) -> T {
    if !ARE_EXPORTED.load(Ordering::Relaxed) {
        return work.await;
    }
    let span = global::tracer(SCOPE).start(name);
    let context = Context::current_with_span(span);
    let result = work.with_context(context.clone()).await;
    context.span().end();
    result
}

/// `work` in the trace of the present request, for another task.
pub fn in_trace<F: Future>(work: F) -> impl Future<Output = F::Output> {
    work.with_current_context()
}

async fn in_server_span(request: Request, next: Next) -> Response {
    let parent = global::get_text_map_propagator(|propagator| {
        propagator.extract(&HeaderExtractor(request.headers()))
    });
    let method = request.method().as_str().to_owned();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let name = route.as_ref().map_or_else(|| method.clone(), |route| format!("{method} {route}"));
    // Without the query, which may have a token.
    let path = request.uri().path().to_owned();
    let attributes = [
        KeyValue::new("http.request.method", method),
        KeyValue::new("url.path", path),
        KeyValue::new("url.scheme", "http"),
    ];
    let route = route.map(|route| KeyValue::new("http.route", route));
    let tracer = global::tracer(SCOPE);
    let span = tracer
        .span_builder(name)
        .with_kind(SpanKind::Server)
        .with_attributes(attributes.into_iter().chain(route))
        .start_with_context(&tracer, &parent);
    let context = parent.with_span(span);
    let response = next.run(request).with_context(context.clone()).await;
    let status = response.status();
    let span = context.span();
    span.set_attribute(KeyValue::new("http.response.status_code", i64::from(status.as_u16())));
    if status.is_server_error() {
        span.set_status(Status::error(status.as_str().to_owned()));
    }
    span.end();
    response
}
