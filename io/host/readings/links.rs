//! Interfaces with their addresses and counters.

use std::collections::BTreeMap;
use std::net::IpAddr;

use groundwave_files::ReadingError;
use groundwave_files::Root;
use groundwave_netlink::attr::Attrs;
use groundwave_protocol::HardwareAddress;
use nix::libc::{
    IFA_ADDRESS, IFA_LOCAL, IFLA_ADDRESS, IFLA_CARRIER, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO,
    IFLA_MASTER, IFLA_MTU, IFLA_OPERSTATE, IFLA_STATS64, RTM_GETADDR, RTM_GETLINK,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;

/// Bytes of `struct ifinfomsg` and of `struct ifaddrmsg`.
const LINK_HEAD: usize = 16;
const ADDRESS_HEAD: usize = 8;

/// An address of an interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "InterfaceAddress")]
pub struct Address {
    /// The address.
    pub address: IpAddr,
    /// Prefix length, bits.
    pub prefix_len: u8,
    /// Scope: `global`, `site`, `link`, `host` or `nowhere`.
    pub scope: String,
}

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NetworkInterface")]
pub struct Interface {
    /// Index of the interface.
    pub ifindex: u32,
    /// Name of the interface.
    pub name: String,
    /// Kind: `batadv`, `wireguard`, `veth`; `ethernet` or `loopback` for those of the machine.
    pub kind: String,
    /// Hardware address, if any.
    pub mac: Option<HardwareAddress>,
    /// MTU, bytes.
    pub mtu: u32,
    /// State (RFC 2863): `up`, `down`, `dormant`, `lowerlayerdown`, `testing`, `notpresent`, `unknown`.
    pub operstate: String,
    /// `true` if the interface has a carrier.
    pub carrier: bool,
    /// Master interface, such as a bridge.
    pub master: Option<String>,
    /// Addresses of the interface.
    pub ips: Vec<Address>,
    /// Bytes received.
    pub rx_bytes: u64,
    /// Bytes sent.
    pub tx_bytes: u64,
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets received with errors.
    pub rx_errors: u64,
    /// Packets that could not be sent.
    pub tx_errors: u64,
    /// Packets received and dropped.
    pub rx_dropped: u64,
    /// Packets dropped instead of sent.
    pub tx_dropped: u64,
    /// Speed of the link, Mbit/s, for wired interfaces.
    pub speed_mbps: Option<u32>,
}

impl RouteSocket {
    /// All interfaces by number, with addresses; without what only files tell, speeds.
    ///
    /// # Errors
    /// When the kernel cannot be asked or understood.
    pub fn links(&mut self) -> Result<Vec<Interface>, ReadingError> {
        let links = self.dump("interfaces", RTM_GETLINK, &[0; LINK_HEAD])?;
        let addresses = self.dump("addresses", RTM_GETADDR, &[0; ADDRESS_HEAD])?;
        assembled(&links, &addresses)
    }

    /// As [`RouteSocket::links`], with the speeds that files below `root` tell.
    ///
    /// # Errors
    /// When the kernel cannot be asked or understood.
    pub fn interfaces(&mut self, root: &Root) -> Result<Vec<Interface>, ReadingError> {
        let mut links = self.links()?;
        for link in &mut links {
            // The name of an interface has no slash; `.` and `..` are no interfaces.
            let speed = root.number::<i64>(&format!("sys/class/net/{}/speed", link.name));
            link.speed_mbps = speed.and_then(|speed| u32::try_from(speed).ok());
        }
        Ok(links)
    }
}

/// Interfaces of the answers to two dumps.
pub(crate) fn assembled(
    links: &[Vec<u8>],
    addresses: &[Vec<u8>],
) -> Result<Vec<Interface>, ReadingError> {
    let mut found = BTreeMap::new();
    let mut masters = BTreeMap::new();
    for answer in links {
        let (interface, master) = interface(answer)?;
        if let Some(master) = master {
            masters.insert(interface.ifindex, master);
        }
        found.insert(interface.ifindex, interface);
    }
    for answer in addresses {
        let (index, address) = address(answer)?;
        // An interface may have come between the two dumps.
        if let Some(interface) = found.get_mut(&index) {
            interface.ips.extend(address);
        }
    }
    for (index, master) in masters {
        let name = found.get(&master).map(|master| master.name.clone());
        if let Some(interface) = found.get_mut(&index) {
            interface.master = name;
        }
    }
    Ok(found.into_values().collect())
}

fn interface(answer: &[u8]) -> Result<(Interface, Option<u32>), ReadingError> {
    let short = || ReadingError::decode("an interface");
    let (head, rest) = answer.split_first_chunk::<LINK_HEAD>().ok_or_else(short)?;
    let attrs = Attrs::read("an interface", rest)?;
    let hardware = u16::from_ne_bytes([head[2], head[3]]);
    let kind = match attrs.nest(IFLA_LINKINFO)? {
        Some(info) => info.text(IFLA_INFO_KIND),
        None => None,
    };
    // Tunnels have addresses of other lengths, or none.
    let mac = attrs.get(IFLA_ADDRESS).and_then(|mac| mac.try_into().ok());
    let count = attrs.get(IFLA_STATS64).unwrap_or_default();
    let stat = |at: usize| {
        let found = count.get(at * 8..at * 8 + 8).and_then(|long| long.try_into().ok());
        found.map_or(0, u64::from_ne_bytes)
    };
    let interface = Interface {
        ifindex: u32::from_ne_bytes([head[4], head[5], head[6], head[7]]),
        name: attrs.need(IFLA_IFNAME, attrs.text(IFLA_IFNAME))?,
        kind: kind.unwrap_or_else(|| hardware_kind(hardware).to_owned()),
        mac: mac.map(HardwareAddress),
        mtu: attrs.u32(IFLA_MTU)?.unwrap_or_default(),
        operstate: operstate(attrs.u8(IFLA_OPERSTATE)?).to_owned(),
        carrier: attrs.u8(IFLA_CARRIER)?.is_some_and(|carrier| carrier != 0),
        master: None,
        ips: Vec::new(),
        rx_packets: stat(0),
        tx_packets: stat(1),
        rx_bytes: stat(2),
        tx_bytes: stat(3),
        rx_errors: stat(4),
        tx_errors: stat(5),
        rx_dropped: stat(6),
        tx_dropped: stat(7),
        speed_mbps: None,
    };
    Ok((interface, attrs.u32(IFLA_MASTER)?))
}

/// `ARPHRD_*`.
fn hardware_kind(number: u16) -> &'static str {
    match number {
        1 => "ethernet",
        772 => "loopback",
        801..=803 => "wireless",
        65534 => "none",
        _ => "other",
    }
}

