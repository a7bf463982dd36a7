//! The topology of another time: stills of the mesh, kept a minute apart.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Gateway;
use super::graph::{NetworkGraph, drawing, revision};
use crate::http::Problem;
use crate::http::time::rfc3339;

/// What the last still showed, so that the same is not kept twice.
#[derive(Default)]
pub struct LastStill(AtomicU64);

/// Keeps a still of the mesh as of `wall_ns`, unless nothing changed since the last or nobody is
/// in.
///
/// # Errors
/// When it cannot be drawn or written.
pub async fn keep(gateway: &Gateway, wall_ns: u64) -> Result<(), Problem> {
    let view = gateway.world.view();
    if view.fleet.nodes.is_empty() {
        return Ok(());
    }
    let revision = revision(gateway, &view);
    let number = u64::from_str_radix(&revision, 16).unwrap_or(0);
    if gateway.last_still.0.swap(number, Ordering::Relaxed) == number {
        return Ok(());
    }
    let drawing = drawing(gateway, view, revision, wall_ns).await?;
    let history = gateway.history.clone();
    gateway
        .block(move || {
            let kept = history.keep_still(wall_ns / 1_000_000, drawing.pieces());
            kept.map_err(|err| Problem::internal(err.to_string()))
        })
        .await
}

/// The mesh as it was at `at`, RFC 3339, as far back as stills go.
///
/// # Errors
/// A text that is no time, a time to come, one before the first still.
pub async fn graph_at(gateway: &Gateway, at: &str, now_ns: u64) -> Result<NetworkGraph, Problem> {
    let wrong = |code: &str, message: String| Problem::field("/at", code, message);
    let time: jiff::Timestamp = at
        .parse()
        .map_err(|_| wrong("format", "write the time as RFC 3339 does".to_owned()))?;
    let at_ms = u64::try_from(time.as_millisecond()).unwrap_or(0);
    if at_ms > now_ns / 1_000_000 {
        let message = format!("that is to come: it is {}", rfc3339(now_ns));
        return Err(wrong("not-allowed", message));
    }
    let history = gateway.history.clone();
    let failed = |err: groundwave_io::telemetry::HistoryError| Problem::internal(err.to_string());
    let found = gateway
        .block(move || {
            Ok((
                history.still(at_ms).map_err(failed)?,
                history.stills().map_err(failed)?,
            ))
        })
        .await?;
    match found {
        (Some((_, still)), _) => serde_json::from_slice(&still)
            .map_err(|err| Problem::internal(format!("a still of the mesh: {err}"))),
        (None, Some((first_ms, _))) => {
            let first = rfc3339(first_ms.saturating_mul(1_000_000));
            Err(wrong(
                "not-allowed",
                format!("nothing is known of that time; the first still is of {first}"),
            ))
        }
        (None, None) => Err(wrong(
            "not-allowed",
            "no still of the mesh was kept yet".to_owned(),
        )),
    }
}
