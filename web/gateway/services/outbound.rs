//! Outbound requests of the gateway: their errors as problems.

use axum::http::StatusCode;
use groundwave_http::Problem;
use groundwave_http::problem::{FieldCode, ProblemKind};
use groundwave_outbound::OutboundError;

/// Problem of an outbound request: 422 for URLs and targets that are not allowed, 504 after the time
/// limit, else 502.
#[must_use]
pub fn unreached(pointer: &str, err: &OutboundError) -> Problem {
    let detail = err.to_string();
    match err {
        OutboundError::Url { .. } => Problem::field(pointer, FieldCode::Format, detail),
        OutboundError::Forbidden { .. } => Problem::field(pointer, FieldCode::NotAllowed, detail)
            .of_kind(ProblemKind::TargetForbidden),
        OutboundError::Timeout { .. } => Problem::new(StatusCode::GATEWAY_TIMEOUT, detail),
        _ => Problem::new(StatusCode::BAD_GATEWAY, detail),
    }
}
