//! Bytes that a heartbeat costs the files of a gateway: journal, checkpoints and history.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use groundwave_engine::{Engine, Recorded};
use groundwave_gateway::fleet::{RecordHeartbeat, StoreMinute};
use groundwave_gateway::onboarding::{
    AddressPool, ApproveRegistration, JoinClaims, RegistrationId, RequestJoin, SameMac,
};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Flat;
use groundwave_needs::needs;
use groundwave_protocol::{Mac, Proof, PublicKey};
use groundwave_simulation::site::NodeId;
use groundwave_store::files::simulated::Noise;
use groundwave_store::*;
use serde_json::json;

use crate::TelemetryStore;

const START_NS: u64 = 1_800_000_000_000_000_000;
const SECOND_NS: u64 = 1_000_000_000;
/// Heartbeat period, s.
const PERIOD_S: u64 = 5;

fn mac(number: u64) -> Mac {
    let [.., a, b, c, d] = number.to_be_bytes();
    Mac([2, 0, a, b, c, d])
}

fn engine(nodes: u64) -> Engine<Snapshot> {
    let ground = Flat { elevation_msl_m: 0.0 };
    let mut builder = world(Arc::new(ground));
    builder.resource(AddressPool::parse("10.64.0.0/16").unwrap());
    let mut engine: Engine<Snapshot> = builder.build(1, 1_000_000).unwrap();
    let source = IpAddr::V4(Ipv4Addr::new(10, 41, 0, 9));
    let mut noise = Noise(7);
    for number in 0..nodes {
        let request = RequestJoin {
            registration: RegistrationId::from_u128((1 << 64) + u128::from(number)),
            node: NodeId::from_u128((2 << 64) + u128::from(number)),
            same_mac: SameMac::SameNode,
            public_key: PublicKey::new(noise.bytes(32).try_into().unwrap()).unwrap(),
            claims: JoinClaims {
                mac: mac(number),
                hostname: format!("node-{number}"),
                listen_port: None,
                source_ip: source,
                underlay_ip: source,
                proof: Proof::Absent,
                mac_verified: false,
                code_sha256: None,
                key_proof: None,
            },
        };
        let approve = ApproveRegistration {
            registration: request.registration,
            node: request.node,
            same_mac: SameMac::SameNode,
            name: None,
            role_id: None,
            overlay_ip: None,
            by: "test".to_owned(),
            revision: None,
        };
        does(&mut engine, START_NS, [request]);
        does(&mut engine, START_NS, [approve]);
    }
    engine
}

/// Submits commands of one tick.
fn does<C: Recorded>(
    engine: &mut Engine<Snapshot>,
    at_ns: u64,
    commands: impl IntoIterator<Item = C>,
) {
    let handle = engine.handle();
    let submit = |command| handle.submit(command).unwrap();
    let replies: Vec<_> = commands.into_iter().map(submit).collect();
    engine.tick(Some(at_ns)).unwrap();
    replies.into_iter().for_each(|reply| drop(reply.wait().unwrap()));
}

/// A heartbeat as an agent sends it: four interfaces, a radio, six neighbours, 24 readings, all
/// changing without a pattern.
fn heartbeat(number: u64, seq: u64, noise: &mut Noise) -> RecordHeartbeat {
    let mut below = |most: u64| noise.number() % most;
    let readings =
        (0..24).map(|at| (format!("sys.reading_{at}"), json!(below(10_000) as f64 / 100.0)));
    let readings: serde_json::Map<_, _> = readings.collect();
    let links: Vec<_> = (1..=6)
        .map(|at| {
            json!({
                "neigh_address": mac(number + at), "tq": 200 + below(55),
                "signal_dbm": -60.0 - below(20) as f64, "last_seen_msecs": below(1_000),
                "selected": at == 1,
            })
        })
        .collect();
    let interfaces: Vec<_> = ["bat0", "mesh0", "eth0", "wg0"]
        .iter()
        .map(|name| {
            json!({
                "name": name, "mac": mac(number), "mtu": 1500, "operstate": "up",
                "ips": ["10.42.0.7"], "rx_bytes": seq * 12_345 + below(9_999),
                "tx_bytes": seq * 2_345 + below(999),
            })
        })
        .collect();
    let heartbeat = json!({
        "mac": mac(number), "hostname": format!("node-{number}"), "agent_version": "0.1.0",
        "boot_id": format!("boot-{number}"), "seq": seq, "uptime_s": seq * PERIOD_S,
        "underlay_ip": "10.41.0.9", "signal_dbm": -61.0, "active_transport": "wifi",
        "capabilities": ["batman", "wireguard"], "interfaces": interfaces,
        "radios": [{
            "ifname": "mesh0", "phy": "phy0", "type": "mesh_point", "freq_mhz": 5180,
            "width_mhz": 20, "signal_dbm": -61.0, "tx_retries": seq * 7,
        }],
        "mesh": { "algo_name": "BATMAN_V", "originators": 20, "neighbor_count": 6,
            "plink_estab": 6, "links": links },
        "metrics": readings,
    });
    RecordHeartbeat {
        node: NodeId::from_u128((2 << 64) + u128::from(number)),
        heartbeat: serde_json::from_value(heartbeat).unwrap(),
        source_ip: IpAddr::V4(Ipv4Addr::new(10, 41, 0, 9)),
        now_ns: seq * PERIOD_S * SECOND_NS,
        sent_ms: None,
    }
}

