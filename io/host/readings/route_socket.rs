//! A socket for links, addresses, neighbours and routes (rtnetlink(7)).

use std::net::IpAddr;
use std::path::Path;

use groundwave_files::ReadingError;
use groundwave_netlink::NetlinkSocket;
use groundwave_netlink::route;
use groundwave_netlink::route::RouteRequest;
use netlink_packet_core::Emitable;
use netlink_sys::protocols::NETLINK_ROUTE;
use nix::libc::EEXIST;

/// Links, addresses, neighbours and routes of the running kernel.
#[derive(Debug)]
pub struct RouteSocket {
    pub(super) socket: NetlinkSocket,
}

impl RouteSocket {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, ReadingError> {
        let socket = NetlinkSocket::open(NETLINK_ROUTE, netns);
        Ok(Self { socket: socket.map_err(|err| ReadingError::io("open a netlink socket", err))? })
    }

    /// Index of the interface `ifname`.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] without such an interface.
    pub fn index(&self, ifname: &str) -> Result<u32, ReadingError> {
        let index = self.socket.index(ifname);
        index.map_err(|err| ReadingError::io(format!("interface {ifname}"), err))
    }

    /// Bodies of all answers to a dump request of type `kind` with this header.
    pub(super) fn dump(
        &mut self,
        what: &str,
        kind: u16,
        header: &impl Emitable,
    ) -> Result<Vec<Vec<u8>>, ReadingError> {
        let mut body = vec![0; header.buffer_len()];
        header.emit(&mut body);
        let answers = self.socket.dump(&(kind, 0, &body[..]));
        answers.map_err(|err| err.reading(what))
    }

    fn change(&mut self, request: RouteRequest) -> Result<(), ReadingError> {
        self.socket.add(&request);
        let answers = self.socket.call();
        match answers.map_err(|err| ReadingError::io(&request.what, err))?.pop() {
            Some(Err(err)) => Err(err.reading(request.what)),
            _ => Ok(()),
        }
    }

    /// Creates an interface of `kind`, for example `wireguard`; an existing one of that name and
    /// kind is kept.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel has no such kind; a refusal for an interface of
    /// another kind.
    pub fn ensure_device(&mut self, ifname: &str, kind: &str) -> Result<(), ReadingError> {
        match self.change(route::create_device(ifname, 0, kind)) {
            Err(ReadingError::Io { what, source, said })
                if source.raw_os_error() == Some(EEXIST) =>
            {
                let links = self.links()?;
                let own = links.iter().find(|link| link.name == ifname);
                if own.is_some_and(|link| link.kind == kind) {
                    return Ok(());
                }
                Err(ReadingError::Io { what, source, said })
            }
            other => other,
        }
    }

    /// Deletes an interface, if it exists.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn remove_device(&mut self, ifname: &str) -> Result<(), ReadingError> {
        match self.index(ifname) {
            Ok(index) => self.change(route::delete_link(index, ifname)),
            Err(err) if err.is_absent() => Ok(()),
            Err(err) => Err(err),
        }
    }

    /// Sets an interface up, with this MTU, bytes, if one is given.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn bring_up(&mut self, ifname: &str, mtu_bytes: Option<u32>) -> Result<(), ReadingError> {
        let index = self.index(ifname)?;
        self.change(route::set_up(index, mtu_bytes))
    }

    /// Adds an address to an interface; an existing one is kept.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn add_address(&mut self, ifname: &str, ip: IpAddr, bits: u8) -> Result<(), ReadingError> {
        let index = self.index(ifname)?;
        self.change(route::add_address(index, ip, bits))
    }

    /// Removes an address from an interface.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn remove_address(
        &mut self,
        ifname: &str,
        ip: IpAddr,
        bits: u8,
    ) -> Result<(), ReadingError> {
        let index = self.index(ifname)?;
        self.change(route::remove_address(index, ip, bits))
    }
}
