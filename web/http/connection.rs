//! One HTTP connection: times within which heads, bodies and writes must advance, its state for the
//! admission, its end.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use axum::response::IntoResponse;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::Problem;
use super::admission::Place;
use super::hooked::{Hooked, WriteHook};
use super::malformed::Explained;
use super::problem::BodyTimeout;
use super::write_timeout::WriteTimeout;

/// Maximum length of the head of a request, bytes.
pub const HEAD_BYTES_MAX: usize = 16 << 10;
/// Paths that the reserve of connections answers.
const HEALTH_PATHS: [&str; 3] = ["/health", "/healthz", "/readyz"];
/// Wait recommended to a client that finds all connections taken, s.
const FULL_RETRY_S: u32 = 5;

/// Times within which a connection must advance.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// Longest time to the end of a request's head, also on a connection that waits for its next
    /// request; `None` without a bound.
    pub head: Option<Duration>,
    /// Longest time to the end of a request's body, before what [`Self::body_rate`] adds.
    pub body: Duration,
    /// Least mean rate of a request's body after that time, bytes/s.
    pub body_rate: u32,
    /// Longest time in which a response does not advance.
    pub write: Duration,
}

impl Timeouts {
    /// Times of clients in a network.
    pub const NETWORK: Self = Self {
        head: Some(Duration::from_secs(10)),
        body: Duration::from_secs(20),
        body_rate: 512,
        write: Duration::from_secs(30),
    };

    /// Times of programs of this machine, which may keep a connection open between changes.
    pub const LOCAL: Self = Self { head: None, ..Self::NETWORK };
}

/// The response is made when this is dropped: what is not written yet is in the buffer of the connection.
struct Answered(Arc<Place>);

impl Drop for Answered {
    fn drop(&mut self) {
        self.0.answer_leaves();
    }
}

/// Notes when responses are written: from then on the connection can be displaced, and ends at the stop.
struct Departure(Arc<Place>);

impl WriteHook for Departure {
    fn poll_write<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        stream.poll_write(context, bytes)
    }

    fn poll_write_vectored<S: AsyncWrite + Unpin>(
        &mut self,
        stream: Pin<&mut S>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        stream.poll_write_vectored(context, slices)
    }

    fn flushed(&mut self) {
        self.0.is_flushed();
    }
}

/// Body of a request, with its deadline.
struct ReceivedBody {
    body: Incoming,
    place: Arc<Place>,
    deadline: Pin<Box<Sleep>>,
    rate: u32,
}

impl HttpBody for ReceivedBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        let frame = match Pin::new(&mut this.body).poll_frame(context) {
            Poll::Pending => {
                return match this.deadline.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(Some(Err(Box::new(BodyTimeout)))),
                    Poll::Pending => Poll::Pending,
                };
            }
            Poll::Ready(frame) => frame,
        };
        if let Some(Ok(frame)) = &frame {
            let count = frame.data_ref().map_or(0, Bytes::len);
            let more = Duration::from_secs_f64(count as f64 / f64::from(this.rate));
            let deadline = this.deadline.deadline() + more;
            this.deadline.as_mut().reset(deadline);
        }
        if frame.is_none() || this.body.is_end_stream() {
            this.place.becomes_busy();
        }
        Poll::Ready(frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Body of a response.
struct SentBody {
    body: Body,
    _answered: Answered,
}

impl HttpBody for SentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Response to a request that found all connections taken.
fn full() -> Response<Body> {
    let problem = Problem::unavailable("all connections are in use").retry_after(FULL_RETRY_S);
    let mut response = problem.into_response();
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

async fn answer<P: Clone + Send + Sync + 'static>(
    router: Router,
    request: Request<Incoming>,
    peer: P,
    place: Arc<Place>,
    timeouts: Timeouts,
) -> Result<Response<SentBody>, Infallible> {
    place.begins_request();
    let answered = Answered(Arc::clone(&place));
    let (mut parts, body) = request.into_parts();
    let response = if place.for_health && !HEALTH_PATHS.contains(&parts.uri.path()) {
        full()
    } else {
        parts.extensions.insert(ConnectInfo(peer));
        let body = if body.is_end_stream() {
            place.becomes_busy();
            Body::empty()
        } else {
            Body::new(ReceivedBody {
                body,
                place,
                deadline: Box::pin(tokio::time::sleep_until(Instant::now() + timeouts.body)),
                rate: timeouts.body_rate,
            })
        };
        router.oneshot(Request::from_parts(parts, body)).await?
    };
    let is_timeout = response.status() == StatusCode::REQUEST_TIMEOUT;
    let mut response = response.map(|body| SentBody { body, _answered: answered });
    if is_timeout {
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    Ok(response)
}

/// Serves the requests of a connection until its end, until a newcomer takes its place, or until
/// `stop` is cancelled and the request in flight is answered.
pub(super) async fn converse<S, P>(
    stream: S,
    router: Router,
    peer: P,
    place: Arc<Place>,
    timeouts: Timeouts,
    stop: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    P: Clone + Send + Sync + 'static,
{
    let stream = Explained::over(WriteTimeout::over(stream, timeouts.write));
    let stream = TokioIo::new(Hooked::over(stream, Departure(Arc::clone(&place))));
    let of_request = Arc::clone(&place);
    let service = service_fn(move |request| {
        answer(router.clone(), request, peer.clone(), Arc::clone(&of_request), timeouts)
    });
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.head)
        .max_header_size(HEAD_BYTES_MAX);
    let mut connection = std::pin::pin!(builder.serve_connection(stream, service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = place.displaced() => return,
        () = stop.cancelled() => {
            // Hyper waits for the first request of a connection that has sent none. One whose answer is
            // not written wholly has a request.
            if !place.has_request() {
                return;
            }
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(err) = ended {
        tracing::trace!(%err, "a connection ended");
    }
}

#[cfg(test)]
#[path = "connection_tests.rs"]
mod tests;
