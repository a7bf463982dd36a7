//! Wishes as messages.

use std::net::{IpAddr, SocketAddr};

use super::{ALLOWED_IPS_MAX, AllowedIp, INET, INET6, PeerWish, Wish, allowed, device, peer};
use crate::genl::ReadingError;
use crate::kernel::nla::put;

/// WGDEVICE_F_REPLACE_PEERS.
const REPLACE_PEERS: u32 = 1;
/// `WGPEER_F_*`.
const REMOVE_ME: u32 = 1;
const REPLACE_ALLOWED_IPS: u32 = 2;
/// NLA_F_NESTED: this family insists on it.
const NESTED: u16 = 0x8000;
/// Bytes of peers after which another message begins, well below what 16 bits say.
const PEERS_BYTES: usize = 32 << 10;

/// The attributes of each message that a wish becomes, in order.
pub(super) fn bodies(ifname: &str, wish: &Wish) -> Result<Vec<Vec<u8>>, ReadingError> {
    let mut peers = Vec::new();
    for wish in &wish.peers {
        peers.push(nest(wish)?);
    }
    let mut bodies = Vec::new();
    let mut rest = peers.as_slice();
    loop {
        let mut bytes = 0;
        let fits = rest.iter().take_while(|peer| {
            bytes += peer.len();
            bytes <= PEERS_BYTES
        });
        let many = fits.count();
        let (now, later) = rest.split_at(many);
        bodies.push(body(ifname, wish, bodies.is_empty(), now));
        if later.is_empty() {
            return Ok(bodies);
        }
        rest = later;
    }
}

fn body(ifname: &str, wish: &Wish, first: bool, peers: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    put(
        &mut out,
        device::IFNAME,
        &[ifname.as_bytes(), b"\0"].concat(),
    );
    if first {
        if let Some(key) = &wish.private_key {
            put(&mut out, device::PRIVATE_KEY, key.bytes());
        }
        if let Some(port) = wish.listen_port {
            put(&mut out, device::LISTEN_PORT, &port.to_ne_bytes());
        }
        if wish.replace_peers {
            put(&mut out, device::FLAGS, &REPLACE_PEERS.to_ne_bytes());
        }
    }
    if !peers.is_empty() {
        let mut nest = Vec::new();
        for peer in peers {
            put(&mut nest, NESTED, peer);
        }
        put(&mut out, device::PEERS | NESTED, &nest);
    }
    out
}

fn nest(wish: &PeerWish) -> Result<Vec<u8>, ReadingError> {
    let mut out = Vec::new();
    match wish {
        PeerWish::Gone { public_key } => {
            put(&mut out, peer::PUBLIC_KEY, &public_key.0);
            put(&mut out, peer::FLAGS, &REMOVE_ME.to_ne_bytes());
        }
        PeerWish::Present {
            public_key,
            allowed_ips,
            endpoint,
            keepalive_s,
        } => {
            if allowed_ips.len() > ALLOWED_IPS_MAX {
                let many = allowed_ips.len();
                return Err(ReadingError::decode(format!(
                    "a peer with {many} addresses, at most {ALLOWED_IPS_MAX} are allowed"
                )));
            }
            put(&mut out, peer::PUBLIC_KEY, &public_key.0);
            put(&mut out, peer::FLAGS, &REPLACE_ALLOWED_IPS.to_ne_bytes());
            if let Some(endpoint) = endpoint {
                put(&mut out, peer::ENDPOINT, &sockaddr(*endpoint));
            }
            if let Some(keepalive) = keepalive_s {
                put(&mut out, peer::KEEPALIVE, &keepalive.to_ne_bytes());
            }
            let mut nest = Vec::new();
            for ip in allowed_ips {
                put(&mut nest, NESTED, &range(*ip));
            }
            put(&mut out, peer::ALLOWED_IPS | NESTED, &nest);
        }
    }
    Ok(out)
}

fn range(ip: AllowedIp) -> Vec<u8> {
    let mut out = Vec::new();
    let (family, bytes) = match ip.address {
        IpAddr::V4(four) => (INET, four.octets().to_vec()),
        IpAddr::V6(sixteen) => (INET6, sixteen.octets().to_vec()),
    };
    put(&mut out, allowed::FAMILY, &family.to_ne_bytes());
    put(&mut out, allowed::ADDRESS, &bytes);
    put(&mut out, allowed::CIDR_MASK, &[ip.prefix_len]);
    out
}

/// `struct sockaddr_in` or `struct sockaddr_in6`.
fn sockaddr(endpoint: SocketAddr) -> Vec<u8> {
    let mut out = Vec::new();
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
    out
}
