//! Delay, loss and rate measured with packets, beside the world's predictions for the link.

use serde_json::Value;

use super::bed::Testbed;
use super::guest;
use crate::wire::tool;

guest!("testbed::measured": loss_delay_and_rate_are_those_of_the_link);

/// Pings a direction; the loss follows from them within four standard deviations.
const PINGS: f64 = 400.0;
/// Largest excess of the shortest round trip over the predicted one, ms: the time that the virtual
/// machine itself takes.
const LATE_MS: f64 = 5.0;
/// A stream's rate is within this share of the predicted one.
const RATE_SHARE: f64 = 0.1;
/// Streams of which the best counts: a machine that is busy elsewhere only slows one.
const STREAMS: usize = 6;

/// Long frames, never sent again, by slow machines: all three show.
pub const MAC: (&str, &str) = (
    "mac = { broadcast_mcs = 3, broadcast_bytes = 1500 }",
    "mac = { broadcast_mcs = 3, broadcast_bytes = 1500, retries = 0, processing_ns = 15_000_000 }",
);
pub const FRAMES: (&str, &str) = ("metric = \"etx\"", "metric = \"etx\"\npacket_bytes = 12_000");
pub const NOBODY: (&str, &str) = ("routing = \"babel\"", "routing = \"none\"");

fn loss_delay_and_rate_are_those_of_the_link() {
    let testbed = Testbed::up("measure", &[MAC, FRAMES, NOBODY]);
    ends_send_single_segments();
    programs_see_their_node(&testbed);
    links_are_as_predicted(&testbed);
    rates(&testbed);
}

/// Loss would act on packets of many segments at once otherwise.
fn ends_send_single_segments() {
    let links = tool("ip", "netns exec gw.measure.nolvik ip -details -json link");
    let links: Value = serde_json::from_str(&links).unwrap();
    let of_ends = |link: &&Value| link["linkinfo"]["info_kind"] == "veth";
    let segments: Vec<&Value> = links
        .as_array()
        .unwrap()
        .iter()
        .filter(of_ends)
        .map(|link| &link["gso_max_segs"])
        .collect();
    assert!(!segments.is_empty(), "{links}");
    assert!(segments.iter().all(|maximum| **maximum == 1), "{segments:?}");
}

/// Interfaces, host name and names of neighbours of a program in a node.
fn programs_see_their_node(testbed: &Testbed) {
    let of = |program: &[&str]| testbed.output_of(&[&["exec", "nolvik", "--"], program].concat());
    let interfaces = of(&["ls", "/sys/class/net"]);
    assert!(interfaces.contains("to-ramberget") && !interfaces.contains("eth0"), "{interfaces}");
    assert_eq!(of(&["cat", "/proc/sys/kernel/hostname"]).trim(), "nolvik");
    let hosts = of(&["cat", "/etc/hosts"]);
    assert!(hosts.contains("\tnolvik\n") && hosts.contains("\tramberget\n"), "{hosts}");
}

/// Pings over each link: what is lost, and how long they take.
pub fn links_are_as_predicted(testbed: &Testbed) {
    let count = PINGS.to_string();
    let report = testbed.output_of(&["report", "--ping", "--count", &count, "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let mut lossy = 0;
    let up = |link: &&Value| link["predicted"]["up"] == true;
    for link in report["links"].as_array().unwrap().iter().filter(up) {
        let number = |value: &Value| value.as_f64().unwrap();
        let name = format!("{} > {}", link["from"], link["to"]);
        let (sent, received) =
            (number(&link["measured"]["sent"]), number(&link["measured"]["received"]));
        let (loss, expected) =
            (1.0 - received / sent, number(&link["predicted_round_trip_loss_prob"]));
        let sigma = (expected * (1.0 - expected) / sent).sqrt();
        let fastest = number(&link["measured"]["round_trip_ms"][0]);
        let least = number(&link["predicted_round_trip_ms"]);
        println!(
            "{name}: loss {:.2} %, predicted {:.2} %; fastest round trip {fastest:.2} ms, predicted {least:.2} ms",
            loss * 100.0,
            expected * 100.0
        );
        assert!(sent >= PINGS);
        assert!(
            (loss - expected).abs() <= 4.0 * sigma + 1.0 / sent,
            "{name}: {loss} for {expected}"
        );
        assert!(fastest >= least && fastest <= least + LATE_MS, "{name}: {fastest} for {least}");
        lossy += usize::from(expected > 0.05);
    }
    assert!(lossy >= 4, "losses that show");
}

/// The best of several streams is as fast as the link, and none is faster.
fn rates(testbed: &Testbed) {
    let mut best: std::collections::BTreeMap<String, (f64, f64)> = Default::default();
    for _ in 0..STREAMS {
        let report = testbed.output_of(&[
            "report",
            "nolvik",
            "ramberget",
            "--throughput",
            "--seconds",
            "2",
            "--json",
        ]);
        let report: Value = serde_json::from_str(&report).unwrap();
        for link in report["links"].as_array().unwrap() {
            let Some(measured) = link["measured"]["throughput_bps"].as_f64() else {
                continue;
            };
            // The stream offers half as much again, so that the shaper is full in spite of the loss.
            let predicted = link["predicted"]["rate_bps"].as_f64().unwrap();
            let name = format!("{} > {}", link["from"], link["to"]);
            assert!(
                measured <= predicted * (1.0 + RATE_SHARE),
                "{name}: {measured} for {predicted}"
            );
            let entry = best.entry(name).or_insert((predicted, 0.0));
            entry.1 = entry.1.max(measured);
        }
        let short = |(predicted, best): &(f64, f64)| *best < predicted * (1.0 - RATE_SHARE);
        if !best.values().any(short) {
            break;
        }
    }
    assert_eq!(best.len(), 2);
    for (name, (predicted, measured)) in &best {
        println!("{name}: {:.2} Mbit/s, predicted {:.2}", measured / 1e6, predicted / 1e6);
        assert!(*measured >= predicted * (1.0 - RATE_SHARE), "{name}: {measured} for {predicted}");
    }
}
