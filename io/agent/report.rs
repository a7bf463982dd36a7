//! A host state as a heartbeat.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use groundwave_netlink::nl80211::{Kind, PlinkState, Station, WirelessInterface};
use groundwave_protocol::HardwareAddress;
use groundwave_protocol::PublicKey;
use groundwave_protocol::{
    Heartbeat, Interface, MeshLink, MeshReport, RadioReport, Transport, TransportKind,
};
use uuid::Uuid;

use super::backlog::Readings;
use super::host_state::{HostState, MeshState, Ready};

/// Most entries of each list; the gateway takes no more.
const INTERFACES_MAX: usize = 32;
const LINKS_MAX: usize = 64;
const IPS_MAX: usize = 32;
/// Frequencies below are those of 802.11ah, MHz.
const HALOW_MHZ: u32 = 1_000;

/// Content of a heartbeat besides the state of the machine.
#[derive(Debug, Clone)]
pub struct About {
    /// Identifier that the gateway assigned.
    pub node_id: Option<Uuid>,
    /// Public key of the node.
    pub public_key: PublicKey,
    /// Link to the mesh.
    pub ready: Ready,
    /// Overlay address; `None` before the registration.
    pub overlay_ip: Option<Ipv4Addr>,
    /// The mesh interface.
    pub mesh_ifname: String,
    /// Number of the heartbeat.
    pub seq: u64,
    /// Number of the last heartbeat that was acknowledged.
    pub acknowledged_seq: Option<u64>,
    /// Time of sending, RFC 3339.
    pub sent_at: String,
    /// Capabilities of the node.
    pub capabilities: Vec<String>,
}

/// The heartbeat of a host state and its readings.
///
/// # Errors
/// When the mesh interface has an address that no single interface can have.
pub fn beat(host: &HostState, readings: &Readings, about: About) -> Result<Heartbeat, String> {
    let transports = transports(host, &about.mesh_ifname);
    let active = transports.iter().find(|one| one.up).map(|one| one.kind);
    let metrics: BTreeMap<String, f64> =
        readings.iter().map(|(name, value)| (name.to_string(), *value)).collect();
    Ok(Heartbeat {
        node_id: about.node_id,
        mac: about.ready.mac.of_interface()?,
        hostname: hostname(&host.hostname, about.ready.mac),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        boot_id: boot_id(&host.boot_id),
        seq: about.seq,
        acknowledged_seq: about.acknowledged_seq,
        sent_at: Some(about.sent_at),
        uptime_s: host.uptime_s,
        underlay_ip: Some(about.ready.ip.into()),
        overlay_ip: about.overlay_ip,
        public_key: Some(about.public_key),
        signal_dbm: readings.get("mesh.signal_dbm").copied(),
        active_transport: active.unwrap_or_default(),
        transports,
        capabilities: about.capabilities,
        interfaces: interfaces(host),
        radios: radios(host),
        mesh: mesh(host, readings),
        metrics,
    })
}

/// The host's name; a name that the gateway would not take is replaced by one of the address.
#[must_use]
pub fn hostname(name: &str, mac: HardwareAddress) -> String {
    let short = name.split('.').next().unwrap_or_default();
    for name in [name, short] {
        if name.len() <= 63 && groundwave_protocol::is_hostname(name) {
            return name.to_owned();
        }
    }
    format!("node-{}", mac.to_string().replace(':', ""))
}

fn boot_id(text: &str) -> String {
    if text.is_empty() { "unknown".to_owned() } else { text.chars().take(64).collect() }
}

fn interfaces(host: &HostState) -> Vec<Interface> {
    let entries = host.interfaces.iter().filter(|one| one.name != "lo").take(INTERFACES_MAX);
    let entries = entries.map(|one| Interface {
        name: one.name.clone(),
        mac: one.mac.map(|mac| mac.to_string()),
        mtu: one.mtu,
        operstate: one.operstate.clone(),
        ips: one.ips.iter().map(|ip| ip.address).take(IPS_MAX).collect(),
        rx_bytes: one.rx_bytes,
        tx_bytes: one.tx_bytes,
        rx_errors: one.rx_errors,
        tx_errors: one.tx_errors,
    });
    entries.collect()
}

