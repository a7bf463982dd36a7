//! Sampling of the pairs whose links are evaluated.

use schemars::JsonSchema;
use serde::Serialize;

use crate::id::NodeId;
use crate::link::Inputs;
use crate::mesh::{Member, MeshError, MeshLink, Pair, Roster, budgets};
use crate::radio::Waveform;
use crate::terrain::geodesic;

/// Maximum number of pairs of a sample: every pair of 200 nodes, some 0.4 s of one core. A share is
/// then known to within 0.7 percent at 95 % confidence, finer than any reason needs.
pub const PAIRS_SAMPLED_MAX: usize = 20_000;

/// Nearest neighbours of each node whose links are evaluated besides a sample, for its
/// connectivity: a node with 6 to 8 neighbours is almost surely connected (L. Kleinrock and J.
/// Silvester, "Optimum transmission radii for packet radio networks or why six is a magic number",
/// NTC 1978).
const NEAREST: usize = 6;

/// Pairs that were evaluated.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sampling {
    /// Nodes of the deployment.
    pub nodes: usize,
    /// Nodes with an OFDM radio, which alone can run 802.11.
    pub ofdm_nodes: usize,
    /// Pairs of nodes in all.
    pub pairs: usize,
    /// Pairs not excluded by the range bound: closer than free space lets the better direction
    /// close, and not far beyond the horizon. The others cannot be links and count as such.
    pub pairs_in_reach: usize,
    /// Pairs in reach that were evaluated for the statistics of links.
    pub pairs_sampled: usize,
    /// Further pairs evaluated, for connectivity alone.
    pub pairs_for_connectivity: usize,
    /// `true` if every pair in reach was evaluated.
    pub complete: bool,
    /// Sampling method.
    pub method: &'static str,
}

const COMPLETE: &str = "every pair in reach";
const STRATIFIED: &str = "pairs in reach ordered by their lower node, then by distance, and every \
                          k-th taken, so that nodes and distances are represented by their share; \
                          for connectivity also the links of each node to its 6 nearest";

/// A sample of nodes and links.
pub(super) struct Sample {
    pub sampling: Sampling,
    /// The nodes in id order.
    pub nodes: Vec<NodeId>,
    /// The links sampled.
    pub links: Vec<MeshLink>,
    /// Links evaluated besides, none of them sampled.
    more: Vec<MeshLink>,
}

impl Sample {
    /// Every link that was evaluated.
    pub fn known(&self) -> impl Iterator<Item = &MeshLink> {
        self.links.iter().chain(&self.more)
    }
}

/// Evaluates every pair in reach, or of too many a stratified sample.
pub(super) fn take(inputs: &Inputs<'_>, members: &[Member<'_>]) -> Result<Sample, MeshError> {
    let roster = Roster::new(inputs, members)?;
    let nodes = roster.members().len();
    let pairs = roster.pairs_in_reach(inputs, usize::MAX).expect("no number of pairs is too many");
    let in_reach = pairs.len();
    let ofdm = |m: &&Member<'_>| matches!(m.station.radio.waveform, Waveform::Ofdm { .. });
    let complete = in_reach <= PAIRS_SAMPLED_MAX;
    let (chosen, more) = if complete { (pairs, Vec::new()) } else { stratified(&roster, pairs) };
    Ok(Sample {
        sampling: Sampling {
            nodes,
            ofdm_nodes: roster.members().iter().filter(ofdm).count(),
            pairs: nodes * nodes.saturating_sub(1) / 2,
            pairs_in_reach: in_reach,
            pairs_sampled: chosen.len(),
            pairs_for_connectivity: more.len(),
            complete,
            method: if complete { COMPLETE } else { STRATIFIED },
        },
        nodes: roster.members().iter().map(|member| member.id).collect(),
        links: budgets(inputs, &roster, &chosen),
        more: budgets(inputs, &roster, &more),
    })
}

/// [`PAIRS_SAMPLED_MAX`] of `pairs`, evenly spaced in their order by node and distance, and of the
/// rest those that join a node with one of its nearest.
fn stratified(roster: &Roster<'_>, mut pairs: Vec<Pair>) -> (Vec<Pair>, Vec<Pair>) {
    let members = roster.members();
    let place = |index: u32| members[index as usize].position;
    let away_m = |(a, b): Pair| geodesic::inverse(place(a), place(b)).distance_m;
    let mut measured: Vec<(Pair, f64)> = Vec::with_capacity(pairs.len());
    measured.extend(pairs.drain(..).map(|pair| (pair, away_m(pair))));
    measured.sort_by(|(one, near_m), (other, far_m)| {
        let by_node = one.0.cmp(&other.0);
        by_node.then(near_m.total_cmp(far_m)).then(one.cmp(other))
    });
    let every = |k: usize| (2 * k + 1) * measured.len() / (2 * PAIRS_SAMPLED_MAX);
    let mut chosen: Vec<Pair> = (0..PAIRS_SAMPLED_MAX).map(|k| measured[every(k)].0).collect();
    chosen.sort_unstable();

    let mut nearest: Vec<Vec<(f64, Pair)>> = vec![Vec::new(); members.len()];
    for &(pair, away_m) in &measured {
        for end in [pair.0, pair.1] {
            let near_pairs = &mut nearest[end as usize];
            let at = near_pairs.partition_point(|&(near_m, other)| {
                near_m.total_cmp(&away_m).then(other.cmp(&pair)).is_lt()
            });
            if at < NEAREST {
                near_pairs.insert(at, (away_m, pair));
                near_pairs.truncate(NEAREST);
            }
        }
    }
    let mut more: Vec<Pair> = nearest.into_iter().flatten().map(|(_, pair)| pair).collect();
    more.sort_unstable();
    more.dedup();
    more.retain(|pair| chosen.binary_search(pair).is_err());
    (chosen, more)
}
