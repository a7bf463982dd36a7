//! Impairments as commands of `tc`(8), for scripts and for people who know them.

use std::collections::BTreeMap;

use groundwave_impair::{Capabilities, Extensions, Impairment, IpProtocol, Selector};

use super::bands;
use super::bands::{BANDS_COUNT, PRIO, REST, bands_of, filters_of, requested_rules};
use super::filter::RuleFilter;
use super::incoming;
use super::stack::{Layout, Stack, plan};
use super::{Handle, KernelError, Link, netem_plan};

/// Capabilities of a kernel with every other module: `tc` reports a missing one.
fn capabilities(netem: bool) -> Capabilities {
    Capabilities {
        netem,
        tbf: true,
        pfifo: true,
        bfifo: true,
        rules: true,
        incoming: true,
        extensions: Extensions { gilbert_elliott: true, paretonormal: true },
        missing: Vec::new(),
        backend_name: String::new(),
        backend_version: String::new(),
    }
}

/// Commands of `tc`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TcCommands {
    /// The commands, in their order.
    pub commands: Vec<String>,
    /// Reasons why `tc` cannot set the rest; empty where the commands are all.
    pub omissions: Vec<&'static str>,
}

/// Commands that put `impairment` into force on an `interface` without queueing disciplines of its own,
/// with the handles that the daemon uses; the command that removes all of them for no impairment. As the
/// daemon does, they use `netem` wherever the kernel has it.
///
/// # Errors
/// [`KernelError::Unsupported`] for what needs `netem`, without it.
pub fn tc_commands(
    interface: &str,
    impairment: &Impairment,
    netem: bool,
) -> Result<TcCommands, KernelError> {
    // Of the link only the length of its frames matters, which `tc` takes from the interface.
    let planned = |layout: Layout, impairment: &Impairment| {
        let rest = Impairment { rules: None, ..impairment.clone() };
        plan(layout, &rest, &Link::default(), &capabilities(netem), None)
    };
    let mut printed = TcCommands::default();
    let Some(rules) = requested_rules(impairment) else {
        let stack = planned(Layout::ROOT, impairment)?;
        if stack.is_empty() {
            printed.commands.push(format!("tc qdisc del dev {interface} root"));
        }
        printed.add_stack(interface, &stack, impairment);
        return Ok(printed);
    };
    let last = REST - 1;
    let map = [last.to_string()].into_iter().cycle().take(16).collect::<Vec<_>>().join(" ");
    let options = format!("{PRIO} bands {BANDS_COUNT} priomap {map}");
    printed.add(interface, Handle::ROOT, bands::ROOT, &options);
    let nothing = Impairment::default();
    let mut bands: BTreeMap<u16, &Impairment> = bands_of(rules)
        .map(|(band, rule)| (band, rule.impairment.as_ref().unwrap_or(&nothing)))
        .collect();
    bands.insert(REST, impairment);
    for (band, impairment) in bands {
        let stack = planned(Layout::band(band), impairment)?;
        printed.add_stack(interface, &stack, impairment);
    }
    printed.commands.extend(filters_of(rules).iter().map(|filter| {
        format!(
            "tc filter add dev {interface} parent {} protocol {} pref {} handle 1 flower skip_hw {} classid {}",
            bands::ROOT,
            if filter.ipv4 { "ip" } else { "ipv6" },
            filter.preference(),
            words(filter),
            filter.class,
        )
    }));
    Ok(printed)
}

/// Device of the commands of [`incoming_commands`]; that of the daemon has the index of its interface.
const DEVICE: &str = "gwin0";

/// Commands that redirect the incoming traffic of an interface to a device, and the name of that device.
#[must_use]
pub fn incoming_commands(interface: &str) -> (&'static str, Vec<String>) {
    let commands = [
        format!("ip link add {DEVICE} type ifb"),
        format!("ip link set {DEVICE} up"),
        format!("tc qdisc add dev {interface} clsact"),
        format!(
            "tc filter add dev {interface} ingress pref {} matchall action mirred egress redirect dev {DEVICE}",
            incoming::PREFERENCE
        ),
    ];
    (DEVICE, commands.to_vec())
}