fn wireless<'a>(host: &'a HostState, name: &str) -> Option<&'a WirelessInterface> {
    let radios = host.radios.as_ref()?;
    radios.interfaces.iter().find(|one| one.ifname == name)
}

/// The interfaces under the mesh, and what they are.
fn transports(host: &HostState, mesh_ifname: &str) -> Vec<Transport> {
    let hardifs = host.mesh.as_ref().map(|mesh| mesh.hardifs.as_slice()).unwrap_or_default();
    let address = host.ready(mesh_ifname).ok().map(|ready| IpAddr::V4(ready.ip));
    let entries = hardifs.iter().take(INTERFACES_MAX).map(|name| {
        let kind = match wireless(host, name) {
            Some(one) if one.freq_mhz.is_some_and(|freq| freq < HALOW_MHZ) => TransportKind::Halow,
            Some(_) => TransportKind::Wifi,
            None => TransportKind::Ethernet,
        };
        Transport {
            name: name.clone(),
            kind,
            up: host.interface(name).is_some_and(|one| one.carrier),
            ip: address,
            rtt_ms: None,
        }
    });
    entries.collect()
}

fn stations(host: &HostState, ifindex: u32) -> &[Station] {
    let radios = host.radios.as_ref();
    let stations = radios.and_then(|radios| radios.stations.get(&ifindex));
    stations.map(Vec::as_slice).unwrap_or_default()
}

fn radios(host: &HostState) -> Vec<RadioReport> {
    let Some(radios) = &host.radios else {
        return Vec::new();
    };
    let rows = radios.wireless();
    let entries = radios.interfaces.iter().zip(rows).take(INTERFACES_MAX);
    let entries = entries.map(|(one, row)| {
        let peers = stations(host, one.ifindex);
        let estab = |peer: &&Station| peer.plink_state == Some(PlinkState::Estab);
        let signals: Vec<f64> =
            peers.iter().filter_map(|peer| peer.signal_avg_dbm).map(f64::from).collect();
        let sum = |of: fn(&Station) -> Option<u32>| {
            let counts: Vec<u64> = peers.iter().filter_map(of).map(u64::from).collect();
            (!counts.is_empty()).then(|| counts.iter().sum())
        };
        RadioReport {
            ifname: row.ifname,
            phy: Some(row.phy),
            kind: serde_json::to_value(one.kind)
                .ok()
                .and_then(|kind| Some(kind.as_str()?.to_owned())),
            mesh_id: row.mesh_id,
            freq_mhz: row.freq_mhz,
            width_mhz: row.width_mhz,
            tx_power_dbm: row.tx_power_dbm,
            signal_dbm: (!signals.is_empty())
                .then(|| signals.iter().sum::<f64>() / signals.len() as f64),
            noise_dbm: row.noise_dbm.map(f64::from),
            plink_estab: (one.kind == Kind::MeshPoint)
                .then(|| u32::try_from(peers.iter().filter(estab).count()).unwrap_or(u32::MAX)),
            tx_retries: sum(|peer| peer.tx_retries),
            tx_failed: sum(|peer| peer.tx_failed),
        }
    });
    entries.collect()
}

fn mesh(host: &HostState, readings: &Readings) -> MeshReport {
    let Some(mesh) = &host.mesh else {
        return MeshReport::default();
    };
    let count = |name: &str| readings.get(name).map_or(0, |count| *count as u32);
    let chosen = mesh.gateways.iter().find(|one| one.best);
    let reached = mesh.originators.iter().filter(|one| one.best).count();
    MeshReport {
        algo_name: Some(mesh.mesh.algo_name.clone()),
        selected_gateway: chosen.and_then(|one| one.orig_address.of_interface().ok()),
        originators: u32::try_from(reached).unwrap_or(u32::MAX),
        neighbor_count: count("mesh.neighbor_count"),
        plink_estab: count("mesh.plink_estab"),
        links: links(host, mesh),
    }
}

