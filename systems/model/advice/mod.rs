//! Which routing protocol suits a deployment, and why.
//!
//! Pairs of nodes are sampled and their links evaluated ([`Sampling`]); what they have in common is
//! counted ([`LinkStatistics`], [`Connectivity`]); each protocol is scored by what its specification
//! says and what was counted ([`score`]). A reason never stands without the number it rests on.

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

use crate::mesh::{Member, MeshError};
use crate::model::link::Inputs;

/// What is said about the protocols for a deployment.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Advice {
    /// What was looked at.
    pub sampling: Sampling,
    /// What the links are like.
    pub links: LinkStatistics,
    /// How they hang together.
    pub connectivity: Connectivity,
    /// All protocols, the best first; equals in the order of [`ProtocolId`].
    pub protocols: Vec<Recommendation>,
}

/// Samples the pairs of `members` (in any order) and ranks the protocols for them.
///
/// # Errors
/// What is wrong with the members, see [`MeshError`]; never [`MeshError::TooDense`], for a dense
/// deployment is sampled.
pub fn advise(inputs: &Inputs<'_>, members: &[Member<'_>]) -> Result<Advice, MeshError> {
    let sample = sample::take(inputs, members)?;
    let links = LinkStatistics::of(&sample.links);
    let connectivity = Connectivity::of(&sample.nodes, sample.known());
    let evidence = score::Evidence::of(&sample.sampling, &links, &connectivity);
    Ok(Advice {
        protocols: score::rank(&evidence),
        sampling: sample.sampling,
        links,
        connectivity,
    })
}
