//! batman-adv: the mesh interface and its tables, with the field names of `batctl`'s JSON.
//!
//! Field names end in their unit where the kernel's units differ: it reports rates of gateways and
//! hard interfaces in 100 kbit/s, those of originators and neighbours in kbit/s; all are kbit/s
//! here.

mod config;
mod mesh;
mod tables;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use config::BatmanConfig;
pub use mesh::{Bandwidth, GatewayMode, Mesh};
pub use tables::{
    BlaClaim, DatEntry, Flags, Gateway, HardInterface, Neighbor, Originator, TransGlobal,
    TransLocal,
};

use netlink_packet_core::DecodeError;

use super::attr::{Attrs, put_words};
use super::{GenlSocket, payload};
use groundwave_files::ReadingError;

/// `BATADV_ATTR_*` of linux/batman_adv.h.
mod attr {
    pub const VERSION: u16 = 1;
    pub const ALGO_NAME: u16 = 2;
    pub const MESH_IFINDEX: u16 = 3;
    pub const MESH_IFNAME: u16 = 4;
    pub const MESH_ADDRESS: u16 = 5;
    pub const HARD_IFINDEX: u16 = 6;
    pub const HARD_IFNAME: u16 = 7;
    pub const HARD_ADDRESS: u16 = 8;
    pub const ORIG_ADDRESS: u16 = 9;
    pub const ACTIVE: u16 = 15;
    pub const TT_ADDRESS: u16 = 16;
    pub const TT_TTVN: u16 = 17;
    pub const TT_LAST_TTVN: u16 = 18;
    pub const TT_CRC32: u16 = 19;
    pub const TT_VID: u16 = 20;
    pub const TT_FLAGS: u16 = 21;
    pub const FLAG_BEST: u16 = 22;
    pub const LAST_SEEN_MSECS: u16 = 23;
    pub const NEIGH_ADDRESS: u16 = 24;
    pub const TQ: u16 = 25;
    pub const THROUGHPUT: u16 = 26;
    pub const BANDWIDTH_UP: u16 = 27;
    pub const BANDWIDTH_DOWN: u16 = 28;
    pub const ROUTER: u16 = 29;
    pub const BLA_OWN: u16 = 30;
    pub const BLA_ADDRESS: u16 = 31;
    pub const BLA_VID: u16 = 32;
    pub const BLA_BACKBONE: u16 = 33;
    pub const BLA_CRC: u16 = 34;
    pub const DAT_CACHE_IP4ADDRESS: u16 = 35;
    pub const DAT_CACHE_HWADDRESS: u16 = 36;
    pub const DAT_CACHE_VID: u16 = 37;
    pub const AP_ISOLATION: u16 = 42;
    pub const BONDING: u16 = 45;
    pub const BRIDGE_LOOP_AVOIDANCE: u16 = 46;
    pub const DISTRIBUTED_ARP_TABLE: u16 = 47;
    pub const FRAGMENTATION: u16 = 48;
    pub const GW_BANDWIDTH_DOWN: u16 = 49;
    pub const GW_BANDWIDTH_UP: u16 = 50;
    pub const GW_MODE: u16 = 51;
    pub const GW_SEL_CLASS: u16 = 52;
    pub const HOP_PENALTY: u16 = 53;
    pub const MULTICAST_FORCEFLOOD: u16 = 55;
    pub const ORIG_INTERVAL: u16 = 57;
    pub const ELP_INTERVAL: u16 = 58;
    pub const THROUGHPUT_OVERRIDE: u16 = 59;
}