/// Neighbours, each once with its last reception, the strongest first when there are too many.
fn links(host: &HostState, mesh: &MeshState) -> Vec<MeshLink> {
    let mut by_address: BTreeMap<HardwareAddress, MeshLink> = BTreeMap::new();
    let peers = host.radios.iter().flat_map(|radios| radios.stations.values().flatten());
    let signals: BTreeMap<HardwareAddress, i8> = peers
        .filter_map(|peer| Some((peer.mac, peer.signal_avg_dbm.or(peer.signal_dbm)?)))
        .collect();
    for one in &mesh.neighbors {
        let Ok(neigh_address) = one.neigh_address.of_interface() else {
            continue;
        };
        let direct = mesh.originators.iter().find(|way| {
            way.orig_address == one.neigh_address && way.neigh_address == one.neigh_address
        });
        let mut ways = mesh.originators.iter();
        let link = MeshLink {
            neigh_address,
            tq: direct.and_then(|way| way.tq),
            throughput_kbps: one.throughput_kbps.and_then(|kbps| u32::try_from(kbps).ok()),
            signal_dbm: signals.get(&one.neigh_address).map(|dbm| f64::from(*dbm)),
            last_seen_msecs: Some(one.last_seen_msecs.into()),
            selected: Some(ways.any(|way| way.best && way.neigh_address == one.neigh_address)),
        };
        let best = by_address.entry(one.neigh_address).or_insert_with(|| link.clone());
        if link.last_seen_msecs < best.last_seen_msecs {
            *best = link;
        }
    }
    let mut links: Vec<MeshLink> = by_address.into_values().collect();
    links.sort_by_key(|link| std::cmp::Reverse((link.tq, link.throughput_kbps)));
    links.truncate(LINKS_MAX);
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Meter;
    use crate::samples;
    use crate::samples::OWN;

    fn about() -> About {
        About {
            node_id: None,
            public_key: "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=".parse().unwrap(),
            ready: Ready { mac: OWN, ip: Ipv4Addr::new(10, 41, 0, 57) },
            overlay_ip: None,
            mesh_ifname: "bat0".to_owned(),
            seq: 1,
            acknowledged_seq: None,
            sent_at: "2026-11-21T20:00:00.000Z".to_owned(),
            capabilities: Vec::new(),
        }
    }

    #[test]
    fn a_heartbeat_tells_what_was_seen_and_the_gateway_takes_it() {
        let host = samples::host();
        let readings = Meter::default().read(&host, 0, 5_000);
        let beat = beat(&host, &readings, about()).unwrap();
        beat.check().unwrap();
        assert_eq!(host.ready("bat0").map(|ready| ready.mac), Ok(OWN));
        assert_eq!(host.ready("bat1").err(), Some("is absent"));
        assert_eq!((beat.active_transport, beat.signal_dbm), (TransportKind::Wifi, Some(-60.0)));
        let links: Vec<_> = beat
            .mesh
            .links
            .iter()
            .map(|link| (link.tq, link.signal_dbm, link.last_seen_msecs, link.selected))
            .collect();
        assert_eq!(
            links,
            [
                (Some(200), Some(-55.0), Some(100), Some(true)),
                (Some(90), Some(-65.0), Some(9_000), Some(false))
            ]
        );
        assert_eq!(
            (beat.mesh.originators, beat.mesh.neighbor_count, beat.mesh.plink_estab),
            (2, 2, 2)
        );
        assert_eq!(beat.radios[0].tx_retries, Some(17));
        assert_eq!(beat.interfaces.len(), 2);
        assert!(serde_json::to_vec(&beat).unwrap().len() < 16 << 10);
    }

    #[test]
    fn many_neighbours_are_cut_to_the_best() {
        let mut host = samples::host();
        let mesh = host.mesh.as_mut().unwrap();
        let pattern = mesh.neighbors[0].clone();
        mesh.neighbors = (0..200)
            .map(|at| groundwave_netlink::batadv::Neighbor {
                neigh_address: HardwareAddress([2, 9, 0, 0, 0, at]),
                throughput_kbps: Some(u64::from(at)),
                ..pattern.clone()
            })
            .collect();
        host.interfaces = vec![host.interfaces[1].clone(); 50];
        let beat = beat(&host, &Readings::new(), about()).unwrap();
        beat.check().unwrap();
        assert_eq!((beat.mesh.links.len(), beat.mesh.links[0].throughput_kbps), (64, Some(199)));
    }

    #[test]
    fn names_are_those_of_hosts() {
        assert_eq!(hostname("hill", OWN), "hill");
        assert_eq!(hostname("(none)", OWN), "node-02000000aa01");
        assert_eq!(hostname(&format!("hill.{}", "a".repeat(64)), OWN), "hill");
    }
}
