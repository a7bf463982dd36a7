//! A socket for questions about links, addresses, neighbours and routes (rtnetlink(7)), and for the
//! few changes a tunnel needs.

use std::net::IpAddr;
use std::path::Path;

use netlink_sys::protocols::NETLINK_ROUTE;

use crate::genl::{ReadingError, Shape, Talk};
use crate::kernel::nla::{put, put_words};

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;

const REPLACE: u16 = 0x100;
const EXCL: u16 = 0x200;
const CREATE: u16 = 0x400;

const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const INFO_KIND: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const IFF_UP: u32 = 1;
const EEXIST: i32 = 17;

const INET: u8 = 2;
const INET6: u8 = 10;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RT_SCOPE_LINK: u8 = 253;
const RTN_UNICAST: u8 = 1;

/// The running kernel's links, addresses, neighbours and routes.
#[derive(Debug)]
pub struct RouteSocket {
    pub(super) talk: Talk,
}

impl RouteSocket {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// When the namespace cannot be entered or the kernel gives no socket.
    pub fn open(netns: Option<&Path>) -> Result<Self, ReadingError> {
        let talk = Talk::open(NETLINK_ROUTE, netns)?;
        Ok(Self { talk })
    }

    /// Number of the interface `ifname`.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when there is none.
    pub fn index(&self, ifname: &str) -> Result<u32, ReadingError> {
        self.talk.index(ifname)
    }

    /// A table of answers to a question with this body.
    pub(super) fn dump(
        &mut self,
        what: &str,
        kind: u16,
        body: &[u8],
    ) -> Result<Vec<Vec<u8>>, ReadingError> {
        let write = |out: &mut Vec<u8>| out.extend_from_slice(body);
        self.talk.ask(what, kind, Shape::Table, write)
    }

    fn change(
        &mut self,
        what: &str,
        kind: u16,
        flags: u16,
        body: &[u8],
    ) -> Result<(), ReadingError> {
        let write = |out: &mut Vec<u8>| out.extend_from_slice(body);
        self.talk.ask(what, kind, Shape::One(flags), write)?;
        Ok(())
    }

    /// Makes an interface of `kind`, for example `wireguard`; one of that name and kind that is
    /// there stays.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel has no such kind; a refusal when the name is
    /// another's.
    pub fn ensure_device(&mut self, ifname: &str, kind: &str) -> Result<(), ReadingError> {
        let mut info = Vec::new();
        put(&mut info, INFO_KIND, &[kind.as_bytes(), b"\0"].concat());
        let mut body = link(0, 0, 0);
        put(&mut body, IFLA_IFNAME, &[ifname.as_bytes(), b"\0"].concat());
        put(&mut body, IFLA_LINKINFO, &info);
        let what = format!("make {ifname} of kind {kind}");
        match self.change(&what, RTM_NEWLINK, CREATE | EXCL, &body) {
            Err(ReadingError::Io { source, said, .. }) if source.raw_os_error() == Some(EEXIST) => {
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

    /// Takes an interface away; it is fine if there is none.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn remove_device(&mut self, ifname: &str) -> Result<(), ReadingError> {
        let index = match self.index(ifname) {
            Ok(index) => index,
            Err(err) if err.is_absent() => return Ok(()),
            Err(err) => return Err(err),
        };
        self.change(
            &format!("remove {ifname}"),
            RTM_DELLINK,
            0,
            &link(index, 0, 0),
        )
    }

    /// Brings an interface up, with this MTU, bytes, if one is given.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn bring_up(&mut self, ifname: &str, mtu_bytes: Option<u32>) -> Result<(), ReadingError> {
        let mut body = link(self.index(ifname)?, IFF_UP, IFF_UP);
        if let Some(mtu) = mtu_bytes {
            put(&mut body, IFLA_MTU, &mtu.to_ne_bytes());
        }
        self.change(&format!("bring {ifname} up"), RTM_NEWLINK, 0, &body)
    }

    /// Takes an interface down.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn bring_down(&mut self, ifname: &str) -> Result<(), ReadingError> {
        let body = link(self.index(ifname)?, 0, IFF_UP);
        self.change(&format!("bring {ifname} down"), RTM_NEWLINK, 0, &body)
    }

    /// Gives an interface an address; it is fine if it has it.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn add_address(&mut self, ifname: &str, ip: IpAddr, bits: u8) -> Result<(), ReadingError> {
        let body = address(self.index(ifname)?, ip, bits);
        let what = format!("give {ifname} the address {ip}/{bits}");
        self.change(&what, RTM_NEWADDR, CREATE | REPLACE, &body)
    }

    /// Takes an address from an interface.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn remove_address(
        &mut self,
        ifname: &str,
        ip: IpAddr,
        bits: u8,
    ) -> Result<(), ReadingError> {
        let body = address(self.index(ifname)?, ip, bits);
        let what = format!("take the address {ip}/{bits} from {ifname}");
        self.change(&what, RTM_DELADDR, 0, &body)
    }

    /// Leads a range of addresses into an interface.
    ///
    /// # Errors
    /// What the kernel refused with.
    pub fn add_route(&mut self, ifname: &str, to: IpAddr, bits: u8) -> Result<(), ReadingError> {
        let scope = RT_SCOPE_LINK;
        // `struct rtmsg`
        let mut body = vec![
            family(to),
            bits,
            0,
            0,
            RT_TABLE_MAIN,
            RTPROT_STATIC,
            scope,
            RTN_UNICAST,
        ];
        put_words(&mut body, &[0]);
        put(&mut body, RTA_DST, &octets(to));
        put(&mut body, RTA_OIF, &self.index(ifname)?.to_ne_bytes());
        let what = format!("lead {to}/{bits} into {ifname}");
        self.change(&what, RTM_NEWROUTE, CREATE | REPLACE, &body)
    }
}

/// `struct ifinfomsg`.
fn link(index: u32, flags: u32, change: u32) -> Vec<u8> {
    let mut out = Vec::new();
    put_words(&mut out, &[0, index, flags, change]);
    out
}

/// `struct ifaddrmsg` and the address.
fn address(index: u32, ip: IpAddr, bits: u8) -> Vec<u8> {
    let mut body = vec![family(ip), bits, 0, 0];
    put_words(&mut body, &[index]);
    put(&mut body, IFA_LOCAL, &octets(ip));
    put(&mut body, IFA_ADDRESS, &octets(ip));
    body
}

fn family(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { INET } else { INET6 }
}

fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(four) => four.octets().to_vec(),
        IpAddr::V6(sixteen) => sixteen.octets().to_vec(),
    }
}
