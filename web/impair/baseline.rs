//! Stored calibration baseline: uninterpreted JSON.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use groundwave_http::document::Schemas;
use groundwave_http::endpoints::Reply;
use groundwave_http::show::typed;
use groundwave_http::{Json, Problem};
use serde::de::IgnoredAny;
use serde_json::Value;

use super::{Baseline, Daemon};

impl Baseline {
    /// The stored text, which is a JSON document.
    fn stored(&self) -> Result<String, Problem> {
        let path = self.path.display();
        let text = (self.read)().map_err(|err| Problem::internal(format!("read {path}: {err}")))?;
        let text = text.ok_or_else(|| {
            let what = format!("no calibration baseline is stored at {path}");
            Problem::new(StatusCode::NOT_FOUND, what)
        })?;
        let checked: Result<IgnoredAny, _> = serde_json::from_str(&text);
        match checked {
            Ok(_) => Ok(text),
            Err(err) => Err(Problem::internal(format!("{path}: invalid JSON document: {err}"))),
        }
    }
}

/// Stored JSON document as response, byte for byte.
pub struct StoredDocument(String);

impl IntoResponse for StoredDocument {
    fn into_response(self) -> Response {
        typed("application/json", self.0)
    }
}

impl Reply for StoredDocument {
    fn schema(schemas: &mut Schemas) -> Option<Value> {
        <Json<Value>>::schema(schemas)
    }
}

/// Get the stored calibration baseline
///
/// The document is opaque: the response is the stored file, byte for byte.
#[utoipa::path(get, path = "/v1/calibration/baseline", tag = "calibration",
    responses(
        (status = 200, description = "Stored document"),
        (status = 404, description = "No baseline stored")))]
pub async fn fetch_baseline(State(daemon): State<Daemon>) -> Result<StoredDocument, Problem> {
    let baseline = daemon.baseline;
    // A file on a slow disk must not hold up other connections.
    let read = tokio::task::spawn_blocking(move || baseline.stored()).await;
    read.unwrap_or_else(|err| Err(Problem::internal(format!("the reading failed: {err}"))))
        .map(StoredDocument)
}
