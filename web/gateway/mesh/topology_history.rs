//! History of the topology: snapshots a minute apart.

use std::sync::atomic::Ordering;

use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_http::time;
use groundwave_http::time::rfc3339;

use crate::mesh::graph::{NetworkGraph, drawing, revision};
use crate::services::history::history_failed;
use crate::services::world::blocking;
use crate::state::Gateway;

/// Stores a snapshot of the topology at `wall_ns`, unless it is unchanged or there is no node.
///
/// # Errors
/// When it cannot be written.
pub async fn store(gateway: &Gateway, wall_ns: u64) -> Result<(), Problem> {
    let view = gateway.world.view();
    if view.fleet.nodes.is_empty() {
        return Ok(());
    }
    let revision = revision(&view);
    let number = u64::from_str_radix(&revision, 16).unwrap_or(0);
    if gateway.topology.last_revision.load(Ordering::Relaxed) == number {
        return Ok(());
    }
    let drawing = drawing(&view, revision, wall_ns);
    let history = gateway.history.clone();
    blocking(move || {
        history.store_topology(wall_ns / 1_000_000, drawing.pieces()).map_err(history_failed)
    })
    .await?;
    gateway.topology.last_revision.store(number, Ordering::Relaxed);
    Ok(())
}

fn not_allowed(message: String) -> Problem {
    Problem::field("/at", FieldCode::NotAllowed, message)
}

/// A past time in `at`, RFC 3339, ms since the Unix epoch.
///
/// # Errors
/// 422 for an invalid time and a future one.
pub fn past_ms(at: &str, now_ns: u64) -> Result<u64, Problem> {
    let at_ms = time::read("/at", at)?.as_millisecond();
    let at_ms = u64::try_from(at_ms).unwrap_or(0);
    match at_ms > now_ns / 1_000_000 {
        true => Err(not_allowed(format!("that is to come: it is {}", rfc3339(now_ns)))),
        false => Ok(at_ms),
    }
}

/// Topology at `at_ms` since the Unix epoch: the last snapshot before it.
///
/// # Errors
/// 422 for a time before the first recorded graph.
pub async fn graph_at(gateway: &Gateway, at_ms: u64) -> Result<NetworkGraph, Problem> {
    let history = gateway.history.clone();
    blocking(move || {
        if let Some((_, still)) = history.topology_at(at_ms).map_err(history_failed)? {
            return serde_json::from_slice(&still)
                .map_err(|err| Problem::internal(format!("a still of the mesh: {err}")));
        }
        Err(not_allowed(match history.topology_range().map_err(history_failed)? {
            Some((first_ms, _)) => {
                let first = rfc3339(first_ms.saturating_mul(1_000_000));
                format!("nothing is known of that time; the first still is of {first}")
            }
            None => "no still of the mesh was kept yet".to_owned(),
        }))
    })
    .await
}
