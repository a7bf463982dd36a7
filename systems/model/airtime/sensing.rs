//! Links that contend, from which nodes sense each other.

use super::Contention;
use crate::radio::Antenna;
use crate::radio::antenna::turning_loss_db;

/// A node that senses another or is sensed by it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peer {
    /// Number of the node.
    pub node: usize,
    /// Power above the sensitivity of the lowest modulation, of the better direction and with both antennas as
    /// in the budget of a link between the two, dB, 0 or more.
    pub margin_db: f64,
    /// Bearing of the peer, deg; not used unless one of both antennas turns.
    pub azimuth_deg: f64,
}

/// A node whose traffic counts.
#[derive(Debug, Clone, Default)]
pub struct Ends<'a> {
    /// Peers, rising by number.
    pub peers: Vec<Peer>,
    /// Antenna that looks at the other end of each link, because it is directive and has no pointing of its
    /// own: a budget counts it as if it looked at the peer. Absent for all others.
    pub turning: Option<&'a Antenna>,
}

impl Ends<'_> {
    fn peer(&self, node: usize) -> Option<&Peer> {
        let at = self.peers.binary_search_by_key(&node, |peer| peer.node).ok()?;
        Some(&self.peers[at])
    }

    /// Loss of the antenna towards the peer `other` while it looks at the peer `facing`, dB.
    fn loss_db(&self, facing: usize, other: usize) -> f64 {
        let Some(antenna) = self.turning else { return 0.0 };
        let (Some(facing), Some(other)) = (self.peer(facing), self.peer(other)) else { return 0.0 };
        turning_loss_db(antenna, facing.azimuth_deg, other.azimuth_deg)
    }
}

/// Contention of links between nodes: where they have an end in common, or an end of one senses an end of the
/// other, with its antenna as it looks on that link.
///
/// # Panics
/// When a link has an end that is not among the nodes.
#[must_use]
pub fn contention(nodes: &[Ends<'_>], links: &[[usize; 2]]) -> Contention {
    let mut contention = Contention::new(links.len());
    let mut links_of: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for (link, ends) in links.iter().enumerate() {
        ends.iter().for_each(|end| links_of[*end].push(link));
    }
    let opposite = |link: usize, end: usize| {
        let [a, b] = links[link];
        if a == end { b } else { a }
    };
    for (link, ends) in links.iter().enumerate() {
        for end in ends {
            links_of[*end].iter().for_each(|other| contention.insert(link, *other));
            for peer in &nodes[*end].peers {
                for other in links_of[peer.node].iter().filter(|other| **other > link) {
                    let own_db = nodes[*end].loss_db(opposite(link, *end), peer.node);
                    let peer_db = nodes[peer.node].loss_db(opposite(*other, peer.node), *end);
                    if peer.margin_db >= own_db + peer_db {
                        contention.insert(link, *other);
                    }
                }
            }
        }
    }
    contention
}
