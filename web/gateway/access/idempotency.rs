//! Idempotency: replies to POST requests by `Idempotency-Key`.
//!
//! Replies are kept for ten minutes in memory, never on disk: they may hold a secret that is shown
//! once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use groundwave_files::wall::monotonic_ns;
use groundwave_gateway::account::AccountId;
use groundwave_http::Problem;
use groundwave_http::problem::{BodyTimeout, is_timeout};
use sha2::{Digest, Sha256};

use super::Caller;
use crate::services::limits::BATCH_BYTES_MAX;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Header of replayed replies.
const REPEATED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Lifetime of a cached reply, ns.
const KEPT_NS: u64 = 600 * 1_000_000_000;
/// Maximum number of cached replies; the oldest is dropped first.
const KEPT: usize = 1_024;
/// Maximum length of a cached reply, bytes; longer ones are downloads without effect.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// Maximum length of a key, bytes.
const KEY_BYTES_MAX: usize = 128;

/// Account, URI and key of a request.
type Name = (AccountId, String, String);

#[derive(Clone)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    problem: Option<Problem>,
}

struct CachedRequest {
    at_ns: u64,
    body_sha256: [u8; 32],
    /// `None` while the request is pending.
    answer: Option<Answer>,
}

/// Replies by account, URI and key.
#[derive(Default)]
pub struct IdempotencyCache(Mutex<BTreeMap<Name, CachedRequest>>);

enum Lookup {
    New,
    Pending,
    Mismatch,
    Cached(Box<Answer>),
}

impl IdempotencyCache {
    /// Registers a request and looks for an earlier one.
    fn begin(&self, name: &Name, body_sha256: [u8; 32], now_ns: u64) -> Lookup {
        let mut requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        requests.retain(|_, request| now_ns.saturating_sub(request.at_ns) < KEPT_NS);
        match requests.get(name) {
            Some(request) if request.body_sha256 != body_sha256 => return Lookup::Mismatch,
            Some(request) => {
                return match &request.answer {
                    Some(answer) => Lookup::Cached(Box::new(answer.clone())),
                    None => Lookup::Pending,
                };
            }
            None => {}
        }
        while requests.len() >= KEPT {
            let oldest = requests.iter().min_by_key(|(_, request)| request.at_ns);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                break;
            };
            requests.remove(&oldest);
        }
        let request = CachedRequest { at_ns: now_ns, body_sha256, answer: None };
        requests.insert(name.clone(), request);
        Lookup::New
    }

    /// Stores the reply of a request; `None` drops the request.
    fn end(&self, name: &Name, answer: Option<Answer>) {
        let mut requests = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (answer, requests.get_mut(name)) {
            (Some(answer), Some(request)) => request.answer = Some(answer),
            _ => {
                requests.remove(name);
            }
        }
    }
}

/// Drops a pending request whose client went away.
struct PendingRequest<'g>(&'g IdempotencyCache, Option<Name>);

impl Drop for PendingRequest<'_> {
    fn drop(&mut self) {
        if let Some(name) = self.1.take() {
            self.0.end(&name, None);
        }
    }
}

fn replayed(answer: Answer) -> Response {
    let mut response = (answer.status, answer.headers, answer.body).into_response();
    let headers = response.headers_mut();
    headers.insert(REPEATED, HeaderValue::from_static("true"));
    if let Some(problem) = answer.problem {
        response.extensions_mut().insert(problem);
    }
    response
}

/// Response with its copy for the cache; no copy of server errors, of 429 and of long bodies.
async fn cacheable(response: Response) -> Result<(Response, Option<Answer>), Problem> {
    let passing =
        response.status().is_server_error() || response.status() == StatusCode::TOO_MANY_REQUESTS;
    let length = response.body().size_hint().upper();
    if passing || length.is_none_or(|bytes| bytes > ANSWER_BYTES_MAX) {
        return Ok((response, None));
    }
    let (parts, body) = response.into_parts();
    let read = to_bytes(body, ANSWER_BYTES_MAX as usize).await;
    let body = read.map_err(|err| Problem::internal(err.to_string()))?;
    let answer = Answer {
        status: parts.status,
        headers: parts.headers.clone(),
        body: body.clone(),
        problem: parts.extensions.get::<Problem>().cloned(),
    };
    Ok((Response::from_parts(parts, Body::from(body)), Some(answer)))
}

/// Middleware: executes a POST request with a key once and replays its reply.
pub async fn once(
    State(cache): State<Arc<IdempotencyCache>>,
    request: Request,
    next: Next,
) -> Response {
    let caller = request.extensions().get::<Arc<Caller>>();
    let key = request.headers().get(KEY);
    let (Some(caller), Some(key), &Method::POST) = (caller, key, request.method()) else {
        return next.run(request).await;
    };
    let clean = |key: &&str| (1..=KEY_BYTES_MAX).contains(&key.len());
    let Some(key) = key.to_str().ok().filter(clean) else {
        let message =
            format!("invalid Idempotency-Key: allowed 1 to {KEY_BYTES_MAX} printable characters");
        return Problem::new(StatusCode::BAD_REQUEST, message).into_response();
    };
    let name = (caller.account, request.uri().to_string(), key.to_owned());
    let (parts, body) = request.into_parts();
    let body = match to_bytes(body, BATCH_BYTES_MAX).await {
        Ok(body) => body,
        Err(err) if is_timeout(&err) => {
            return Problem::new(StatusCode::REQUEST_TIMEOUT, BodyTimeout.to_string())
                .into_response();
        }
        Err(_) => {
            let message = format!("request body too long: allowed 0 to {BATCH_BYTES_MAX} bytes");
            return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
        }
    };
    let body_sha256 = Sha256::digest(&body).into();
    match cache.begin(&name, body_sha256, monotonic_ns()) {
        Lookup::Cached(answer) => return replayed(*answer),
        Lookup::Pending => {
            let message = "conflict: a request with this Idempotency-Key is pending";
            return Problem::new(StatusCode::CONFLICT, message).into_response();
        }
        Lookup::Mismatch => {
            let message = "invalid Idempotency-Key: used for another request";
            return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message).into_response();
        }
        Lookup::New => {}
    }
    let mut begun = PendingRequest(&cache, Some(name));
    let request = Request::from_parts(parts, Body::from(body));
    match cacheable(next.run(request).await).await {
        Ok((response, answer)) => {
            if let Some(name) = begun.1.take() {
                cache.end(&name, answer);
            }
            response
        }
        Err(problem) => problem.into_response(),
    }
}