/// `IF_OPER_*`.
fn operstate(number: Option<u8>) -> &'static str {
    match number {
        Some(1) => "notpresent",
        Some(2) => "down",
        Some(3) => "lowerlayerdown",
        Some(4) => "testing",
        Some(5) => "dormant",
        Some(6) => "up",
        _ => "unknown",
    }
}

/// Name of `RT_SCOPE_*`.
pub(super) fn scope(number: u8) -> String {
    match number {
        0 => "global".to_owned(),
        200 => "site".to_owned(),
        253 => "link".to_owned(),
        254 => "host".to_owned(),
        255 => "nowhere".to_owned(),
        other => other.to_string(),
    }
}

fn address(answer: &[u8]) -> Result<(u32, Option<Address>), ReadingError> {
    let short = || ReadingError::decode("an address");
    let (head, rest) = answer.split_first_chunk::<ADDRESS_HEAD>().ok_or_else(short)?;
    let attrs = Attrs::read("an address", rest)?;
    // Of a wire between two, IFA_ADDRESS is the other end.
    let own = match attrs.ip(IFA_LOCAL)? {
        Some(own) => Some(own),
        None => attrs.ip(IFA_ADDRESS)?,
    };
    let index = u32::from_ne_bytes([head[4], head[5], head[6], head[7]]);
    let address =
        own.map(|address| Address { address, prefix_len: head[1], scope: scope(head[3]) });
    Ok((index, address))
}
