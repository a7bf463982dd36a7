//! TCP over a lossy link: losses are those of single frames.
//!
//! The loss of each transfer begins with the same number, which kernel 6.12 takes (`TCA_NETEM_PRNG_SEED`), so that
//! the same frames of it are lost, and the transfers differ by what is one packet for the discipline.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use groundwave_kernel::batch::Batch;
use groundwave_kernel::{Handle, Request, Verb};
use groundwave_netlink::GenlSocket;
use groundwave_netlink::attr::{put, put_nested, put_text};
use groundwave_netlink::netns::within;
use groundwave_simulation::testbed::{Means, Shape};
use groundwave_testbed::veth_qdiscs::VethQdiscs;

use super::bed::{Testbed, seconds};
use crate::guest::{Group, inside};
use crate::wire::{now_ns, tool};

/// The tests of this file: older kernels take no seed.
pub static GROUP: Group = Group::on_newer("testbed::tcp", &super::MODULES);

mod throughput_over_a_lossy_link_is_that_of_single_frames {
    #[groundwave_needs::needs(virtual_machine, newer_kernel, routing_programs, terrain)]
    #[test]
    fn newer() {
        if super::inside() {
            super::throughput_over_a_lossy_link_is_that_of_single_frames();
        } else {
            let case = concat!(module_path!(), "::newer");
            // The name of a test has no name of its crate.
            let (_, case) = case.split_once("::").unwrap();
            super::GROUP.assert(case);
        }
    }
}

const FROM: &str = "nolvik";
const TO: &str = "ramberget";
/// Length of a transfer, bytes: some five thousand frames, of which fifty are lost.
const TRANSFER_BYTES: usize = 8 << 20;
/// Maximum difference of the throughput from that of single frames.
const SHARE: f64 = 0.05;
/// Excess of the throughput of packets of many segments, which shows that the transfer is sensitive to them.
const EXCESS: f64 = 0.1;
/// Attribute of `netem` with the begin of its random numbers (`TCA_NETEM_PRNG_SEED`).
const PRNG_SEED: u16 = 14;
const SEED: u64 = 29;

fn netns(node: &str) -> PathBuf {
    PathBuf::from(format!("/run/netns/gw.tcp.{node}"))
}

fn throughput_over_a_lossy_link_is_that_of_single_frames() {
    let testbed = Testbed::up("tcp", &[("routing = \"babel\"", "routing = \"static\"")]);
    testbed.in_force();
    testbed.output_of(&[
        "set",
        FROM,
        TO,
        "--loss",
        "1%",
        "--delay",
        "10ms",
        "--rate",
        "20mbit",
        "--one-way",
    ]);
    testbed.output_of(&[
        "set",
        TO,
        FROM,
        "--loss",
        "0%",
        "--delay",
        "10ms",
        "--rate",
        "20mbit",
        "--one-way",
    ]);
    testbed.in_force();
    let far = testbed.address(TO);
    let route = testbed.command(FROM, "ip").args(["route", "get", &far]).output().unwrap();
    let route = String::from_utf8(route.stdout).unwrap();
    assert!(route.contains(&format!("dev to-{TO}")), "{route}");
    let as_made = transfer(&testbed, &far);
    segmentation(FROM, TO, false);
    segmentation(TO, FROM, false);
    let single = transfer(&testbed, &far);
    segmentation(FROM, TO, true);
    tool("ip", &format!("-n gw.tcp.{FROM} link set to-{TO} gso_max_segs 65535"));
    let many = transfer(&testbed, &far);
    println!(
        "as made {:.2} Mbit/s, single frames {:.2}, packets of many segments {:.2}",
        as_made / 1e6,
        single / 1e6,
        many / 1e6
    );
    let excess = |bps: f64| bps / single - 1.0;
    assert!(excess(as_made).abs() <= SHARE, "{as_made} bit/s for {single}");
    assert!(excess(many) >= EXCESS, "{many} bit/s for {single}: the transfer shows no difference");
}

