//! Audit log of changes: caller, previous and new impairment.

use groundwave_http::Problem;
use groundwave_impair::{Applied, Direction, Impairment};

use super::Peer;
use super::state::Outcome;

/// Writes the line of a change, at target `audit`.
pub fn change(
    peer: Peer,
    direction: Direction,
    requested: Option<&Impairment>,
    outcome: Outcome,
) -> Result<Applied, Problem> {
    let text = |impairment: Option<&Impairment>| {
        let text = impairment.map(serde_json::to_string);
        text.and_then(Result::ok).unwrap_or_else(|| "none".to_owned())
    };
    let before = text(outcome.before.as_ref().map(|applied| &applied.impairment));
    let asked = text(requested);
    let (uid, pid) = (peer.uid, peer.pid);
    match &outcome.after {
        Ok(applied) => {
            let after = text(Some(&applied.impairment));
            let diverges = applied.divergence.len();
            tracing::info!(
                target: "audit", uid, pid, %direction, before, asked, after, diverges, outcome = "applied"
            );
        }
        Err(problem) => {
            let Problem { status, detail, .. } = problem;
            tracing::warn!(
                target: "audit", uid, pid, %direction, before, asked, status, detail, outcome = "refused"
            );
        }
    }
    outcome.after
}
