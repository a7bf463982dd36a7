//! A node for tests: two peers, one of them unheard for a while.

use std::collections::BTreeMap;

use groundwave_host::readings::links::{Address, Interface};
use groundwave_host::readings::wireless::Radios;
use groundwave_netlink::batadv::{Gateway, Mesh, Neighbor, Originator};
use groundwave_netlink::nl80211::{Kind, PlinkState, Station, WirelessInterface};
use groundwave_protocol::HardwareAddress;

use super::host_state::{HostState, MeshState};

pub(super) const OWN: HardwareAddress = HardwareAddress([2, 0, 0, 0, 0xaa, 1]);
pub(super) const PEERS: [HardwareAddress; 2] =
    [HardwareAddress([2, 0, 0, 0, 1, 0]), HardwareAddress([2, 0, 0, 0, 2, 0])];

fn interface(ifindex: u32, name: &str, kind: &str, mac: HardwareAddress) -> Interface {
    Interface {
        ifindex,
        name: name.to_owned(),
        kind: kind.to_owned(),
        mac: Some(mac),
        mtu: 1500,
        operstate: "up".to_owned(),
        carrier: true,
        master: None,
        ips: Vec::new(),
        rx_bytes: 1_000,
        tx_bytes: 2_000,
        rx_packets: 10,
        tx_packets: 20,
        rx_errors: 0,
        tx_errors: 0,
        rx_dropped: 0,
        tx_dropped: 0,
        speed_mbps: None,
    }
}

fn station(mac: HardwareAddress, signal: i8, retries: u32) -> Station {
    Station {
        mac,
        ifindex: 2,
        plink_state: Some(PlinkState::Estab),
        llid: None,
        plid: None,
        signal_dbm: Some(signal),
        signal_avg_dbm: Some(signal),
        tx_bitrate_mbps: Some(13.0),
        rx_bitrate_mbps: None,
        expected_throughput_kbps: None,
        airtime_link_metric: None,
        tx_retries: Some(retries),
        tx_failed: Some(0),
        rx_bytes: None,
        tx_bytes: None,
        inactive_ms: None,
        connected_s: None,
        authorized: None,
    }
}

fn way(orig: HardwareAddress, neigh: HardwareAddress, tq: u8, best: bool) -> Originator {
    Originator {
        orig_address: orig,
        neigh_address: neigh,
        hard_ifindex: 2,
        hard_ifname: "wlan0".to_owned(),
        last_seen_msecs: 100,
        best,
        tq: Some(tq),
        throughput_kbps: None,
    }
}

fn neighbor(mac: HardwareAddress, last_seen_msecs: u32) -> Neighbor {
    Neighbor {
        neigh_address: mac,
        hard_ifindex: 2,
        hard_ifname: "wlan0".to_owned(),
        last_seen_msecs,
        throughput_kbps: None,
    }
}

fn mesh() -> MeshState {
    let [one, two] = PEERS;
    let settings = serde_json::json!({
        "version": "2022.3", "algo_name": "BATMAN_IV", "mesh_ifname": "bat0", "mesh_address": OWN,
    });
    let mesh: Mesh = serde_json::from_value(settings).unwrap();
    MeshState {
        mesh,
        hardifs: vec!["wlan0".to_owned()],
        originators: vec![
            way(one, one, 200, true),
            way(two, two, 90, false),
            way(two, one, 120, true),
        ],
        neighbors: vec![neighbor(one, 100), neighbor(two, 9_000), neighbor(two, 11_000)],
        gateways: vec![Gateway {
            orig_address: two,
            router: one,
            hard_ifindex: 2,
            hard_ifname: "wlan0".to_owned(),
            best: true,
            tq: Some(120),
            throughput_kbps: None,
            bandwidth_down_kbps: 10_000,
            bandwidth_up_kbps: 2_000,
        }],
    }
}

/// The node.
pub(super) fn host() -> HostState {
    let mut bat0 = interface(3, "bat0", "batadv", OWN);
    bat0.ips.push(Address {
        address: [10, 41, 0, 57].into(),
        prefix_len: 24,
        scope: "global".to_owned(),
    });
    let wlan0 = WirelessInterface {
        ifindex: 2,
        ifname: "wlan0".to_owned(),
        wiphy: 0,
        kind: Kind::MeshPoint,
        mac: Some(HardwareAddress([2, 0, 0, 0, 0, 0])),
        network: None,
        freq_mhz: Some(2412),
        width_mhz: Some(20),
        tx_power_dbm: Some(20.0),
    };
    let stations = vec![station(PEERS[0], -55, 10), station(PEERS[1], -65, 7)];
    HostState {
        hostname: "hill".to_owned(),
        boot_id: "b-1".to_owned(),
        uptime_s: 100,
        interfaces: vec![
            interface(1, "lo", "loopback", HardwareAddress([0; 6])),
            interface(2, "wlan0", "ethernet", HardwareAddress([2, 0, 0, 0, 0, 0])),
            bat0,
        ],
        radios: Some(Radios {
            interfaces: vec![wlan0],
            stations: BTreeMap::from([(2, stations)]),
            ..Radios::default()
        }),
        mesh: Some(mesh()),
        ..HostState::default()
    }
}
