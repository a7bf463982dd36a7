//! Routes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use groundwave_files::ReadingError;
use groundwave_netlink::attr::Attrs;
use nix::libc::{
    AF_INET, AF_INET6, RTA_DST, RTA_GATEWAY, RTA_OIF, RTA_PRIORITY, RTA_TABLE, RTM_F_CLONED,
    RTM_GETROUTE,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;
use super::links::scope;

/// Bytes of `struct rtmsg`.
const HEAD: usize = 12;

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
        let answers = self.dump("routes", RTM_GETROUTE, &[0; HEAD])?;
        let mut found = decoded(&answers)?;
        for route in &mut found {
            route.ifname = route.ifindex.and_then(|index| self.socket.name(index).ok());
        }
        Ok(found)
    }
}

pub(crate) fn decoded(answers: &[Vec<u8>]) -> Result<Vec<Route>, ReadingError> {
    let mut found = Vec::new();
    for answer in answers {
        found.extend(route(answer)?);
    }
    Ok(found)
}

fn route(answer: &[u8]) -> Result<Option<Route>, ReadingError> {
    let short = || ReadingError::decode("a route");
    let (head, rest) = answer.split_first_chunk::<HEAD>().ok_or_else(short)?;
    let flags = u32::from_ne_bytes([head[8], head[9], head[10], head[11]]);
    let anywhere: IpAddr = match i32::from(head[0]) {
        AF_INET => Ipv4Addr::UNSPECIFIED.into(),
        AF_INET6 => Ipv6Addr::UNSPECIFIED.into(),
        _ => return Ok(None),
    };
    if flags & RTM_F_CLONED != 0 {
        return Ok(None);
    }
    let attrs = Attrs::read("a route", rest)?;
    let table = attrs.u32(RTA_TABLE)?.unwrap_or_else(|| head[4].into());
    Ok(Some(Route {
        dst: format!("{}/{}", attrs.ip(RTA_DST)?.unwrap_or(anywhere), head[1]),
        gateway: attrs.ip(RTA_GATEWAY)?,
        ifindex: attrs.u32(RTA_OIF)?,
        ifname: None,
        metric: attrs.u32(RTA_PRIORITY)?.unwrap_or_default(),
        proto: proto(head[5]),
        scope: scope(head[6]),
        table,
    }))
}

/// Name of `RTPROT_*`.
fn proto(number: u8) -> String {
    match number {
        2 => "kernel".to_owned(),
        3 => "boot".to_owned(),
        4 => "static".to_owned(),
        9 => "ra".to_owned(),
        16 => "dhcp".to_owned(),
        42 => "babel".to_owned(),
        other => other.to_string(),
    }
}
