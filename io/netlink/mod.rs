//! Netlink: one synchronous socket, one attribute reader and writer, generic netlink on top of it,
//! and the families batman-adv, nl80211 and WireGuard.
//!
//! The kernel answers a netlink request within the system call that sends it, so a request blocks
//! the calling thread for the kernel's own work only. Requests about links, addresses, neighbours
//! and routes are messages of `netlink-packet-route`. Generic netlink families are decoded here:
//! no crate covers batman-adv; `wl-nl80211` rejects a whole message for one attribute of unknown
//! length; `netlink-packet-wireguard` panics on an empty attribute.

pub(crate) mod attr;
pub mod batadv;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
mod genl;
pub mod netns;
pub mod nl80211;
pub(crate) mod route;
mod socket;
mod wake;
mod watch;
pub mod wireguard;

pub use error::NetlinkError;
pub(crate) use genl::{GenlSocket, payload};
#[cfg(test)]
pub(crate) use socket::append_message;
pub(crate) use socket::{Answer, NetlinkRequest, NetlinkSocket};
pub(crate) use wake::ReadySockets;
pub(crate) use watch::{Changes, WatchSocket};
