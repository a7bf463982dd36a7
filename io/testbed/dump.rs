//! Dumps of a network namespace: all queueing disciplines, interfaces and addresses.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use groundwave_kernel::batch::Batch;
use groundwave_kernel::linux_tc::read_qdisc;
use groundwave_kernel::message::TC_HEADER_BYTES;
use groundwave_kernel::{Handle, KernelError, Qdisc};
use groundwave_netlink::attr::{Attrs, words};
use groundwave_netlink::route::TESTBED_PROTOCOL;
use nix::libc::{
    AF_INET, IFA_LOCAL, IFF_LOWER_UP, IFF_UP, IFLA_MASTER, IFLA_MTU, RTA_DST, RTA_GATEWAY,
    RTM_GETADDR, RTM_GETLINK, RTM_GETQDISC, RTM_GETROUTE,
};

/// Bytes of `struct ifinfomsg`.
const LINK_HEADER_BYTES: usize = 16;
/// Bytes of `struct rtmsg`.
const ROUTE_HEADER_BYTES: usize = 12;
/// Bytes of `struct ifaddrmsg`.
const ADDRESS_HEADER_BYTES: usize = 8;

/// The disciplines of each interface by its index, without the kernel's defaults.
///
/// # Errors
/// When the dump fails or cannot be decoded.
pub fn qdiscs(batch: &mut Batch) -> Result<BTreeMap<u32, Vec<Qdisc>>, KernelError> {
    let mut found: BTreeMap<u32, Vec<Qdisc>> = BTreeMap::new();
    for message in batch.dump(RTM_GETQDISC, &[0; TC_HEADER_BYTES])? {
        let [_, index] = words("a queueing discipline", &message)?;
        let qdisc = read_qdisc(&message)?;
        if qdisc.handle != Handle::NONE {
            found.entry(index).or_default().push(qdisc);
        }
    }
    Ok(found)
}

/// State of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkState {
    /// Administrative state.
    pub is_up: bool,
    /// `true` if the other end is up as well.
    pub has_carrier: bool,
    /// MTU, bytes.
    pub mtu_bytes: u32,
    /// Index of the interface that it belongs to, such as `bat0`.
    pub controller: Option<u32>,
}

/// All interfaces by their index.
///
/// # Errors
/// As [`qdiscs`].
pub fn links(batch: &mut Batch) -> Result<BTreeMap<u32, LinkState>, KernelError> {
    const NAME: &str = "an interface";
    let messages = batch.dump(RTM_GETLINK, &[0; LINK_HEADER_BYTES])?;
    let link = |message: &Vec<u8>| {
        let [_, index, flags] = words(NAME, message)?;
        let attributes = Attrs::read(NAME, &message[LINK_HEADER_BYTES..])?;
        let mtu_bytes = attributes.words(IFLA_MTU)?;
        let controller = attributes.words(IFLA_MASTER)?;
        let is_set = |flag: i32| flags & flag.unsigned_abs() != 0;
        let link = LinkState {
            is_up: is_set(IFF_UP),
            has_carrier: is_set(IFF_LOWER_UP),
            mtu_bytes: mtu_bytes.map_or(0, |[mtu_bytes]| mtu_bytes),
            controller: controller.map(|[controller]| controller),
        };
        Ok((index, link))
    };
    messages.iter().map(link).collect()
}

/// Destinations of the routes of a testbed, each with its next hop.
///
/// # Errors
/// As [`qdiscs`].
pub fn routes(batch: &mut Batch) -> Result<BTreeMap<Ipv4Addr, Ipv4Addr>, KernelError> {
    const NAME: &str = "a route";
    let mut head = [0; ROUTE_HEADER_BYTES];
    head[0] = AF_INET as u8;
    let mut all = BTreeMap::new();
    for message in batch.dump(RTM_GETROUTE, &head)? {
        let [_, protocol] = words(NAME, &message)?;
        let [_, protocol, _, _] = u32::to_ne_bytes(protocol);
        if protocol != TESTBED_PROTOCOL {
            continue;
        }
        let attributes = Attrs::read(NAME, &message[ROUTE_HEADER_BYTES..])?;
        let address = |kind| {
            let octets = attributes.get(kind).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
            octets.map(Ipv4Addr::from)
        };
        let destination = address(RTA_DST);
        all.extend(destination.map(|to| (to, address(RTA_GATEWAY).unwrap_or(to))));
    }
    Ok(all)
}

/// IPv4 addresses, each with the index of its interface.
pub type Addresses = BTreeSet<(u32, Ipv4Addr)>;

/// The IPv4 addresses of all interfaces.
///
/// # Errors
/// As [`qdiscs`].
pub fn addresses(batch: &mut Batch) -> Result<Addresses, KernelError> {
    const NAME: &str = "an address";
    let mut head = [0; ADDRESS_HEADER_BYTES];
    head[0] = AF_INET as u8;
    let mut all = Addresses::new();
    for message in batch.dump(RTM_GETADDR, &head)? {
        let [_, index] = words(NAME, &message)?;
        let local = Attrs::read(NAME, &message[ADDRESS_HEADER_BYTES..])?;
        let octets = local.get(IFA_LOCAL).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
        all.extend(octets.map(|octets| (index, Ipv4Addr::from(octets))));
    }
    Ok(all)
}
