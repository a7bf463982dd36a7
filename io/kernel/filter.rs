//! Filters of rules, by the kernel's `flower`.
//!
//! A rule takes two preferences, one for each version of IP: filters of a preference share a protocol.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use groundwave_impair::Cidr;
use groundwave_impair::{IpProtocol, PortRange, Selector};
use groundwave_netlink::NetlinkRequest;
use groundwave_netlink::attr::{Attrs, append_words, put, put_text, put_words, words};
use netlink_packet_core::{DecodeError, NLM_F_CREATE};
use nix::libc::{
    EACCES, EINTR, ENOBUFS, ENODEV, ENOENT, EPERM, ETH_P_IP, ETH_P_IPV6, RTM_DELTFILTER,
    RTM_NEWTFILTER, TCA_KIND, TCA_OPTIONS,
};

use super::message::TC_HEADER_BYTES;
use super::{Handle, KernelError};

/// Kind of the filters.
pub const FLOWER: &str = "flower";
/// Filter of a discipline, as the kernel reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterMessage {
    /// Preference, from 1; lower ones come first.
    pub preference: u16,
    /// Protocol of the frames (`ETH_P_*`).
    pub protocol: u16,
    /// Handle; 0 of the entry of a preference, which is not a filter.
    pub handle: u32,
    /// Kind, for example `flower`.
    pub kind: String,
    /// Payload of TCA_OPTIONS.
    pub options: Vec<u8>,
}

impl FilterMessage {
    /// Decodes `struct tcmsg` and its attributes.
    ///
    /// # Errors
    /// For malformed attributes.
    pub fn read(body: &[u8]) -> Result<Self, DecodeError> {
        const NAME: &str = "a filter";
        let [_, _, handle, _, info] = words(NAME, body)?;
        let attrs = Attrs::read(NAME, &body[TC_HEADER_BYTES..])?;
        Ok(Self {
            preference: (info >> 16) as u16,
            protocol: u16::from_be(info as u16),
            handle,
            kind: attrs.text(TCA_KIND).unwrap_or_default(),
            options: attrs.get(TCA_OPTIONS).unwrap_or_default().to_vec(),
        })
    }
}

/// One request about a filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterRequest {
    /// Index of the interface.
    pub index: u32,
    /// Handle of the discipline.
    pub parent: Handle,
    /// Preference, from 1.
    pub preference: u16,
    /// Handle within the preference, from 1.
    pub handle: u32,
    /// Protocol of the frames (`ETH_P_*`).
    pub protocol: u16,
    /// Kind, for example `flower`.
    pub kind: &'static str,
    /// Payload of TCA_OPTIONS: the filter is created, or takes the place of that with its handle, which
    /// must have the same keys. `None` deletes it.
    pub options: Option<Vec<u8>>,
}

impl FilterRequest {
    /// The error for error number `errno`, positive, in answer to a request about a filter.
    #[must_use]
    pub(crate) fn refused(&self, errno: i32, detail: Option<String>) -> KernelError {
        let what = self.text();
        match errno {
            EPERM | EACCES => KernelError::Permission { what },
            ENODEV => KernelError::Gone { what: format!("number {}", self.index) },
            ENOENT if detail.as_deref().is_some_and(|detail| detail.contains("not found")) => {
                KernelError::Unsupported {
                    what: format!("a filter of the kind {}", self.kind),
                    module: Some(format!("cls_{}", self.kind)),
                }
            }
            ENOENT if detail.as_deref().is_some_and(|detail| detail.contains("action module")) => {
                KernelError::Unsupported {
                    what: "the action mirred".to_owned(),
                    module: Some("act_mirred".to_owned()),
                }
            }
            EINTR | ENOBUFS => {
                KernelError::Io { what, source: io::Error::from_raw_os_error(errno) }
            }
            _ => KernelError::Rejected { what, errno, detail },
        }
    }

    /// Operation and object, for errors.
    #[must_use]
    pub fn text(&self) -> String {
        let verb = if self.options.is_some() { "set" } else { "delete" };
        format!("{verb} filter {} {} of {}", self.kind, self.preference, self.parent)
    }
}

