//! Encoding of tunnel configurations.

use std::net::{IpAddr, SocketAddr};

use groundwave_files::ReadingError;
use netlink_packet_core::NLA_F_NESTED;

use super::{ALLOWED_IPS_MAX, AllowedIp, DeviceConfig, INET, INET6, PeerConfig};
use super::{allowed, device, peer};
use crate::attr::{put, put_nested, put_text, put_words};

/// WGDEVICE_F_REPLACE_PEERS.
const REPLACE_PEERS: u32 = 1;
/// `WGPEER_F_*`.
const REMOVE_ME: u32 = 1;
const REPLACE_ALLOWED_IPS: u32 = 2;
/// Bytes of peers in one message, well below the 16 bits of an attribute's length.
const PEERS_BYTES_MAX: usize = 32 << 10;

/// Attributes of each message of a configuration, in order.
pub(super) fn bodies(ifname: &str, config: &DeviceConfig) -> Result<Vec<Vec<u8>>, ReadingError> {
    let peers: Result<Vec<Vec<u8>>, _> = config.peers.iter().map(encode_peer).collect();
    let peers = peers?;
    let mut bodies = Vec::new();
    let mut rest = peers.as_slice();
    loop {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|peer| {
            bytes += peer.len();
            bytes <= PEERS_BYTES_MAX
        });
        let (now, later) = rest.split_at(fits.count());
        bodies.push(body(ifname, config, bodies.is_empty(), now));
        if later.is_empty() {
            return Ok(bodies);
        }
        rest = later;
    }
}

fn body(ifname: &str, config: &DeviceConfig, first: bool, peers: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    put_text(&mut out, device::IFNAME, ifname);
    if first {
        if let Some(key) = &config.private_key {
            put(&mut out, device::PRIVATE_KEY, key.bytes());
        }
        if let Some(port) = config.listen_port {
            put(&mut out, device::LISTEN_PORT, &port.to_ne_bytes());
        }
        if config.replace_peers {
            put_words(&mut out, device::FLAGS, &[REPLACE_PEERS]);
        }
    }
    if !peers.is_empty() {
        put_nested(&mut out, device::PEERS | NLA_F_NESTED, |out| {
            for peer in peers {
                put(out, NLA_F_NESTED, peer);
            }
        });
    }
    out
}

fn encode_peer(config: &PeerConfig) -> Result<Vec<u8>, ReadingError> {
    let mut out = Vec::new();
    match config {
        PeerConfig::Removed { public_key } => {
            put(&mut out, peer::PUBLIC_KEY, &public_key.0);
            put_words(&mut out, peer::FLAGS, &[REMOVE_ME]);
        }
        PeerConfig::Present { public_key, allowed_ips, endpoint, keepalive_s } => {
            if allowed_ips.len() > ALLOWED_IPS_MAX {
                let many = allowed_ips.len();
                return Err(ReadingError::decode(format!(
                    "a peer with {many} addresses, at most {ALLOWED_IPS_MAX} are allowed"
                )));
            }
            put(&mut out, peer::PUBLIC_KEY, &public_key.0);
            put_words(&mut out, peer::FLAGS, &[REPLACE_ALLOWED_IPS]);
            if let Some(endpoint) = endpoint {
                put_nested(&mut out, peer::ENDPOINT, |out| put_sockaddr(out, *endpoint));
            }
            if let Some(keepalive) = keepalive_s {
                put(&mut out, peer::KEEPALIVE, &keepalive.to_ne_bytes());
            }
            put_nested(&mut out, peer::ALLOWED_IPS | NLA_F_NESTED, |out| {
                for range in allowed_ips {
                    put_nested(out, NLA_F_NESTED, |out| put_range(out, *range));
                }
            });
        }
    }
    Ok(out)
}

fn put_range(out: &mut Vec<u8>, range: AllowedIp) {
    match range.address {
        IpAddr::V4(address) => {
            put(out, allowed::FAMILY, &INET.to_ne_bytes());
            put(out, allowed::ADDRESS, &address.octets());
        }
        IpAddr::V6(address) => {
            put(out, allowed::FAMILY, &INET6.to_ne_bytes());
            put(out, allowed::ADDRESS, &address.octets());
        }
    }
    put(out, allowed::CIDR_MASK, &[range.prefix_len]);
}

/// Appends `struct sockaddr_in` or `struct sockaddr_in6`.
fn put_sockaddr(out: &mut Vec<u8>, endpoint: SocketAddr) {
    match endpoint {
        SocketAddr::V4(four) => {
            out.extend_from_slice(&INET.to_ne_bytes());
            out.extend_from_slice(&four.port().to_be_bytes());
            out.extend_from_slice(&four.ip().octets());
            out.extend_from_slice(&[0; 8]);
        }
        SocketAddr::V6(sixteen) => {
            out.extend_from_slice(&INET6.to_ne_bytes());
            out.extend_from_slice(&sixteen.port().to_be_bytes());
            out.extend_from_slice(&sixteen.flowinfo().to_be_bytes());
            out.extend_from_slice(&sixteen.ip().octets());
            out.extend_from_slice(&sixteen.scope_id().to_ne_bytes());
        }
    }
}
