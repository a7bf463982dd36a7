//! Address ranges in CIDR notation, IPv4 and IPv6 (RFC 4632, RFC 4291).

use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// An address range: its first address and the length of its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cidr {
    first: IpAddr,
    prefix_len: u8,
}

impl Cidr {
    /// The range whose first address is `first`.
    ///
    /// # Errors
    /// When the prefix is longer than the address, or `first` is not the first of the range.
    pub fn new(first: IpAddr, prefix_len: u8) -> Result<Self, String> {
        let bits = bits_of(first);
        if prefix_len > bits {
            return Err(format!(
                "invalid prefix length: found {prefix_len} bits, allowed 0 to {bits}"
            ));
        }
        let network = Self { first, prefix_len };
        if number(first) & !network.mask() != 0 {
            let at = address(first, number(first) & network.mask());
            return Err(format!(
                "invalid range: found {first}/{prefix_len}, allowed the first address of its range, {at}"
            ));
        }
        Ok(network)
    }

    /// First address.
    #[must_use]
    pub const fn first(&self) -> IpAddr {
        self.first
    }

    /// Length of the prefix, bits.
    #[must_use]
    pub const fn prefix_len(&self) -> u8 {
        self.prefix_len
    }

    /// `true` for a range of IPv4 addresses.
    #[must_use]
    pub const fn is_ipv4(&self) -> bool {
        self.first.is_ipv4()
    }

    /// `true` if the range has this address.
    #[must_use]
    pub fn holds(&self, ip: IpAddr) -> bool {
        ip.is_ipv4() == self.is_ipv4() && number(ip) & self.mask() == number(self.first)
    }

    /// `true` if the ranges have an address in common.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.holds(other.first) || other.holds(self.first)
    }

    fn mask(&self) -> u128 {
        let host = bits_of(self.first) - self.prefix_len;
        u128::MAX.checked_shl(u32::from(host)).unwrap_or(0)
    }
}

const fn bits_of(ip: IpAddr) -> u8 {
    match ip {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

fn number(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(ip.to_bits()),
        IpAddr::V6(ip) => ip.to_bits(),
    }
}

fn address(like: IpAddr, number: u128) -> IpAddr {
    match like {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from_bits(number as u32)),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from_bits(number)),
    }
}

impl FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid address range: found {text:?}, allowed a range like 10.42.0.0/24 or fd00::/64"
            )
        };
        let (first, prefix_len) = match text.split_once('/') {
            Some((first, prefix_len)) => (first, Some(prefix_len)),
            None => (text, None),
        };
        let first: IpAddr = first.parse().map_err(|_| wrong())?;
        let prefix_len = match prefix_len {
            Some(text) => text.parse().map_err(|_| wrong())?,
            None => bits_of(first),
        };
        Self::new(first, prefix_len)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix_len)
    }
}

impl Serialize for Cidr {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Cidr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Cidr {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Cidr".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "Address range, IPv4 or IPv6: its first address and prefix length",
            "pattern": "^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$",
            "examples": ["10.42.0.0/24"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Cidr {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_are_written_as_they_are_read() {
        for text in ["10.42.0.0/24", "0.0.0.0/0", "10.0.0.1/32", "fd00::/8", "::/0"] {
            assert_eq!(range(text).to_string(), text);
        }
        assert_eq!(range("10.0.0.1"), range("10.0.0.1/32"));
        assert_eq!(range("fe80::1").prefix_len(), 128);
        for bad in ["", "10.42.0.0/33", "10.42.0.1/24", "10.42.0/24", "fd00::1/64", "10.0.0.0/-1"] {
            assert!(bad.parse::<Cidr>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ranges_hold_and_overlap() {
        assert!(range("10.42.0.0/24").holds("10.42.0.255".parse().unwrap()));
        assert!(!range("10.42.0.0/24").holds("10.42.1.0".parse().unwrap()));
        assert!(!range("0.0.0.0/0").holds("::1".parse().unwrap()));
        assert!(range("10.0.0.0/8").overlaps(&range("10.42.0.0/24")));
        assert!(range("10.42.0.0/24").overlaps(&range("10.0.0.0/8")));
        assert!(!range("10.42.0.0/24").overlaps(&range("10.42.1.0/24")));
        assert!(!range("::/0").overlaps(&range("0.0.0.0/0")));
    }
}