impl NetlinkRequest for FilterRequest {
    fn header(&self) -> (u16, u16) {
        match self.options {
            Some(_) => (RTM_NEWTFILTER, NLM_F_CREATE),
            None => (RTM_DELTFILTER, 0),
        }
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        let info = u32::from(self.preference) << 16 | u32::from(self.protocol.to_be());
        append_words(out, &[0, self.index, self.handle, self.parent.0, info]);
        put_text(out, TCA_KIND, self.kind);
        if let Some(options) = &self.options {
            put(out, TCA_OPTIONS, options);
        }
    }
}

/// Filter of a rule for one version of IP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleFilter {
    /// Number of the rule, from 1.
    pub rule: u16,
    /// IPv4, or else IPv6.
    pub ipv4: bool,
    /// Class of the selected packets.
    pub class: Handle,
    /// Conditions.
    pub selector: Selector,
}

/// `TCA_FLOWER_*`.
mod key {
    pub const CLASS: u16 = 1;
    pub const ETH_TYPE: u16 = 8;
    pub const IP_PROTO: u16 = 9;
    /// Address and mask, source and destination, of each version.
    pub const IPV4: [(u16, u16); 2] = [(10, 11), (12, 13)];
    pub const IPV6: [(u16, u16); 2] = [(14, 15), (16, 17)];
    pub const FLAGS: u16 = 22;
    /// Source and destination port, and their masks.
    pub const TCP: [(u16, u16); 2] = [(18, 35), (19, 36)];
    pub const UDP: [(u16, u16); 2] = [(20, 37), (21, 38)];
    pub const SCTP: [(u16, u16); 2] = [(41, 39), (42, 40)];
    pub const TOS: (u16, u16) = (73, 74);
    pub const IN_HW_COUNT: u16 = 86;
    /// Minimum and maximum of source and destination ports.
    pub const RANGES: [(u16, u16); 2] = [(87, 88), (89, 90)];
}

/// `TCA_CLS_FLAGS_SKIP_HW`: hardware would not know the bands.
const SKIP_HW: u32 = 1;
/// Bits of the services code point in the octet of the header.
const DSCP_MASK: u8 = 0xfc;

/// Keys of the ports of a protocol.
fn port_keys(protocol: IpProtocol) -> Option<[(u16, u16); 2]> {
    match protocol {
        IpProtocol::TCP => Some(key::TCP),
        IpProtocol::UDP => Some(key::UDP),
        IpProtocol::SCTP => Some(key::SCTP),
        _ => None,
    }
}

impl RuleFilter {
    /// Filters of the `rule`-th rule, from 1.
    pub fn of(rule: u16, class: Handle, selector: &Selector) -> impl Iterator<Item = Self> {
        let all = *selector;
        let versions = [true, false].into_iter().filter(move |ipv4| all.allows(*ipv4));
        // A range of all addresses is a key without a mask, which the kernel leaves out.
        let partial = |range: &Cidr| range.prefix_len() > 0;
        let source = all.source.filter(partial);
        let destination = all.destination.filter(partial);
        let selector = Selector { source, destination, ..all };
        versions.map(move |ipv4| Self { rule, ipv4, class, selector })
    }

    /// Conditions of a rule that has this filter alone.
    #[must_use]
    pub fn alone(&self) -> Selector {
        let any = if self.ipv4 { "0.0.0.0/0" } else { "::/0" };
        match self.selector.allows(!self.ipv4) {
            true => Selector { destination: any.parse().ok(), ..self.selector },
            false => self.selector,
        }
    }

    /// Preference in its discipline.
    #[must_use]
    pub fn preference(&self) -> u16 {
        2 * self.rule - u16::from(self.ipv4)
    }

    /// Protocol of the frames (`ETH_P_*`).
    #[must_use]
    pub fn protocol(&self) -> u16 {
        (if self.ipv4 { ETH_P_IP } else { ETH_P_IPV6 }) as u16
    }

