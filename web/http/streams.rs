//! Bounds of open event streams, in all and for each client.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use futures_util::{Stream, StreamExt};

use super::Problem;

/// Wait recommended to a client with too many streams, s.
const RETRY_S: u32 = 5;

/// Open streams by client.
#[derive(Debug)]
pub struct OpenStreams<K: Ord> {
    held: Mutex<BTreeMap<K, usize>>,
    per_client: usize,
    total: usize,
}

impl<K: Ord + Clone> OpenStreams<K> {
    /// No streams yet, with bounds.
    #[must_use]
    pub fn new(per_client: usize, total: usize) -> Arc<Self> {
        Arc::new(Self { held: Mutex::default(), per_client, total })
    }

    /// Permit for a stream of `client`.
    ///
    /// # Errors
    /// 429 when the client has too many, 503 when all together have.
    pub fn open(self: &Arc<Self>, client: K) -> Result<StreamPermit<K>, Problem> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.get(&client).copied().unwrap_or(0);
        if own >= self.per_client {
            let what = format!("too many streams: found {own} open, allowed {}", self.per_client);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, what).retry_after(RETRY_S));
        }
        let all: usize = held.values().sum();
        if all >= self.total {
            let what = format!("too many streams of all clients: allowed {}", self.total);
            return Err(Problem::unavailable(what).retry_after(RETRY_S));
        }
        held.insert(client.clone(), own + 1);
        Ok(StreamPermit { streams: Arc::clone(self), client })
    }
}

/// Permit of an open stream; given back on drop.
#[derive(Debug)]
pub struct StreamPermit<K: Ord> {
    streams: Arc<OpenStreams<K>>,
    client: K,
}

impl<K: Ord> StreamPermit<K> {
    /// The stream, with the permit for as long as it lives.
    pub fn hold<S: Stream>(self, stream: S) -> impl Stream<Item = S::Item> + use<S, K> {
        stream.map(move |item| {
            let _ = &self;
            item
        })
    }
}

impl<K: Ord> Drop for StreamPermit<K> {
    fn drop(&mut self) {
        let held = self.streams.held.lock();
        let mut held = held.unwrap_or_else(PoisonError::into_inner);
        match held.get_mut(&self.client) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                held.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream::pending;

    use super::*;

    #[test]
    fn streams_are_bounded_and_their_end_makes_room() {
        let streams = OpenStreams::new(2, 3);
        let mut held: Vec<_> = ["a", "a", "b"]
            .map(|client| streams.open(client).unwrap().hold(pending::<()>()))
            .into();
        let refused = streams.open("a").unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (429, Some(RETRY_S)));
        let refused = streams.open("c").unwrap_err();
        assert_eq!((refused.status, refused.retry_after_s), (503, Some(RETRY_S)));
        held.pop();
        held.push(streams.open("c").unwrap().hold(pending()));
        held.clear();
        assert!(streams.held.lock().unwrap().is_empty());
    }
}
