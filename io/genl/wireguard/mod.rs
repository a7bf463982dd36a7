//! WireGuard: tunnels of the running kernel, set and read. Private keys go in and never come out.

mod key;
mod read;
#[cfg(test)]
mod tests;
mod write;

#[cfg(test)]
pub(crate) use read::device as read_device;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

pub use key::{PrivateKey, PublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ReadingError;
use super::family::{Family, payload};
use super::talk::Shape;
use crate::kernel::nla::put;

const GET_DEVICE: u8 = 0;
const SET_DEVICE: u8 = 1;

/// `WGDEVICE_A_*` of linux/wireguard.h.
mod device {
    pub const IFNAME: u16 = 2;
    pub const PRIVATE_KEY: u16 = 3;
    pub const PUBLIC_KEY: u16 = 4;
    pub const FLAGS: u16 = 5;
    pub const LISTEN_PORT: u16 = 6;
    pub const PEERS: u16 = 8;
}

/// `WGPEER_A_*`.
mod peer {
    pub const PUBLIC_KEY: u16 = 1;
    pub const FLAGS: u16 = 3;
    pub const ENDPOINT: u16 = 4;
    pub const KEEPALIVE: u16 = 5;
    pub const LAST_HANDSHAKE: u16 = 6;
    pub const RX_BYTES: u16 = 7;
    pub const TX_BYTES: u16 = 8;
    pub const ALLOWED_IPS: u16 = 9;
}

/// `WGALLOWEDIP_A_*`.
mod allowed {
    pub const FAMILY: u16 = 1;
    pub const ADDRESS: u16 = 2;
    pub const CIDR_MASK: u16 = 3;
}

const INET: u16 = 2;
const INET6: u16 = 10;

/// Addresses of a peer: what may come from it and goes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllowedIp {
    /// First address.
    pub address: IpAddr,
    /// Bits of it that count.
    pub prefix_len: u8,
}

impl std::fmt::Display for AllowedIp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_len)
    }
}

/// A peer of a tunnel, as the kernel tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Who it is.
    pub public_key: PublicKey,
    /// Where it was last heard from.
    pub endpoint: Option<SocketAddr>,
    /// Addresses of it, `address/bits`.
    pub allowed_ips: Vec<String>,
    /// Last handshake, s since the Unix epoch; `None` before the first.
    pub latest_handshake: Option<i64>,
    /// Bytes received from it.
    pub rx_bytes: u64,
    /// Bytes sent to it.
    pub tx_bytes: u64,
    /// Something is sent to it at least so often, s; 0 for never.
    pub persistent_keepalive: u16,
}

/// A tunnel, as the kernel tells it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Its name.
    pub ifname: String,
    /// Who it is; `None` before it has a private key.
    pub public_key: Option<PublicKey>,
    /// Where it listens, UDP.
    pub listen_port: u16,
    /// Its peers.
    pub peers: Vec<Peer>,
}

/// What is wished of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerWish {
    /// It is there, with these addresses and no others.
    Present {
        /// Who.
        public_key: PublicKey,
        /// Its addresses; at most [`ALLOWED_IPS_MAX`].
        allowed_ips: Vec<AllowedIp>,
        /// Where it is, if it is not to call first.
        endpoint: Option<SocketAddr>,
        /// Something is sent to it at least so often, s; 0 for never, `None` as it was.
        keepalive_s: Option<u16>,
    },
    /// It is not there.
    Gone {
        /// Who.
        public_key: PublicKey,
    },
}

/// Most addresses of one peer in a wish: a message says its length in 16 bits.
pub const ALLOWED_IPS_MAX: usize = 256;

/// What is wished of a tunnel; what is `None` stays.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// Who it is.
    pub private_key: Option<PrivateKey>,
    /// Where it listens, UDP.
    pub listen_port: Option<u16>,
    /// Peers that are not named go.
    pub replace_peers: bool,
    /// Peers to change.
    pub peers: Vec<PeerWish>,
}

/// The running kernel's tunnels.
#[derive(Debug)]
pub struct WireGuard {
    family: Family,
}

impl WireGuard {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel has no WireGuard.
    pub fn open(netns: Option<&Path>) -> Result<Self, ReadingError> {
        let family = Family::open("wireguard", 1, netns)?;
        Ok(Self { family })
    }

    /// Reads the tunnel `ifname`.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when there is none, [`ReadingError::Permission`] without
    /// CAP_NET_ADMIN.
    pub fn device(&mut self, ifname: &str) -> Result<Device, ReadingError> {
        let what = format!("tunnel {ifname}");
        let answers = self.family.ask(&what, GET_DEVICE, Shape::Table, |out| {
            put(out, device::IFNAME, &[ifname.as_bytes(), b"\0"].concat());
        })?;
        let bodies: Vec<&[u8]> = answers
            .iter()
            .map(|answer| payload(answer))
            .collect::<Result<_, _>>()?;
        read::device(&bodies)
    }

    /// Makes the tunnel `ifname` as wished. Many peers are told in several messages: a failure may
    /// leave the first of them changed; the same wish again is safe.
    ///
    /// # Errors
    /// What the kernel refused with; [`ReadingError::Decode`] for a peer with too many addresses.
    pub fn set(&mut self, ifname: &str, wish: &Wish) -> Result<(), ReadingError> {
        let what = format!("set tunnel {ifname}");
        for body in write::bodies(ifname, wish)? {
            self.family.ask(&what, SET_DEVICE, Shape::One(0), |out| {
                out.extend_from_slice(&body);
            })?;
        }
        Ok(())
    }
}
