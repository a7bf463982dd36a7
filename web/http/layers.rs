//! Middleware of all routers: compression, CORS, body limit, traces, panics.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, Method, Response, StatusCode, Uri, Version, header};
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use tower::ServiceBuilder;
use tower::util::{MapRequestLayer, MapResponseLayer};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::cors::{Any, CorsLayer};
use tower_http::trace::TraceLayer;
use tracing::{Instrument, Span};

use super::route::body_limit;
use super::spans::{in_trace, with_spans};
use super::{Problem, problem};

/// Longest JSON body, bytes. The longest honest one, a region of ten thousand positions, is a
/// third of it.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Longest URI in the log, characters.
const URI_CHARS_MAX: usize = 256;

/// Wait recommended to clients where the handler recommends none, s.
const RETRY_S: u32 = 5;

/// Adds the middleware of an open interface.
pub fn any_origin(router: Router) -> Router {
    let methods = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    let cors = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods(methods)
        .allow_headers(Any)
        .expose_headers(Any)
        // The same for every origin, so caches need not distinguish them.
        .vary([]);
    // One layer of many, first outermost: a router boxes request and answer once for each layer.
    let worn = ServiceBuilder::new()
        .layer(cors)
        .layer(from_fn(framed))
        .layer(MapRequestLayer::new(with_identity))
        .layer(CompressionLayer::new())
        .layer(body_limit(BODY_BYTES_MAX))
        .layer(MapResponseLayer::new(retry_later))
        .layer(CatchPanicLayer::custom(problem::panicked));
    let router = router.method_not_allowed_fallback(problem::no_such_method).layer(worn);
    traced(router)
}

/// Adds the middleware of an interface for its own origin: no CORS, body limits
/// by route.
pub fn own_origin(router: Router) -> Router {
    // Streams of pictures are compressed already, and each is sent at once.
    let pictures = NotForContentType::const_new("multipart/x-mixed-replace");
    // Images of firmware and sealed copies are dense, and clients need their lengths.
    let octets = NotForContentType::const_new("application/octet-stream");
    let compressed = DefaultPredicate::new().and(pictures).and(octets);
    let worn = ServiceBuilder::new()
        .layer(from_fn(framed))
        .layer(MapRequestLayer::new(with_identity))
        .layer(CompressionLayer::new().compress_when(compressed))
        .layer(MapResponseLayer::new(retry_later))
        .layer(CatchPanicLayer::custom(problem::panicked));
    traced(router.layer(worn))
}

/// Refuses requests that do not name this server: HTTP/1.1 without one `Host` (RFC 9112 3.2) or with another one than
/// in its target, `CONNECT`, which has no path, and `*`, which is that of no resource.
pub fn addressed(router: Router) -> Router {
    router.layer(from_fn(async |request: Request, next: Next| {
        let hosts = request.headers().get_all(header::HOST).iter().count();
        let problem = match (request.version(), hosts, request.method()) {
            (_, _, &Method::CONNECT) => {
                Problem::new(StatusCode::METHOD_NOT_ALLOWED, "CONNECT is not allowed here")
            }
            (Version::HTTP_11, 0 | 2.., _) => Problem::bad_request(format!(
                "invalid number of header fields Host: found {hosts}, allowed 1"
            )),
            (_, _, method) if request.uri().path() == "*" => {
                let what = format!("{method} * is not allowed here: name a path");
                Problem::new(StatusCode::METHOD_NOT_ALLOWED, what)
            }
            (Version::HTTP_11, _, _) if names_another_host(&request) => {
                Problem::bad_request("invalid target: found a host, allowed that of the field Host")
            }
            _ => return next.run(request).await,
        };
        problem.with_usual_kind().into_response()
    }))
}

/// Runs each request that may change something to its end, also when its client goes before: a change in several
/// steps, such as a lease that is noted, put in force and watched, is never left between two of them. Requests of safe
/// methods (RFC 9110 9.2.1) end with their client.
pub fn to_the_end(router: Router) -> Router {
    router.layer(from_fn(async |request: Request, next: Next| {
        if request.method().is_safe() {
            return next.run(request).await;
        }
        let request = tokio::spawn(in_trace(next.run(request).instrument(Span::current())));
        match request.await {
            Ok(response) => response,
            // The answer is that of the layer for panics.
            Err(err) if err.is_panic() => std::panic::resume_unwind(err.into_panic()),
            Err(err) => {
                Problem::unavailable(format!("the request was ended: {err}")).into_response()
            }
        }
    }))
}

/// `true` where the target of a request has another host than its header (RFC 9112 3.2.2).
fn names_another_host(request: &Request) -> bool {
    let host = request.headers().get(header::HOST).map(HeaderValue::as_bytes);
    let authority = request.uri().authority();
    authority.is_some_and(|authority| host != Some(authority.as_str().as_bytes()))
}

