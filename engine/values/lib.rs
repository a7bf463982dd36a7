//! Values that every crate may use: ids, refusals, seeds, ranges, ranges of addresses and ports, decimal numbers, persistent
//! maps, and the hook by which models compute in parallel. No world, no runtime, no files.
//!
//! The feature `bevy` makes ids components and seeds resources of `bevy_ecs`.
// The public surface is read by people who do not know the code.
#![warn(missing_docs)]

pub mod bounds;
mod cidr;
pub mod decimal;
mod id;
#[cfg(feature = "bevy")]
mod index;
mod pacer;
pub mod parallel;
pub mod persistent;
mod port_range;
mod refusal;
mod rng;

pub use cidr::Cidr;
pub use id::{Id, Kind, NAME_BYTES_MAX};
#[cfg(feature = "bevy")]
pub use index::{Index, forget_departed};
pub use pacer::Pacer;
pub use port_range::PortRange;
pub use refusal::Refusal;
pub use rng::{Seed, Stream};