/// Throughput of one transfer, bit/s, with the losses of [`SEED`].
fn transfer(testbed: &Testbed, far: &str) -> f64 {
    begin_losses(testbed);
    let to: SocketAddr = format!("{far}:5900").parse().unwrap();
    let listener = within(Some(&netns(TO)), || TcpListener::bind(to)).unwrap().unwrap();
    let receiver = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = vec![0; 1 << 16];
        let mut count = 0;
        loop {
            match stream.read(&mut buffer).unwrap() {
                0 => return (count, now_ns()),
                bytes => count += bytes,
            }
        }
    });
    let mut sender = within(Some(&netns(FROM)), || TcpStream::connect(to)).unwrap().unwrap();
    let began_ns = now_ns();
    let bytes = vec![7; TRANSFER_BYTES];
    sender.write_all(&bytes).unwrap();
    drop(sender);
    let (count, ended_ns) = receiver.join().unwrap();
    assert_eq!(count, TRANSFER_BYTES);
    println!("{count} bytes after {:.2} s", seconds(began_ns));
    8e9 * count as f64 / (ended_ns - began_ns) as f64
}

/// Begins the random numbers of the losses anew; the values stay.
fn begin_losses(testbed: &Testbed) {
    let link = Testbed::link(&testbed.status(), FROM, TO);
    let shape: Shape = serde_json::from_value(link["predicted"].clone()).unwrap();
    let netem = VethQdiscs::of(&shape, Means::Full).unicast.unwrap();
    let mut options = netem.payload(None);
    put(&mut options, PRNG_SEED, &SEED.to_ne_bytes());
    let index = ifindex(FROM, TO);
    let request = Request {
        verb: Verb::Change,
        index,
        handle: Handle::new(0x12, 0),
        parent: Handle::new(1, 2),
        kind: "netem",
        options: Some(options),
    };
    let mut batch = Batch::open(Some(&netns(FROM))).unwrap();
    let refused = batch.send(&[request]).unwrap();
    assert!(refused.is_empty(), "{refused:?}");
}

fn ifindex(node: &str, peer: &str) -> u32 {
    let links = tool("ip", &format!("-n gw.tcp.{node} -j link show to-{peer}"));
    let links: serde_json::Value = serde_json::from_str(&links).unwrap();
    u32::try_from(links[0]["ifindex"].as_u64().unwrap()).unwrap()
}

/// Switches segmentation and reassembly of an interface in the kernel, as `ethtool -K` does
/// (`linux/ethtool_netlink.h`).
fn segmentation(node: &str, peer: &str, is_on: bool) {
    /// `NLA_F_NESTED`, which this family checks.
    const NESTED: u16 = 1 << 15;
    /// `ETHTOOL_MSG_FEATURES_SET`.
    const FEATURES_SET: u8 = 12;
    /// `ETHTOOL_A_FEATURES_HEADER` with `ETHTOOL_A_HEADER_DEV_NAME`, `ETHTOOL_A_FEATURES_WANTED`.
    const HEADER: u16 = 1;
    const DEVICE: u16 = 2;
    const WANTED: u16 = 3;
    /// `ETHTOOL_A_BITSET_BITS`, `ETHTOOL_A_BITSET_BITS_BIT`, `ETHTOOL_A_BITSET_BIT_NAME` and its value.
    const BITS: u16 = 3;
    const BIT: u16 = 1;
    const NAME: u16 = 2;
    const VALUE: u16 = 3;
    let features =
        ["tx-tcp-segmentation", "tx-tcp6-segmentation", "tx-generic-segmentation", "rx-gro"];
    let mut socket = GenlSocket::open("ethtool", 1, Some(Path::new(&netns(node)))).unwrap();
    let write = |out: &mut Vec<u8>| {
        put_nested(out, NESTED | HEADER, |out| put_text(out, DEVICE, &format!("to-{peer}")));
        put_nested(out, NESTED | WANTED, |out| {
            put_nested(out, NESTED | BITS, |out| {
                for feature in features {
                    put_nested(out, NESTED | BIT, |out| {
                        put_text(out, NAME, feature);
                        if is_on {
                            put(out, VALUE, &[]);
                        }
                    });
                }
            });
        });
    };
    socket.call("set features", FEATURES_SET, write).unwrap();
}
