//! JSON answers.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::Problem;

/// Initial capacity of an answer, bytes: nearly all fit, so that few are copied.
const ROOM: usize = 2048;

/// Response with a body of a media type.
pub fn typed(media: &'static str, body: impl Into<Body>) -> Response {
    let mut answer = Response::new(body.into());
    let media = HeaderValue::from_static(media);
    answer.headers_mut().insert(header::CONTENT_TYPE, media);
    answer
}

/// JSON response.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        let mut text = Vec::with_capacity(ROOM);
        if let Err(err) = serde_json::to_writer(&mut text, &self.0) {
            return Problem::internal(format!("write the answer: {err}")).into_response();
        }
        typed("application/json", text)
    }
}
