//! Settings of a testbed.

use std::collections::BTreeMap;
use std::path::PathBuf;

use garde::Validate;
use groundwave_engine::Refusal;
use groundwave_impair::Direction as PortName;
use groundwave_values::bounds::{above_zero, bounded, finite_if_some};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::site::NodeId;

/// Seats of one testbed: hosts of a /16 network without its first and last address.
pub const SEATS_MAX: usize = 65_534;

/// Maximum length of the name of a testbed, characters.
const NAME_CHARS_MAX: usize = 16;

/// Routing protocol of a testbed.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "RoutingProtocol")]
pub enum Protocol {
    /// Routes of the world, by the world's metric.
    #[default]
    Static,
    /// `babeld` in each node.
    Babel,
    /// `batman-adv` in each node; nodes communicate over `bat0`.
    Batman,
    /// None: neighbours reach each other; routing is left to other programs.
    None,
}

/// Wiring of links: veth pairs or a segment.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Wiring {
    /// A veth pair of its own: a node has an interface for each neighbour.
    #[default]
    Link,
    /// A share of a segment that all nodes are on: a node has one interface, as it has one radio,
    /// and what it sends reaches each neighbour as the link to that neighbour has it.
    Segment,
}

impl Wiring {
    /// `true` if each link is a veth pair of its own.
    #[must_use]
    pub fn is_link(&self) -> bool {
        *self == Self::Link
    }
}

/// Medium access: retries, broadcast rate and share of airtime.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(default, deny_unknown_fields)]
pub struct MediumAccess {
    /// Times a frame to one receiver is sent again when it was not acknowledged, [0, 31].
    #[garde(range(max = 31))]
    pub retries: u8,
    /// MCS index of broadcast frames, [0, 9]; OFDM only.
    #[garde(range(max = 9))]
    pub broadcast_mcs: u8,
    /// Length of broadcast packets, bytes, [1, 65535]: hellos and announcements.
    #[garde(range(min = 1, max = 65535))]
    pub broadcast_bytes: u32,
    /// Share of the airtime available to a link, (0, 1].
    #[garde(range(max = 1.0), custom(above_zero))]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub airtime_share_prob: f64,
    /// Time that both ends take over a frame, ns, at most 1 s.
    #[garde(range(max = 1_000_000_000))]
    pub processing_ns: u64,
    /// Mean number of frames lost in a row, [1, 1000]; left out, each is lost by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[garde(range(min = 1.0, max = 1000.0), custom(finite_if_some))]
    pub loss_burst_packets: Option<f64>,
}

impl Default for MediumAccess {
    fn default() -> Self {
        Self {
            // The long retry limit's default in IEEE 802.11 is 4, the short one's 7; drivers
            // take 7 for both.
            retries: 7,
            broadcast_mcs: 0,
            broadcast_bytes: 150,
            airtime_share_prob: 1.0,
            processing_ns: 50_000,
            loss_burst_packets: None,
        }
    }
}

/// External port that a direction of a link is bound to instead of a veth pair of the testbed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Port {
    /// Egress of this interface of the host.
    Interface(String),
    /// A port of an impairment daemon.
    Daemon {
        /// The daemon's socket, or `host:port` where it is reached over TCP.
        address: String,
        /// Port of the daemon.
        port: PortName,
    },
}

/// Binding of a direction of a link to an external port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The node that sends.
    pub from: NodeId,
    /// The node that receives.
    pub to: NodeId,
    /// Port that is shaped as the link.
    pub port: Port,
}

/// Settings of a testbed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Name, part of the names of everything that belongs to the testbed: 1 to 16 of `a-z`, `0-9`,
    /// `-`.
    pub name: String,
    /// The first two bytes of its /16 network.
    pub network: [u8; 2],
    /// Routing protocol.
    pub routing: Protocol,
    /// Wiring of links: veth pairs or a segment.
    #[serde(default, skip_serializing_if = "Wiring::is_link")]
    pub wiring: Wiring,
    /// Short names of the nodes, in the names of what belongs to them; a node without one takes
    /// its label or its number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub names: BTreeMap<NodeId, String>,
    /// Nodes with another routing protocol.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub routing_of: BTreeMap<NodeId, Protocol>,
    /// The medium.
    #[serde(default)]
    pub mac: MediumAccess,
    /// Directions that are bound to external ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bindings: Vec<Binding>,
    /// The scenario file, for a controller that takes the testbed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scenario: Option<PathBuf>,
}

impl Settings {
    /// Routing protocol of a node.
    #[must_use]
    pub fn protocol(&self, node: NodeId) -> Protocol {
        self.routing_of.get(&node).copied().unwrap_or(self.routing)
    }

    /// External port that a direction is bound to.
    #[must_use]
    pub fn bound(&self, from: NodeId, to: NodeId) -> Option<&Port> {
        let mut bindings =
            self.bindings.iter().filter(|binding| binding.from == from && binding.to == to);
        bindings.next().map(|binding| &binding.port)
    }

    /// Refuses names that the names of namespaces and files cannot have as a part.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] at `name` unless it has 1 to 16 of `a-z`, `0-9` and `-`.
    pub fn check_name(name: &str) -> Result<(), Refusal> {
        let allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        if !(1..=NAME_CHARS_MAX).contains(&name.len()) || !name.bytes().all(allowed) {
            return Err(Refusal::invalid(
                "name",
                format!("{name:?}"),
                "1 to 16 of a-z, 0-9 and '-'",
            ));
        }
        Ok(())
    }

    /// Refuses invalid settings.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the key, what was found and what is allowed.
    pub fn validate(&self) -> Result<(), Refusal> {
        Self::check_name(&self.name)?;
        if !matches!(self.network[0], 1..=126 | 128..=223) {
            let [a, b] = self.network;
            let network = format!("{a}.{b}");
            return Err(Refusal::invalid("network", network, "a network of hosts, such as 10.77"));
        }
        Ok(self.mac.validate()?)
    }
}

bounded! { MediumAccess: "mac" }
