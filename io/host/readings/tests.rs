//! Tables of a kernel against the output of `ip` at the same moment; fixture files of machines.

use std::fs;
use std::path::Path;

use groundwave_files::{ReadingError, Root};
use groundwave_netlink::fixture::{json, messages};
use serde_json::Value;

use super::*;
use crate::readings::board::BoardSource;
use crate::readings::cpu::Ticks;
use crate::readings::neighbours::NeighbourState;

#[test]
fn interfaces_are_what_ip_says() {
    let found = links::assembled(&messages("route/links"), &messages("route/addresses")).unwrap();
    let (said, addresses) = (json("route/links"), json("route/addresses"));
    let said = said.as_array().unwrap();
    assert_eq!(found.len(), said.len());
    for (our, their) in found.iter().zip(said) {
        assert_eq!(our.name, their["ifname"]);
        assert_eq!(our.ifindex, their["ifindex"]);
        assert_eq!(our.mtu, their["mtu"]);
        assert_eq!(our.operstate.to_uppercase(), their["operstate"]);
        assert_eq!(our.rx_bytes, their["stats64"]["rx"]["bytes"]);
        assert_eq!(our.tx_packets, their["stats64"]["tx"]["packets"]);
        assert_eq!(our.tx_dropped, their["stats64"]["tx"]["dropped"]);
        if let Some(kind) = their["linkinfo"]["info_kind"].as_str() {
            assert_eq!(our.kind, kind);
        }
        if their["link_type"] == "ether" {
            assert_eq!(our.mac.unwrap().to_string(), their["address"]);
        }
        assert_eq!(our.master.as_deref(), their["master"].as_str());
        let theirs = addresses.as_array().unwrap().iter().find(|one| one["ifname"] == our.name);
        let theirs = theirs.unwrap()["addr_info"].as_array().unwrap();
        assert_eq!(our.ips.len(), theirs.len());
        for (our, their) in our.ips.iter().zip(theirs) {
            assert_eq!(our.address.to_string(), their["local"]);
            assert_eq!(our.prefix_len, their["prefixlen"]);
            assert_eq!(our.scope, their["scope"]);
        }
    }
    assert!(found.iter().any(|one| one.kind == "batadv" && !one.ips.is_empty()));
    assert!(found.iter().any(|one| one.name == "wlan0" && one.master.as_deref() == Some("bat0")));
}

#[test]
fn neighbours_are_what_ip_says() {
    let found = neighbours::decoded(&messages("route/neighbours")).unwrap();
    let said = json("route/neighbours");
    let said = said.as_array().unwrap();
    let mut states = Vec::new();
    for their in said {
        let ours = found.iter().filter(|our| our.ip.to_string() == their["dst"]);
        let ours: Vec<_> = ours.collect();
        assert!(!ours.is_empty(), "{their}");
        if let [our] = ours.as_slice() {
            let state = serde_json::to_value(our.state).unwrap();
            assert_eq!(state, their["state"][0]);
            states.push(our.state);
            let seconds = their["confirmed"].as_u64().unwrap();
            assert!((our.confirmed_ms.unwrap() / 1000).abs_diff(seconds) <= 1, "{their}");
            if let Some(mac) = their["lladdr"].as_str().filter(|mac| mac.len() == 17) {
                assert_eq!(our.mac.unwrap().to_string(), mac);
            }
        }
    }
    for state in [
        NeighbourState::Reachable,
        NeighbourState::Permanent,
        NeighbourState::Noarp,
        NeighbourState::Incomplete,
    ] {
        assert!(states.contains(&state), "{state:?}");
    }
}

#[test]
fn routes_are_what_ip_says() {
    let found = routes::decoded(&messages("route/routes")).unwrap();
    let said = json("route/routes");
    for their in said.as_array().unwrap() {
        let Some(dst) = their["dst"].as_str().filter(|dst| dst.contains('.')) else {
            continue;
        };
        let dst = if dst.contains('/') { dst.to_owned() } else { format!("{dst}/32") };
        let of = |our: &&routes::Route| {
            our.dst == dst && (our.table == 255) == (their["table"] == "local")
        };
        let our = found.iter().find(of).unwrap_or_else(|| panic!("{their}"));
        if let Value::String(gateway) = &their["gateway"] {
            assert_eq!(our.gateway.unwrap().to_string(), *gateway);
            assert_eq!((our.metric, our.proto.as_str()), (50, "boot"));
        }
        if let Value::String(scope) = &their["scope"] {
            assert_eq!(our.scope, *scope);
        }
    }
    assert!(found.iter().any(|our| our.gateway.is_some()));
}

