//! Output of programs and files of the machine: babeld, ping, gpsd, dnsmasq, nft, upsd, /proc.

use groundwave_files::Root;
use groundwave_fuzz::fuzz_target;
use groundwave_host::readings::reservations::Reservations;
use groundwave_host::readings::{cpu, host, leases};
use groundwave_io_agent::Fix;
use groundwave_io_gateway::nft::Listing;
use groundwave_io_gateway::nut::{line, sample};
use groundwave_protocol::HardwareAddress;
use groundwave_testbed::{babel, probe};

use super::{as_file, text};

fuzz_target!(babeld, vec![
    b"add route 5c8 prefix 10.77.0.3/32 from 0.0.0.0/0 installed yes id 02:77 metric 512 refmetric 256 via fe80::77:ff:fe00:201 if to-b".to_vec(),
    b"add neighbour 5c9 address fe80::1 if to-b reach ffff".to_vec(),
], |bytes: &[u8]| {
    for line in text(bytes).lines() {
        drop(babel::parse(line));
    }
});
fuzz_target!(ping, vec![b"PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n\n--- 10.0.0.2 ping statistics ---\n5 packets transmitted, 4 received, 20% packet loss, time 806ms\nrtt min/avg/max/mdev = 0.041/0.052/0.063/0.008 ms\n".to_vec()], |bytes: &[u8]| {
    let _ = probe::read(&text(bytes));
});
fuzz_target!(
    gpsd,
    vec![
        br#"{"class":"TPV","device":"/dev/ttyS0","mode":3,"lat":57.7,"lon":11.9}"#.to_vec(),
        br#"{"class":"SKY","uSat":9,"satellites":[{"PRN":1,"used":true},{"PRN":2}]}"#.to_vec(),
    ],
    |bytes: &[u8]| {
        let mut fix = Fix::default();
        fix.hear(bytes);
        assert!(matches!(fix.mode, 0 | 2 | 3));
    }
);
fuzz_target!(
    nft_listing,
    vec![br#"{"nftables": [{"metainfo": {}}, {"table": {"family": "inet", "name": "meshgw", "handle": 1}}, {"chain": {"name": "input", "handle": 1}}, {"rule": {"chain": "input", "comment": "a", "expr": [{"counter": {"packets": 1, "bytes": 2}}, {"accept": null}]}}, {"set": {"name": "s"}}]}"#.to_vec()],
    |bytes: &[u8]| {
        if let Ok(found) = Listing::parse(bytes) {
            assert_eq!(found.differences(Some(&found)), []);
        }
    }
);
fuzz_target!(
    nut_lines,
    vec![
        b"VAR rack ups.status \"OB LB\"\nVAR rack battery.charge \"12.5\"\nERR DATA-STALE\n"
            .to_vec()
    ],
    |bytes: &[u8]| {
        let text = text(bytes);
        let pairs = text.lines().filter_map(line::words).filter_map(|mut words| {
            let value = words.pop()?;
            Some((words.pop()?, value))
        });
        let found = sample(&pairs.collect(), 0);
        assert!(found.battery_charge_pct.is_none_or(|pct| (0.0..=100.0).contains(&pct)));
    }
);
fuzz_target!(dhcp_leases, vec![b"1700000000 02:00:00:00:00:01 10.0.0.7 host 01:02\nduid 00:01\n1700000000 7 fd00::7 host 00:01\n".to_vec()], |bytes: &[u8]| drop(leases::parse(bytes)));
fuzz_target!(
    reservations,
    vec![b"02:00:00:00:00:01,10.0.0.7,camera\n".to_vec()],
    |bytes: &[u8]| {
        as_file("02-00-00-00-00-01.conf", bytes, |path| {
            drop(Reservations::at(path.parent().expect("a folder")).all());
        });
        drop(text(bytes).parse::<HardwareAddress>());
    }
);
fuzz_target!(proc_files, vec![
    b"cpu  10 20 30 40 50 60 70 0 0 0\ncpu0 1 2 3 4 5 6 7 0 0 0\nMemTotal: 100 kB\nMemAvailable: 50 kB\n".to_vec(),
    b"0.10 0.20 0.30 1/200 777\n".to_vec(),
    b"12345.67 9999.99\n".to_vec(),
    b"MemTotal:       16000 kB\nMemFree:  1 kB\nMemAvailable: 8000 kB\nSwapTotal: 0 kB\n".to_vec(),
], |bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a folder");
    let root = Root::at(folder.path());
    std::fs::create_dir_all(root.path("proc")).expect("a folder");
    std::fs::create_dir_all(root.path("etc")).expect("a folder");
    for name in ["proc/stat", "proc/loadavg", "proc/uptime", "proc/meminfo", "etc/os-release"] {
        std::fs::write(root.path(name), bytes).expect("a file");
    }
    drop(cpu::read(&root, None));
    drop(host::info(&root));
    drop(host::uptime_s(&root));
    drop(host::load(&root));
    drop(groundwave_files::memory::memory(&root));
});