/// Bytes for each heartbeat of `nodes` nodes, `together` of them in a tick, from one period to another:
/// those that store and history hand over, and those that `written` counts.
fn bytes_per_heartbeat(
    folder: &Path,
    (nodes, together): (u64, u64),
    (from, to): (u64, u64),
    written: impl Fn() -> u64,
) -> [u64; 3] {
    let store = RedbStore::open(&folder.join("world.db")).unwrap();
    let of_store = store.written_bytes();
    let history = TelemetryStore::open(&folder.join("telemetry.redb")).unwrap();
    let mut engine = engine(nodes);
    engine.keep(store).unwrap();
    let mut minutes = engine.effects::<StoreMinute>();
    let mut noise = Noise(8);
    let counts = || [of_store(), history.written_bytes(), written()];
    let mut before = [0; 3];
    for seq in 1..=to {
        if seq == from + 1 {
            before = counts();
        }
        for first in (0..nodes).step_by(together as usize) {
            let at_ns =
                START_NS + seq * PERIOD_S * SECOND_NS + first * PERIOD_S * SECOND_NS / nodes;
            let numbers = first..(first + together).min(nodes);
            let heartbeats = numbers.map(|number| heartbeat(number, seq, &mut noise));
            does(&mut engine, at_ns, heartbeats);
        }
        // As the gateway, which gathers minutes for ten seconds.
        if seq % 2 == 0 {
            let complete: Vec<_> = std::iter::from_fn(|| minutes.try_next()).collect();
            if !complete.is_empty() {
                history.keep(&complete).unwrap();
            }
        }
    }
    let after = counts();
    [0, 1, 2].map(|at| (after[at] - before[at]) / (nodes * (to - from)))
}

#[test]
fn a_heartbeat_of_fifty_nodes_costs_under_two_kilobytes() {
    let folder = tempfile::tempdir().unwrap();
    let [store, history, _] = bytes_per_heartbeat(folder.path(), (50, 1), (24, 72), || 0);
    assert!(store + history < 1_500, "store {store}, history {history}");
}

#[test]
fn heartbeats_that_arrive_together_cost_less() {
    let folder = tempfile::tempdir().unwrap();
    let [store, history, _] = bytes_per_heartbeat(folder.path(), (300, 10), (12, 24), || 0);
    assert!(store + history < 1_000, "store {store}, history {history}");
}

/// An ext4 file system of its own on a loop device.
struct Disk {
    folder: tempfile::TempDir,
    device: String,
}

fn run(program: &str, arguments: &[&str]) -> String {
    let output = std::process::Command::new(program).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        let file = std::fs::File::create(&image).unwrap();
        file.set_len(256 << 20).unwrap();
        let image = image.to_str().unwrap();
        let whole = "lazy_itable_init=0,lazy_journal_init=0";
        run("mkfs.ext4", &["-q", "-E", whole, image]);
        let device = run("losetup", &["--find", "--show", image]);
        let disk = Self { folder, device };
        std::fs::create_dir(disk.mounted()).unwrap();
        run("mount", &[&disk.device, disk.mounted().to_str().unwrap()]);
        disk
    }

    fn mounted(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// Bytes written to the device, after everything is on it.
    fn written_bytes(&self) -> u64 {
        run("sync", &["--file-system", self.mounted().to_str().unwrap()]);
        let name = self.device.rsplit('/').next().unwrap();
        let stat = std::fs::read_to_string(format!("/sys/block/{name}/stat")).unwrap();
        stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let undo = |program: &str, arguments: &[&Path]| {
            let _ = std::process::Command::new(program).args(arguments).status();
        };
        undo("umount", &[&self.mounted()]);
        undo("losetup", &[Path::new("--detach"), Path::new(&self.device)]);
    }
}

#[needs(loop_device)]
#[test]
fn a_heartbeat_costs_a_block_device_under_two_kilobytes() {
    let disk = Disk::new();
    let written = || disk.written_bytes();
    let [store, history, device] = bytes_per_heartbeat(&disk.mounted(), (50, 1), (24, 48), written);
    let files = format!("store {store}, history {history}");
    assert!(device < 2_000, "{device} bytes at the device; {files}");
    // All that the files were handed reached the device.
    assert!(device >= store, "{device} bytes at the device; {files}");
}
