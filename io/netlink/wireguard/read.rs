//! Decoding of tunnels. Attributes with secrets are skipped.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use groundwave_credentials::PublicKey;
use groundwave_files::ReadingError;

use super::{AllowedIp, Device, INET, INET6, Peer, allowed, device, peer};
use crate::attr::Attrs;

/// The tunnel of a dump: a peer with many addresses continues in the next message.
pub fn device(bodies: &[&[u8]]) -> Result<Device, ReadingError> {
    const WHAT: &str = "a tunnel";
    let mut found: Option<Device> = None;
    for body in bodies {
        let attrs = Attrs::read(WHAT, body)?;
        if found.is_none() {
            found = Some(read_device(&attrs)?);
        }
        let Some(device) = &mut found else { continue };
        let Some(peers) = attrs.nest(device::PEERS)? else {
            continue;
        };
        for (_, bytes) in peers.all() {
            let next = read_peer(&Attrs::read("a peer of a tunnel", bytes)?)?;
            match device.peers.last_mut() {
                Some(last) if last.public_key == next.public_key => {
                    last.allowed_ips.extend(next.allowed_ips);
                }
                _ => device.peers.push(next),
            }
        }
    }
    found.ok_or_else(|| ReadingError::Absent { what: WHAT.to_owned() })
}

fn read_device(attrs: &Attrs<'_>) -> Result<Device, ReadingError> {
    Ok(Device {
        ifname: attrs.need(device::IFNAME, attrs.text(device::IFNAME))?,
        public_key: attrs.bytes(device::PUBLIC_KEY)?.map(PublicKey),
        listen_port: attrs.u16(device::LISTEN_PORT)?.unwrap_or_default(),
        peers: Vec::new(),
    })
}

fn read_peer(attrs: &Attrs<'_>) -> Result<Peer, ReadingError> {
    let key = attrs.need(peer::PUBLIC_KEY, attrs.bytes(peer::PUBLIC_KEY)?)?;
    let mut ranges = Vec::new();
    if let Some(found) = attrs.nest(peer::ALLOWED_IPS)? {
        for (_, bytes) in found.all() {
            ranges.push(range(&Attrs::read("addresses of a peer", bytes)?)?.to_string());
        }
    }
    let endpoint = attrs.get(peer::ENDPOINT);
    let invalid = || ReadingError::decode("the endpoint of a peer");
    Ok(Peer {
        public_key: PublicKey(key),
        endpoint: endpoint.map(|bytes| sockaddr(bytes).ok_or_else(invalid)).transpose()?,
        allowed_ips: ranges,
        latest_handshake: handshake(attrs)?,
        rx_bytes: attrs.u64(peer::RX_BYTES)?.unwrap_or_default(),
        tx_bytes: attrs.u64(peer::TX_BYTES)?.unwrap_or_default(),
        persistent_keepalive: attrs.u16(peer::KEEPALIVE)?.unwrap_or_default(),
    })
}

/// `struct __kernel_timespec`; 0 before the first handshake.
fn handshake(attrs: &Attrs<'_>) -> Result<Option<i64>, ReadingError> {
    let time = attrs.bytes::<16>(peer::LAST_HANDSHAKE)?;
    let seconds = time.and_then(|time| time.first_chunk().copied().map(i64::from_ne_bytes));
    Ok(seconds.filter(|seconds| *seconds != 0))
}

fn range(attrs: &Attrs<'_>) -> Result<AllowedIp, ReadingError> {
    let address = attrs.need(allowed::ADDRESS, attrs.ip(allowed::ADDRESS)?)?;
    let prefix_len = attrs.need(allowed::CIDR_MASK, attrs.u8(allowed::CIDR_MASK)?)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    if prefix_len > most {
        return Err(ReadingError::decode(format!("{address}/{prefix_len}")));
    }
    Ok(AllowedIp { address, prefix_len })
}

fn sockaddr(bytes: &[u8]) -> Option<SocketAddr> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
    match family {
        INET => {
            let four: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some((IpAddr::V4(Ipv4Addr::from(four)), port).into())
        }
        INET6 => {
            let word = |at: usize| -> Option<[u8; 4]> { bytes.get(at..at + 4)?.try_into().ok() };
            let sixteen: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            let (flow, scope) = (word(4)?, word(24)?);
            let ip = Ipv6Addr::from(sixteen);
            let (flow, scope) = (u32::from_be_bytes(flow), u32::from_ne_bytes(scope));
            Some(SocketAddrV6::new(ip, port, flow, scope).into())
        }
        _ => None,
    }
}
