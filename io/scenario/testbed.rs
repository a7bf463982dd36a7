//! `[testbed]`: how a real network follows the scenario.

use std::collections::BTreeMap;

use groundwave_engine::Refusal;
use groundwave_impair::Direction as PortName;
use groundwave_simulation::site::NodeId;
use groundwave_simulation::testbed::{Binding, MediumAccess, Port, Protocol, Settings, Wiring};
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use schemars::JsonSchema;
use serde::Deserialize;

use super::check::Names;

/// First two bytes of a testbed's network, if not given.
const NETWORK: [u8; 2] = [10, 77];

/// Settings of the testbed: a real network that follows the scenario. A run ignores them.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestbedFile {
    /// Name of the testbed, 1 to 16 of a-z, 0-9 and `-`; left out, that of the file.
    pub name: Option<String>,
    /// Network of the testbed, an IPv4 prefix of 16 bits: `10.77.0.0/16`.
    pub network: Option<String>,
    /// Routing protocol of the nodes.
    #[serde(default)]
    pub routing: Protocol,
    /// Realisation of a link: a veth pair of its own, or a share of a bridge segment of all nodes.
    #[serde(default)]
    pub wiring: Wiring,
    /// The medium: any subset of the fields.
    #[serde(default)]
    pub mac: MediumAccess,
    /// Nodes with another routing protocol.
    #[serde(default)]
    pub node: Vec<TestbedNodeFile>,
    /// Directions of links that are bound to existing interfaces or daemons.
    #[serde(default)]
    pub bind: Vec<BindFile>,
}

/// A node with another routing protocol.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TestbedNodeFile {
    /// Name of the node.
    pub name: String,
    /// Routing protocol of the node.
    pub routing: Protocol,
}

/// A direction of a link, and its target: `interface`, or `daemon` and `port`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BindFile {
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Interface of the host through which the direction leaves.
    pub interface: Option<String>,
    /// An impairment daemon: the path of its socket, or `host:port`.
    pub daemon: Option<String>,
    /// The daemon's port.
    pub port: Option<PortName>,
}

impl BindFile {
    /// `true` for another direction on the same port: each would undo the values of the other.
    fn is_same_port(&self, other: &Self) -> bool {
        (&self.interface, &self.daemon, self.port) == (&other.interface, &other.daemon, other.port)
    }
}

/// Settings of the section; the name is empty when the file gives none.
pub(super) fn testbed(
    file: Option<&TestbedFile>,
    node_names: &[String],
    nodes: &Names,
    report: &mut Report,
) -> Settings {
    let path = KeyPath::section("testbed");
    let nothing = TestbedFile::default();
    let file = file.unwrap_or(&nothing);
    let check_name = |name: &str, at: &KeyPath, report: &mut Report| {
        if nodes.get(name).is_none() && !nodes.is_noted(name) {
            report.at(at, format!("unknown node {name:?}"), "a node of this file");
        }
    };
    let network = file.network.as_deref().map_or(Some(NETWORK), prefix);
    if network.is_none() {
        let what = format!("unknown network {:?}", file.network.as_deref().unwrap_or_default());
        report.at(&path.key("network"), what, "a prefix of 16 bits, such as 10.77.0.0/16");
    }
    let mut routing_of = BTreeMap::new();
    for (index, node) in file.node.iter().enumerate() {
        let at = path.key("node").index(index).key("name");
        check_name(&node.name, &at, report);
        if routing_of.insert(NodeId::named(&node.name), node.routing).is_some() {
            report.at(&at, format!("{:?} a second time", node.name), "each node once");
        }
    }
    let mut bindings = Vec::new();
    for (index, bind) in file.bind.iter().enumerate() {
        let at = path.key("bind").index(index);
        check_name(&bind.from, &at.key("from"), report);
        check_name(&bind.to, &at.key("to"), report);
        let port = match (&bind.interface, &bind.daemon, bind.port) {
            (Some(interface), None, None) => Port::Interface(interface.clone()),
            (None, Some(daemon), Some(port)) => Port::Daemon { address: daemon.clone(), port },
            _ => {
                report.at(&at, "not one thing to follow", "interface, or daemon and port");
                continue;
            }
        };
        if bind.from == bind.to {
            report.at(
                &at.key("to"),
                format!("{:?} at both ends", bind.to),
                "another node than `from`",
            );
        }
        let (from, to) = (NodeId::named(&bind.from), NodeId::named(&bind.to));
        if bindings.iter().any(|other: &Binding| (other.from, other.to) == (from, to)) {
            let what = format!("{} to {} a second time", bind.from, bind.to);
            report.at(&at, what, "each direction once");
        } else if let Some(other) = file.bind[..index].iter().find(|other| other.is_same_port(bind))
        {
            let what = format!("the port of {} to {} a second time", other.from, other.to);
            report.at(&at, what, "each port once");
        }
        bindings.push(Binding { from, to, port });
    }
    let settings = Settings {
        name: file.name.clone().unwrap_or_default(),
        network: network.unwrap_or(NETWORK),
        routing: file.routing,
        wiring: file.wiring,
        names: node_names.iter().map(|name| (NodeId::named(name), name.clone())).collect(),
        routing_of,
        mac: file.mac,
        bindings,
        scenario: None,
    };
    // A name that is not there yet is checked once it is.
    let named = Settings {
        name: file.name.clone().unwrap_or_else(|| "unnamed".to_owned()),
        ..settings.clone()
    };
    if let Err(Refusal::Invalid { key, found: actual, allowed }) = named.validate() {
        let mut at = path.clone();
        for part in key.split('.') {
            at = at.owned_key(part);
        }
        report.at(&at, format!("{actual} is not allowed"), allowed);
    }
    settings
}

