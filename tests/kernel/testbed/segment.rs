//! One interface a node, on a segment that all are on.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::time::Duration;

use groundwave_testbed::inside;
use serde_json::Value;

use super::babel::{BEHIND, converged};
use super::bed::{NODES, Testbed, until};
use super::measured::{FRAMES, MAC, NOBODY, links_are_as_predicted};
use super::{crash, guest};
use crate::wire::tool;

guest!(
    "testbed::segment":
    each_neighbour_is_received_at_the_rate_of_its_link,
    babeld_on_one_interface_has_all_neighbours,
    a_killed_controller_loses_no_packet_on_a_segment,
);

/// The scenario's links as shares of one segment.
const SEGMENT: (&str, &str) = ("name = \"ridge\"", "name = \"ridge\"\nwiring = \"segment\"");

/// Announcements a node sends.
const SENT: u32 = 1500;
/// Where announcements go.
const PORT: u16 = 4791;

fn each_neighbour_is_received_at_the_rate_of_its_link() {
    let testbed = Testbed::up("air", &[SEGMENT, MAC, FRAMES, NOBODY]);
    assert_eq!(testbed.status()["wiring"], "segment");
    for node in NODES {
        let there = tool("ip", &format!("netns exec gw.air.{node} ip -br link"));
        let names = there.lines().filter_map(|line| line.split(['@', ' ']).next());
        assert_eq!(names.collect::<Vec<_>>(), ["lo", "radio0"], "{node}");
    }
    links_are_as_predicted(&testbed);
    every_receiver_gets_the_share_of_its_link(&testbed);

    // A node that does not receive another one is not reached by unicast from it either.
    let city = testbed.address("ramberget");
    let hardware = tool("ip", "netns exec gw.air.ramberget cat /sys/class/net/radio0/address");
    for node in ["bohus", "save"] {
        let neighbour = format!("{city} lladdr {} dev radio0 nud permanent", hardware.trim());
        tool("ip", &format!("netns exec gw.air.{node} ip neighbour replace {neighbour}"));
    }
    let received = || {
        let counters = tool("ip", "netns exec gw.air.ramberget ip -j -s link show dev radio0");
        let counters: Vec<Value> = serde_json::from_str(&counters).unwrap();
        counters[0]["stats64"]["rx"]["packets"].as_u64().unwrap()
    };
    testbed.output_of(&["cut", "save", "ramberget"]);
    until("the cut is in force", || {
        let link = Testbed::link(&testbed.status(), "save", "ramberget");
        link["predicted"]["up"] == false && link["generation"] == link["observed_generation"]
    });
    let before = received();
    let mut ping = testbed.command("bohus", "ping");
    let lost = ping.args(["-c", "20", "-i", "0.05", "-W", "1", "-q", &city]);
    assert!(!lost.output().unwrap().status.success());
    let mut ping = testbed.command("save", "ping");
    let lost = ping.args(["-c", "20", "-i", "0.05", "-W", "1", "-q", &city]);
    assert!(!lost.output().unwrap().status.success());
    println!("{} frames in the meantime", received() - before);
    assert!(received() - before < 20, "frames of others");
}

/// Each node in turn broadcasts many frames; counts of what each node received of each other.
fn every_receiver_gets_the_share_of_its_link(testbed: &Testbed) {
    let socket = |node: &str| {
        let path = format!("/run/netns/gw.{}.{node}", testbed.name);
        inside(path.as_ref(), || {
            let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
            socket.set_broadcast(true).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        })
        .unwrap()
    };
    let sockets = NODES.map(socket);
    let mut counts: BTreeMap<(usize, usize), u32> = BTreeMap::new();
    let mut listen = || {
        let mut frame = [0; 64];
        for (at, socket) in sockets.iter().enumerate() {
            while let Ok((1, _)) = socket.recv_from(&mut frame) {
                *counts.entry((usize::from(frame[0]), at)).or_default() += 1;
            }
        }
    };
    for (number, socket) in (0_u8..).zip(&sockets) {
        for _ in 0..SENT {
            socket.send_to(&[number], ("10.77.255.255", PORT)).unwrap();
            listen();
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    for _ in 0..40 {
        std::thread::sleep(Duration::from_millis(25));
        listen();
    }
    let status = testbed.status();
    let (mut lossy, mut deaf) = (0, 0);
    for (one, from) in NODES.iter().enumerate() {
        for (other, to) in NODES.iter().enumerate().filter(|(other, _)| *other != one) {
            let count = counts.get(&(one, other)).copied().unwrap_or(0);
            let mut links = status["links"].as_array().unwrap().iter();
            let link = links.find(|link| link["from"] == *from && link["to"] == *to);
            let link = link.filter(|link| link["predicted"]["up"] == true);
            let Some(link) = link else {
                assert_eq!(count, 0, "{to} receives nothing from {from}");
                deaf += 1;
                continue;
            };
            let expected = link["predicted"]["broadcast_loss_prob"].as_f64().unwrap();
            let loss = 1.0 - f64::from(count) / f64::from(SENT);
            println!(
                "{from} > everybody, at {to}: {:.2} % lost, predicted {:.2} %",
                loss * 100.0,
                expected * 100.0
            );
            let sigma = (expected * (1.0 - expected) / f64::from(SENT)).sqrt();
            let apart = (loss - expected).abs();
            assert!(apart <= 4.0 * sigma + 1e-3, "{from} at {to}: {loss} for {expected}");
            lossy += usize::from(expected > 0.02 && expected < 0.98);
        }
    }
    assert!(lossy >= 2 && deaf >= 2, "{lossy} lose some, {deaf} receive nothing");
}

fn babeld_on_one_interface_has_all_neighbours() {
    let testbed = Testbed::up("waves", &[SEGMENT]);
    converged(&testbed, "on a segment");
    let city = testbed.address("ramberget");
    testbed.await_answers("bohus", &city);
    testbed.output_of(&["fail", "save"]);
    println!(
        "save fails: pings get through again after {:.1} s",
        testbed.await_answers("bohus", &city)
    );
    converged(&testbed, "without save");
    testbed.output_of(&["repair", "save"]);
    testbed.output_of(&["move", "save", BEHIND]);
    println!(
        "save behind the hill: pings get through after {:.1} s",
        testbed.await_answers("bohus", &city)
    );
    converged(&testbed, "with save behind the hill");
}

fn a_killed_controller_loses_no_packet_on_a_segment() {
    crash::survives("adrift", &[SEGMENT]);
}
