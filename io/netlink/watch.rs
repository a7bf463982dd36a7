//! Notifications of the kernel about traffic control and interfaces, whoever changed them.
//!
//! A notification carries the port of the socket whose request caused it (`nlmsg_pid`), so changes of
//! an own socket are told from those of other programs.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use netlink_packet_core::NetlinkBuffer;
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::libc::{
    AF_BRIDGE, ENOBUFS, IFLA_IFNAME, RTM_DELADDR, RTM_DELLINK, RTM_DELQDISC, RTM_DELROUTE,
    RTM_DELTCLASS, RTM_DELTFILTER, RTM_NEWADDR, RTM_NEWLINK, RTM_NEWQDISC, RTM_NEWROUTE,
    RTM_NEWTCLASS, RTM_NEWTFILTER,
};

use super::attr::{Attrs, words};
use super::netns::within;
use super::socket::{RECEIVE_BYTES_MAX, messages};

/// Multicast group of interfaces (`RTNLGRP_LINK`).
const LINKS: u32 = 1;
/// Multicast group of IPv4 addresses (`RTNLGRP_IPV4_IFADDR`).
const ADDRESSES: u32 = 5;
/// Multicast group of traffic control (`RTNLGRP_TC`).
const TRAFFIC_CONTROL: u32 = 4;
/// Multicast group of IPv4 routes (`RTNLGRP_IPV4_ROUTE`).
const ROUTES: u32 = 7;
/// Bytes of `struct ifinfomsg`.
const LINK_HEADER_BYTES: usize = 16;
/// Most datagrams read at once: a program that changes without pause must not hold the reader.
const DATAGRAMS_MAX: usize = 4096;

/// Interfaces that other programs changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Indices of interfaces whose disciplines or classes changed.
    pub disciplines: BTreeSet<u32>,
    /// Indices of interfaces whose filters changed.
    pub filters: BTreeSet<u32>,
    /// Indices of removed interfaces.
    pub removed: BTreeSet<u32>,
    /// Index by name of interfaces that appeared or changed.
    pub present: BTreeMap<String, u32>,
    /// Indices of interfaces that changed, or whose addresses did, whoever changed them.
    pub configured: BTreeSet<u32>,
    /// IPv4 routes were deleted, or came, also in place of others; only with [`WatchSocket::add_routes`].
    pub routes: bool,
    /// Lost notifications: any interface may have changed.
    pub overrun: bool,
}

/// A socket that receives notifications of one network namespace.
#[derive(Debug)]
pub struct WatchSocket {
    socket: Socket,
    received: Vec<u8>,
}

impl WatchSocket {
    /// Subscribes in the network namespace at `netns`, or in that of the calling thread.
    pub fn open(netns: Option<&Path>) -> io::Result<Self> {
        let socket = within(netns, || {
            let mut socket = Socket::new(NETLINK_ROUTE)?;
            socket.bind_auto()?;
            socket.add_membership(TRAFFIC_CONTROL)?;
            socket.add_membership(LINKS)?;
            socket.add_membership(ADDRESSES)?;
            socket.set_non_blocking(true)?;
            io::Result::Ok(socket)
        })??;
        Ok(Self { socket, received: Vec::with_capacity(RECEIVE_BYTES_MAX) })
    }

    /// Subscribes to IPv4 routes as well: many where a routing daemon runs.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn add_routes(&mut self) -> io::Result<()> {
        self.socket.add_membership(ROUTES)
    }

    /// The changes since the last call that the socket with port `own` did not make.
    ///
    /// # Errors
    /// When the socket fails.
    pub fn changes(&mut self, own: u32) -> io::Result<Changes> {
        let mut changes = Changes::default();
        for _ in 0..DATAGRAMS_MAX {
            self.received.clear();
            match self.socket.recv(&mut self.received, 0) {
                Ok(_) => read(&self.received, own, &mut changes),
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) if err.raw_os_error() == Some(ENOBUFS) => changes.overrun = true,
                Err(err) => return Err(err),
            }
        }
        Ok(changes)
    }
}