/// Refuses bodies whose length is stated twice or by an encoding that no handler reads (RFC 9112 6.1 and 6.3), and
/// ends the connection after each body without a stated length: hyper removes a `Content-Length` that comes after
/// `Transfer-Encoding`, and a proxy may have believed it.
async fn framed(request: Request, next: Next) -> axum::response::Response {
    let headers = request.headers();
    let encodings: Vec<&HeaderValue> = headers.get_all(header::TRANSFER_ENCODING).iter().collect();
    let is_chunked =
        |value: &HeaderValue| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"chunked");
    let what = match encodings.as_slice() {
        [] => return next.run(request).await,
        [one] if is_chunked(one) => {
            if !headers.contains_key(header::CONTENT_LENGTH) {
                let mut response = next.run(request).await;
                response
                    .headers_mut()
                    .insert(header::CONNECTION, HeaderValue::from_static("close"));
                return response;
            }
            "invalid header fields: found Content-Length beside Transfer-Encoding, allowed one of them".to_owned()
        }
        all => {
            let all: Vec<_> =
                all.iter().map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
            format!("invalid Transfer-Encoding: found {}, allowed chunked", all.join(", "))
        }
    };
    let mut response = Problem::bad_request(what).with_usual_kind().into_response();
    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Lets a request that refuses bodies without a coding have one as the last choice, as RFC 9110 12.5.3 permits: the
/// compression would set 406 on the answer to a change that was made.
fn with_identity(mut request: Request) -> Request {
    let values = request.headers().get_all(header::ACCEPT_ENCODING).iter();
    let values: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    let mut codings: Vec<&str> = values.iter().flat_map(|value| value.split(',')).collect();
    let is_refused = |one: &str, name: &str| {
        one.split_once(';').is_some_and(|(coding, weight)| {
            let digits =
                weight.trim().strip_prefix(['q', 'Q']).and_then(|rest| rest.strip_prefix('='));
            let is_zero = digits
                .is_some_and(|digits| digits.bytes().all(|digit| matches!(digit, b'0' | b'.')));
            is_zero && coding.trim().eq_ignore_ascii_case(name)
        })
    };
    if !codings.iter().any(|one| is_refused(one, "identity") || is_refused(one, "*")) {
        return request;
    }
    codings.retain(|one| !is_refused(one, "identity"));
    codings.push("identity;q=0.001");
    if let Ok(value) = HeaderValue::try_from(codings.join(",")) {
        request.headers_mut().insert(header::ACCEPT_ENCODING, value);
    }
    request
}

/// Adds `Retry-After` to responses 429 and 503 that have none.
fn retry_later<B>(mut response: Response<B>) -> Response<B> {
    let is_temporary = matches!(
        response.status(),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE
    );
    if is_temporary {
        let wait = response.headers_mut().entry(header::RETRY_AFTER);
        wait.or_insert(HeaderValue::from(RETRY_S));
    }
    response
}

/// Path and query as they are logged: at most `URI_CHARS_MAX` characters, without the value of `t`,
/// an access token of those who cannot send header fields.
fn logged_uri(uri: &Uri) -> String {
    let mut text = uri.path().to_owned();
    let pairs = uri.query().into_iter().flat_map(|query| query.split('&'));
    for (at, pair) in pairs.enumerate() {
        text.push(if at == 0 { '?' } else { '&' });
        let is_token = pair.starts_with("t=");
        text.push_str(if is_token { "t=..." } else { pair });
    }
    text.chars().take(URI_CHARS_MAX).collect()
}