fn lay(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn a_host_is_what_its_files_say() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    assert!(host::info(&root).unwrap_err().is_absent());
    lay(
        folder.path(),
        &[
            ("proc/sys/kernel/hostname", "hill\n"),
            ("proc/sys/kernel/osrelease", "6.1.0-56-arm64\n"),
            ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n"),
            ("proc/uptime", "12345.67 4000.00\n"),
            ("proc/loadavg", "0.20 0.18 0.12 1/80 11206\n"),
            (
                "proc/meminfo",
                "MemTotal:  948304 kB\nMemFree:  500000 kB\nMemAvailable:  700000 kB\n",
            ),
            (
                "proc/mounts",
                "overlay / overlay rw 0 0\n/dev/sda1 /no\\040where ext4 rw 0 0\nproc /proc proc rw 0 0\n",
            ),
            ("run/systemd/timesync/synchronized", ""),
        ],
    );
    let info = host::info(&root).unwrap();
    assert_eq!(
        (info.hostname.as_str(), info.os.as_str()),
        ("hill", "Debian GNU/Linux 12 (bookworm)")
    );
    assert_eq!((info.uptime_s, info.load), (12345, [0.20, 0.18, 0.12]));
    assert_eq!((info.memory.total, info.memory.available), (948_304 * 1024, 700_000 * 1024));
    assert_eq!(info.storage.iter().map(|one| one.mount.as_str()).collect::<Vec<_>>(), ["/"]);
    assert_eq!(
        (info.clock.synced, info.clock.source.as_deref()),
        (Some(true), Some("systemd-timesyncd"))
    );
    lay(folder.path(), &[("proc/loadavg", "a b c\n")]);
    assert!(matches!(host::info(&root), Err(ReadingError::Decode { .. })));
}

#[test]
fn a_processor_is_what_its_files_say() {
    let folder = tempfile::tempdir().unwrap();
    let root = Root::at(folder.path());
    lay(
        folder.path(),
        &[
            (
                "proc/stat",
                "cpu  300 0 0 700 0 0 0 0 0 0\ncpu0 100 0 0 400 0 0 0 0 50 0\ncpu1 200 0 0 300 0 0 0 0 0 0\nintr 1\n",
            ),
            (
                "proc/cpuinfo",
                "processor\t: 0\nBogoMIPS\t: 38.40\n\nRevision\t: a02082\nModel\t\t: Raspberry Pi 3 Model B Rev 1.2\n",
            ),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "600000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1200000\n"),
            ("sys/class/thermal/thermal_zone0/temp", "48312\n"),
            ("sys/class/thermal/thermal_zone1/temp", "-2147483648\n"),
            ("sys/class/thermal/cooling_device0/type", "cpufreq-cpu0\n"),
            ("sys/class/thermal/cooling_device0/cur_state", "2\n"),
            ("proc/device-tree/model", "Raspberry Pi 3 Model B\0"),
            ("proc/device-tree/compatible", "raspberrypi,3-model-b\0brcm,bcm2837\0"),
        ],
    );
    let cpu = cpu::read(&root, None).unwrap();
    assert_eq!((cpu.cores, cpu.model.as_str()), (2, "Raspberry Pi 3 Model B Rev 1.2"));
    assert_eq!((cpu.usage_pct, cpu.freq_mhz), (vec![20.0, 40.0], vec![600.0, 1200.0]));
    assert_eq!((cpu.temperature_c, cpu.throttled), (Some(48.312), Some(true)));
    let before = [Ticks { busy: 100, all: 400 }, Ticks { busy: 150, all: 400 }];
    assert_eq!(cpu::read(&root, Some(&before)).unwrap().usage_pct, [0.0, 50.0]);
    let board = board::read(&root);
    assert_eq!(board.model.as_deref(), Some("Raspberry Pi 3 Model B"));
    assert_eq!(board.compatible, ["raspberrypi,3-model-b", "brcm,bcm2837"]);
    assert_eq!(
        (board.revision.as_deref(), board.source),
        (Some("a02082"), BoardSource::DeviceTree)
    );
    let nowhere = tempfile::tempdir().unwrap();
    assert_eq!(board::read(&Root::at(nowhere.path())).source, BoardSource::Unknown);
}

#[test]
fn this_machine_answers() {
    let root = Root::default();
    let info = host::info(&root).unwrap();
    assert!(info.memory.total >= info.memory.available && info.uptime_s > 0);
    assert!(cpu::read(&root, None).unwrap().cores > 0);
    let mut socket = RouteSocket::open(None).unwrap();
    let lo = socket.interfaces(&root).unwrap().into_iter().find(|one| one.name == "lo").unwrap();
    assert_eq!((lo.kind.as_str(), lo.ifindex), ("loopback", socket.index("lo").unwrap()));
    assert!(socket.index("no-such-link").unwrap_err().is_absent());
    assert!(socket.routes().is_ok() && socket.neighbours().is_ok());
    let backends = probe::probe(&root, None);
    // Any backend of this machine is possible, except a fixture.
    assert_ne!(backends.batman, probe::Backend::Fixture);
}