impl AsFd for WatchSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Adds the changes in a datagram. What cannot be decoded may have changed anything.
fn read(datagram: &[u8], own: u32, changes: &mut Changes) {
    for message in messages(datagram) {
        let Ok([_, index]) = words("a notification", message.payload()) else {
            changes.overrun = true;
            continue;
        };
        match message.message_type() {
            RTM_NEWQDISC | RTM_DELQDISC | RTM_NEWTCLASS | RTM_DELTCLASS
                if message.port_number() != own =>
            {
                changes.disciplines.insert(index);
            }
            RTM_NEWTFILTER | RTM_DELTFILTER if message.port_number() != own => {
                changes.filters.insert(index);
            }
            RTM_NEWROUTE | RTM_DELROUTE if message.port_number() != own => changes.routes = true,
            RTM_NEWADDR | RTM_DELADDR => {
                changes.configured.insert(index);
            }
            RTM_NEWLINK => {
                changes.configured.insert(index);
                let name = name(&message);
                changes.present.extend(name.map(|name| (name, index)));
            }
            // One that leaves a bridge is removed from that alone.
            RTM_DELLINK if message.payload().first() != Some(&(AF_BRIDGE as u8)) => {
                changes.removed.insert(index);
            }
            _ => {}
        }
    }
}

/// Name of the interface of a notification.
fn name(message: &NetlinkBuffer<&[u8]>) -> Option<String> {
    let attributes = message.payload().get(LINK_HEADER_BYTES..)?;
    Attrs::read("an interface", attributes).ok()?.text(IFLA_IFNAME)
}

#[cfg(test)]
mod tests {
    use super::super::attr::{append_words, put_text};
    use super::super::socket::append_message;
    use super::*;

    fn notification(kind: u16, port: u32, index: u32) -> Vec<u8> {
        let mut body = Vec::new();
        append_words(&mut body, &[0, index]);
        body.resize(LINK_HEADER_BYTES, 0);
        put_text(&mut body, IFLA_IFNAME, "eth7");
        let mut out = Vec::new();
        append_message(&mut out, 1, &(kind, 0, body.as_slice()));
        NetlinkBuffer::new(&mut out[..]).set_port_number(port);
        out
    }

    #[test]
    fn changes_of_others_are_told_from_own_ones() {
        let mut changes = Changes::default();
        read(&notification(RTM_NEWQDISC, 41, 3), 41, &mut changes);
        assert_eq!(changes, Changes::default());
        read(&notification(RTM_DELQDISC, 42, 4), 41, &mut changes);
        read(&notification(RTM_DELLINK, 0, 5), 41, &mut changes);
        assert_eq!(changes.disciplines, [4].into());
        assert_eq!(changes.removed, [5].into());
        let mut of_bridge = notification(RTM_DELLINK, 0, 7);
        let payload = of_bridge.len() - NetlinkBuffer::new(&of_bridge[..]).payload_length();
        of_bridge[payload] = AF_BRIDGE as u8;
        read(&of_bridge, 41, &mut changes);
        assert_eq!(changes.removed, [5].into(), "it is a port no more, and still there");
        read(&notification(RTM_NEWLINK, 0, 6), 41, &mut changes);
        assert_eq!(changes.present, [("eth7".to_owned(), 6)].into());
        read(&notification(RTM_DELADDR, 42, 8), 41, &mut changes);
        assert_eq!(changes.configured, [6, 8].into());
        read(&notification(RTM_DELROUTE, 41, 0), 41, &mut changes);
        assert!(!changes.routes);
        for kind in [RTM_NEWROUTE, RTM_DELROUTE] {
            changes.routes = false;
            read(&notification(kind, 42, 0), 41, &mut changes);
            assert!(changes.routes);
        }
        read(&notification(RTM_NEWQDISC, 42, 4)[..20], 41, &mut changes);
        assert!(!changes.overrun, "a torn datagram has no message");
    }
}
