//! Responses.

use std::sync::Arc;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderName};
use hyper::{Response, StatusCode};
use thiserror::Error;
use tokio::task::JoinHandle;

/// Error of a body.
#[derive(Debug, Error)]
pub enum BodyError {
    /// Broken HTTP.
    #[error(transparent)]
    Http(hyper::Error),
    /// More bytes than allowed.
    #[error("invalid length of the body: found more, allowed {limit_bytes} bytes")]
    TooLong {
        /// Limit, bytes.
        limit_bytes: usize,
    },
}

/// Task that moves the bytes of a connection. It ends with the last of the connection and its responses.
#[derive(Debug)]
pub(crate) struct Task(JoinHandle<()>);

impl Task {
    pub(crate) fn new(handle: JoinHandle<()>) -> Self {
        Self(handle)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Response with a body still to be read; the connection stays open until it is dropped.
#[derive(Debug)]
pub struct OpenResponse {
    /// Status.
    pub status: StatusCode,
    /// Header fields.
    pub headers: HeaderMap,
    body: Incoming,
    _task: Arc<Task>,
}

impl OpenResponse {
    pub(crate) fn new(response: Response<Incoming>, task: Arc<Task>) -> Self {
        let (head, body) = response.into_parts();
        Self { status: head.status, headers: head.headers, body, _task: task }
    }

    /// A header field, if it is text.
    pub fn field(&self, name: HeaderName) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next piece of the body; `None` at the end.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn next(&mut self) -> Result<Option<Bytes>, hyper::Error> {
        // Frames of trailers carry no data.
        while let Some(frame) = self.body.frame().await {
            if let Ok(data) = frame?.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The whole body, of at most `limit_bytes`.
    ///
    /// # Errors
    /// When the body is longer or the connection breaks.
    pub async fn whole(self, limit_bytes: usize) -> Result<Bytes, BodyError> {
        let body = Limited::new(self.body, limit_bytes).collect().await;
        let body = body.map_err(|cause| match cause.downcast::<hyper::Error>() {
            Ok(cause) => BodyError::Http(*cause),
            Err(cause) => {
                debug_assert!(cause.is::<LengthLimitError>());
                BodyError::TooLong { limit_bytes }
            }
        })?;
        Ok(body.to_bytes())
    }
}
