//! Netlink: one synchronous socket, one attribute reader and writer, generic netlink on top of it,
//! and the families batman-adv, nl80211 and WireGuard.
//!
//! The kernel answers a netlink request within the system call that sends it, so a request blocks
//! the calling thread for the kernel's own work only. Requests about links, addresses, neighbours
//! and routes are messages of `netlink-packet-route`. Generic netlink families are decoded here:
//! no crate covers batman-adv; `wl-nl80211` rejects a whole message for one attribute of unknown
//! length; `netlink-packet-wireguard` panics on an empty attribute.

pub mod attr;
pub mod batadv;
mod error;
#[cfg(any(test, feature = "test_support"))]
#[doc(hidden)]
pub mod fixture;
mod genl;
pub mod netns;
mod nft_watch;
pub mod nl80211;
pub mod route;
mod socket;
mod wake;
mod watch;
pub mod wireguard;

pub use error::NetlinkError;
pub use genl::{GenlSocket, payload};
pub use nft_watch::NftWatch;
#[cfg(any(test, feature = "test_support"))]
#[doc(hidden)]
pub use socket::append_message;
pub use socket::{Answer, NetlinkRequest, NetlinkSocket};
pub use wake::ReadySockets;
pub use watch::{Changes, WatchSocket};
