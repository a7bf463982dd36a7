//! A testbed on this machine: a network namespace for each node, a pair of virtual Ethernet
//! interfaces for each link or one segment for all, and what finds the ways between them.
//!
//! A [`Plant`] is what is there; a [`Driver`] keeps it equal to a world. Everything that belongs to
//! a testbed carries its name, so that [`take_down`] needs no memory of what was laid, and a plant
//! can be [adopted](Plant::adopt) from what is there.

mod babel;
mod batman;
mod bound;
mod driver;
mod error;
mod hear;
mod lay;
mod message;
mod names;
mod plant;
mod probe;
mod program;
mod qdiscs;
mod segment;
mod space;
mod state;

pub use bound::Follower;
pub use driver::{Driver, Follow};
pub use error::TestbedError;
pub use names::{Names, interface};
pub use plant::Plant;
pub use probe::{Far, ping, throughput};
pub use space::{Space, inside, replace};
pub use state::{State, take_down};
