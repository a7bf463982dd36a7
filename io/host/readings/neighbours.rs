//! Neighbour tables of ARP and of neighbour discovery.

use std::net::IpAddr;

use groundwave_files::ReadingError;
use groundwave_netlink::attr::Attrs;
use groundwave_protocol::HardwareAddress;
use nix::libc::{AF_INET, AF_INET6, NDA_CACHEINFO, NDA_DST, NDA_LLADDR, NTF_ROUTER, RTM_GETNEIGH};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RouteSocket;

/// Bytes of `struct ndmsg`.
const HEAD: usize = 12;
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
    fn read(bits: u16) -> Option<Self> {
        Some(match bits {
            0x01 => Self::Incomplete,
            0x02 => Self::Reachable,
            0x04 => Self::Stale,
            0x08 => Self::Delay,
            0x10 => Self::Probe,
            0x20 => Self::Failed,
            0x40 => Self::Noarp,
            0x80 => Self::Permanent,
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
        let answers = self.dump("neighbours", RTM_GETNEIGH, &[0; HEAD])?;
        let mut found = decoded(&answers)?;
        for neighbour in &mut found {
            // An interface that went away since has no name.
            neighbour.ifname = self.socket.name(neighbour.ifindex).unwrap_or_default();
        }
        Ok(found)
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
    let mut found = Vec::new();
    for answer in answers {
        found.extend(neighbour(answer)?);
    }
    found.sort_by_key(|one| (one.ifindex, one.ip));
    Ok(found)
}

fn neighbour(answer: &[u8]) -> Result<Option<Neighbour>, ReadingError> {
    let short = || ReadingError::decode("a neighbour");
    let (head, rest) = answer.split_first_chunk::<HEAD>().ok_or_else(short)?;
    // Bridges tell their own tables by the same message.
    let state = NeighbourState::read(u16::from_ne_bytes([head[8], head[9]]));
    let (true, Some(state)) = (matches!(i32::from(head[0]), AF_INET | AF_INET6), state) else {
        return Ok(None);
    };
    let attrs = Attrs::read("a neighbour", rest)?;
    let Some(ip) = attrs.ip(NDA_DST)? else {
        return Ok(None);
    };
    // `struct nda_cacheinfo`: confirmed first.
    let confirmed = attrs
        .get(NDA_CACHEINFO)
        .and_then(|info| info.first_chunk())
        .map(|ticks| u64::from(u32::from_ne_bytes(*ticks)) * TICK_MS);
    let mac = attrs.get(NDA_LLADDR).and_then(|mac| mac.try_into().ok());
    Ok(Some(Neighbour {
        ip,
        mac: mac.map(HardwareAddress),
        ifindex: u32::from_ne_bytes([head[4], head[5], head[6], head[7]]),
        ifname: String::new(),
        state,
        router: head[10] & NTF_ROUTER != 0,
        confirmed_ms: confirmed,
    }))
}
