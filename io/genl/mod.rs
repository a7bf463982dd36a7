//! What the kernel says over generic netlink: batman-adv, nl80211, WireGuard.
//!
//! Decoders are pure functions of bytes; clients block the calling thread for as long as the kernel
//! works. Two things crates for this get wrong are why this is written here: neighbours of
//! batman-adv, and stations of a mesh.

mod attrs;
pub mod batadv;
mod error;
mod family;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod hostile_tests;
mod mac;
pub mod nl80211;
mod talk;
pub mod wireguard;

pub use error::ReadingError;
pub use mac::Mac;

pub(crate) use attrs::Attrs;
pub(crate) use talk::{Shape, Talk};
