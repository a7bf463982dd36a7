//! Messages about links, addresses, routes and filters (rtnetlink(7)), for batches.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::kernel::KernelError;
use crate::kernel::air::Raw;
use crate::kernel::batch::Message;
use crate::kernel::extack;
use crate::kernel::nla::{put, put_words, words};
use crate::kernel::wire::{group_filter, group_filter_head};

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_NEWNEIGH: u16 = 28;
const RTM_NEWTFILTER: u16 = 44;

const REQUEST: u16 = 1;
const ACK: u16 = 4;
const REPLACE: u16 = 0x100;
const EXCL: u16 = 0x200;
const CREATE: u16 = 0x400;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_MASTER: u16 = 10;
const IFLA_LINKINFO: u16 = 18;
const IFLA_IFALIAS: u16 = 20;
const IFLA_NET_NS_FD: u16 = 28;
const INFO_KIND: u16 = 1;
const INFO_DATA: u16 = 2;
const VETH_PEER: u16 = 1;
const IFF_UP: u32 = 1;

const INET: u8 = 2;
/// Protocol number of routes of a testbed's controller (rtnetlink.h leaves those from 4 to users).
const ROUTES_OURS: u8 = 119;
/// RTNH_F_ONLINK.
const ONLINK: u32 = 4;

/// One message.
#[derive(Debug, Clone)]
pub struct Setup {
    kind: u16,
    flags: u16,
    body: Vec<u8>,
    what: String,
}

impl Message for Setup {
    fn encode(&self, sequence: u32, acknowledged: bool, out: &mut Vec<u8>) {
        let length = u32::try_from(16 + self.body.len()).expect("a message is short");
        let flags = REQUEST | self.flags | if acknowledged { ACK } else { 0 };
        out.extend_from_slice(&length.to_ne_bytes());
        out.extend_from_slice(&self.kind.to_ne_bytes());
        out.extend_from_slice(&flags.to_ne_bytes());
        put_words(out, &[sequence, 0]);
        out.extend_from_slice(&self.body);
        crate::kernel::nla::pad(out);
    }

    fn refusal(&self, errno: i32, words: Option<String>) -> KernelError {
        let what = self.what.clone();
        match errno {
            extack::EPERM => KernelError::Permission { what },
            _ => KernelError::Rejected {
                what,
                errno,
                detail: words,
            },
        }
    }
}

/// An end of a pair of virtual Ethernet interfaces.
#[derive(Debug, Clone)]
pub struct End {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
    /// Its hardware address.
    pub hardware: [u8; 6],
    /// Its MTU, bytes.
    pub mtu_bytes: u32,
    /// Whom it belongs to.
    pub alias: String,
}

impl End {
    fn attributes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, IFLA_IFNAME, &text(&self.name));
        put(&mut out, IFLA_MTU, &words(&[self.mtu_bytes]));
        put(&mut out, IFLA_ADDRESS, &self.hardware);
        put(&mut out, IFLA_IFALIAS, self.alias.as_bytes());
        out
    }
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

/// `struct ifinfomsg`.
fn about(index: u32, flags: u32, change: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_words(&mut out, &[0, index, flags, change]);
    out
}

/// A pair: `near` here, `far` in the namespace that `netns` is open on.
pub fn pair(near: &End, far: &End, netns: i32) -> Setup {
    let mut peer = about(far.index, 0, 0);
    peer.extend(far.attributes());
    put(&mut peer, IFLA_NET_NS_FD, &netns.to_ne_bytes());
    let mut data = Vec::new();
    put(&mut data, VETH_PEER, &peer);
    let mut info = Vec::new();
    put(&mut info, INFO_KIND, b"veth\0");
    put(&mut info, INFO_DATA, &data);
    let mut body = about(near.index, 0, 0);
    body.extend(near.attributes());
    put(&mut body, IFLA_LINKINFO, &info);
    Setup {
        kind: RTM_NEWLINK,
        flags: CREATE | EXCL,
        body,
        what: format!("lay a wire between {} and {}", near.name, far.name),
    }
}

/// An interface of `kind`, for example `batadv`.
pub fn device(name: &str, index: u32, kind: &str) -> Setup {
    let mut info = Vec::new();
    put(&mut info, INFO_KIND, &text(kind));
    let mut body = about(index, 0, 0);
    put(&mut body, IFLA_IFNAME, &text(name));
    put(&mut body, IFLA_LINKINFO, &info);
    Setup {
        kind: RTM_NEWLINK,
        flags: CREATE | EXCL,
        body,
        what: format!("make {name} of kind {kind}"),
    }
}

/// Interface `index` up.
pub fn up(index: u32) -> Setup {
    Setup {
        kind: RTM_NEWLINK,
        flags: 0,
        body: about(index, IFF_UP, IFF_UP),
        what: format!("bring interface {index} up"),
    }
}

/// Interface `index` under `master`.
pub fn enslave(index: u32, master: u32) -> Setup {
    let mut body = about(index, 0, 0);
    put(&mut body, IFLA_MASTER, &words(&[master]));
    Setup {
        kind: RTM_NEWLINK,
        flags: 0,
        body,
        what: format!("put interface {index} under {master}"),
    }
}

