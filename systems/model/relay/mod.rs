//! Where to put relays so that two stations that do not reach each other do.
//!
//! [`Strategy::Greedy`] walks the great circle from the transmitter to the receiver and takes the
//! farthest step that still closes, again and again. It sees only the line. [`Strategy::Optimal`]
//! also looks for high ground beside it, and searches all chains over those places; whatever the
//! greedy walk finds is among them, so that it is never worse.

mod candidates;
mod chain;
mod greedy;
mod optimal;
mod plan;
mod request;
mod stretch;
#[cfg(test)]
mod tests;

pub use greedy::FRACTIONS;
pub use plan::{ChainNode, ChainRole, RelayPlan, RelaySegment, Shortfall};
pub use request::{
    HEIGHT_AGL_M_MAX, MARGIN_DB_MAX, MAX_HOPS_MAX, Objective, RelayEnd, RelayError, RelayRequest,
    Strategy,
};

use crate::link::Inputs;

/// Plans a chain of relays from `request.tx` to `request.rx`.
///
/// A stretch closes when both directions carry the target rate and leave the margin. When that cannot be met the
/// plan is the best effort of its strategy, and [`RelayPlan::shortfall`] has the stretch that
/// fails and its rate.
///
/// # Errors
/// See [`RelayError`].
pub fn plan(inputs: &Inputs<'_>, request: &RelayRequest<'_>) -> Result<RelayPlan, RelayError> {
    request.check(inputs)?;
    let relay = request.relay_station();
    let task = stretch::Task::new(inputs, request, &relay);
    let chain = match request.strategy {
        Strategy::Greedy => greedy::walk(&task),
        Strategy::Optimal { objective } => optimal::search(&task, objective),
    };
    Ok(chain::complete(&task, request, chain)?)
}
