//! Neighbour tables of ARP and of neighbour discovery.

use std::net::IpAddr;

use groundwave_files::ReadingError;
use groundwave_netlink::attr::Attrs;
use groundwave_protocol::HardwareAddress;
use netlink_packet_core::Emitable;
use netlink_packet_route::AddressFamily;
use netlink_packet_route::neighbour::{self, NeighbourCacheInfo, NeighbourFlags, NeighbourHeader};
use nix::libc::{NDA_CACHEINFO, NDA_DST, NDA_LLADDR, RTM_GETNEIGH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;

/// Milliseconds of a tick of `USER_HZ`.
const TICK_MS: u64 = 10;

/// State of a neighbour entry in the kernel (`NUD_*`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum NeighbourState {
    /// Asked, no answer yet.
    Incomplete,
    /// Known to answer.
    Reachable,
    /// Not heard for a while.
    Stale,
    /// About to be asked.
    Delay,
    /// Being asked.
    Probe,
    /// Does not answer.
    Failed,
    /// Needs no asking.
    Noarp,
    /// Set by hand.
    Permanent,
}

impl NeighbourState {
    fn read(state: neighbour::NeighbourState) -> Option<Self> {
        use neighbour::NeighbourState as Kernel;
        Some(match state {
            Kernel::Incomplete => Self::Incomplete,
            Kernel::Reachable => Self::Reachable,
            Kernel::Stale => Self::Stale,
            Kernel::Delay => Self::Delay,
            Kernel::Probe => Self::Probe,
            Kernel::Failed => Self::Failed,
            Kernel::Noarp => Self::Noarp,
            Kernel::Permanent => Self::Permanent,
            _ => return None,
        })
    }
}

/// A neighbour.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbour {
    /// IP address.
    pub ip: IpAddr,
    /// Hardware address, once known.
    pub mac: Option<HardwareAddress>,
    /// Index of its interface.
    #[serde(skip)]
    pub ifindex: u32,
    /// Name of its interface.
    pub ifname: String,
    /// State of the entry.
    pub state: NeighbourState,
    /// `true` if the neighbour advertises itself as a router.
    pub router: bool,
    /// Time since the last confirmation, ms.
    pub confirmed_ms: Option<u64>,
}

impl RouteSocket {
    /// All neighbours by interface and address. Entries without a state are left out.
    ///
    /// # Errors
    /// When the kernel cannot be asked or understood.
    pub fn neighbours(&mut self) -> Result<Vec<Neighbour>, ReadingError> {
        let answers = self.dump("neighbours", RTM_GETNEIGH, &NeighbourHeader::default())?;
        let mut neighbours = decoded(&answers)?;
        for neighbour in &mut neighbours {
            // An interface that went away since has no name.
            neighbour.ifname = self.socket.name(neighbour.ifindex).unwrap_or_default();
        }
        Ok(neighbours)
    }

    /// The hardware address that the kernel learnt for `ip` on the interface `ifname`, if it did and
    /// it has not failed since. This is what a claimed address is checked against.
    ///
    /// # Errors
    /// As [`RouteSocket::neighbours`].
    pub fn hardware_of(
        &mut self,
        ifname: &str,
        ip: IpAddr,
    ) -> Result<Option<HardwareAddress>, ReadingError> {
        let learnt = |one: &Neighbour| {
            one.ip == ip
                && one.ifname == ifname
                && !matches!(one.state, NeighbourState::Incomplete | NeighbourState::Failed)
        };
        let found = self.neighbours()?.into_iter().find(learnt);
        Ok(found.and_then(|one| one.mac))
    }
}

pub(crate) fn decoded(answers: &[Vec<u8>]) -> Result<Vec<Neighbour>, ReadingError> {
    let mut neighbours = Vec::new();
    for answer in answers {
        neighbours.extend(neighbour_of(answer)?);
    }
    neighbours.sort_by_key(|neighbour: &Neighbour| (neighbour.ifindex, neighbour.ip));
    Ok(neighbours)
}

fn neighbour_of(answer: &[u8]) -> Result<Option<Neighbour>, ReadingError> {
    let header = NeighbourHeader::parse(answer).map_err(|_| ReadingError::decode("a neighbour"))?;
    // Tables of bridges come in the same message.
    let is_ip = matches!(header.family, AddressFamily::Inet | AddressFamily::Inet6);
    let (true, Some(state)) = (is_ip, NeighbourState::read(header.state)) else {
        return Ok(None);
    };
    let attrs = Attrs::read("a neighbour", &answer[header.buffer_len()..])?;
    let Some(ip) = attrs.ip(NDA_DST)? else {
        return Ok(None);
    };
    let info = attrs.get(NDA_CACHEINFO).and_then(|info| NeighbourCacheInfo::parse(info).ok());
    let confirmed_ms = info.map(|info| u64::from(info.confirmed) * TICK_MS);
    let mac = attrs.get(NDA_LLADDR).and_then(|mac| mac.try_into().ok());
    Ok(Some(Neighbour {
        ip,
        mac: mac.map(HardwareAddress),
        ifindex: header.ifindex,
        ifname: String::new(),
        state,
        router: header.flags.contains(NeighbourFlags::Router),
        confirmed_ms,
    }))
}
