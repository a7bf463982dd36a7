//! Selection of packets by their headers, and its notation: `proto udp dport 5000-5100 dst 10.1.0.0/16`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use garde::Validate;
use groundwave_engine::Refusal;
use groundwave_values::{Cidr, PortRange};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Conditions on the headers of a packet, which meets all of them.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema, Validate,
)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PacketSelector")]
pub struct Selector {
    /// Protocol above IP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub protocol: Option<IpProtocol>,
    /// Range of source addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub source: Option<Cidr>,
    /// Range of destination addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(skip)]
    pub destination: Option<Cidr>,
    /// Source ports, of tcp, udp and sctp. Fragments of datagrams have no ports.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "ports_text")]
    #[schemars(with = "Option<SelectedPorts>")]
    #[garde(skip)]
    pub source_ports: Option<PortRange>,
    /// Destination ports, of tcp, udp and sctp. Fragments of datagrams have no ports.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "ports_text")]
    #[schemars(with = "Option<SelectedPorts>")]
    #[garde(skip)]
    pub destination_ports: Option<PortRange>,
    /// Differentiated services code point, 0 to 63 (RFC 2474).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(range(max = 63))]
    pub dscp: Option<u8>,
}

/// Protocol above IP, by its number (IANA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct IpProtocol(pub u8);

impl IpProtocol {
    /// Control messages of IPv4.
    pub const ICMP: Self = Self(1);
    /// Control messages of IPv6.
    pub const ICMPV6: Self = Self(58);
    /// Transmission control protocol.
    pub const TCP: Self = Self(6);
    /// User datagram protocol.
    pub const UDP: Self = Self(17);
    /// Stream control transmission protocol.
    pub const SCTP: Self = Self(132);

    /// Protocols with names.
    const NAMES: [(Self, &'static str); 9] = [
        (Self::TCP, "tcp"),
        (Self::UDP, "udp"),
        (Self::SCTP, "sctp"),
        (Self::ICMP, "icmp"),
        (Self::ICMPV6, "icmpv6"),
        (Self(2), "igmp"),
        (Self(47), "gre"),
        (Self(50), "esp"),
        (Self(89), "ospf"),
    ];

    /// `true` for protocols with ports.
    #[must_use]
    pub const fn has_ports(self) -> bool {
        matches!(self, Self::TCP | Self::UDP | Self::SCTP)
    }
}

impl fmt::Display for IpProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Self::NAMES.iter().find(|(protocol, _)| protocol == self) {
            Some((_, name)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}

impl FromStr for IpProtocol {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let named = Self::NAMES.iter().find(|(_, name)| *name == text);
        let protocol = named.map(|(protocol, _)| *protocol).or_else(|| decimal(text).map(Self));
        protocol.ok_or_else(|| {
            let names = Self::NAMES.map(|(_, name)| name).join(", ");
            format!("invalid protocol: found {text:?}, allowed {names} or a number, 0 to 255")
        })
    }
}

/// Number of a text of digits without leading zeros.
fn decimal<T: FromStr>(text: &str) -> Option<T> {
    let is_canonical = text.bytes().all(|digit| digit.is_ascii_digit())
        && (text.len() == 1 || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_canonical)
}

impl Serialize for IpProtocol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for IpProtocol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for IpProtocol {
    fn schema_name() -> Cow<'static, str> {
        "IpProtocol".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Protocol above IP: tcp, udp, sctp, icmp, icmpv6, igmp, gre, esp, ospf or a number, \
                            0 to 255",
            "pattern": "^(tcp|udp|sctp|icmp|icmpv6|igmp|gre|esp|ospf|1?[0-9]?[0-9]|2[0-4][0-9]|25[0-5])$",
        })
    }
}

/// Ports of a selector, which are a text on the wire, also a single one.
mod ports_text {
    use super::*;

    pub fn serialize<S: Serializer>(
        ports: &Option<PortRange>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        ports.map(|ports| ports.to_string()).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<PortRange>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse()).transpose().map_err(de::Error::custom)
    }
}

