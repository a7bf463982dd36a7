//! Airtime that traffic shares: links that cannot carry traffic at once, and max-min fair rates of flows
//! over them.
//!
//! A half-duplex link is in use while one of its ends sends. Two links contend where an end of one is an
//! end of the other or senses the other's carrier (the protocol model of P. Gupta and P. R. Kumar, "The
//! capacity of wireless networks", IEEE Trans. Inf. Theory 46, 2000, with acknowledgements: both ends send
//! and receive). Links of which each two contend form a contention set, whose shares of the time add up to
//! 1 at most.
//!
//! The sets are the cliques of the graph of contention, as those of K. Jain et al., "Impact of
//! interference on multi-hop wireless network performance", MobiCom 2003: an upper bound of what a
//! schedule reaches, and reached by one unless links contend in a ring of five or more.

mod filling;
mod sensing;
mod sets;

pub use filling::{Demand, Share, share};
pub use sensing::{Ends, Peer, contention};
pub use sets::{Contention, SETS_STEPS_MAX};

#[cfg(test)]
mod tests;
