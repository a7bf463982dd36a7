//! Bounds of open event streams, in all and for each client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use axum::response::sse::Event;
use futures_util::{Stream, StreamExt};

use super::Problem;
use super::event_stream::{EventStream, response};

/// Wait recommended to a client with too many streams, s.
const RETRY_S: u32 = 5;

/// Open streams by client.
#[derive(Debug)]
pub struct OpenStreams<K: Ord> {
    counts: Mutex<BTreeMap<K, usize>>,
    per_client: usize,
    total: usize,
}

impl<K: Ord + Clone> OpenStreams<K> {
    /// No streams yet, with bounds.
    #[must_use]
    pub fn new(per_client: usize, total: usize) -> Arc<Self> {
        Arc::new(Self { counts: Mutex::default(), per_client, total })
    }

    /// Permit for a stream of `client`.
    ///
    /// # Errors
    /// 429 when the client has too many, 503 when all together have.
    pub fn open(self: &Arc<Self>, client: K) -> Result<StreamPermit<K>, Problem> {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let own = counts.get(&client).copied().unwrap_or(0);
        if own >= self.per_client {
            let what = format!("too many streams: found {own} open, allowed {}", self.per_client);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, what).retry_after(RETRY_S));
        }
        let all: usize = counts.values().sum();
        if all >= self.total {
            let what = format!("too many streams of all clients: allowed {}", self.total);
            return Err(Problem::unavailable(what).retry_after(RETRY_S));
        }
        counts.insert(client.clone(), own + 1);
        Ok(StreamPermit { streams: Arc::clone(self), client })
    }
}

/// Permit of an open stream; given back on drop.
#[derive(Debug)]
pub struct StreamPermit<K: Ord> {
    streams: Arc<OpenStreams<K>>,
    client: K,
}

impl<K: Ord + Send + 'static> StreamPermit<K> {
    /// The events as a response, which keeps the permit for as long as it is sent.
    pub fn events<S: Stream<Item = Event> + Send + 'static>(self, events: S) -> EventStream {
        response(self.hold(events))
    }
}

impl<K: Ord> StreamPermit<K> {
    /// The stream, with the permit for as long as it lives.
    fn hold<S: Stream>(self, stream: S) -> impl Stream<Item = S::Item> + use<S, K> {
        stream.map(move |item| {
            let _ = &self;
            item
        })
    }
}

impl<K: Ord> Drop for StreamPermit<K> {
    fn drop(&mut self) {
        let counts = self.streams.counts.lock();
        let mut counts = counts.unwrap_or_else(PoisonError::into_inner);
        match counts.get_mut(&self.client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream::pending;

    use super::*;

    #[test]
    fn streams_beyond_the_bounds_give_refusals() {
        let streams = OpenStreams::new(2, 3);
        let mut bodies: Vec<_> = ["a", "a", "b"]
            .map(|client| streams.open(client).unwrap().hold(pending::<()>()))
            .into();
        let refused = streams.open("a").unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (429, Some(RETRY_S)));
        let refused = streams.open("c").unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (503, Some(RETRY_S)));
        bodies.pop();
        bodies.push(streams.open("c").unwrap().hold(pending()));
        bodies.clear();
        assert!(streams.counts.lock().unwrap().is_empty());
    }
}
