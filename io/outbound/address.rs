//! Reach of an IP address: public, private or forbidden (IANA special-purpose registries, RFC 6890).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Reach of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Globally routed.
    Public,
    /// RFC 1918, shared address space (RFC 6598) or unique local (RFC 4193).
    Private,
    /// Never a target by itself; the reason.
    Forbidden(&'static str),
}

/// Addresses of metadata services of cloud providers outside the link-local range.
const METADATA_V4: [Ipv4Addr; 2] =
    [Ipv4Addr::new(100, 100, 100, 200), Ipv4Addr::new(168, 63, 129, 16)];

/// Addresses of metadata services of cloud providers among the unique local ones.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254),
    Ipv6Addr::new(0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x0254),
];

/// Reserved IPv4 networks: address, prefix length.
const RESERVED_V4: [(Ipv4Addr, u32); 6] = [
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
];

/// Reach of an address. Addresses that embed an IPv4 address (mapped, NAT64, 6to4, Teredo) have the
/// reach of that address.
#[must_use]
pub fn classify(ip: IpAddr) -> Reach {
    match ip {
        IpAddr::V4(ip) => classify_v4(ip),
        IpAddr::V6(ip) => classify_v6(ip),
    }
}

/// True if the first `prefix` bits of two addresses are equal.
fn is_within(ip: Ipv4Addr, network: Ipv4Addr, prefix: u32) -> bool {
    (ip.to_bits() ^ network.to_bits()).leading_zeros() >= prefix
}

fn classify_v4(ip: Ipv4Addr) -> Reach {
    let first = ip.octets()[0];
    if first == 0 {
        return Reach::Forbidden("unspecified");
    }
    if ip.is_loopback() {
        return Reach::Forbidden("loopback");
    }
    if ip.is_link_local() {
        return Reach::Forbidden("link-local");
    }
    if ip.is_multicast() {
        return Reach::Forbidden("multicast");
    }
    if ip.is_broadcast() {
        return Reach::Forbidden("broadcast");
    }
    if METADATA_V4.contains(&ip) {
        return Reach::Forbidden("metadata service");
    }
    let is_reserved = |&(network, prefix)| is_within(ip, network, prefix);
    if first >= 240 || RESERVED_V4.iter().any(is_reserved) {
        return Reach::Forbidden("reserved");
    }
    if ip.is_private() || is_within(ip, Ipv4Addr::new(100, 64, 0, 0), 10) {
        return Reach::Private;
    }
    Reach::Public
}

fn classify_v6(ip: Ipv6Addr) -> Reach {
    let parts = ip.segments();
    let embedded = |high: u16, low: u16| {
        classify_v4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
    };
    if ip.is_unspecified() {
        return Reach::Forbidden("unspecified");
    }
    if ip.is_loopback() {
        return Reach::Forbidden("loopback");
    }
    match parts {
        // IPv4-mapped, RFC 4291, 2.5.5.2.
        [0, 0, 0, 0, 0, 0xffff, high, low] => return embedded(high, low),
        // NAT64, RFC 6052.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => return embedded(high, low),
        // 6to4, RFC 3056.
        [0x2002, high, low, ..] => return embedded(high, low),
        // Teredo, RFC 4380: server, and client with its bits inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => {
            let client = embedded(!high, !low);
            return client.max(embedded(server_high, server_low));
        }
        _ => {}
    }
    if METADATA_V6.contains(&ip) {
        return Reach::Forbidden("metadata service");
    }
    if ip.is_multicast() {
        return Reach::Forbidden("multicast");
    }
    if ip.is_unicast_link_local() {
        return Reach::Forbidden("link-local");
    }
    if ip.is_unique_local() {
        return Reach::Private;
    }
    let is_documentation =
        parts[..2] == [0x2001, 0x0db8] || parts[0] == 0x3fff && parts[1] < 0x1000;
    // IETF protocol assignments, RFC 2928.
    let is_protocol = parts[0] == 0x2001 && parts[1] < 0x0200;
    if parts[0] & 0xe000 != 0x2000 || is_documentation || is_protocol {
        return Reach::Forbidden("reserved");
    }
    Reach::Public
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_has_the_reach_of_the_registries() {
        let reach = |text: &str| classify(text.parse().unwrap());
        for text in
            ["1.1.1.1", "100.63.255.255", "172.32.0.1", "2606:4700::1111", "2002:101:101::1"]
        {
            assert_eq!(reach(text), Reach::Public, "{text}");
        }
        let private = [
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "100.64.0.1",
            "100.127.255.254",
            "fd12::1",
            "fc00::1",
            "::ffff:10.1.1.1",
            "64:ff9b::c0a8:101",
            "2002:a00:1::1",
        ];
        for text in private {
            assert_eq!(reach(text), Reach::Private, "{text}");
        }
        let forbidden = [
            ("0.0.0.0", "unspecified"),
            ("0.1.2.3", "unspecified"),
            ("127.255.255.254", "loopback"),
            ("169.254.169.254", "link-local"),
            ("224.0.0.1", "multicast"),
            ("255.255.255.255", "broadcast"),
            ("240.0.0.1", "reserved"),
            ("192.0.2.1", "reserved"),
            ("198.19.255.255", "reserved"),
            ("192.0.0.192", "reserved"),
            ("100.100.100.200", "metadata service"),
            ("168.63.129.16", "metadata service"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::127.0.0.1", "reserved"),
            ("fe80::1", "link-local"),
            ("fe81::1", "link-local"),
            ("febf::1", "link-local"),
            ("fec0::1", "reserved"),
            ("ff02::1", "multicast"),
            ("2001:db8::1", "reserved"),
            ("3fff:fff::1", "reserved"),
            ("2001:2::1", "reserved"),
            ("100::1", "reserved"),
            ("64:ff9b:1::7f00:1", "reserved"),
            ("fd00:ec2::254", "metadata service"),
            ("::ffff:127.0.0.1", "loopback"),
            ("::ffff:169.254.169.254", "link-local"),
            ("64:ff9b::7f00:1", "loopback"),
            ("64:ff9b::a9fe:a9fe", "link-local"),
            ("2002:7f00:1::", "loopback"),
            ("2002:a9fe:a9fe::1", "link-local"),
            // Teredo: client 127.0.0.1, then server 127.0.0.1 with the client 1.1.1.1.
            ("2001:0:101:101::80ff:fffe", "loopback"),
            ("2001:0:7f00:1::fefe:fefe", "loopback"),
        ];
        for (text, why) in forbidden {
            assert_eq!(reach(text), Reach::Forbidden(why), "{text}");
        }
    }
}
