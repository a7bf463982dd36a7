//! An interface as the kernel reports it (rtnetlink(7)).

use groundwave_netlink::attr::{Attrs, words};
use netlink_packet_core::DecodeError;
use nix::libc::{
    IFF_UP, IFLA_GSO_MAX_SEGS, IFLA_GSO_MAX_SIZE, IFLA_INFO_KIND, IFLA_LINKINFO, IFLA_MTU,
    IFLA_STATS64, IFLA_TXQLEN,
};

use super::incoming;
use super::{Link, Redirection};

/// Bytes of `struct ifinfomsg`.
pub(super) const LINK_HEADER_BYTES: usize = 16;

/// Kinds of interfaces that forward frames between their ports.
const FORWARDING: [&str; 2] = ["bridge", "openvswitch"];

/// Decodes `struct ifinfomsg` and its attributes.
pub(super) fn read_link(body: &[u8]) -> Result<Link, DecodeError> {
    const NAME: &str = "an interface";
    let [_, index, flags, _] = words(NAME, body)?;
    let attrs = Attrs::read(NAME, &body[LINK_HEADER_BYTES..])?;
    let number = |kind| Ok::<_, DecodeError>(attrs.words::<1>(kind)?.map(|[number]| number));
    // struct rtnl_link_stats64: packets, bytes, errors and drops, receive before transmit.
    let stats = attrs.get(IFLA_STATS64).unwrap_or_default();
    let (stats, _) = stats.as_chunks::<8>();
    let counter = |at: usize| stats.get(at).map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    let mtu_bytes = number(IFLA_MTU)?.unwrap_or_default();
    let gso_bytes_max = number(IFLA_GSO_MAX_SIZE)?.unwrap_or_default();
    let segments_max = number(IFLA_GSO_MAX_SEGS)?.unwrap_or(u32::MAX);
    let kind = attrs.nest(IFLA_LINKINFO)?.and_then(|info| info.text(IFLA_INFO_KIND));
    Ok(Link {
        index,
        mtu_bytes,
        gso_bytes_max: match segments_max {
            0 | 1 => gso_bytes_max.min(mtu_bytes),
            _ => gso_bytes_max,
        },
        tx_queue_packets: number(IFLA_TXQLEN)?.unwrap_or_default(),
        tx_packets: counter(1),
        tx_bytes: counter(3),
        tx_dropped: counter(7),
        is_ifb: kind.as_deref() == Some(incoming::IFB),
        is_down: flags & IFF_UP as u32 == 0,
        redirection: Redirection::InForce,
        forwards: kind.is_some_and(|kind| FORWARDING.contains(&kind.as_str())),
    })
}
