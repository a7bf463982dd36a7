//! Rules: verdicts on packets between zones.

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use groundwave_values::PortRange;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::zone::{Verdict, Zone};
use crate::canonical::Cidr;
use crate::config::{ConfigObject, Reference};

/// Traffic that a rule decides on.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Chain {
    /// Packets forwarded from one zone to another.
    #[default]
    Forward,
    /// Packets to this gateway.
    Input,
    /// Packets of this gateway.
    Output,
}

/// Protocol above IP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
    /// ICMP.
    Icmp,
    /// ICMPv6.
    Icmpv6,
}

impl Protocol {
    /// Name of the protocol, as nftables spells it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Udp => "udp",
            Self::Sctp => "sctp",
            Self::Icmp => "icmp",
            Self::Icmpv6 => "icmpv6",
        }
    }

    /// `true` if the protocol has ports.
    #[must_use]
    pub const fn has_ports(self) -> bool {
        matches!(self, Self::Tcp | Self::Udp | Self::Sctp)
    }
}

/// Rule of the firewall; an absent field fits every packet. Written by `firewall_rule.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct FirewallRule {
    /// Traffic it decides on.
    #[serde(default)]
    #[garde(skip)]
    pub chain: Chain,
    /// Order: rules with lower numbers decide first, those with the same number in order of
    /// creation.
    #[serde(default)]
    #[garde(range(min = -10_000, max = 10_000))]
    pub priority: i32,
    /// Zone that packets come from; none for those of this gateway.
    #[serde(default)]
    #[garde(skip)]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub src_zone: Option<Id<Zone>>,
    /// Zone that packets go to; none for those to this gateway.
    #[serde(default)]
    #[garde(skip)]
    #[schemars(with = "Option<uuid::Uuid>")]
    pub dest_zone: Option<Id<Zone>>,
    /// Source addresses.
    #[serde(default)]
    #[garde(skip)]
    pub src_ip: Option<Cidr>,
    /// Destination addresses.
    #[serde(default)]
    #[garde(skip)]
    pub dest_ip: Option<Cidr>,
    /// Protocol.
    #[serde(default)]
    #[garde(skip)]
    pub proto: Option<Protocol>,
    /// Source ports; they need a protocol with ports.
    #[serde(default)]
    #[garde(skip)]
    pub src_port: Option<PortRange>,
    /// Destination ports; they need a protocol with ports.
    #[serde(default)]
    #[garde(skip)]
    pub dest_port: Option<PortRange>,
    /// Verdict.
    #[garde(skip)]
    pub action: Verdict,
    /// Comment.
    #[serde(default)]
    #[garde(length(chars, max = 256))]
    pub comment: String,
    /// `false` for a rule that is kept but not applied.
    #[serde(default = "enabled")]
    #[garde(skip)]
    pub enabled: bool,
}

const fn enabled() -> bool {
    true
}

impl Kind for FirewallRule {
    const NAME: &'static str = "firewall rule";
}

impl ConfigObject for FirewallRule {
    const KIND: &'static str = "firewall_rule";

    fn references(&self) -> Vec<Reference> {
        [("src_zone", self.src_zone), ("dest_zone", self.dest_zone)]
            .into_iter()
            .filter_map(|(key, zone)| Some(Reference::to(key, zone?)))
            .collect()
    }

    fn check(&self, _: Id<Self>, _: &World) -> Result<(), Refusal> {
        let ends = [
            (Chain::Input, "dest_zone", self.dest_zone),
            (Chain::Output, "src_zone", self.src_zone),
        ];
        for (chain, key, zone) in ends {
            if let Some(zone) = zone.filter(|_| self.chain == chain) {
                return Err(Refusal::invalid(key, zone, "none: that end is this gateway"));
            }
        }
        let ports = [("src_port", self.src_port), ("dest_port", self.dest_port)];
        let portless = !self.proto.is_some_and(Protocol::has_ports);
        if let Some((key, _)) = ports.into_iter().find(|(_, ports)| ports.is_some() && portless) {
            let protocol = self.proto.map_or("any protocol", Protocol::word);
            return Err(Refusal::invalid(key, protocol, "a port of tcp, udp or sctp"));
        }
        if let (Some(src), Some(dest)) = (self.src_ip, self.dest_ip)
            && src.is_ipv4() != dest.is_ipv4()
        {
            let allowed = "addresses of the same family as src_ip";
            return Err(Refusal::invalid("dest_ip", dest, allowed));
        }
        let version = |ip: Option<Cidr>| ip.map(|ip| ip.is_ipv4());
        let is_ipv4 = version(self.src_ip).or(version(self.dest_ip));
        let wrong = match self.proto {
            Some(Protocol::Icmp) => is_ipv4 == Some(false),
            Some(Protocol::Icmpv6) => is_ipv4 == Some(true),
            _ => false,
        };
        if wrong {
            let protocol = self.proto.map_or("", Protocol::word);
            return Err(Refusal::invalid("proto", protocol, "a protocol of the addresses' family"));
        }
        Ok(())
    }
}
