//! Server-Sent Events (WHATWG HTML, section 9.2) that a client resumes with `Last-Event-ID`.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::sse::{Event, KeepAlive, KeepAliveStream, Sse};
use futures_util::stream::{BoxStream, unfold};
use futures_util::{Stream, StreamExt};
use serde::Serialize;

use super::endpoints::Describe;

/// Interval of the comments that keep a stream without events alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// A response of Server-Sent Events, with a comment every 15 s while there are none.
pub type EventStream = Sse<KeepAliveStream<BoxStream<'static, Result<Event, Infallible>>>>;

pub(super) fn response(events: impl Stream<Item = Event> + Send + 'static) -> EventStream {
    Sse::new(events.map(Ok).boxed()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// An event of plain data.
///
/// # Panics
/// When `data` is a map whose keys are not texts, which no wire type is.
pub fn event(name: &str, data: &impl Serialize) -> Event {
    Event::default().event(name).json_data(data).expect("events are plain data")
}

/// Events not sent yet.
#[derive(Debug, Default)]
pub struct Outbox {
    ready: VecDeque<Event>,
    is_closed: bool,
}

impl Outbox {
    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        self.ready.push_back(event);
    }

    /// Ends the stream after the events added so far.
    pub const fn close(&mut self) {
        self.is_closed = true;
    }
}

/// Source of the events of a stream, a few at a time, so that a slow reader holds no more than those.
pub trait EventSource: Send + 'static {
    /// Adds the next events to `outbox` or closes it; waits while there is nothing to add.
    fn advance(&mut self, outbox: &mut Outbox) -> impl Future<Output = ()> + Send;
}

/// The events of a source, in order, to the closing of its outbox.
pub fn events<S: EventSource>(source: S) -> impl Stream<Item = Event> + Send + use<S> {
    unfold((source, Outbox::default()), |(mut source, mut outbox)| async move {
        loop {
            if let Some(event) = outbox.ready.pop_front() {
                return Some((event, (source, outbox)));
            }
            if outbox.is_closed {
                return None;
            }
            source.advance(&mut outbox).await;
        }
    })
    .fuse()
}

/// Id of the last event that a client received, by which it resumes a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastEventId(Option<String>);

impl LastEventId {
    /// The id as sent; none where the client begins or the field is not text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The id as a number; none where it is absent or another text.
    #[must_use]
    pub fn number<N: FromStr>(&self) -> Option<N> {
        self.text()?.parse().ok()
    }
}

impl Describe for LastEventId {}

impl<S: Send + Sync> FromRequestParts<S> for LastEventId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let field = parts.headers.get("last-event-id");
        Ok(Self(field.and_then(|id| id.to_str().ok()).map(str::to_owned)))
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::extract::Request;
    use axum::response::IntoResponse;

    use super::*;

    #[tokio::test]
    async fn field_gives_the_id_and_its_number() {
        let of = async |request: Request<()>| {
            let (mut parts, ()) = request.into_parts();
            LastEventId::from_request_parts(&mut parts, &()).await.unwrap()
        };
        let with =
            |value: &str| Request::builder().header("Last-Event-ID", value).body(()).unwrap();
        let id = of(with("41")).await;
        assert_eq!((id.text(), id.number::<u32>()), (Some("41"), Some(41)));
        let id = of(with("7f-3")).await;
        assert_eq!((id.text(), id.number::<u64>()), (Some("7f-3"), None));
        assert_eq!(of(Request::new(())).await.text(), None);
    }

    /// Numbers from this one down to 1, two at a time.
    struct Countdown(u32);

    impl EventSource for Countdown {
        async fn advance(&mut self, outbox: &mut Outbox) {
            for _ in 0..2 {
                if self.0 == 0 {
                    return outbox.close();
                }
                outbox.push(event("count", &self.0).id(self.0.to_string()));
                self.0 -= 1;
            }
        }
    }

    #[tokio::test]
    async fn closed_outbox_ends_the_stream_after_its_events() {
        let body = response(events(Countdown(3))).into_response().into_body();
        let text = to_bytes(body, 1 << 10).await.unwrap();
        let of = |n| format!("event: count\ndata: {n}\nid: {n}\n\n");
        assert_eq!(String::from_utf8(text.to_vec()).unwrap(), [3, 2, 1].map(of).concat());
    }
}
