//! Interfaces with their addresses and counters.

use std::collections::BTreeMap;
use std::net::IpAddr;

use groundwave_files::ReadingError;
use groundwave_files::Root;
use groundwave_netlink::attr::Attrs;
use groundwave_protocol::HardwareAddress;
use netlink_packet_core::Emitable;
use netlink_packet_route::address::{AddressHeader, AddressScope};
use netlink_packet_route::link::{LinkHeader, LinkLayerType, State, Stats64};
use nix::libc::{
    IFA_ADDRESS, IFA_LOCAL, IFLA_ADDRESS, IFLA_CARRIER, IFLA_IFNAME, IFLA_INFO_KIND, IFLA_LINKINFO,
    IFLA_MASTER, IFLA_MTU, IFLA_OPERSTATE, IFLA_STATS64, RTM_GETADDR, RTM_GETLINK,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;

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
        let links = self.dump("interfaces", RTM_GETLINK, &LinkHeader::default())?;
        let addresses = self.dump("addresses", RTM_GETADDR, &AddressHeader::default())?;
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
    let header = LinkHeader::parse(answer).map_err(|_| ReadingError::decode("an interface"))?;
    let attrs = Attrs::read("an interface", &answer[header.buffer_len()..])?;
    let kind = match attrs.nest(IFLA_LINKINFO)? {
        Some(info) => info.text(IFLA_INFO_KIND),
        None => None,
    };
    // Tunnels have addresses of other lengths, or none.
    let mac = attrs.get(IFLA_ADDRESS).and_then(|mac| mac.try_into().ok());
    let counters = attrs.get(IFLA_STATS64).and_then(|counters| Stats64::parse(counters).ok());
    let counters = counters.unwrap_or_default();
    let interface = Interface {
        ifindex: header.index,
        name: attrs.need(IFLA_IFNAME, attrs.text(IFLA_IFNAME))?,
        kind: kind.unwrap_or_else(|| hardware_kind(header.link_layer_type).to_owned()),
        mac: mac.map(HardwareAddress),
        mtu: attrs.u32(IFLA_MTU)?.unwrap_or_default(),
        operstate: operstate(attrs.u8(IFLA_OPERSTATE)?.map(State::from)).to_owned(),
        carrier: attrs.u8(IFLA_CARRIER)?.is_some_and(|carrier| carrier != 0),
        master: None,
        ips: Vec::new(),
        rx_packets: counters.rx_packets,
        tx_packets: counters.tx_packets,
        rx_bytes: counters.rx_bytes,
        tx_bytes: counters.tx_bytes,
        rx_errors: counters.rx_errors,
        tx_errors: counters.tx_errors,
        rx_dropped: counters.rx_dropped,
        tx_dropped: counters.tx_dropped,
        speed_mbps: None,
    };
    Ok((interface, attrs.u32(IFLA_MASTER)?))
}

/// Kind of an interface of the machine.
fn hardware_kind(hardware: LinkLayerType) -> &'static str {
    match hardware {
        LinkLayerType::Ether => "ethernet",
        LinkLayerType::Loopback => "loopback",
        LinkLayerType::Ieee80211
        | LinkLayerType::Ieee80211Prism
        | LinkLayerType::Ieee80211Radiotap => "wireless",
        LinkLayerType::None => "none",
        _ => "other",
    }
}

/// Operational state (RFC 2863).
fn operstate(state: Option<State>) -> &'static str {
    match state {
        Some(State::NotPresent) => "notpresent",
        Some(State::Down) => "down",
        Some(State::LowerLayerDown) => "lowerlayerdown",
        Some(State::Testing) => "testing",
        Some(State::Dormant) => "dormant",
        Some(State::Up) => "up",
        _ => "unknown",
    }
}

/// Name of a scope, of which addresses and routes have the same numbers.
pub(super) fn scope(scope: AddressScope) -> String {
    match scope {
        AddressScope::Universe => "global".to_owned(),
        other => other.to_string(),
    }
}

fn address(answer: &[u8]) -> Result<(u32, Option<Address>), ReadingError> {
    let header = AddressHeader::parse(answer).map_err(|_| ReadingError::decode("an address"))?;
    let attrs = Attrs::read("an address", &answer[header.buffer_len()..])?;
    // Of a wire between two, IFA_ADDRESS is the other end.
    let own = match attrs.ip(IFA_LOCAL)? {
        Some(own) => Some(own),
        None => attrs.ip(IFA_ADDRESS)?,
    };
    let (prefix_len, scope) = (header.prefix_len, scope(header.scope));
    Ok((header.index, own.map(|address| Address { address, prefix_len, scope })))
}
