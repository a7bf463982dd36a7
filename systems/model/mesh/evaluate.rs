//! Budgets of all pairs that may be links.

use groundwave_values::parallel;
use schemars::JsonSchema;
use serde::Serialize;

use super::member::{Member, MeshError, Pair, Roster};
use crate::id::NodeId;
use crate::link;
use crate::link::{Inputs, LINKS_PER_TASK, LinkBudget, LinkKey};
use crate::route::Graph;
use crate::terrain::PathGround;

/// Maximum number of pairs evaluated for a mesh: every pair of 700 nodes, some 5 s of one core and 60 MB.
pub const PAIRS_MAX: usize = 250_000;

/// A link of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeshLink {
    /// The pair of nodes.
    pub ends: LinkKey,
    /// Link budget, forward from the lower id to the higher.
    pub budget: LinkBudget,
}

impl MeshLink {
    /// `false` where the ground is unknown, so that there is no verdict.
    #[must_use]
    pub fn is_over_known_ground(&self) -> bool {
        self.budget.ground.is_enough()
    }
}

/// Knowledge of the ground under several links.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct GroundSummary {
    /// Ground of the link that has the least of it known; `known` without links.
    pub ground: PathGround,
    /// Number of links over unknown ground: they have no verdict and count as unusable.
    pub unknown_ground_links: usize,
}

impl FromIterator<PathGround> for GroundSummary {
    fn from_iter<I: IntoIterator<Item = PathGround>>(grounds: I) -> Self {
        grounds.into_iter().fold(Self::default(), |summary, ground| Self {
            ground: summary.ground.max(ground),
            unknown_ground_links: summary.unknown_ground_links + usize::from(!ground.is_enough()),
        })
    }
}

/// Links between a set of planned nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// The nodes in id order.
    pub nodes: Vec<NodeId>,
    /// Pairs that the range bound does not exclude, usable or not, in id order of the lower,
    /// then of the higher end: all of them, or [`PAIRS_MAX`] at most.
    pub links: Vec<MeshLink>,
    /// Number of pairs in reach beyond these, which were not evaluated.
    pub pairs_left_out: usize,
    /// Packet length the budgets are for, bytes.
    pub packet_bytes: u32,
}

impl Mesh {
    /// The usable links as a graph.
    #[must_use]
    pub fn graph(&self) -> Graph {
        self.graph_of(|_| true)
    }

    /// The usable links over ground that is not unknown, as a graph.
    #[must_use]
    pub fn graph_over_known_ground(&self) -> Graph {
        self.graph_of(MeshLink::is_over_known_ground)
    }

    fn graph_of(&self, is_wanted: impl Fn(&MeshLink) -> bool) -> Graph {
        let mut graph = Graph::new(self.nodes.clone(), self.packet_bytes);
        for link in self.links.iter().filter(|link| is_wanted(link)) {
            graph.set(link.ends, Some(&link.budget));
        }
        graph
    }
}

/// Evaluates every pair of `members` (in any order) that the range bound of
/// [`crate::link::Reach`] does not exclude, as the world evaluates its links: ends in id order.
///
/// Of more than [`PAIRS_MAX`] pairs those of each member with its nearest peers are evaluated, and some with peers
/// farther away; [`Mesh::pairs_left_out`] counts the others.
///
/// # Errors
/// See [`MeshError`]; all of its cases but [`MeshError::Unknown`] and [`MeshError::Rate`].
pub fn mesh(inputs: &Inputs<'_>, members: &[Member<'_>]) -> Result<Mesh, MeshError> {
    let roster = Roster::new(inputs, members)?;
    let (pairs, pairs_left_out) = roster.pairs_up_to(inputs, PAIRS_MAX);
    Ok(Mesh {
        nodes: roster.members().iter().map(|member| member.id).collect(),
        links: budgets(inputs, &roster, &pairs),
        pairs_left_out,
        packet_bytes: inputs.packet_bytes,
    })
}

/// Evaluates the links of one of `members` as [`mesh`] does: every other member that the range bound
/// does not exclude, in id order.
///
/// # Errors
/// See [`MeshError`]; all of its cases but [`MeshError::Rate`].
pub fn links_of(
    inputs: &Inputs<'_>,
    members: &[Member<'_>],
    id: NodeId,
) -> Result<Vec<MeshLink>, MeshError> {
    let roster = Roster::new(inputs, members)?;
    let pairs = roster.pairs_of(inputs, id)?;
    Ok(budgets(inputs, &roster, &pairs))
}

/// The budgets of `pairs`, in their order.
pub(crate) fn budgets(inputs: &Inputs<'_>, roster: &Roster<'_>, pairs: &[Pair]) -> Vec<MeshLink> {
    let members = roster.members();
    let member = |index: u32| &members[index as usize];
    let mut work: Vec<_> = pairs.iter().map(|&pair| (pair, None)).collect();
    parallel::for_each_chunk(&mut work, LINKS_PER_TASK, |work| {
        let ends = |&((a, b), _): &(Pair, _)| {
            [a, b].map(|end| (member(end).position, member(end).station))
        };
        let ends: Vec<_> = work.iter().map(ends).collect();
        link::budgets(inputs, &ends, |number, budget| work[number].1 = Some(budget));
    });
    let link = |((a, b), budget): (Pair, Option<LinkBudget>)| MeshLink {
        ends: LinkKey::new(member(a).id, member(b).id).expect("a pair has two members"),
        budget: budget.expect("every pair was evaluated"),
    };
    work.into_iter().map(link).collect()
}