fn prefix(text: &str) -> Option<[u8; 2]> {
    let (address, 16) = text.split_once('/').map(|(a, b)| (a, b.parse().unwrap_or(0)))? else {
        return None;
    };
    let address: std::net::Ipv4Addr = address.parse().ok()?;
    match address.octets() {
        [a, b, 0, 0] => Some([a, b]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_alone;

    const HEAD: &str = r#"
[scenario]
title = "t"
duration_s = 10
[[node]]
name = "a"
lat_deg = 57
lon_deg = 11
height_agl_m = 10
radio = "ptp_5g8"
[[node]]
name = "b"
lat_deg = 57
lon_deg = 11.01
height_agl_m = 10
radio = "ptp_5g8"
"#;

    #[test]
    fn a_testbed_is_read() {
        let text = format!(
            "{HEAD}[testbed]\nname = \"ridge\"\nnetwork = \"10.9.0.0/16\"\nrouting = \"babel\"\n\
             mac = {{ retries = 2 }}\nnode = [{{ name = \"b\", routing = \"none\" }}]\n\
             bind = [{{ from = \"a\", to = \"b\", interface = \"eth1\" }}, \
             {{ from = \"b\", to = \"a\", daemon = \"/run/x\", port = \"port2\" }}]\n"
        );
        let settings = parse_alone(&text, "t").unwrap().testbed;
        assert_eq!((settings.name.as_str(), settings.network), ("ridge", [10, 9]));
        let (a, b) = (NodeId::named("a"), NodeId::named("b"));
        assert_eq!(settings.protocol(a), Protocol::Babel);
        assert_eq!(settings.protocol(b), Protocol::None);
        assert_eq!(settings.mac.retries, 2);
        assert_eq!(settings.bound(a, b), Some(&Port::Interface("eth1".to_owned())));
        assert!(matches!(settings.bound(b, a), Some(Port::Daemon { port: PortName::PORT2, .. })));
        let usual = parse_alone(HEAD, "t").unwrap().testbed;
        assert_eq!((usual.routing, usual.names.len()), (Protocol::Static, 2));
        assert_eq!(usual.wiring, Wiring::Link);
        let shared = format!("{HEAD}[testbed]\nwiring = \"segment\"\n");
        let shared = parse_alone(&shared, "t").unwrap().testbed;
        assert_eq!(shared.wiring, Wiring::Segment);
    }

    #[test]
    fn keys_of_the_page_are_read() {
        let page = include_str!("../../docs/testbed.md");
        let (_, rest) = page.split_once("```toml\n").expect("an example");
        let (section, _) = rest.split_once("```").expect("its end");
        let bohus = HEAD.replace("name = \"a\"", "name = \"bohus\"");
        let (_, bohus) = bohus.split_once("[[node]]").expect("nodes");
        let (bohus, _) = bohus.split_once("[[node]]").expect("two nodes");
        let text = format!("{HEAD}[[node]]{bohus}{section}");
        let settings = parse_alone(&text, "t").unwrap().testbed;
        assert_eq!((settings.name.as_str(), settings.bindings.len()), ("ridge", 2));
        assert_eq!(settings.mac.loss_burst_packets, Some(4.0));
    }

    #[test]
    fn errors_of_a_testbed_have_their_place() {
        let check = |section: &str, words: &str| {
            let text = format!("{HEAD}[testbed]\n{section}\n");
            let text = parse_alone(&text, "t").unwrap_err().to_string();
            assert!(text.contains(words), "{text}");
        };
        check("name = \"Ridge\"", "testbed.name");
        check("network = \"10.9.0.0/24\"", "testbed.network");
        check("mac = { retries = 99 }", "testbed.mac.retries");
        check("routing = \"ospf\"", "testbed.routing");
        check("node = [{ name = \"x\", routing = \"none\" }]", "testbed.node[0].name");
        check("bind = [{ from = \"a\", to = \"b\" }]", "testbed.bind[0]");
        let node = "{ name = \"a\", routing = \"none\" }";
        check(&format!("node = [{node}, {node}]"), "testbed.node[1].name: \"a\" a second time");
        let bind = |to: &str| format!("{{ from = \"a\", to = \"{to}\", interface = \"lo\" }}");
        check(&format!("bind = [{}]", bind("a")), "testbed.bind[0].to: \"a\" at both ends");
        check(
            &format!("bind = [{}, {}]", bind("b"), bind("b")),
            "testbed.bind[1]: a to b a second time",
        );
        let back = "{ from = \"b\", to = \"a\", interface = \"lo\" }";
        check(
            &format!("bind = [{}, {back}]", bind("b")),
            "testbed.bind[1]: the port of a to b a second time",
        );
    }
}