/// Conditions of a filter in the words of `flower`.
fn words(filter: &RuleFilter) -> String {
    let Selector { protocol, source, destination, source_ports, destination_ports, dscp } =
        filter.selector;
    let text = |word: &str, value: Option<String>| value.map(|value| format!("{word} {value}"));
    let dscp = dscp.map(|dscp| format!("{:#04x}/0xfc", dscp << 2));
    // `tc` knows names for some protocols only, and numbers for all.
    let protocol = protocol.map(|IpProtocol(number)| match number {
        6 => "tcp".to_owned(),
        17 => "udp".to_owned(),
        132 => "sctp".to_owned(),
        other => other.to_string(),
    });
    let all = [
        text("ip_proto", protocol),
        text("ip_tos", dscp),
        text("src_ip", source.map(|range| range.to_string())),
        text("dst_ip", destination.map(|range| range.to_string())),
        text("src_port", source_ports.map(|ports| ports.to_string())),
        text("dst_port", destination_ports.map(|ports| ports.to_string())),
    ];
    all.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

impl TcCommands {
    /// Adds the creation of a discipline.
    fn add(&mut self, interface: &str, parent: Handle, handle: Handle, options: &str) {
        let place = match parent {
            Handle::ROOT => "root".to_owned(),
            parent => format!("parent {parent}"),
        };
        self.commands
            .push(format!("tc qdisc add dev {interface} {place} handle {handle} {options}"));
    }

    /// Adds reasons that another band has not given.
    fn add_omissions(&mut self, reasons: Vec<&'static str>) {
        for reason in reasons {
            if !self.omissions.contains(&reason) {
                self.omissions.push(reason);
            }
        }
    }

    /// Adds the creation of the disciplines of a stack.
    fn add_stack(&mut self, interface: &str, stack: &Stack, impairment: &Impairment) {
        let layout = stack.layout;
        if let Some(netem) = &stack.netem {
            let (words, reasons) = netem_plan::words(netem, impairment);
            self.add(interface, layout.parent, layout.netem(), &words);
            self.add_omissions(reasons);
        }
        if let (Some(tbf), Some(rate)) = (&stack.tbf, &impairment.rate) {
            // Bytes: `bps` of tc are bytes a second.
            let text =
                format!("tbf rate {}bps burst {} limit {}", tbf.rate, rate.burst_bytes, tbf.limit);
            self.add(interface, stack.under_netem(), layout.tbf(), &text);
        }
        if let Some(leaf) = &stack.leaf {
            let text = format!("{} limit {}", leaf.kind(), leaf.limit);
            self.add(interface, stack.under_tbf(), stack.leaf_handle(), &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(json: serde_json::Value) -> Vec<String> {
        let impairment: Impairment = serde_json::from_value(json).unwrap();
        tc_commands("eth0", &impairment, true).unwrap().commands
    }

    #[test]
    fn every_field_gives_words() {
        let all = commands(serde_json::json!({
            "latency": {"kind": "stochastic", "mean": 50_000_000, "jitter": 2_500, "correlation": 0.25,
                "distribution": {"kind": "normal"}},
            "loss": {"model": "gilbert-elliott", "p": 0.01, "r": 0.3, "one_minus_h": 0.0,
                "one_minus_k": 1.0},
            "duplication": {"pct": 0.5}, "corruption": {"pct": 0.1, "correlation": 0.5},
            "reordering": {"pct": 25.0, "gap": 5},
            "rate": {"bps": 10_000_000, "burst_bytes": 20_000},
            "queue": {"limit": {"unit": "packets", "value": 500}}}));
        let [netem, tbf, queue] = &all[..] else { panic!("{all:?}") };
        assert!(
            netem.starts_with("tc qdisc add dev eth0 root handle 6757: netem limit ")
                && netem.ends_with(
                    " delay 50ms 2.500us 25% distribution normal loss gemodel 1% 30% 100% 0% \
                     duplicate 0.5% reorder 25% gap 5 corrupt 0.1% 50%"
                ),
            "{netem}"
        );
        assert!(
            tbf.starts_with(
                "tc qdisc add dev eth0 parent 6757:1 handle 6758: tbf rate 1250000bps burst 20000 limit "
            ),
            "{tbf}"
        );
        assert_eq!(queue, "tc qdisc add dev eth0 parent 6758:1 handle 6759: pfifo limit 500");
        let none = commands(serde_json::json!({}));
        assert_eq!(none, ["tc qdisc del dev eth0 root"]);
    }

    #[test]
    fn what_tc_rounds_refuses_or_has_elsewhere_is_named() {
        for (latency, words, reason) in [
            (serde_json::json!({"kind": "constant", "duration": 250_000}), "delay 250us", None),
            (
                serde_json::json!({"kind": "constant", "duration": 3_333}),
                "delay 3.333us",
                Some("whole microseconds"),
            ),
            (
                serde_json::json!({"kind": "constant", "duration": 3_600_000_000_000_u64}),
                "delay 274877ms",
                Some("above 274.877 s"),
            ),
            (
                serde_json::json!({"kind": "stochastic", "mean": 8_000_000, "jitter": 2_000_000,
                    "distribution": {"kind": "table", "name": "mine"}}),
                "distribution mine",
                Some("own folder"),
            ),
        ] {
            let json = serde_json::json!({ "latency": latency });
            let impairment: Impairment = serde_json::from_value(json).unwrap();
            let TcCommands { commands, omissions } =
                tc_commands("eth0", &impairment, true).unwrap();
            assert!(commands[0].contains(words), "{words}: {commands:?}");
            let fields: Vec<_> =
                omissions.iter().map(|text| reason.map(|part| text.contains(part))).collect();
            assert_eq!(
                fields,
                reason.map(|_| Some(true)).into_iter().collect::<Vec<_>>(),
                "{omissions:?}"
            );
        }
    }

    #[test]
    fn rules_give_bands_and_filters() {
        let all = commands(serde_json::json!({"rules": [
            {"name": "ssh", "match": {"protocol": "tcp", "source_ports": "22"}, "exclude": true},
            {"name": "voip", "match": {"protocol": "udp", "destination": "10.1.0.0/16",
                "destination_ports": "5000-5100", "dscp": 46},
                "impairment": {"rate": {"bps": 8_000, "burst_bytes": 1514}}},
        ]}));
        let filter = "tc filter add dev eth0 parent 675b: protocol";
        let expected = [
            "tc qdisc add dev eth0 root handle 675b: prio bands 16 priomap 15 15 15 15 15 15 15 15 15 \
             15 15 15 15 15 15 15",
            "tc qdisc add dev eth0 parent 675b:1 handle 6766: pfifo limit 1000",
            "tc qdisc add dev eth0 parent 675b:2 handle 6769: tbf rate 1000bps burst 1514 limit ",
            "tc qdisc add dev eth0 parent 6769:1 handle 676a: bfifo limit ",
            "tc qdisc add dev eth0 parent 675b:10 handle 67a2: pfifo limit 1000",
            &format!(
                "{filter} ip pref 1 handle 1 flower skip_hw ip_proto tcp src_port 22 classid 675b:1"
            ),
            &format!(
                "{filter} ipv6 pref 2 handle 1 flower skip_hw ip_proto tcp src_port 22 classid 675b:1"
            ),
            &format!(
                "{filter} ip pref 3 handle 1 flower skip_hw ip_proto udp ip_tos 0xb8/0xfc \
                 dst_ip 10.1.0.0/16 dst_port 5000-5100 classid 675b:2"
            ),
        ];
        assert_eq!(all.len(), expected.len(), "{all:#?}");
        for (command, expected) in all.iter().zip(expected) {
            assert!(command.starts_with(expected), "{command}\n{expected}");
        }
    }
}
