//! `Idempotency-Key`: who asks twice for the same, because no answer came, gets it once.
//!
//! Answers are remembered for ten minutes, in memory: they may hold a secret that is shown once,
//! and after a restart a node or a person looks before asking again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use groundwave_io::wall::monotonic_ns;
use groundwave_systems::account::AccountId;
use sha2::{Digest, Sha256};

use super::Caller;
use crate::gateway::state::Gateway;
use crate::gateway::telemetry::upload::BATCH_BYTES_MAX;
use crate::http::Problem;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer is that of an earlier request.
const REPEATED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// How long an answer is remembered.
const KEPT_NS: u64 = 600 * 1_000_000_000;
/// Answers remembered; the oldest goes first.
const KEPT: usize = 1_024;
/// Longest answer remembered, bytes; a longer one is a download, and changes nothing.
const ANSWER_BYTES_MAX: u64 = 64 << 10;
/// Longest key, bytes.
const KEY_BYTES_MAX: usize = 128;

/// Whose request it is, for what, under which name.
type Name = (AccountId, String, String);

#[derive(Clone)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
    problem: Option<Problem>,
}

struct Asked {
    at_ns: u64,
    body_sha256: [u8; 32],
    /// Nothing while it is still being answered.
    answer: Option<Answer>,
}

/// Answers of late.
#[derive(Default)]
pub struct Onces(Mutex<BTreeMap<Name, Asked>>);

enum Found {
    New,
    Running,
    Other,
    Same(Box<Answer>),
}

impl Onces {
    /// Takes note of a request; tells whether it was made before.
    fn begin(&self, name: &Name, body_sha256: [u8; 32], now_ns: u64) -> Found {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.retain(|_, asked| now_ns.saturating_sub(asked.at_ns) < KEPT_NS);
        match held.get(name) {
            Some(asked) if asked.body_sha256 != body_sha256 => return Found::Other,
            Some(asked) => {
                return match &asked.answer {
                    Some(answer) => Found::Same(Box::new(answer.clone())),
                    None => Found::Running,
                };
            }
            None => {}
        }
        while held.len() >= KEPT {
            let oldest = held.iter().min_by_key(|(_, asked)| asked.at_ns);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else {
                break;
            };
            held.remove(&oldest);
        }
        let asked = Asked {
            at_ns: now_ns,
            body_sha256,
            answer: None,
        };
        held.insert(name.clone(), asked);
        Found::New
    }

    /// Remembers an answer; forgets the request where there is none worth it.
    fn end(&self, name: &Name, answer: Option<Answer>) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (answer, held.get_mut(name)) {
            (Some(answer), Some(asked)) => asked.answer = Some(answer),
            _ => {
                held.remove(name);
            }
        }
    }
}

/// Forgets a request that nobody waits for any more.
struct Begun<'g>(&'g Onces, Option<Name>);

impl Drop for Begun<'_> {
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

/// What an answer was, with a body that can be sent again; nothing where it is not to be kept.
async fn copied(response: Response) -> Result<(Response, Option<Answer>), Problem> {
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

/// Does what a POST with a key asks once, however often it is asked within ten minutes.
pub async fn once(State(gateway): State<Gateway>, request: Request, next: Next) -> Response {
    let caller = request.extensions().get::<Arc<Caller>>();
    let key = request.headers().get(KEY);
    let (Some(caller), Some(key), &Method::POST) = (caller, key, request.method()) else {
        return next.run(request).await;
    };
    let clean = |key: &&str| (1..=KEY_BYTES_MAX).contains(&key.len());
    let Some(key) = key.to_str().ok().filter(clean) else {
        let message = format!("Idempotency-Key: 1 to {KEY_BYTES_MAX} printable characters");
        return Problem::new(StatusCode::BAD_REQUEST, message).into_response();
    };
    let name = (caller.account, request.uri().to_string(), key.to_owned());
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, BATCH_BYTES_MAX).await else {
        let message = format!("up to {BATCH_BYTES_MAX} bytes are allowed");
        return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message).into_response();
    };
    let body_sha256 = Sha256::digest(&body).into();
    match gateway.onces.begin(&name, body_sha256, monotonic_ns()) {
        Found::Same(answer) => return replayed(*answer),
        Found::Running => {
            let message = "a request with this Idempotency-Key is still being answered";
            return Problem::new(StatusCode::CONFLICT, message).into_response();
        }
        Found::Other => {
            let message = "this Idempotency-Key was used for another request";
            return Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message).into_response();
        }
        Found::New => {}
    }
    let mut begun = Begun(&gateway.onces, Some(name));
    let request = Request::from_parts(parts, Body::from(body));
    match copied(next.run(request).await).await {
        Ok((response, answer)) => {
            if let Some(name) = begun.1.take() {
                gateway.onces.end(&name, answer);
            }
            response
        }
        Err(problem) => problem.into_response(),
    }
}
