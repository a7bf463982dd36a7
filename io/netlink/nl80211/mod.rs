//! nl80211: wireless interfaces, stations, channel surveys and radios.

mod channel;
mod interface;
mod mesh_config;
mod station;
mod survey;
#[cfg(test)]
mod tests;
mod wiphy;

use std::path::Path;

pub use channel::{band, number as channel_number};
pub use interface::{Kind, WirelessInterface};
pub use mesh_config::MeshParameters;
pub use station::{PlinkState, Station};
pub use survey::Survey;
pub use wiphy::{Channel, Wiphy};

use netlink_packet_core::DecodeError;

use super::attr::{Attrs, put, put_words};
use super::{GenlSocket, payload};
use groundwave_files::ReadingError;

const GET_WIPHY: u8 = 1;
const GET_INTERFACE: u8 = 5;
const GET_STATION: u8 = 17;
const GET_MESH_CONFIG: u8 = 28;
const GET_SURVEY: u8 = 50;

/// `NL80211_ATTR_*` of linux/nl80211.h.
mod attr {
    pub const WIPHY: u16 = 1;
    pub const WIPHY_NAME: u16 = 2;
    pub const IFINDEX: u16 = 3;
    pub const IFNAME: u16 = 4;
    pub const IFTYPE: u16 = 5;
    pub const MAC: u16 = 6;
    pub const STA_INFO: u16 = 21;
    pub const WIPHY_BANDS: u16 = 22;
    pub const MESH_CONFIG: u16 = 35;
    pub const WIPHY_FREQ: u16 = 38;
    pub const WIPHY_CHANNEL_TYPE: u16 = 39;
    pub const SSID: u16 = 52;
    pub const SURVEY_INFO: u16 = 84;
    pub const WIPHY_TX_POWER_LEVEL: u16 = 98;
    pub const CHANNEL_WIDTH: u16 = 159;
    pub const SPLIT_WIPHY_DUMP: u16 = 174;
}

/// Wireless interfaces of the running kernel.
#[derive(Debug)]
pub struct Wireless {
    socket: GenlSocket,
}

impl Wireless {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel has no nl80211.
    pub fn open(netns: Option<&Path>) -> Result<Self, ReadingError> {
        let socket = GenlSocket::open("nl80211", 1, netns)?;
        Ok(Self { socket })
    }

    fn rows<T>(
        &mut self,
        what: &'static str,
        command: u8,
        about: &[(u16, &[u8])],
        decode: fn(&Attrs<'_>) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, ReadingError> {
        let answers = self.socket.dump(what, command, |out| {
            for (kind, value) in about {
                put(out, *kind, value);
            }
        })?;
        let row = |answer: &Vec<u8>| decode(&Attrs::read(what, payload(answer)?)?);
        let rows: Result<_, DecodeError> = answers.iter().map(row).collect();
        Ok(rows?)
    }

    /// All wireless interfaces. Devices without an interface, as those for peer-to-peer discovery,
    /// are omitted.
    ///
    /// # Errors
    /// When the request fails or the answer cannot be decoded.
    pub fn interfaces(&mut self) -> Result<Vec<WirelessInterface>, ReadingError> {
        let what = "nl80211 interfaces";
        let found = self.rows(what, GET_INTERFACE, &[], WirelessInterface::decode)?;
        let mut found: Vec<_> = found.into_iter().flatten().collect();
        found.sort_by_key(|one| one.ifindex);
        Ok(found)
    }

    /// Stations of the interface `ifname`: peers of a mesh, clients of an access point.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] without such an interface, or for one that is not wireless.
    pub fn stations(&mut self, ifname: &str) -> Result<Vec<Station>, ReadingError> {
        let index = self.socket.index(ifname)?.to_ne_bytes();
        let about = [(attr::IFINDEX, index.as_slice())];
        self.rows("nl80211 stations", GET_STATION, &about, Station::decode)
    }

    /// Channel surveys of the interface `ifname`; that of the current channel is `in_use`.
    ///
    /// # Errors
    /// As [`Wireless::stations`].
    pub fn surveys(&mut self, ifname: &str) -> Result<Vec<Survey>, ReadingError> {
        let index = self.socket.index(ifname)?.to_ne_bytes();
        let about = [(attr::IFINDEX, index.as_slice())];
        let found = self.rows("nl80211 surveys", GET_SURVEY, &about, Survey::decode)?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Radios and their channels.
    ///
    /// # Errors
    /// When the request fails or the answer cannot be decoded.
    pub fn wiphys(&mut self) -> Result<Vec<Wiphy>, ReadingError> {
        let about = [(attr::SPLIT_WIPHY_DUMP, [].as_slice())];
        let parts = self.rows("nl80211 radios", GET_WIPHY, &about, Wiphy::decode)?;
        Ok(Wiphy::joined(parts))
    }

    /// Mesh parameters of the interface `ifname`.
    ///
    /// # Errors
    /// As [`Wireless::stations`]; a refusal for an interface outside a mesh.
    pub fn mesh_parameters(&mut self, ifname: &str) -> Result<MeshParameters, ReadingError> {
        let what = "nl80211 mesh parameters";
        let index = self.socket.index(ifname)?;
        let answer = self
            .socket
            .call(what, GET_MESH_CONFIG, |out| {
                put_words(out, attr::IFINDEX, &[index]);
            })?
            .ok_or_else(|| ReadingError::decode(what))?;
        let attrs = Attrs::read(what, payload(&answer)?)?;
        Ok(MeshParameters::decode(&attrs)?)
    }
}
