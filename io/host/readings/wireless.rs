//! Wireless interfaces, channels and stations as rows.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_files::ReadingError;
use groundwave_netlink::nl80211::{
    Channel, Kind, PlinkState, Station, Survey, Wiphy, Wireless, WirelessInterface, band,
    channel_number,
};
use groundwave_protocol::HardwareAddress;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A wireless interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WirelessRow {
    /// Name of the interface.
    pub ifname: String,
    /// Name of the radio.
    pub phy: String,
    /// Role in the network.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Name of the network, of all but meshes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ssid: Option<String>,
    /// Mesh ID, if the kernel reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mesh_id: Option<String>,
    /// Centre of the primary channel, MHz.
    pub freq_mhz: Option<u32>,
    /// Number of the primary channel.
    pub channel: Option<u32>,
    /// Width of the channel, MHz.
    pub width_mhz: Option<u32>,
    /// Power it transmits with, dBm.
    pub tx_power_dbm: Option<f64>,
    /// Noise on the channel, dBm.
    pub noise_dbm: Option<i8>,
}

/// A channel in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChannelRow {
    /// The radio.
    pub phy: String,
    /// The interface on it.
    pub ifname: String,
    /// `2.4GHz`, `5GHz`, `6GHz`, `60GHz`, `s1g` or `other`.
    pub band: String,
    /// Channel number.
    pub channel: Option<u32>,
    /// Centre frequency, MHz.
    pub freq_mhz: u32,
    /// Channel width, MHz.
    pub width_mhz: Option<u32>,
    /// Noise, dBm.
    pub noise_dbm: Option<i8>,
    /// Share of the time it was busy, %.
    pub busy_pct: Option<f64>,
    /// Share of the time the radio sent, %.
    pub tx_pct: Option<f64>,
    /// Share of the time the radio received, %.
    pub rx_pct: Option<f64>,
    /// Largest transmit power allowed, dBm.
    pub max_tx_power_dbm: Option<f64>,
    /// `true` if initiating radiation is not allowed: stations may only reply.
    pub no_ir: bool,
    /// `true` if radar detection is required.
    pub radar: bool,
}

/// A peering of the mesh.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlinkRow {
    /// The peer.
    pub mac: HardwareAddress,
    /// Our interface.
    pub ifname: String,
    /// State of the peering.
    pub plink_state: PlinkState,
    /// Our number of the peering.
    pub llid: Option<u16>,
    /// The peer's number of the peering.
    pub plid: Option<u16>,
    /// Signal of the last frame, dBm.
    pub signal_dbm: Option<i8>,
    /// Signal averaged over frames, dBm.
    pub signal_avg_dbm: Option<i8>,
    /// Rate we last sent with, Mbit/s.
    pub tx_bitrate_mbps: Option<f64>,
    /// Rate it last sent with, Mbit/s.
    pub rx_bitrate_mbps: Option<f64>,
    /// Throughput expected by rate control, kbit/s.
    pub expected_throughput_kbps: Option<u32>,
    /// Airtime of a test frame, in units of 10.24 µs.
    pub airtime_link_metric: Option<u32>,
    /// Retransmitted frames.
    pub tx_retries: Option<u32>,
    /// Frames that failed after all retries.
    pub tx_failed: Option<u32>,
    /// Time since the last frame received, ms.
    pub inactive_ms: Option<u32>,
    /// Age of the entry, s.
    pub connected_s: Option<u32>,
}

/// A station of a wireless interface.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AssocRow {
    /// The station.
    pub mac: HardwareAddress,
    /// Our interface.
    pub ifname: String,
    /// Signal of the last frame, dBm.
    pub signal_dbm: Option<i8>,
    /// Signal averaged over frames, dBm.
    pub signal_avg_dbm: Option<i8>,
    /// Rate we last sent with, Mbit/s.
    pub tx_bitrate_mbps: Option<f64>,
    /// Rate it last sent with, Mbit/s.
    pub rx_bitrate_mbps: Option<f64>,
    /// Bytes received from it.
    pub rx_bytes: Option<u64>,
    /// Bytes sent to it.
    pub tx_bytes: Option<u64>,
    /// Time since the last frame received, ms.
    pub inactive_ms: Option<u32>,
    /// Age of the entry, s.
    pub connected_s: Option<u32>,
    /// `true` if the station is authorised to exchange data.
    pub authorized: Option<bool>,
}

/// Everything the kernel's radios say at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Radios {
    /// Interfaces by number.
    pub interfaces: Vec<WirelessInterface>,
    /// Radios by number.
    pub wiphys: Vec<Wiphy>,
    /// Stations by the number of the interface.
    pub stations: BTreeMap<u32, Vec<Station>>,
    /// The channel in use by the number of the interface.
    pub surveys: BTreeMap<u32, Survey>,
}

/// Asks for everything, in the network namespace at `netns` or that of the calling thread.
///
/// # Errors
/// [`ReadingError::Absent`] when the kernel has no nl80211.
pub fn read(netns: Option<&Path>) -> Result<Radios, ReadingError> {
    let mut wireless = Wireless::open(netns)?;
    let mut radios = Radios {
        interfaces: wireless.interfaces()?,
        wiphys: wireless.wiphys()?,
        ..Radios::default()
    };
    for interface in &radios.interfaces {
        // One that is down, or went away since, has nothing to say.
        let stations = wireless.stations(&interface.ifname).unwrap_or_default();
        radios.stations.insert(interface.ifindex, stations);
        let surveys = wireless.surveys(&interface.ifname).unwrap_or_default();
        if let Some(survey) = surveys.into_iter().find(|survey| survey.in_use) {
            radios.surveys.insert(interface.ifindex, survey);
        }
    }
    Ok(radios)
}