    /// Value of TCA_OPTIONS.
    #[must_use]
    pub fn options(&self) -> Vec<u8> {
        let Selector { protocol, source, destination, source_ports, destination_ports, dscp } =
            self.selector;
        let mut out = Vec::new();
        put_words(&mut out, key::CLASS, &[self.class.0]);
        put_words(&mut out, key::FLAGS, &[SKIP_HW]);
        put(&mut out, key::ETH_TYPE, &self.protocol().to_be_bytes());
        if let Some(IpProtocol(protocol)) = protocol {
            put(&mut out, key::IP_PROTO, &[protocol]);
        }
        for (place, range) in [source, destination].into_iter().enumerate() {
            if let Some(range) = range {
                put_range(&mut out, place, range);
            }
        }
        let keys = protocol.and_then(port_keys);
        for (place, ports) in [source_ports, destination_ports].into_iter().enumerate() {
            let (Some(ports), Some(keys)) = (ports, keys) else {
                continue;
            };
            let (first, last) = (ports.first(), ports.last());
            if first == last {
                put(&mut out, keys[place].0, &first.to_be_bytes());
            } else {
                put(&mut out, key::RANGES[place].0, &first.to_be_bytes());
                put(&mut out, key::RANGES[place].1, &last.to_be_bytes());
            }
        }
        if let Some(dscp) = dscp {
            put(&mut out, key::TOS.0, &[dscp << 2]);
            put(&mut out, key::TOS.1, &[DSCP_MASK]);
        }
        out
    }

    /// The filter that the kernel reports; `None` for one that no rule has.
    #[must_use]
    pub fn read(message: &FilterMessage) -> Option<Self> {
        let ipv4 = i32::from(message.protocol) == ETH_P_IP;
        if message.kind != FLOWER || message.preference == 0 {
            return None;
        }
        let attrs = Attrs::read("a filter", &message.options).ok()?;
        let mut selector = Selector::default();
        let octet = |kind| attrs.u8(kind).ok().flatten();
        selector.protocol = octet(key::IP_PROTO).map(IpProtocol);
        let keys = if ipv4 { key::IPV4 } else { key::IPV6 };
        selector.source = read_range(&attrs, keys[0])?;
        selector.destination = read_range(&attrs, keys[1])?;
        selector.source_ports = read_ports(&attrs, selector.protocol, 0)?;
        selector.destination_ports = read_ports(&attrs, selector.protocol, 1)?;
        selector.dscp = match (octet(key::TOS.0), octet(key::TOS.1)) {
            (None, None) => None,
            (Some(tos), Some(DSCP_MASK)) => Some(tos >> 2),
            _ => return None,
        };
        let class = attrs.u32(key::CLASS).ok().flatten()?;
        let rule = message.preference.div_ceil(2);
        let filter = Self { rule, ipv4, class: Handle(class), selector };
        // What is not among its own keys selects something else.
        let own = filter.options();
        let own = Attrs::read("a filter", &own).ok()?;
        let masks = [key::TCP, key::UDP, key::SCTP].concat();
        let is_mask = |kind: u16| masks.iter().any(|(_, mask)| *mask == kind);
        let mut others = attrs.all().filter(|(kind, value)| match *kind {
            key::FLAGS | key::IN_HW_COUNT => false,
            kind if is_mask(kind) => *value != [0xff, 0xff],
            kind => own.get(kind) != Some(value),
        });
        let is_own = others.next().is_none()
            && message.preference == filter.preference()
            && message.protocol == filter.protocol();
        is_own.then_some(filter)
    }
}

fn put_range(out: &mut Vec<u8>, place: usize, range: Cidr) {
    let host = |bits: u8| u32::from(bits - range.prefix_len());
    match range.first() {
        IpAddr::V4(first) => {
            let mask = u32::MAX.checked_shl(host(32)).unwrap_or(0);
            put(out, key::IPV4[place].0, &first.octets());
            put(out, key::IPV4[place].1, &mask.to_be_bytes());
        }
        IpAddr::V6(first) => {
            let mask = u128::MAX.checked_shl(host(128)).unwrap_or(0);
            put(out, key::IPV6[place].0, &first.octets());
            put(out, key::IPV6[place].1, &mask.to_be_bytes());
        }
    }
}

