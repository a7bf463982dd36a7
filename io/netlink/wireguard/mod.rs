//! WireGuard: tunnels of the running kernel, configured and read. Private keys are written and
//! never read.
//!
//! The attributes are encoded here, not with `netlink-packet-wireguard`: it panics on an empty
//! `WGALLOWEDIP_A_CIDR_MASK` and decodes private keys into its messages.

mod read;
#[cfg(test)]
mod tests;
mod write;

#[cfg(any(test, feature = "test_support"))]
#[doc(hidden)]
pub use read::device as read_device;

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use groundwave_credentials::{PrivateKey, PublicKey};
use groundwave_files::ReadingError;
use nix::libc::{AF_INET, AF_INET6};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::attr::put_text;
use super::{GenlSocket, payload};

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

const INET: u16 = AF_INET as u16;
const INET6: u16 = AF_INET6 as u16;

/// Address range of a peer: allowed source of received packets, and route of sent ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AllowedIp {
    /// First address.
    pub address: IpAddr,
    /// Prefix length, bits.
    pub prefix_len: u8,
}

impl std::fmt::Display for AllowedIp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix_len)
    }
}

/// Peer of a tunnel, as read from the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Peer {
    /// Public key, which identifies the peer.
    pub public_key: PublicKey,
    /// Source of the last authenticated packet.
    pub endpoint: Option<SocketAddr>,
    /// Address ranges, `address/bits`.
    pub allowed_ips: Vec<String>,
    /// Last handshake, s since the Unix epoch; `None` before the first.
    pub latest_handshake: Option<i64>,
    /// Bytes received from it.
    pub rx_bytes: u64,
    /// Bytes sent to it.
    pub tx_bytes: u64,
    /// Interval of keepalive packets, s; 0 for none.
    pub persistent_keepalive: u16,
}

/// Tunnel, as read from the kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Device {
    /// Name of the interface.
    pub ifname: String,
    /// Public key; `None` without a private key.
    pub public_key: Option<PublicKey>,
    /// UDP port.
    pub listen_port: u16,
    /// Peers.
    pub peers: Vec<Peer>,
}

/// Desired state of a peer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PeerConfig {
    /// The peer exists, with these addresses and no others.
    Present {
        /// Public key, which identifies the peer.
        public_key: PublicKey,
        /// Address ranges; at most [`ALLOWED_IPS_MAX`].
        allowed_ips: Vec<AllowedIp>,
        /// UDP address; `None` waits for the first packet of the peer.
        endpoint: Option<SocketAddr>,
        /// Interval of keepalive packets, s; 0 for none, `None` keeps the current one.
        keepalive_s: Option<u16>,
    },
    /// The peer is removed.
    Removed {
        /// Public key, which identifies the peer.
        public_key: PublicKey,
    },
}

/// Most address ranges of one peer in a request: the length of an attribute has 16 bits.
pub const ALLOWED_IPS_MAX: usize = 256;

/// Desired state of a tunnel; `None` fields are kept.
#[derive(Debug, Clone, Default)]
pub struct DeviceConfig {
    /// Private key.
    pub private_key: Option<PrivateKey>,
    /// UDP port.
    pub listen_port: Option<u16>,
    /// Removal of all peers that `peers` does not name.
    pub replace_peers: bool,
    /// Peers to change.
    pub peers: Vec<PeerConfig>,
}

/// WireGuard of the running kernel.
#[derive(Debug)]
pub struct WireGuard {
    socket: GenlSocket,
}

impl WireGuard {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel has no WireGuard.
    pub fn open(netns: Option<&Path>) -> Result<Self, ReadingError> {
        let socket = GenlSocket::open("wireguard", 1, netns)?;
        Ok(Self { socket })
    }

    /// Reads the tunnel `ifname`.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] without such a tunnel, [`ReadingError::Permission`] without
    /// CAP_NET_ADMIN.
    pub fn device(&mut self, ifname: &str) -> Result<Device, ReadingError> {
        let what = format!("tunnel {ifname}");
        let answers = self.socket.dump(&what, GET_DEVICE, |out| {
            put_text(out, device::IFNAME, ifname);
        })?;
        let bodies: Result<Vec<&[u8]>, _> = answers.iter().map(|one| payload(one)).collect();
        read::device(&bodies?)
    }

    /// Configures the tunnel `ifname`. Many peers take several messages: a failure may leave the
    /// first of them changed; repeating the request is safe.
    ///
    /// # Errors
    /// The kernel's refusal; [`ReadingError::Decode`] for a peer with too many addresses.
    pub fn set(&mut self, ifname: &str, config: &DeviceConfig) -> Result<(), ReadingError> {
        let what = format!("set tunnel {ifname}");
        for body in write::bodies(ifname, config)? {
            self.socket.call(&what, SET_DEVICE, |out| {
                out.extend_from_slice(&body);
            })?;
        }
        Ok(())
    }
}
