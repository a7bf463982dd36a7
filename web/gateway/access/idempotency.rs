//! Idempotency: a POST request with an `Idempotency-Key` is carried out once.

use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::{StreamExt as _, stream};
use groundwave_files::wall::{monotonic_ns, wall_ns};
use groundwave_http::Problem;
use groundwave_http::problem::{BodyTimeout, is_timeout};
use sha2::{Digest, Sha256};

use super::Caller;
use crate::services::replies::{Lookup, Moment, Replies, Reply, RequestName, Share};
use crate::services::world::blocking;

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Header of replayed replies.
const REPEATED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Maximum length of a replayed reply, bytes; longer ones are downloads without effect.
const REPLY_BYTES_MAX: u64 = 64 << 10;
/// Beginning of a body that identifies a request, bytes; of longer bodies their length as well.
const BEGIN_BYTES_MAX: usize = 256 << 10;
/// Maximum length of a key, bytes.
const KEY_BYTES_MAX: usize = 128;

/// Drops a pending request that ends without a reply.
struct PendingRequest(Arc<Replies>, Share, Option<RequestName>);

impl PendingRequest {
    fn end(mut self, reply: Option<Reply>) {
        if let Some(name) = self.2.take() {
            self.0.end(&name, self.1, reply);
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if let Some(name) = self.2.take() {
            self.0.end(&name, self.1, None);
        }
    }
}

fn replayed(reply: Reply) -> Response {
    let mut response = reply.into_response();
    response.headers_mut().insert(REPEATED, HeaderValue::from_static("true"));
    response
}

/// Response with its copy; no copy of server errors, of 429 and of long bodies.
async fn copied(response: Response) -> Result<(Response, Option<Reply>), Problem> {
    let passing =
        response.status().is_server_error() || response.status() == StatusCode::TOO_MANY_REQUESTS;
    let length = response.body().size_hint().upper();
    if passing || length.is_none_or(|bytes| bytes > REPLY_BYTES_MAX) {
        return Ok((response, None));
    }
    let (parts, body) = response.into_parts();
    let read = to_bytes(body, REPLY_BYTES_MAX as usize).await;
    let body = read.map_err(|err| Problem::internal(err.to_string()))?;
    let reply = Reply {
        status: parts.status,
        headers: parts.headers.clone(),
        body: body.clone(),
        problem: parts.extensions.get::<Problem>().cloned(),
    };
    Ok((Response::from_parts(parts, Body::from(body)), Some(reply)))
}

/// Reads the beginning of a body; returns its digest and the whole body, which is not held.
///
/// # Errors
/// 400 and 408 for a body that breaks off.
async fn identified(headers: &HeaderMap, body: Body) -> Result<([u8; 32], Body), Problem> {
    let mut rest = body.into_data_stream();
    let (mut begin, mut bytes) = (Vec::<Bytes>::new(), 0);
    while bytes <= BEGIN_BYTES_MAX {
        match rest.next().await {
            Some(Ok(piece)) => {
                bytes += piece.len();
                begin.push(piece);
            }
            Some(Err(err)) if is_timeout(&err) => {
                let message = BodyTimeout.to_string();
                return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, message));
            }
            Some(Err(err)) => return Err(Problem::bad_request(format!("the body: {err}"))),
            None => break,
        }
    }
    let mut digest = Sha256::new();
    let mut room = BEGIN_BYTES_MAX;
    for piece in &begin {
        let part = &piece[..piece.len().min(room)];
        digest.update(part);
        room -= part.len();
    }
    if bytes > BEGIN_BYTES_MAX {
        let length = headers.get(header::CONTENT_LENGTH).map(HeaderValue::as_bytes);
        digest.update(length.unwrap_or_default());
    }
    let begin = stream::iter(begin.into_iter().map(Ok));
    Ok((digest.finalize().into(), Body::from_stream(begin.chain(rest))))
}

/// Reply to a request that is not carried out.
fn refusal(lookup: Lookup) -> Option<Response> {
    let conflict = |message: &str| Problem::new(StatusCode::CONFLICT, message).into_response();
    Some(match lookup {
        Lookup::New => return None,
        Lookup::Done(Some(reply)) => replayed(*reply),
        Lookup::Done(None) => conflict(
            "conflict: the request with this Idempotency-Key was carried out, its reply is gone",
        ),
        Lookup::Pending => conflict("conflict: a request with this Idempotency-Key is pending"),
        Lookup::Unknown => conflict(
            "conflict: a request with this Idempotency-Key was begun before the gateway started, its \
             outcome is unknown: read the state before another request with another key",
        ),
        Lookup::Mismatch => {
            let message = "invalid Idempotency-Key: used for another request";
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, message).into_response()
        }
        Lookup::TooMany(wait_s) => {
            let message = "too many Idempotency-Keys within ten minutes";
            let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, message);
            problem.retry_after(wait_s).into_response()
        }
    })
}

/// Middleware: carries a POST request with a key out once, also when its client goes away, and replays
/// its reply.
pub async fn once(State(replies): State<Arc<Replies>>, request: Request, next: Next) -> Response {
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
    let share = if caller.node.is_some() { Share::NODE } else { Share::USER };
    let name = RequestName {
        account: caller.account,
        uri: request.uri().to_string(),
        key: key.to_owned(),
    };
    let (parts, body) = request.into_parts();
    let (body_sha256, body) = match identified(&parts.headers, body).await {
        Ok(identified) => identified,
        Err(problem) => return problem.into_response(),
    };
    let (cache, request) = (Arc::clone(&replies), name.clone());
    let now = Moment { monotonic_ns: monotonic_ns(), wall_ns: wall_ns() };
    match blocking(move || cache.begin(&request, share, body_sha256, now)).await.map(refusal) {
        Ok(None) => {}
        Ok(Some(response)) => return response,
        Err(problem) => return problem.into_response(),
    }
    let pending = PendingRequest(replies, share, Some(name));
    let request = Request::from_parts(parts, body);
    // A task of its own: what was begun is carried out whole and its reply is there for the next attempt.
    let task = tokio::spawn(async move {
        match copied(next.run(request).await).await {
            Ok((response, reply)) => {
                pending.end(reply);
                response
            }
            Err(problem) => problem.into_response(),
        }
    });
    task.await.unwrap_or_else(|err| Problem::internal(err.to_string()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_bodies_pass_whole_and_differ_by_begin_and_length() {
        let pieces = |bytes: &[u8]| {
            let pieces: Vec<_> =
                bytes.chunks(60_000).map(|piece| Ok::<_, axum::Error>(piece.to_vec())).collect();
            Body::from_stream(stream::iter(pieces))
        };
        let headers = |length: usize| {
            HeaderMap::from_iter([(header::CONTENT_LENGTH, HeaderValue::from(length))])
        };
        let mut digests = Vec::new();
        for bytes in [vec![1; 3 << 20], vec![1; (3 << 20) + 1], vec![2; 3 << 20], vec![1; 10]] {
            let (digest, body) = identified(&headers(bytes.len()), pieces(&bytes)).await.unwrap();
            assert_eq!(to_bytes(body, usize::MAX).await.unwrap(), bytes);
            assert!(!digests.contains(&digest));
            digests.push(digest);
        }
        let (again, _) = identified(&headers(10), pieces(&[1; 10])).await.unwrap();
        assert_eq!(again, digests[3]);
    }
}