/// An address of interface `index`.
pub fn address(index: u32, address: Ipv4Addr, prefix: u8) -> Setup {
    let mut body = vec![INET, prefix, 0, 0];
    put_words(&mut body, &[index]);
    put(&mut body, 2, &address.octets());
    put(&mut body, 1, &address.octets());
    Setup {
        kind: RTM_NEWADDR,
        flags: CREATE | REPLACE,
        body,
        what: format!("give interface {index} the address {address}"),
    }
}

/// Where a link-local neighbour on interface `index` is, for good.
pub fn neighbour(index: u32, address: Ipv6Addr, hardware: [u8; 6]) -> Setup {
    const INET6: u32 = 10;
    const PERMANENT: u32 = 0x80;
    let mut body = Vec::new();
    // struct ndmsg: family, interface, state; flags and type are of no concern here.
    put_words(&mut body, &[INET6, index, PERMANENT]);
    put(&mut body, 1, &address.octets());
    put(&mut body, 2, &hardware);
    Setup {
        kind: RTM_NEWNEIGH,
        flags: CREATE | REPLACE,
        body,
        what: format!("introduce {address} on interface {index}"),
    }
}

/// A route to one host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// Where to.
    pub to: Ipv4Addr,
    /// The neighbour it goes to; the host itself when that is a neighbour.
    pub via: Ipv4Addr,
    /// Through which interface.
    pub index: u32,
    /// As whom.
    pub from: Ipv4Addr,
}

impl Route {
    /// The route, in place of one that is there.
    pub fn set(&self) -> Setup {
        let mut body = self.head();
        put(&mut body, 1, &self.to.octets());
        put(&mut body, 4, &words(&[self.index]));
        put(&mut body, 7, &self.from.octets());
        if self.via != self.to {
            put(&mut body, 5, &self.via.octets());
        }
        Setup {
            kind: RTM_NEWROUTE,
            flags: CREATE | REPLACE,
            body,
            what: format!("route {} via {}", self.to, self.via),
        }
    }

    /// The end of whatever route of ours leads there.
    pub fn forget(&self) -> Setup {
        let mut body = self.head();
        put(&mut body, 1, &self.to.octets());
        Setup {
            kind: RTM_DELROUTE,
            flags: 0,
            body,
            what: format!("forget the route to {}", self.to),
        }
    }

    /// `struct rtmsg`: one host, main table, a unicast route.
    fn head(&self) -> Vec<u8> {
        const MAIN: u8 = 254;
        const LINK: u8 = 253;
        const UNICAST: u8 = 1;
        let (scope, flags) = match self.via == self.to {
            true => (LINK, 0),
            false => (0, ONLINK),
        };
        let mut body = vec![INET, 32, 0, 0, MAIN, ROUTES_OURS, scope, UNICAST];
        put_words(&mut body, &[flags]);
        body
    }
}

/// A bridge that forwards at once and floods what goes to groups.
pub fn bridge(name: &str, index: u32) -> Setup {
    const SNOOPING: u16 = 23;
    let mut data = Vec::new();
    put(&mut data, SNOOPING, &[0]);
    let mut info = Vec::new();
    put(&mut info, INFO_KIND, b"bridge\0");
    put(&mut info, INFO_DATA, &data);
    let mut body = about(index, 0, 0);
    put(&mut body, IFLA_IFNAME, &text(name));
    put(&mut body, IFLA_LINKINFO, &info);
    Setup {
        kind: RTM_NEWLINK,
        flags: CREATE | EXCL,
        body,
        what: format!("make the segment {name}"),
    }
}

/// Which port of its bridge leads to a hardware address, for good.
pub fn behind(port: u32, hardware: [u8; 6]) -> Setup {
    const BRIDGE: u32 = 7;
    // Static; what is permanent would be the bridge's own.
    const NOARP: u8 = 0x40;
    const MASTER: u8 = 0x04;
    let mut body = Vec::new();
    // struct ndmsg: family, interface, state (16 bits), flags (8), type (8).
    let state = [NOARP, 0, MASTER, 0];
    put_words(&mut body, &[BRIDGE, port, u32::from_ne_bytes(state)]);
    put(&mut body, 2, &hardware);
    Setup {
        kind: RTM_NEWNEIGH,
        flags: CREATE | REPLACE,
        body,
        what: format!("lead to the node behind port {port}"),
    }
}

/// A class or a filter, made or made again.
pub fn control((kind, body): Raw, what: &str) -> Setup {
    Setup {
        kind,
        flags: CREATE,
        body,
        what: what.to_owned(),
    }
}

/// The filter of interface `index` for what goes to everybody.
pub fn group(index: u32) -> Setup {
    let mut body = group_filter_head(index);
    body.extend(group_filter());
    Setup {
        kind: RTM_NEWTFILTER,
        flags: CREATE | EXCL,
        body,
        what: format!("tell groups apart on interface {index}"),
    }
}