/// Traces requests and responses at level DEBUG, and by spans where these are exported; without both the layers
/// are left out.
fn traced(router: Router) -> Router {
    let router = with_spans(router);
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return router;
    }
    let traces = TraceLayer::new_for_http()
        .make_span_with(|request: &Request| {
            let uri = logged_uri(request.uri());
            tracing::debug_span!("request", method = %request.method(), uri)
        })
        .on_request(())
        .on_response(|response: &Response<_>, took: Duration, _: &Span| {
            let took_ms = took.as_secs_f64() * 1e3;
            tracing::debug!(status = response.status().as_u16(), took_ms, "answered");
        })
        // Problems are logged where they are made.
        .on_failure(());
    router.layer(traces)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use axum::body::Body;
    use axum::routing::{get, post};
    use tokio::sync::Notify;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn request_whose_client_goes_is_run_to_its_end() {
        async fn panics() -> &'static str {
            panic!("in a handler")
        }
        let (gate, end) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let handler = {
            let (gate, end) = (Arc::clone(&gate), Arc::clone(&end));
            move || async move {
                gate.notified().await;
                end.notify_one();
            }
        };
        let router = Router::new().route("/", post(handler)).route("/panic", post(panics));
        let router = to_the_end(router).layer(CatchPanicLayer::custom(problem::panicked));
        let request = |path: &str| Request::post(path).body(Body::empty()).unwrap();
        let mut answer = Box::pin(router.clone().oneshot(request("/")));
        tokio::select! {
            biased;
            _ = &mut answer => panic!("the handler waits"),
            () = tokio::task::yield_now() => {}
        }
        drop(answer);
        gate.notify_one();
        let ended = tokio::time::timeout(Duration::from_secs(10), end.notified()).await;
        assert!(ended.is_ok(), "the handler was dropped");
        let answer = router.oneshot(request("/panic")).await.unwrap();
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }

    #[tokio::test]
    async fn requests_to_no_host_and_connect_are_refused() {
        let router = addressed(Router::new().route("/", get(|| async { "served" })));
        let request = |method: Method, uri: &str, version, hosts: &[&str]| {
            let mut request = Request::builder().method(method).uri(uri).version(version);
            for host in hosts {
                request = request.header(header::HOST, *host);
            }
            request.body(Body::empty()).unwrap()
        };
        let own = ["gateway.test"].as_slice();
        for (request, status) in [
            (request(Method::GET, "/", Version::HTTP_11, own), 200),
            (request(Method::GET, "/", Version::HTTP_10, &[]), 200),
            (request(Method::GET, "/", Version::HTTP_11, &[]), 400),
            (request(Method::GET, "/", Version::HTTP_11, &["a", "b"]), 400),
            (request(Method::CONNECT, "gateway.test:80", Version::HTTP_11, own), 405),
            (request(Method::OPTIONS, "*", Version::HTTP_11, own), 405),
            (request(Method::GET, "http://gateway.test/", Version::HTTP_11, own), 200),
            (request(Method::GET, "http://evil.test/", Version::HTTP_11, own), 400),
        ] {
            let line = format!("{request:?}");
            let response = router.clone().oneshot(request).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{line}");
        }
    }

    #[tokio::test]
    async fn bodies_with_two_lengths_or_foreign_encodings_are_refused() {
        let router = Router::new().route("/", get(|| async { "served" }));
        for router in [any_origin(router.clone()), own_origin(router)] {
            for (fields, status, ends) in [
                (&[("content-length", "0")][..], 200, false),
                (&[("transfer-encoding", "Chunked")], 200, true),
                (&[("content-length", "0"), ("transfer-encoding", "chunked")], 400, true),
                (&[("transfer-encoding", "gzip, chunked")], 400, true),
                (&[("transfer-encoding", "gzip"), ("transfer-encoding", "chunked")], 400, true),
                (&[("transfer-encoding", "identity")], 400, true),
            ] {
                let fields = fields.iter();
                let request = fields.fold(Request::get("/"), |request, (name, value)| {
                    request.header(*name, *value)
                });
                let line = format!("{request:?}");
                let request = request.body(Body::empty()).unwrap();
                let response = router.clone().oneshot(request).await.unwrap();
                assert_eq!(response.status().as_u16(), status, "{line}");
                let connection = response.headers().get(header::CONNECTION);
                assert_eq!(connection.is_some_and(|value| value == "close"), ends, "{line}");
            }
        }
    }

    #[tokio::test]
    async fn answer_without_an_accepted_coding_has_none() {
        let router = Router::new().route("/", post(|| async { "made ".repeat(1000) }));
        for router in [any_origin(router.clone()), own_origin(router)] {
            for (accepted, coding) in [
                ("gzip;q=0,identity;q=0", None),
                ("identity;q=0, *;q=0.0", None),
                ("*;q=0", None),
                ("br, Identity; q=0.000", None),
                ("gzip, identity;q=0", Some("gzip")),
                ("gzip, *;q=0", Some("gzip")),
                ("identity, *;q=0", None),
            ] {
                let request = Request::post("/").header(header::ACCEPT_ENCODING, accepted);
                let request = request.body(Body::empty()).unwrap();
                let answer = router.clone().oneshot(request).await.unwrap();
                assert_eq!(answer.status(), StatusCode::OK, "{accepted}");
                let used = answer.headers().get(header::CONTENT_ENCODING);
                assert_eq!(used.map(|value| value.to_str().unwrap()), coding, "{accepted}");
            }
        }
    }

    #[tokio::test]
    async fn temporary_refusal_gives_retry_after() {
        let router = Router::new()
            .route("/busy", get(|| async { StatusCode::SERVICE_UNAVAILABLE }))
            .route("/fast", get(|| async { StatusCode::TOO_MANY_REQUESTS }))
            .route("/own", get(|| async { Problem::unavailable("busy").retry_after(77) }))
            .route("/fine", get(|| async { "fine" }));
        let cases =
            [("/busy", Some("5")), ("/fast", Some("5")), ("/own", Some("77")), ("/fine", None)];
        for layered in [any_origin(router.clone()), own_origin(router)] {
            for (path, wait) in cases {
                let request = Request::get(path).body(Body::empty()).unwrap();
                let answer = layered.clone().oneshot(request).await.unwrap();
                let retry_after = answer.headers().get(header::RETRY_AFTER);
                assert_eq!(retry_after.map(|value| value.to_str().unwrap()), wait, "{path}");
            }
        }
    }
}
