//! Ranking of routing protocols for a deployment, with reasons.
//!
//! Pairs of nodes are sampled and their links evaluated ([`Sampling`]); statistics of the links
//! follow ([`LinkStatistics`], [`Connectivity`]); each protocol is scored from its specification
//! and these statistics ([`score`]). Every reason states the number it rests on.

mod connectivity;
mod protocols;
mod sample;
pub mod score;
mod statistics;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Serialize;

pub use connectivity::Connectivity;
pub use protocols::{Class, ProtocolId, Speed};
pub use sample::{PAIRS_SAMPLED_MAX, Sampling};
pub use score::{Criterion, CriterionId, Recommendation};
pub use statistics::{ASYMMETRIC_DB, FRAGILE_DB, LinkStatistics, Quantiles, Verdicts};

use crate::link::Inputs;
use crate::mesh::{GroundSummary, Member, MeshError};

/// Ranked protocols for a deployment, and the statistics behind the ranking.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// Pairs that were evaluated.
    pub sampling: Sampling,
    /// Ground under the pairs that were evaluated.
    #[serde(flatten)]
    pub ground: GroundSummary,
    /// Statistics of the links.
    pub links: LinkStatistics,
    /// Connectivity of the graph of usable links.
    pub connectivity: Connectivity,
    /// All protocols, the best first; equals in the order of [`ProtocolId`].
    pub protocols: Vec<Recommendation>,
}

/// Samples the pairs of `members` (in any order) and ranks the protocols for them.
///
/// # Errors
/// Invalid members, see [`MeshError`].
pub fn advise(inputs: &Inputs<'_>, members: &[Member<'_>]) -> Result<Advice, MeshError> {
    let sample = sample::take(inputs, members)?;
    let links = LinkStatistics::of(&sample.links);
    let connectivity = Connectivity::of(&sample.nodes, sample.known());
    let evidence = score::Evidence::of(&sample.sampling, &links, &connectivity);
    Ok(Advice {
        protocols: score::rank(&evidence),
        ground: sample.known().map(|link| link.budget.ground).collect(),
        sampling: sample.sampling,
        links,
        connectivity,
    })
}