/// A query of batman-adv: command and name in errors.
#[derive(Debug, Clone, Copy)]
struct Query(u8, &'static str);

const MESH: Query = Query(1, "batadv mesh");
/// `BATADV_CMD_SET_MESH`.
const SET_MESH: u8 = 15;
const HARD_INTERFACES: Query = Query(5, "batadv hard interfaces");
const TRANS_LOCAL: Query = Query(6, "batadv local translations");
const TRANS_GLOBAL: Query = Query(7, "batadv global translations");
const ORIGINATORS: Query = Query(8, "batadv originators");
const NEIGHBORS: Query = Query(9, "batadv neighbours");
const GATEWAYS: Query = Query(10, "batadv gateways");
const BLA_CLAIMS: Query = Query(11, "batadv claims");
const DAT_CACHE: Query = Query(13, "batadv address cache");

/// batman-adv of the running kernel.
#[derive(Debug)]
pub struct Batman {
    socket: GenlSocket,
}

impl Batman {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel has no batman-adv.
    pub fn open(netns: Option<&Path>) -> Result<Self, ReadingError> {
        let socket = GenlSocket::open("batadv", 1, netns)?;
        Ok(Self { socket })
    }

    fn table<T>(
        &mut self,
        query: Query,
        ifname: &str,
        decode: fn(&Attrs<'_>) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, ReadingError> {
        let index = self.socket.index(ifname)?;
        let answers = self.socket.dump(query.1, query.0, |out| {
            put_words(out, attr::MESH_IFINDEX, &[index]);
        })?;
        let row = |answer: &Vec<u8>| decode(&Attrs::read(query.1, payload(answer)?)?);
        let rows: Result<_, DecodeError> = answers.iter().map(row).collect();
        Ok(rows?)
    }

    /// Properties of the mesh interface `ifname`.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] without such an interface; a refusal for one that is not a mesh.
    pub fn mesh(&mut self, ifname: &str) -> Result<Mesh, ReadingError> {
        let index = self.socket.index(ifname)?;
        let answer = self
            .socket
            .call(MESH.1, MESH.0, |out| {
                put_words(out, attr::MESH_IFINDEX, &[index]);
            })?
            .ok_or_else(|| ReadingError::decode(MESH.1))?;
        Ok(Mesh::decode(&Attrs::read(MESH.1, payload(&answer)?)?)?)
    }

    /// Changes settings of the mesh interface `ifname`; `None` fields are kept. The kernel keeps
    /// the settings as long as the interface exists, and may round them: read them back.
    ///
    /// # Errors
    /// As [`Batman::mesh`]; [`ReadingError::Permission`] without `CAP_NET_ADMIN`.
    pub fn set_mesh(&mut self, ifname: &str, config: &BatmanConfig) -> Result<(), ReadingError> {
        let index = self.socket.index(ifname)?;
        let what = format!("settings of {ifname}");
        self.socket.call(&what, SET_MESH, |out| {
            put_words(out, attr::MESH_IFINDEX, &[index]);
            config.encode(out);
        })?;
        Ok(())
    }

    /// Underlying (hard) interfaces.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn hard_interfaces(&mut self, ifname: &str) -> Result<Vec<HardInterface>, ReadingError> {
        let found = self.table(HARD_INTERFACES, ifname, HardInterface::decode)?;
        self.named(found, |row| (row.hard_ifindex, &mut row.hard_ifname))
    }

    /// Routes to originators; the selected one of each is `best`.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn originators(&mut self, ifname: &str) -> Result<Vec<Originator>, ReadingError> {
        let found = self.table(ORIGINATORS, ifname, Originator::decode)?;
        self.named(found, |row| (row.hard_ifindex, &mut row.hard_ifname))
    }

    /// Single-hop neighbours.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn neighbors(&mut self, ifname: &str) -> Result<Vec<Neighbor>, ReadingError> {
        let found = self.table(NEIGHBORS, ifname, Neighbor::decode)?;
        self.named(found, |row| (row.hard_ifindex, &mut row.hard_ifname))
    }

    /// Gateways; the selected one is `best`.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn gateways(&mut self, ifname: &str) -> Result<Vec<Gateway>, ReadingError> {
        let found = self.table(GATEWAYS, ifname, Gateway::decode)?;
        self.named(found, |row| (row.hard_ifindex, &mut row.hard_ifname))
    }

    /// Local translation table: hosts behind this node.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn trans_local(&mut self, ifname: &str) -> Result<Vec<TransLocal>, ReadingError> {
        self.table(TRANS_LOCAL, ifname, TransLocal::decode)
    }

    /// Global translation table: hosts behind other nodes.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn trans_global(&mut self, ifname: &str) -> Result<Vec<TransGlobal>, ReadingError> {
        self.table(TRANS_GLOBAL, ifname, TransGlobal::decode)
    }

    /// Cache of the distributed ARP table.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn dat_cache(&mut self, ifname: &str) -> Result<Vec<DatEntry>, ReadingError> {
        self.table(DAT_CACHE, ifname, DatEntry::decode)
    }

    /// Claims of bridge loop avoidance.
    ///
    /// # Errors
    /// As [`Batman::mesh`].
    pub fn bla_claims(&mut self, ifname: &str) -> Result<Vec<BlaClaim>, ReadingError> {
        self.table(BLA_CLAIMS, ifname, BlaClaim::decode)
    }

    /// Older kernels report interfaces by index only.
    fn named<T>(
        &self,
        mut rows: Vec<T>,
        of: fn(&mut T) -> (u32, &mut String),
    ) -> Result<Vec<T>, ReadingError> {
        for row in &mut rows {
            let (index, name) = of(row);
            if name.is_empty() {
                *name = self.socket.name(index)?;
            }
        }
        Ok(rows)
    }
}