impl Radios {
    fn phy(&self, wiphy: u32) -> String {
        let found = self.wiphys.iter().find(|radio| radio.wiphy == wiphy);
        found.map_or_else(|| format!("phy{wiphy}"), |radio| radio.phy.clone())
    }

    fn channel(&self, wiphy: u32, freq_mhz: u32) -> Option<&Channel> {
        let radio = self.wiphys.iter().find(|radio| radio.wiphy == wiphy)?;
        let mut channels = radio.channels.iter();
        channels.find(|channel| channel.freq_mhz == freq_mhz)
    }

    fn known(&self) -> impl Iterator<Item = (&WirelessInterface, &Station)> {
        self.interfaces.iter().flat_map(|interface| {
            let stations =
                self.stations.get(&interface.ifindex).map(Vec::as_slice).unwrap_or_default();
            stations.iter().map(move |station| (interface, station))
        })
    }

    /// Interfaces.
    #[must_use]
    pub fn wireless(&self) -> Vec<WirelessRow> {
        let row = |interface: &WirelessInterface| {
            let mesh = interface.kind == Kind::MeshPoint;
            let network = |wanted: bool| interface.network.clone().filter(|_| mesh == wanted);
            WirelessRow {
                ifname: interface.ifname.clone(),
                phy: self.phy(interface.wiphy),
                kind: interface.kind,
                ssid: network(false),
                mesh_id: network(true),
                freq_mhz: interface.freq_mhz,
                channel: interface.freq_mhz.and_then(channel_number),
                width_mhz: interface.width_mhz,
                tx_power_dbm: interface.tx_power_dbm,
                noise_dbm: self.surveys.get(&interface.ifindex).and_then(|one| one.noise_dbm),
            }
        };
        self.interfaces.iter().map(row).collect()
    }

    /// Channels in use.
    #[must_use]
    pub fn channels(&self) -> Vec<ChannelRow> {
        let row = |interface: &WirelessInterface| {
            let freq_mhz = interface.freq_mhz?;
            let survey = self.surveys.get(&interface.ifindex);
            let channel = self.channel(interface.wiphy, freq_mhz);
            let share = |part: fn(&Survey) -> Option<u64>| {
                survey.and_then(|survey| survey.percent(part(survey)))
            };
            Some(ChannelRow {
                phy: self.phy(interface.wiphy),
                ifname: interface.ifname.clone(),
                band: band(freq_mhz).to_owned(),
                channel: channel_number(freq_mhz),
                freq_mhz,
                width_mhz: interface.width_mhz,
                noise_dbm: survey.and_then(|survey| survey.noise_dbm),
                busy_pct: share(|survey| survey.busy_ms),
                tx_pct: share(|survey| survey.tx_ms),
                rx_pct: share(|survey| survey.rx_ms),
                max_tx_power_dbm: channel.and_then(|channel| channel.max_tx_power_dbm),
                no_ir: channel.is_some_and(|channel| channel.no_ir),
                radar: channel.is_some_and(|channel| channel.radar),
            })
        };
        self.interfaces.iter().filter_map(row).collect()
    }

    /// Peerings of all meshes.
    #[must_use]
    pub fn plinks(&self) -> Vec<PlinkRow> {
        let row = |(interface, station): (&WirelessInterface, &Station)| {
            Some(PlinkRow {
                mac: station.mac,
                ifname: interface.ifname.clone(),
                plink_state: station.plink_state?,
                llid: station.llid,
                plid: station.plid,
                signal_dbm: station.signal_dbm,
                signal_avg_dbm: station.signal_avg_dbm,
                tx_bitrate_mbps: station.tx_bitrate_mbps,
                rx_bitrate_mbps: station.rx_bitrate_mbps,
                expected_throughput_kbps: station.expected_throughput_kbps,
                airtime_link_metric: station.airtime_link_metric,
                tx_retries: station.tx_retries,
                tx_failed: station.tx_failed,
                inactive_ms: station.inactive_ms,
                connected_s: station.connected_s,
            })
        };
        self.known().filter_map(row).collect()
    }

    /// Stations of all interfaces.
    #[must_use]
    pub fn associations(&self) -> Vec<AssocRow> {
        let row = |(interface, station): (&WirelessInterface, &Station)| AssocRow {
            mac: station.mac,
            ifname: interface.ifname.clone(),
            signal_dbm: station.signal_dbm,
            signal_avg_dbm: station.signal_avg_dbm,
            tx_bitrate_mbps: station.tx_bitrate_mbps,
            rx_bitrate_mbps: station.rx_bitrate_mbps,
            rx_bytes: station.rx_bytes,
            tx_bytes: station.tx_bytes,
            inactive_ms: station.inactive_ms,
            connected_s: station.connected_s,
            authorized: station.authorized,
        };
        self.known().map(row).collect()
    }
}
