//! Rules as packets meet them: datagrams that arrive, by address, port and services code point.

use std::net::SocketAddr;

use serde_json::{Value, json};

use super::{FLOOD, figures, row};
use crate::bed::{Bed, agrees, arms, impairment};
use crate::wire::{NEAR, ip};

arms! {
    PACKETS,
    each_packet_meets_the_first_rule_that_selects_it: vm, newer;
    delay_of_a_rule_is_that_of_its_packets: vm, newer;
    rules_change_without_leftovers: fake, vm, newer;
}

/// Datagrams for each target.
const COUNT: u64 = 1000;

fn lossy(pct: f64) -> Value {
    json!({"loss": {"model": "bernoulli", "pct": pct}})
}

fn rule(name: &str, selector: Value, impairment: Value) -> Value {
    json!({"name": name, "match": selector, "impairment": impairment})
}

fn each_packet_meets_the_first_rule_that_selects_it(bed: &mut Bed) {
    std::fs::write(format!("/proc/sys/net/ipv6/conf/{NEAR}/disable_ipv6"), "0").unwrap();
    ip(&format!(
        "neighbour add 192.0.2.130 lladdr 02:00:00:00:00:02 dev {NEAR} nud permanent\n\
         address add fd00::1/64 dev {NEAR} nodad\n\
         neighbour add fd00::2 lladdr 02:00:00:00:00:02 dev {NEAR} nud permanent\n"
    ));
    let mut setting = lossy(100.0);
    setting["rules"] = json!([
        {"name": "free", "match": {"protocol": "udp", "destination_ports": "5200"}, "exclude": true},
        rule("lost", json!({"protocol": "udp", "destination_ports": "5000"}), lossy(100.0)),
        rule("half", json!({"protocol": "udp", "destination_ports": "5000-5100"}), lossy(50.0)),
        rule("upper", json!({"destination": "192.0.2.128/25"}), json!({})),
        rule("six", json!({"destination": "fd00::/64", "protocol": "udp"}), lossy(25.0)),
    ]);
    let reading = bed.apply(&impairment(setting)).unwrap();
    assert!(agrees(&reading), "{:?}", reading.divergence);
    let targets = [
        ("192.0.2.2:5200", 1.0, "excluded"),
        ("192.0.2.2:5000", 0.0, "the first of two rules"),
        ("192.0.2.2:5001", 0.5, "a range of ports"),
        ("192.0.2.2:5100", 0.5, "the last port of a range"),
        ("192.0.2.2:5101", 0.0, "no rule"),
        ("192.0.2.130:6000", 1.0, "a range of addresses"),
        ("192.0.2.130:5000", 0.0, "an earlier rule"),
        ("[fd00::2]:6000", 0.75, "IPv6"),
        ("[fd00::2]:5200", 1.0, "IPv6, excluded"),
    ];
    let addresses: Vec<SocketAddr> =
        targets.iter().map(|(target, _, _)| target.parse().unwrap()).collect();
    let arrivals = bed.wire.as_mut().unwrap().deliver(&addresses, COUNT);
    for ((target, share, what), arrivals) in targets.iter().zip(&arrivals) {
        row(&format!("{what}, to {target}"), share * COUNT as f64, arrivals);
        let four_sd = 4.0 * (share * (1.0 - share) * COUNT as f64).sqrt();
        assert!((*arrivals as f64 - share * COUNT as f64).abs() <= four_sd, "{what}: {arrivals}");
    }
    let stats = bed.stats().unwrap();
    let counts: Vec<_> = stats
        .rules
        .iter()
        .map(|rule| (rule.names.join(","), rule.packets_total, rule.drops_total))
        .collect();
    let sum = |names: &[usize]| names.iter().map(|place| arrivals[*place]).sum::<u64>();
    let expected = [
        ("free", sum(&[0, 8]), 0),
        ("lost", 0, 2 * COUNT),
        ("half", sum(&[2, 3]), 2 * COUNT - sum(&[2, 3])),
        ("upper", COUNT, 0),
        ("six", sum(&[7]), COUNT - sum(&[7])),
    ];
    let expected: Vec<_> =
        expected.map(|(name, packets, drops)| (name.to_owned(), packets, drops)).to_vec();
    assert_eq!(counts, expected);
    assert_eq!(stats.packets_total, arrivals.iter().sum::<u64>());
    let of_rules: u64 = stats.rules.iter().map(|rule| rule.drops_total).sum();
    assert!(stats.drops_total >= of_rules + COUNT, "and those that no rule selects");
}

fn delay_of_a_rule_is_that_of_its_packets(bed: &mut Bed) {
    for (ports, minimum_ms, maximum_ms) in [("4790", 20.0, 22.0), ("4791", 0.0, 2.0)] {
        let selector = json!({"protocol": "udp", "destination_ports": ports});
        let delay = json!({"latency": {"kind": "constant", "duration": 20_000_000}});
        let setting = json!({"rules": [rule("late", selector, delay)]});
        let measurement = figures(bed, setting, FLOOD);
        row(&format!("port {ports}"), minimum_ms, format_args!("{:.3} ms", measurement.p50_ms));
        assert!((minimum_ms..=maximum_ms).contains(&measurement.p50_ms), "{measurement:?}");
        assert_eq!((measurement.lost, measurement.duplicated), (0.0, 0.0));
    }
}

fn rules_change_without_leftovers(bed: &mut Bed) {
    let rules = |names: &[&str]| {
        let rules: Vec<_> = names
            .iter()
            .zip(1..)
            .map(|(name, dscp)| rule(name, json!({"dscp": dscp}), lossy(f64::from(dscp))))
            .collect();
        impairment(json!({"rules": rules}))
    };
    for names in [&["a", "b", "c"][..], &["a", "c"], &["c"], &["a", "b"]] {
        let reading = bed.apply(&rules(names)).unwrap();
        assert!(agrees(&reading), "{:?}", reading.divergence);
        assert_eq!(reading.impairment, rules(names));
        let netems = bed.stack().iter().filter(|(kind, _)| kind == "netem").count();
        assert_eq!(netems, names.len(), "one for each rule");
    }
    bed.clear().unwrap();
    assert_eq!(bed.stack(), []);
}
