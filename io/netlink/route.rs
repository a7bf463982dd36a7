//! Requests about links, addresses, neighbours and routes (rtnetlink(7)).
//!
//! The messages are built with `rtnetlink` and `netlink-packet-route`, and sent over
//! [`NetlinkSocket`](super::NetlinkSocket), not over a connection of `rtnetlink`: that one needs a
//! tokio runtime in threads that have none, discards the text of refusals and accepts inconsistent
//! dumps. Its network namespaces are created by a forked process, which a program with threads
//! must not do.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::RawFd;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NetlinkSerializable as _};
use netlink_packet_route::RouteNetlinkMessage::{
    DelAddress, DelLink, DelNeighbour, DelRoute, NewAddress, NewLink, NewNeighbour, NewRoute,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{InfoData, InfoVeth, LinkAttribute, LinkMessage};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{RouteProtocol, RouteScope};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use rtnetlink::{LinkBridge, LinkMessageBuilder, LinkUnspec, LinkVeth, RouteMessageBuilder};

use super::NetlinkRequest;

/// Protocol number of the routes of a testbed; rtnetlink(7) leaves numbers above 4 to programs.
pub const TESTBED_PROTOCOL: u8 = 119;

/// A request of rtnetlink.
#[derive(Debug, Clone)]
pub struct RouteRequest {
    /// Message type and flags.
    pub header: (u16, u16),
    /// Bytes behind the netlink header.
    pub body: Vec<u8>,
    /// Name of the operation in errors.
    pub what: String,
}

impl NetlinkRequest for RouteRequest {
    fn header(&self) -> (u16, u16) {
        self.header
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.body);
    }
}

impl RouteRequest {
    fn new(message: &RouteNetlinkMessage, flags: u16, what: String) -> Self {
        let mut body = vec![0; message.buffer_len()];
        message.serialize(&mut body);
        Self { header: (message.message_type(), flags), body, what }
    }

    /// The request of another type with the same body, without flags: what a request created is removed by
    /// the type of its removal.
    #[must_use]
    pub fn inverse(self, message_type: u16, what: &str) -> Self {
        Self { header: (message_type, 0), body: self.body, what: what.to_owned() }
    }
}

/// Segments of a packet that an end hands to its disciplines. With more, loss would act on packets of many
/// segments at once, and TCP be half as fast again at losses around 1 %.
const SEGMENTS_MAX: u32 = 1;

/// One end of a veth pair. It sends single segments, as a radio does.
#[derive(Debug, Clone)]
pub struct VethEnd {
    /// Name.
    pub name: String,
    /// Interface index.
    pub index: u32,
    /// Hardware address.
    pub hardware: [u8; 6],
    /// MTU, bytes.
    pub mtu_bytes: u32,
    /// Alias, which names the owner.
    pub alias: String,
}

impl VethEnd {
    fn describe<T>(&self, link: LinkMessageBuilder<T>) -> LinkMessageBuilder<T> {
        link.name(&self.name)
            .index(self.index)
            .mtu(self.mtu_bytes)
            .address(self.hardware.to_vec())
            .alias(&self.alias)
            .append_extra_attribute(LinkAttribute::GsoMaxSegs(SEGMENTS_MAX))
    }
}

/// Creates a veth pair: `near` in the namespace of the socket, `far` in that of the open file
/// `netns`.
pub fn create_veth_pair(near: &VethEnd, far: &VethEnd, netns: RawFd) -> RouteRequest {
    let peer = far.describe(LinkUnspec::new_with_index(far.index)).setns_by_fd(netns).build();
    let veth: LinkMessageBuilder<LinkVeth> = LinkMessageBuilder::new_with_info_kind("veth".into());
    let veth = near.describe(veth).set_info_data(InfoData::Veth(InfoVeth::Peer(peer)));
    let what = format!("create the veth pair {} and {}", near.name, far.name);
    create_link(veth.build(), what)
}

/// Creates an interface of `kind`, for example `batadv`; index 0 lets the kernel choose.
pub fn create_device(name: &str, index: u32, kind: &str) -> RouteRequest {
    let link: LinkMessageBuilder<LinkUnspec> = LinkMessageBuilder::new_with_info_kind(kind.into());
    let what = format!("make {name} of kind {kind}");
    create_link(link.name(name).index(index).build(), what)
}

/// Creates a bridge without multicast snooping: it floods multicast frames.
pub fn create_bridge(name: &str, index: u32) -> RouteRequest {
    let bridge = LinkBridge::new(name).index(index).mcast_snooping(false);
    create_link(bridge.build(), format!("create the bridge {name}"))
}

fn create_link(message: LinkMessage, what: String) -> RouteRequest {
    RouteRequest::new(&NewLink(message), NLM_F_CREATE | NLM_F_EXCL, what)
}

/// Deletes interface `index`.
pub fn delete_link(index: u32, name: &str) -> RouteRequest {
    let link = LinkUnspec::new_with_index(index).build();
    RouteRequest::new(&DelLink(link), 0, format!("remove {name}"))
}

