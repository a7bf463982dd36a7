//! Positions for pages that were built without their own reader, a module of WebAssembly of the same code.

use axum::extract::Query;
use axum::http::{Uri, header};
use axum::response::{IntoResponse, Response};
use groundwave_coordinate::degrees;
use groundwave_http::{Json, Problem};
use serde::{Deserialize, Serialize};

/// Path below the address of the page.
pub const PATH: &str = "position.json";

#[derive(Deserialize)]
struct Spelling {
    text: String,
}

/// Latitude and longitude, deg.
#[derive(Serialize)]
struct Position {
    lat_deg: f64,
    lon_deg: f64,
}

/// The position in the parameter `text`.
pub fn position(uri: &Uri) -> Response {
    let outcome = Query::<Spelling>::try_from_uri(uri)
        .map_err(|error| Problem::bad_request(error.body_text()))
        .and_then(|Query(Spelling { text })| {
            degrees(&text).map_err(|error| Problem::bad_request(error.to_string()))
        });
    match outcome {
        Ok([lat_deg, lon_deg]) => {
            ([(header::CACHE_CONTROL, "no-cache")], Json(Position { lat_deg, lon_deg }))
                .into_response()
        }
        Err(problem) => problem.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::to_bytes;
    use axum::http::StatusCode;

    use super::*;

    async fn response(query: &'static str) -> (StatusCode, String) {
        let response = position(&Uri::from_static(query));
        let problem = response.extensions().get::<Problem>().map(|problem| problem.detail.clone());
        let status = response.status();
        let octets = to_bytes(response.into_body(), 10_000).await.unwrap();
        (status, problem.unwrap_or_else(|| String::from_utf8(octets.to_vec()).unwrap()))
    }

    #[tokio::test]
    async fn spelling_gives_degrees_or_the_error_of_the_command_line() {
        let (status, body) = response("/position.json?text=57.5N%2011.25W").await;
        assert_eq!(
            (status, body.as_str()),
            (StatusCode::OK, r#"{"lat_deg":57.5,"lon_deg":-11.25}"#)
        );
        let (status, detail) = response("/position.json?text=97,11").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(detail, degrees("97,11").unwrap_err().to_string());
        assert_eq!(response("/position.json").await.0, StatusCode::BAD_REQUEST);
    }
}
