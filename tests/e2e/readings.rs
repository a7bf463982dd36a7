//! Our decoded readings beside the output of `batctl`, `iw`, `ip` and `wg` for the same kernel.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use groundwave_credentials::PrivateKey;
use groundwave_files::Root;
use groundwave_host::readings::probe::{Backend, probe};
use groundwave_host::readings::{RouteSocket, mesh, wireless};
use groundwave_netlink::batadv::Batman;
use groundwave_netlink::nl80211::{Kind, PlinkState};
use groundwave_netlink::wireguard::{AllowedIp, DeviceConfig, PeerConfig, WireGuard};
use serde::Serialize;
use serde_json::Value;

use crate::tool::{run, say, wait_for};

/// Rows of ours by what names them in both.
fn keyed<T: Serialize>(rows: &[T], keys: &[&str]) -> BTreeMap<String, Value> {
    let key = |row: &Value| keys.iter().map(|key| row[*key].to_string()).collect::<String>();
    let rows = rows.iter().map(|row| serde_json::to_value(row).unwrap());
    rows.map(|row| (key(&row), row)).collect()
}

fn same(table: &str, ours: &BTreeMap<String, Value>, keys: &[&str], fields: &[&str]) {
    let output = run("", &format!("batctl meshif bat0 {table}_json"));
    let output: Vec<Value> =
        serde_json::from_str(&output).unwrap_or_else(|err| panic!("{output}: {err}"));
    let theirs = keyed(&output, keys);
    let names = |rows: &BTreeMap<String, Value>| rows.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(ours), names(&theirs), "{table}");
    for (key, our) in ours {
        for field in fields {
            let their = match &theirs[key][*field] {
                Value::Null if our[*field].is_boolean() => &Value::Bool(false),
                other => other,
            };
            assert_eq!(our[*field], *their, "{table} {key} {field}");
        }
    }
    say(&format!("{table}: {} rows as batctl has them", ours.len()));
}

/// Compares everything.
pub fn compare() {
    let backends = probe(&Root::default(), None);
    let there = [backends.batman, backends.nl80211, backends.wireguard];
    assert_eq!(there, [Backend::Netlink; 3]);
    tables();
    stations();
    links();
    status();
    tunnel();
}

fn tables() {
    let mut batman = Batman::open(None).unwrap();
    let ways = ["orig_address", "neigh_address"];
    let originators = keyed(&batman.originators("bat0").unwrap(), &ways);
    same("originators", &originators, &ways, &["hard_ifname"]);
    let neighbours = ["neigh_address"];
    let entries = keyed(&batman.neighbors("bat0").unwrap(), &neighbours);
    same("neighbors", &entries, &neighbours, &["hard_ifname"]);
    let hosts = ["tt_address", "tt_vid"];
    let local = keyed(&batman.trans_local("bat0").unwrap(), &hosts);
    same("transtable_local", &local, &hosts, &["tt_crc32"]);
    let hosts = ["tt_address", "tt_vid", "orig_address"];
    let global = keyed(&batman.trans_global("bat0").unwrap(), &hosts);
    same("transtable_global", &global, &hosts, &["tt_ttvn", "tt_last_ttvn", "tt_crc32", "best"]);
    let hardifs = ["hard_ifname"];
    let entries = keyed(&batman.hard_interfaces("bat0").unwrap(), &hardifs);
    same("hardifs", &entries, &hardifs, &["hard_address", "active", "hop_penalty"]);
    let mesh = batman.mesh("bat0").unwrap();
    let offer = mesh.gw_bandwidth.map(|offer| (offer.down_kbps, offer.up_kbps));
    assert_eq!(offer, Some((10_000, 2_000)));
    assert_eq!((mesh.orig_interval_ms, mesh.bridge_loop_avoidance), (Some(200), Some(false)));
    let mut node = Batman::open(Some(Path::new("/run/netns/n1"))).unwrap();
    wait_for("the node chose its gateway", 30, || {
        let entries = node.gateways("bat0").unwrap().into_iter().find(|one| one.best);
        entries.map(|one| {
            assert_eq!((one.bandwidth_down_kbps, one.bandwidth_up_kbps), (10_000, 2_000))
        })
    });
    let absent = batman.mesh("no-mesh").unwrap_err();
    assert!(absent.is_absent(), "{absent}");
}

/// The first word behind a name in `iw`'s report of a station.
fn word<'a>(output: &'a str, name: &str) -> &'a str {
    let line = output.lines().find_map(|line| line.trim().strip_prefix(name));
    line.unwrap_or_else(|| panic!("{name}: {output}")).trim().split(' ').next().unwrap()
}

fn stations() {
    let radios = wireless::read(None).unwrap();
    let output = run("", "iw dev wlan0 station dump");
    let output: Vec<&str> = output.split("Station ").skip(1).collect();
    let (plinks, associations) = (radios.plinks(), radios.associations());
    assert_eq!((plinks.len(), associations.len(), output.len()), (2, 2, 2));
    for plink in &plinks {
        let own = output.iter().find(|output| output.starts_with(&plink.mac.to_string())).unwrap();
        assert_eq!(plink.plink_state, PlinkState::Estab);
        assert_eq!(plink.llid.unwrap().to_string(), word(own, "mesh llid:"));
        assert_eq!(plink.plid.unwrap().to_string(), word(own, "mesh plid:"));
        assert_eq!(plink.signal_dbm.unwrap().to_string(), word(own, "signal:"));
        assert_eq!(plink.signal_avg_dbm.unwrap().to_string(), word(own, "signal avg:"));
        let seconds: u32 = word(own, "connected time:").parse().unwrap();
        assert!(plink.connected_s.unwrap().abs_diff(seconds) <= 2);
    }
    let [row] = radios.wireless().try_into().unwrap();
    assert_eq!(
        (row.ifname.as_str(), row.phy.as_str(), row.kind),
        ("wlan0", "phy0", Kind::MeshPoint)
    );
    assert_eq!((row.freq_mhz, row.channel, row.width_mhz), (Some(2412), Some(1), Some(20)));
    let [channel] = radios.channels().try_into().unwrap();
    assert_eq!((channel.band.as_str(), channel.max_tx_power_dbm), ("2.4GHz", Some(20.0)));
    say("stations, interfaces and channels as iw has them");
}