/// Sets interface `index` up, with this MTU, bytes, if one is given.
pub fn set_up(index: u32, mtu_bytes: Option<u32>) -> RouteRequest {
    let mut link = LinkUnspec::new_with_index(index).up();
    if let Some(mtu_bytes) = mtu_bytes {
        link = link.mtu(mtu_bytes);
    }
    RouteRequest::new(&NewLink(link.build()), 0, format!("bring interface {index} up"))
}

/// Attaches interface `index` to the bridge or mesh interface `controller`.
pub fn set_controller(index: u32, controller: u32) -> RouteRequest {
    let link = LinkUnspec::new_with_index(index).controller(controller);
    let what = format!("attach interface {index} to {controller}");
    RouteRequest::new(&NewLink(link.build()), 0, what)
}

/// Adds an address to interface `index`, or replaces it.
pub fn add_address(index: u32, address: IpAddr, prefix_len: u8) -> RouteRequest {
    let what = format!("add the address {address}/{prefix_len} to interface {index}");
    let message = NewAddress(address_message(index, address, prefix_len));
    RouteRequest::new(&message, NLM_F_CREATE | NLM_F_REPLACE, what)
}

/// Removes an address from interface `index`.
pub fn remove_address(index: u32, address: IpAddr, prefix_len: u8) -> RouteRequest {
    let what = format!("remove the address {address}/{prefix_len} from interface {index}");
    RouteRequest::new(&DelAddress(address_message(index, address, prefix_len)), 0, what)
}

/// Without the broadcast address that the builder of `rtnetlink` adds.
fn address_message(index: u32, address: IpAddr, prefix_len: u8) -> AddressMessage {
    let mut message = AddressMessage::default();
    message.header.family = family(address);
    message.header.prefix_len = prefix_len;
    message.header.index = index;
    message.attributes = vec![AddressAttribute::Local(address), AddressAttribute::Address(address)];
    message
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}

/// Adds a permanent neighbour entry on interface `index`.
pub fn add_neighbour(index: u32, address: Ipv6Addr, hardware: [u8; 6]) -> RouteRequest {
    let mut message = NeighbourMessage::default();
    message.header.family = AddressFamily::Inet6;
    message.header.ifindex = index;
    message.header.state = NeighbourState::Permanent;
    message.attributes = vec![
        NeighbourAttribute::Destination(NeighbourAddress::Inet6(address)),
        NeighbourAttribute::LinkLayerAddress(hardware.to_vec()),
    ];
    let what = format!("add the neighbour {address} on interface {index}");
    RouteRequest::new(&NewNeighbour(message), NLM_F_CREATE | NLM_F_REPLACE, what)
}

/// Removes a neighbour entry from interface `index`.
pub fn remove_neighbour(index: u32, address: Ipv6Addr) -> RouteRequest {
    let mut message = NeighbourMessage::default();
    message.header.family = AddressFamily::Inet6;
    message.header.ifindex = index;
    message.attributes = vec![NeighbourAttribute::Destination(NeighbourAddress::Inet6(address))];
    let what = format!("remove the neighbour {address} from interface {index}");
    RouteRequest::new(&DelNeighbour(message), 0, what)
}

/// Adds a static forwarding entry for a hardware address behind a bridge port. A permanent entry
/// would be an address of the bridge itself.
pub fn add_forwarding_entry(port: u32, hardware: [u8; 6]) -> RouteRequest {
    let mut message = NeighbourMessage::default();
    message.header.family = AddressFamily::Bridge;
    message.header.ifindex = port;
    message.header.state = NeighbourState::Noarp;
    message.header.flags = NeighbourFlags::Controller;
    message.attributes = vec![NeighbourAttribute::LinkLayerAddress(hardware.to_vec())];
    let what = format!("add the forwarding entry of port {port}");
    RouteRequest::new(&NewNeighbour(message), NLM_F_CREATE | NLM_F_REPLACE, what)
}

/// Route to one host of a testbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRoute {
    /// Destination.
    pub to: Ipv4Addr,
    /// Next hop; the destination itself when that is a neighbour.
    pub via: Ipv4Addr,
    /// Index of the output interface.
    pub index: u32,
    /// Preferred source address.
    pub from: Ipv4Addr,
}

impl HostRoute {
    /// Adds the route, or replaces that to the same host.
    pub fn add(&self) -> RouteRequest {
        let mut route = self.builder().output_interface(self.index);
        route = route.pref_source(self.from);
        if self.via != self.to {
            route = route.gateway(self.via);
        }
        let what = format!("route {} via {}", self.to, self.via);
        let flags = NLM_F_CREATE | NLM_F_REPLACE;
        RouteRequest::new(&NewRoute(route.build()), flags, what)
    }

    /// Removes the testbed's route to the host.
    pub fn remove(&self) -> RouteRequest {
        let what = format!("remove the route to {}", self.to);
        RouteRequest::new(&DelRoute(self.builder().build()), 0, what)
    }

    fn builder(&self) -> RouteMessageBuilder<Ipv4Addr> {
        let route = RouteMessageBuilder::<Ipv4Addr>::new()
            .protocol(RouteProtocol::from(TESTBED_PROTOCOL))
            .destination_prefix(self.to, 32);
        match self.via == self.to {
            true => route.scope(RouteScope::Link),
            false => route.onlink(),
        }
    }
}
