//! Routes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use groundwave_files::ReadingError;
use groundwave_netlink::attr::Attrs;
use netlink_packet_core::Emitable;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::address::AddressScope;
use netlink_packet_route::route::{RouteFlags, RouteHeader, RouteProtocol};
use nix::libc::{RTA_DST, RTA_GATEWAY, RTA_OIF, RTA_PRIORITY, RTA_TABLE, RTM_GETROUTE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;
use super::links::scope;

/// A route.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NetworkRoute")]
pub struct Route {
    /// Destination, `address/bits`.
    pub dst: String,
    /// Gateway; `None` for destinations on the link.
    pub gateway: Option<IpAddr>,
    /// Index of the interface.
    #[serde(skip)]
    pub ifindex: Option<u32>,
    /// Name of the interface.
    pub ifname: Option<String>,
    /// Priority; the lowest is preferred.
    pub metric: u32,
    /// Origin of the route: `kernel`, `boot`, `static`, `ra`, `dhcp`, `babel` or a number.
    pub proto: String,
    /// Scope: `global`, `site`, `link`, `host` or `nowhere`.
    pub scope: String,
    /// Number of the table; 254 is `main`, 255 `local`.
    pub table: u32,
}

impl RouteSocket {
    /// All routes of all tables, in the kernel's order.
    ///
    /// # Errors
    /// When the kernel cannot be asked or understood.
    pub fn routes(&mut self) -> Result<Vec<Route>, ReadingError> {
        let answers = self.dump("routes", RTM_GETROUTE, &RouteHeader::default())?;
        let mut routes = decoded(&answers)?;
        for route in &mut routes {
            route.ifname = route.ifindex.and_then(|index| self.socket.name(index).ok());
        }
        Ok(routes)
    }
}

pub(crate) fn decoded(answers: &[Vec<u8>]) -> Result<Vec<Route>, ReadingError> {
    let mut routes = Vec::new();
    for answer in answers {
        routes.extend(route(answer)?);
    }
    Ok(routes)
}

fn route(answer: &[u8]) -> Result<Option<Route>, ReadingError> {
    let header = RouteHeader::parse(answer).map_err(|_| ReadingError::decode("a route"))?;
    let anywhere: IpAddr = match header.address_family {
        AddressFamily::Inet => Ipv4Addr::UNSPECIFIED.into(),
        AddressFamily::Inet6 => Ipv6Addr::UNSPECIFIED.into(),
        _ => return Ok(None),
    };
    if header.flags.contains(RouteFlags::Cloned) {
        return Ok(None);
    }
    let attrs = Attrs::read("a route", &answer[header.buffer_len()..])?;
    let table = attrs.u32(RTA_TABLE)?.unwrap_or_else(|| header.table.into());
    let prefix_len = header.destination_prefix_length;
    Ok(Some(Route {
        dst: format!("{}/{}", attrs.ip(RTA_DST)?.unwrap_or(anywhere), prefix_len),
        gateway: attrs.ip(RTA_GATEWAY)?,
        ifindex: attrs.u32(RTA_OIF)?,
        ifname: None,
        metric: attrs.u32(RTA_PRIORITY)?.unwrap_or_default(),
        proto: proto(header.protocol),
        scope: scope(AddressScope::from(u8::from(header.scope))),
        table,
    }))
}

/// Name of a routing protocol, a number for those that are not documented.
fn proto(protocol: RouteProtocol) -> String {
    let name = match protocol {
        RouteProtocol::Kernel => "kernel",
        RouteProtocol::Boot => "boot",
        RouteProtocol::Static => "static",
        RouteProtocol::Ra => "ra",
        RouteProtocol::Dhcp => "dhcp",
        RouteProtocol::Babel => "babel",
        other => return u8::from(other).to_string(),
    };
    name.to_owned()
}
