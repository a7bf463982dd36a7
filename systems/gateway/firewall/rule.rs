//! Rules: verdicts on packets between zones.

use std::fmt;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};

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

/// Ports from the first to the last, written as a number or as `8000-8080`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PortRange {
    first: u16,
    last: u16,
}

impl PortRange {
    /// Ports from `first` to `last`; `None` unless they are in order and above 0.
    #[must_use]
    pub fn new(first: u16, last: u16) -> Option<Self> {
        (first > 0 && first <= last).then_some(Self { first, last })
    }

    /// First port.
    #[must_use]
    pub const fn first(&self) -> u16 {
        self.first
    }

    /// Last port.
    #[must_use]
    pub const fn last(&self) -> u16 {
        self.last
    }
}

impl Serialize for PortRange {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.first == self.last {
            true => serializer.serialize_u16(self.first),
            false => serializer.collect_str(&format_args!("{}-{}", self.first, self.last)),
        }
    }
}

/// Reader of both ways to write a range.
struct AnyPorts;

impl AnyPorts {
    fn of<E: de::Error>(first: u64, last: u64) -> Result<PortRange, E> {
        let narrow = u16::try_from(first).ok().zip(u16::try_from(last).ok());
        let range = narrow.and_then(|(first, last)| PortRange::new(first, last));
        range.ok_or_else(|| {
            E::custom(format!(
                "invalid ports: found {first} to {last}, allowed 1 to 65535 in order"
            ))
        })
    }
}

impl Visitor<'_> for AnyPorts {
    type Value = PortRange;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a port, or a range like \"8000-8080\"")
    }

    fn visit_u64<E: de::Error>(self, port: u64) -> Result<PortRange, E> {
        Self::of(port, port)
    }

    fn visit_i64<E: de::Error>(self, port: i64) -> Result<PortRange, E> {
        let port = u64::try_from(port).unwrap_or(0);
        Self::of(port, port)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PortRange, E> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse::<u64>().ok()).flatten()
        };
        match number(first).zip(number(last)) {
            Some((first, last)) => Self::of(first, last),
            None => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

impl<'de> Deserialize<'de> for PortRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyPorts)
    }
}

impl JsonSchema for PortRange {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "PortRange".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A port, or the first and last of a range",
            "oneOf": [
                { "type": "integer", "minimum": 1, "maximum": 65_535 },
                { "type": "string", "pattern": "^[1-9][0-9]{0,4}(-[1-9][0-9]{0,4})?$" },
            ],
            "examples": [443, "8000-8080"],
        })
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