fn links() {
    let mut socket = RouteSocket::open(None).unwrap();
    let interfaces = socket.interfaces(&Root::default()).unwrap();
    let output: Vec<Value> = serde_json::from_str(&run("", "ip -s -d -j link")).unwrap();
    assert_eq!(interfaces.len(), output.len());
    for (our, their) in interfaces.iter().zip(&output) {
        assert_eq!(our.name, their["ifname"]);
        assert_eq!(our.operstate.to_uppercase(), their["operstate"]);
        assert_eq!(our.master.as_deref(), their["master"].as_str());
    }
    let bat0 = interfaces.iter().find(|one| one.name == "bat0").unwrap();
    assert_eq!((bat0.kind.as_str(), bat0.carrier), ("batadv", true));
    run("n1", "ip addr add 10.41.0.9/24 dev bat0");
    let peer: IpAddr = [10, 41, 0, 9].into();
    wait_for("the other end answers", 60, || {
        crate::tool::try_run("", "ping -c 1 -W 2 10.41.0.9").0.then_some(())
    });
    let learnt = socket.hardware_of("bat0", peer).unwrap().unwrap();
    let theirs = RouteSocket::open(Some(Path::new("/run/netns/n1")))
        .unwrap()
        .links()
        .unwrap()
        .into_iter()
        .find(|one| one.name == "bat0")
        .unwrap();
    assert_eq!(theirs.mac, Some(learnt));
    // The same address is behind the same node in the global translation table.
    let global = Batman::open(None).unwrap().trans_global("bat0").unwrap();
    assert!(global.iter().any(|one| one.tt_address == learnt));
    run("n1", "ip addr del 10.41.0.9/24 dev bat0");
    say("interfaces and neighbours as ip has them");
}

fn status() {
    let radios = wireless::read(None).ok();
    let status = mesh::status(None, "bat0", radios.as_ref()).unwrap();
    assert_eq!((status.neighbor_count, status.originator_count), (2, 2));
    assert_eq!((status.plink_estab, status.hardifs), (Some(2), vec!["wlan0".to_owned()]));
    let config = mesh::config(None, "bat0").unwrap();
    assert_eq!((config.mesh_fwding, config.freq_mhz), (Some(false), Some(2412)));
    say("the mesh as a whole");
}

fn tunnel() {
    let (own, peer) = (PrivateKey::generate().unwrap(), PrivateKey::generate().unwrap().public());
    let mut route = RouteSocket::open(None).unwrap();
    route.ensure_device("wg9", "wireguard").unwrap();
    route.ensure_device("wg9", "wireguard").unwrap();
    assert!(route.ensure_device("bat0", "wireguard").is_err());
    let mut tunnels = WireGuard::open(None).unwrap();
    let allowed_ips = vec![AllowedIp { address: [10, 99, 0, 2].into(), prefix_len: 32 }];
    let wish = DeviceConfig {
        private_key: Some(own.clone()),
        listen_port: Some(51999),
        replace_peers: true,
        peers: vec![PeerConfig::Present {
            public_key: peer,
            allowed_ips,
            endpoint: Some(([10, 41, 0, 9], 51820).into()),
            keepalive_s: Some(25),
        }],
    };
    tunnels.set("wg9", &wish).unwrap();
    route.add_address("wg9", [10, 99, 0, 1].into(), 24).unwrap();
    route.bring_up("wg9", Some(1400)).unwrap();
    let output = run("", "wg show wg9 dump");
    let mut lines = output.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let (head, line) = (lines.next().unwrap(), lines.next().unwrap());
    assert_eq!((head[1], head[2]), (own.public().to_string().as_str(), "51999"));
    assert_eq!(
        (line[0], line[2], line[3], line[7]),
        (peer.to_string().as_str(), "10.41.0.9:51820", "10.99.0.2/32", "25")
    );
    let device = tunnels.device("wg9").unwrap();
    assert_eq!((device.public_key, device.peers[0].public_key), (Some(own.public()), peer));
    let removal = DeviceConfig {
        peers: vec![PeerConfig::Removed { public_key: peer }],
        ..DeviceConfig::default()
    };
    tunnels.set("wg9", &removal).unwrap();
    assert!(tunnels.device("wg9").unwrap().peers.is_empty());
    let link = route.links().unwrap().into_iter().find(|one| one.name == "wg9").unwrap();
    assert_eq!(
        (link.kind.as_str(), link.mtu, link.ips[0].address),
        ("wireguard", 1400, [10, 99, 0, 1].into())
    );
    route.remove_device("wg9").unwrap();
    assert!(route.index("wg9").unwrap_err().is_absent());
    say("a tunnel made, set, read and taken away as wg has it");
}
