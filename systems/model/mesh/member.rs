//! The nodes of a plan, checked and in order, and which of them may hear each other.

use groundwave_values::parallel;
use thiserror::Error;

use crate::id::NodeId;
use crate::link::{Inputs, LinkKey, SpatialIndex};
use crate::radio::{BadValue, Station};
use crate::terrain::GeoPoint;

/// Maximum number of nodes analysed together. All pairs of them are 12.5 million, which are listed,
/// though not evaluated, in 100 MB.
pub const MEMBERS_MAX: usize = 5_000;

/// A node of a plan.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member<'a> {
    /// Id.
    pub id: NodeId,
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Station: radio, antenna, height and pointing.
    pub station: &'a Station,
}

/// Errors of the analysis of nodes.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MeshError {
    /// Two nodes have one id.
    #[error("the node {0} is given twice, allowed is once")]
    Twice(NodeId),
    /// A station has an invalid value.
    #[error("node {node}: {cause}")]
    Station {
        /// Node of the station.
        node: NodeId,
        /// The invalid value.
        cause: BadValue,
    },
    /// The environment has an invalid value.
    #[error("environment: {0}")]
    Environment(BadValue),
    /// There are too many nodes.
    #[error("{0} nodes are given, allowed are up to {MEMBERS_MAX}")]
    TooMany(usize),
    /// A link cannot be computed over the ground between its ends.
    #[error("link of {} and {}: {cause}", ends.a(), ends.b())]
    Link {
        /// Ends of the link.
        ends: LinkKey,
        /// The invalid value.
        cause: BadValue,
    },
    /// A node that was asked about is not among those given.
    #[error("the node {0} is not one of the deployment")]
    Unknown(NodeId),
    /// The target rate is invalid.
    #[error("`target_data_rate_bps` is {0}, allowed is above 0 and finite")]
    Rate(f64),
}

/// Two members by their place in id order, the lower first.
pub(crate) type Pair = (u32, u32);

/// Members in id order, each once, with stations that are allowed.
pub(crate) struct Roster<'a>(Vec<Member<'a>>);

impl<'a> Roster<'a> {
    /// Checks and orders `members`.
    ///
    /// # Errors
    /// [`MeshError::TooMany`], [`MeshError::Twice`], [`MeshError::Station`] or
    /// [`MeshError::Environment`].
    pub fn new(inputs: &Inputs<'_>, members: &[Member<'a>]) -> Result<Self, MeshError> {
        if members.len() > MEMBERS_MAX {
            return Err(MeshError::TooMany(members.len()));
        }
        let environment = inputs.environment.validate();
        environment.map_err(MeshError::Environment)?;
        let mut members = members.to_vec();
        members.sort_by_key(|member| member.id);
        if let Some(twice) = members.windows(2).find(|two| two[0].id == two[1].id) {
            return Err(MeshError::Twice(twice[0].id));
        }
        for member in &members {
            let node = member.id;
            let checked = member.station.validate();
            checked.map_err(|cause| MeshError::Station { node, cause })?;
        }
        Ok(Self(members))
    }

    /// The members in id order.
    pub fn members(&self) -> &[Member<'a>] {
        &self.0
    }

    /// The member with this id.
    pub fn get(&self, id: NodeId) -> Result<&Member<'a>, MeshError> {
        let place = self.0.binary_search_by_key(&id, |member| member.id);
        place.map_or(Err(MeshError::Unknown(id)), |at| Ok(&self.0[at]))
    }

    /// Place of the member with this id.
    fn index(&self, id: NodeId) -> Result<u32, MeshError> {
        let place = self.0.binary_search_by_key(&id, |member| member.id);
        place.map_or(Err(MeshError::Unknown(id)), |at| Ok(at as u32))
    }

    /// Pairs of one member that the range bound does not exclude, in order.
    pub fn pairs_of(&self, inputs: &Inputs<'_>, id: NodeId) -> Result<Vec<Pair>, MeshError> {
        let own = self.index(id)?;
        let near = self.hood(inputs).around(id, f64::INFINITY);
        let peers = near.into_iter().filter(|peer| *peer != id);
        let pair = |peer| self.index(peer).map(|peer| (own.min(peer), own.max(peer)));
        peers.map(pair).collect()
    }

    fn hood(&self, inputs: &Inputs<'_>) -> SpatialIndex {
        SpatialIndex::of(inputs.terrain, self.0.iter().map(|m| (m.id, m.position, m.station)))
    }

    /// Pairs that the range bound does not exclude, in order; `None` when there are more than
    /// `most`.
    pub fn pairs_in_reach(&self, inputs: &Inputs<'_>, most: usize) -> Option<Vec<Pair>> {
        self.pairs_within(&self.hood(inputs), most)
    }

    fn pairs_within(&self, hood: &SpatialIndex, most: usize) -> Option<Vec<Pair>> {
        let mut pairs = Vec::new();
        for (at, member) in (0u32..).zip(&self.0) {
            let near = hood.around(member.id, f64::INFINITY);
            // Every pair is found from both its ends; it counts once.
            let above = near.range(member.id..).map(|peer| (at, self.place(peer)));
            pairs.extend(above);
            if pairs.len() > most {
                return None;
            }
        }
        Some(pairs)
    }

    /// Pairs that the range bound does not exclude, in order, and the number of those left out.
    ///
    /// Of more than `most` pairs each member has an equal share: three quarters of it are its nearest peers, the
    /// rest is spread evenly over those farther away in the order of their distance, so that parts of a mesh far from
    /// each other stay connected.
    pub fn pairs_up_to(&self, inputs: &Inputs<'_>, most: usize) -> (Vec<Pair>, usize) {
        let hood = self.hood(inputs);
        if let Some(pairs) = self.pairs_within(&hood, most) {
            return (pairs, 0);
        }
        let share = most / self.0.len();
        let mut work: Vec<_> = (0u32..).zip(&self.0).map(|own| (own, 0, Vec::new())).collect();
        parallel::for_each(&mut work, MEMBERS_PER_TASK, |((at, member), in_reach, pairs)| {
            let mut peers = Vec::new();
            hood.each_around(member.id, f64::INFINITY, |peer, square_m2| {
                peers.push((square_m2, peer));
            });
            *in_reach = peers.len();
            peers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            pairs.extend(spread(peers.len(), share).map(|rank| {
                let peer = self.place(&peers[rank].1);
                (peer.min(*at), peer.max(*at))
            }));
        });
        let ends: usize = work.iter().map(|(_, in_reach, _)| in_reach).sum();
        let mut pairs: Vec<Pair> = work.into_iter().flat_map(|(_, _, pairs)| pairs).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let left_out = ends / 2 - pairs.len();
        (pairs, left_out)
    }

    /// Place of a member.
    fn place(&self, id: &NodeId) -> u32 {
        let place = self.0.binary_search_by_key(id, |member| member.id);
        place.expect("the hood holds the members and nobody else") as u32
    }
}

/// Members whose peers one task orders.
const MEMBERS_PER_TASK: usize = 16;

/// Ranks of `share` of `count` peers: the first three quarters, and of the others every k-th.
fn spread(count: usize, share: usize) -> impl Iterator<Item = usize> {
    let far = (share / 4).min(count.saturating_sub(share - share / 4));
    let near = (share - far).min(count);
    (0..near).chain((0..far).map(move |k| near + (2 * k + 1) * (count - near) / (2 * far)))
}

#[cfg(test)]
mod tests;