/// The range of addresses at `keys`; the outer `None` where it is not a range.
fn read_range(attrs: &Attrs<'_>, keys: (u16, u16)) -> Option<Option<Cidr>> {
    let (Some(first), Some(mask)) = (attrs.get(keys.0), attrs.get(keys.1)) else {
        return Some(None);
    };
    let length = mask.iter().map(|octet| octet.leading_ones()).sum::<u32>();
    let first = match first.len() {
        4 => IpAddr::V4(Ipv4Addr::from(<[u8; 4]>::try_from(first).ok()?)),
        _ => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(first).ok()?)),
    };
    Cidr::new(first, u8::try_from(length).ok()?).ok().map(Some)
}

/// The ports at a place; the outer `None` where they are not a range.
fn read_ports(
    attrs: &Attrs<'_>,
    protocol: Option<IpProtocol>,
    place: usize,
) -> Option<Option<PortRange>> {
    let port = |kind| attrs.bytes(kind).ok().flatten().map(u16::from_be_bytes);
    let range = key::RANGES[place];
    let single = protocol.and_then(port_keys).and_then(|keys| port(keys[place].0));
    match (single, port(range.0), port(range.1)) {
        (None, None, None) => Some(None),
        (Some(port), None, None) => PortRange::new(port, port).map(Some),
        (None, Some(first), Some(last)) => PortRange::new(first, last).map(Some),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(text: &str) -> Vec<RuleFilter> {
        RuleFilter::of(3, Handle::new(7, 2), &text.parse().unwrap()).collect()
    }

    fn reported(filter: &RuleFilter) -> FilterMessage {
        FilterMessage {
            preference: filter.preference(),
            protocol: filter.protocol(),
            handle: 1,
            kind: FLOWER.to_owned(),
            options: filter.options(),
        }
    }

    #[test]
    fn filter_of_each_condition_reads_back() {
        for (text, preferences) in [
            (
                "proto udp src 10.1.0.0/16 sport 53 dst 10.2.3.4/32 dport 5000-5100 dscp 46",
                &[5][..],
            ),
            ("proto tcp src fd00::/64 sport 1-2 dport 443", &[6]),
            ("proto sctp sport 9", &[5, 6]),
            ("proto icmpv6", &[6]),
            ("proto icmp", &[5]),
            ("dst 0.0.0.0/0", &[5]),
            ("dst ::/0", &[6]),
            ("dscp 0", &[5, 6]),
        ] {
            let filters = filters(text);
            let own: Vec<_> = filters.iter().map(RuleFilter::preference).collect();
            assert_eq!(own, preferences, "{text}");
            for filter in filters {
                assert_eq!(RuleFilter::read(&reported(&filter)), Some(filter), "{text}");
            }
        }
    }

    #[test]
    fn another_filter_is_not_that_of_a_rule() {
        let filter = filters("proto udp dport 5000").remove(0);
        let own = reported(&filter);
        let with = |kind: u16, value: &[u8]| {
            let mut options = own.options.clone();
            put(&mut options, kind, value);
            FilterMessage { options, ..own.clone() }
        };
        let source = with(20, &[0, 1]);
        let read = RuleFilter::read(&source).expect("a source port is a condition");
        assert_ne!(read.selector, filter.selector);
        for other in [
            with(4, &[2, 0, 0, 0, 0, 1]),
            with(38, &[0xff, 0]),
            FilterMessage { kind: "u32".to_owned(), ..own.clone() },
            FilterMessage { preference: 6, ..own.clone() },
            FilterMessage { protocol: 3, ..own.clone() },
        ] {
            assert_eq!(RuleFilter::read(&other), None, "{other:?}");
        }
        assert_eq!(RuleFilter::read(&with(38, &[0xff, 0xff])), Some(filter));
    }
}
