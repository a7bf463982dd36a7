//! Audit log of changes: caller, previous and new impairment.

use groundwave_http::Problem;
use groundwave_impair::{Applied, Direction, Impairment};
use groundwave_io_impair::leases::{Lease, Owner};

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

/// Writes the line of a request about a lease, with the caller beside its holder.
pub fn lease(
    peer: Peer,
    action: &str,
    id: Option<u64>,
    outcome: Result<Lease, Problem>,
) -> Result<Lease, Problem> {
    let (uid, pid) = (peer.uid, peer.pid);
    match &outcome {
        Ok(lease) => {
            let (id, holder) = (lease.id, holder(&lease.owner));
            let changes = serde_json::to_string(&lease.changes).unwrap_or_default();
            tracing::info!(target: "audit", uid, pid, lease = id, holder, changes, outcome = action);
        }
        Err(problem) => {
            let Problem { status, detail, .. } = problem;
            tracing::warn!(
                target: "audit", uid, pid, lease = id, status, detail, action, outcome = "refused"
            );
        }
    }
    outcome
}

/// Writes the line of a lease that has ended at its time.
pub fn ended(lease: &Lease) {
    let holder = holder(&lease.owner);
    tracing::info!(target: "audit", lease = lease.id, holder, outcome = "ended");
}

/// Name of a holder, or its process.
fn holder(owner: &Owner) -> String {
    let process = || Peer { uid: owner.uid, pid: owner.pid }.to_string();
    owner.name.clone().unwrap_or_else(process)
}