/// Schema of [`ports_text`].
enum SelectedPorts {}

impl JsonSchema for SelectedPorts {
    fn schema_name() -> Cow<'static, str> {
        "SelectedPorts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Port, 1 to 65535, or range of ports like 5000-5100",
            "pattern": PortRange::PATTERN,
        })
    }
}

/// Words of the notation with examples, in the order of printing.
const WORDS: &str = "proto udp, src 10.1.0.0/16, dst fd00::/64, sport 53, dport 5000-5100, dscp 46";

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |value: Option<&dyn fmt::Display>| value.map(ToString::to_string);
        let of = |value: Option<PortRange>| value.map(|ports| ports.to_string());
        let parts = [
            ("proto", text(self.protocol.as_ref().map(|value| value as _))),
            ("src", text(self.source.as_ref().map(|value| value as _))),
            ("sport", of(self.source_ports)),
            ("dst", text(self.destination.as_ref().map(|value| value as _))),
            ("dport", of(self.destination_ports)),
            ("dscp", text(self.dscp.as_ref().map(|value| value as _))),
        ];
        let words =
            parts.into_iter().filter_map(|(word, value)| Some(format!("{word} {}", value?)));
        f.write_str(&words.collect::<Vec<_>>().join(" "))
    }
}

impl FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// Sets a condition once.
        fn set<T: FromStr<Err = String>>(
            place: &mut Option<T>,
            word: &str,
            value: &str,
        ) -> Result<(), String> {
            if place.is_some() {
                return Err(format!("invalid {word}: found twice, allowed once"));
            }
            *place = Some(value.parse()?);
            Ok(())
        }
        let mut selector = Self::default();
        let mut words = text.split_whitespace();
        while let Some(word) = words.next() {
            let value = || Err(format!("invalid {word}: found no value, allowed {WORDS}"));
            let value = words.next().map_or_else(value, Ok)?;
            match word {
                "proto" => set(&mut selector.protocol, word, value)?,
                "src" => set(&mut selector.source, word, value)?,
                "dst" => set(&mut selector.destination, word, value)?,
                "sport" => set(&mut selector.source_ports, word, value)?,
                "dport" => set(&mut selector.destination_ports, word, value)?,
                "dscp" => {
                    let number = decimal(value).filter(|dscp| *dscp <= 63);
                    let what = || format!("invalid dscp: found {value:?}, allowed 0 to 63");
                    selector.dscp = Some(number.ok_or_else(what)?);
                }
                _ => return Err(format!("invalid condition: found {word:?}, allowed {WORDS}")),
            }
        }
        Ok(selector)
    }
}

impl Selector {
    /// `true` if packets of IPv4, or else of IPv6, may meet the conditions.
    #[must_use]
    pub fn allows(&self, ipv4: bool) -> bool {
        let foreign = if ipv4 { IpProtocol::ICMPV6 } else { IpProtocol::ICMP };
        let ranges = [self.source, self.destination].into_iter().flatten();
        self.protocol != Some(foreign) && ranges.into_iter().all(|range| range.is_ipv4() == ipv4)
    }

    /// `true` if each packet that meets the conditions of `other` meets these.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        /// No condition, or a condition within this one.
        fn within<T>(own: Option<T>, other: Option<T>, holds: fn(&T, &T) -> bool) -> bool {
            own.is_none_or(|own| other.is_some_and(|other| holds(&own, &other)))
        }
        let range = |own: &Cidr, other: &Cidr| {
            own.prefix_len() <= other.prefix_len() && own.holds(other.first())
        };
        let ports = |own: &PortRange, other: &PortRange| {
            own.first() <= other.first() && other.last() <= own.last()
        };
        within(self.protocol, other.protocol, IpProtocol::eq)
            && within(self.source, other.source, range)
            && within(self.destination, other.destination, range)
            && within(self.source_ports, other.source_ports, ports)
            && within(self.destination_ports, other.destination_ports, ports)
            && within(self.dscp, other.dscp, u8::eq)
    }

    /// Checks that packets can meet the conditions; `key` is the path of the selector.
    pub(super) fn check(&self, key: &str) -> Result<(), Refusal> {
        if *self == Self::default() {
            return Err(Refusal::invalid(key, "no condition", format!("one or more of {WORDS}")));
        }
        let ports =
            [("source_ports", self.source_ports), ("destination_ports", self.destination_ports)];
        let has_ports = self.protocol.is_some_and(IpProtocol::has_ports);
        if let Some((name, Some(ports))) = ports.into_iter().find(|(_, ports)| ports.is_some())
            && !has_ports
        {
            let protocol = self.protocol.map_or("no protocol".to_owned(), |own| own.to_string());
            let conditions = format!("{ports} with {protocol}");
            let key = format!("{key}.{name}");
            return Err(Refusal::invalid(key, conditions, "protocol tcp, udp or sctp beside it"));
        }
        if !self.allows(true) && !self.allows(false) {
            let allowed = "conditions of IPv4 or of IPv6, not of both";
            return Err(Refusal::invalid(key, format!("\"{self}\""), allowed));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notation_reads_back() {
        for text in [
            "proto udp src 10.1.0.0/16 sport 53 dst 10.2.0.0/16 dport 5000-5100 dscp 46",
            "dst fd00::/64",
            "proto 99",
            "proto icmpv6",
            "dscp 0",
        ] {
            let selector: Selector = text.parse().unwrap();
            assert_eq!(selector.to_string(), text);
            let json = serde_json::to_string(&selector).unwrap();
            assert_eq!(serde_json::from_str::<Selector>(&json).unwrap(), selector);
        }
    }

    #[test]
    fn wider_conditions_cover_narrower_ones() {
        let covers = |one: &str, other: &str| {
            let [one, other] = [one, other].map(|text| text.parse::<Selector>().unwrap());
            one.covers(&other)
        };
        for (wide, narrow) in [
            ("dst 10.0.0.0/8", "dst 10.1.0.0/16"),
            ("proto tcp", "proto tcp dport 22"),
            ("proto udp dport 5000-5100", "proto udp dport 5001 dscp 46 src ::/0"),
            ("dscp 0", "proto 99 dscp 0"),
        ] {
            assert!(covers(wide, narrow) && covers(wide, wide), "{wide}");
            assert!(!covers(narrow, wide), "{narrow}");
        }
        for (one, other) in [
            ("src 10.0.0.0/8", "dst 10.0.0.0/8"),
            ("dst 10.0.0.0/8", "dst fd00::/64"),
            ("proto udp dport 5-9", "proto udp dport 9-10"),
            ("proto udp", "proto tcp"),
        ] {
            assert!(!covers(one, other) && !covers(other, one), "{one}, {other}");
        }
    }

    #[test]
    fn invalid_notation_gives_found_and_allowed() {
        for (text, message) in [
            ("port 5", "invalid condition: found \"port\", allowed proto udp"),
            ("proto", "invalid proto: found no value"),
            ("proto upd", "invalid protocol: found \"upd\", allowed tcp, udp"),
            ("proto 256", "invalid protocol: found \"256\""),
            ("proto +6", "invalid protocol: found \"+6\""),
            ("dport 05", "invalid ports: found \"05\""),
            ("dport 0", "invalid ports: found \"0\", allowed 1 to 65535"),
            ("dport 9-8", "invalid ports: found \"9-8\""),
            ("dport 65536", "invalid ports"),
            ("dscp 64", "invalid dscp: found \"64\", allowed 0 to 63"),
            ("src 10.0.0.1/24", "allowed the first address of its range, 10.0.0.0"),
            ("src ::/0 src ::/0", "invalid src: found twice, allowed once"),
        ] {
            let error = text.parse::<Selector>().unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
