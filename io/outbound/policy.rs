//! Policy of outbound targets: two tiers and exact exceptions.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::str::FromStr;

use super::address::{Reach, classify};

/// Names of metadata services of cloud providers.
const METADATA_NAMES: [&str; 5] = [
    "metadata",
    "metadata.goog",
    "metadata.google.internal",
    "instance-data",
    "instance-data.ec2.internal",
];

/// Policy of outbound targets.
///
/// Forbidden addresses (loopback, link-local, metadata services, multicast, reserved, the own
/// listeners) are reached by an exception only, and exceptions come from the configuration of the
/// start, never from a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetPolicy {
    /// Private addresses are forbidden as well.
    pub forbids_private: bool,
    /// Exceptions.
    pub allowed: Vec<AllowedTarget>,
}

/// Exception of a target policy: `HOST`, `HOST:PORT`, `ADDRESS`, `ADDRESS:PORT` or `ADDRESS/PREFIX`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AllowedTarget {
    /// Host name, lower case, and port.
    Name(String, Option<u16>),
    /// Network and port.
    Network {
        /// Address of the network.
        ip: IpAddr,
        /// Prefix length.
        prefix: u8,
        /// Port; `None` for all.
        port: Option<u16>,
    },
}

/// Host name without the final dot, lower case.
fn plain_name(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

/// Bits of an address and their number; a mapped IPv4 address counts as IPv4.
fn bits(ip: IpAddr) -> (u128, u32) {
    match ip.to_canonical() {
        IpAddr::V4(ip) => (u128::from(ip.to_bits()) << 96, 32),
        IpAddr::V6(ip) => (ip.to_bits(), 128),
    }
}

impl FromStr for AllowedTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "invalid target: found {text:?}, allowed HOST, HOST:PORT, ADDRESS, ADDRESS:PORT or \
                 ADDRESS/PREFIX"
            )
        };
        let network = |ip: IpAddr, prefix: u8, port| Self::Network { ip, prefix, port };
        let whole = |ip: IpAddr| if ip.is_ipv4() { 32 } else { 128 };
        if let Some((ip, prefix)) = text.split_once('/') {
            let ip: IpAddr = ip.parse().map_err(|_| wrong())?;
            let prefix: u8 = prefix.parse().map_err(|_| wrong())?;
            let most = whole(ip);
            return match prefix <= most {
                true => Ok(network(ip, prefix, None)),
                false => Err(wrong()),
            };
        }
        if let Ok(ip) = text.parse::<IpAddr>() {
            return Ok(network(ip, whole(ip), None));
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            let ip = address.ip();
            return Ok(network(ip, whole(ip), Some(address.port())));
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().map_err(|_| wrong())?)),
            None => (text, None),
        };
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        match !name.is_empty() && name.len() <= 253 && name.bytes().all(letter) {
            true => Ok(Self::Name(plain_name(name), port)),
            false => Err(wrong()),
        }
    }
}

impl AllowedTarget {
    fn admits_name(&self, name: &str, to: u16) -> bool {
        matches!(self, Self::Name(allowed_name, port) if allowed_name == name && port.is_none_or(|port| port == to))
    }

    fn admits(&self, ip: IpAddr, to: u16) -> bool {
        let Self::Network { ip: network, prefix, port } = self else {
            return false;
        };
        let ((address_bits, width), (network_bits, network_width)) = (bits(ip), bits(*network));
        let differing = (address_bits ^ network_bits).leading_zeros();
        width == network_width
            && differing >= u32::from(*prefix)
            && port.is_none_or(|port| port == to)
    }
}

impl TargetPolicy {
    /// True if a name is an exception: all addresses it has are admitted.
    pub(super) fn admits_name(&self, host: &str, port: u16) -> bool {
        let name = plain_name(host);
        self.allowed.iter().any(|exception| exception.admits_name(&name, port))
    }

    /// Checks a name before it is resolved.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn check_name(&self, host: &str) -> Result<(), &'static str> {
        let name = plain_name(host);
        match METADATA_NAMES.contains(&name.as_str()) {
            true => Err("metadata service"),
            false => Ok(()),
        }
    }

    /// Checks an address; `own` are the listeners of this program.
    ///
    /// # Errors
    /// The reason.
    pub(super) fn check(
        &self,
        address: SocketAddr,
        own: &[SocketAddr],
    ) -> Result<(), &'static str> {
        let (ip, port) = (address.ip(), address.port());
        if self.allowed.iter().any(|exception| exception.admits(ip, port)) {
            return Ok(());
        }
        match classify(ip) {
            Reach::Forbidden(why) => return Err(why),
            Reach::Private if self.forbids_private => return Err("private address"),
            Reach::Private | Reach::Public => {}
        }
        match own.iter().any(|own| is_own(*own, address)) {
            true => Err("own listener"),
            false => Ok(()),
        }
    }
}

/// True if `address` reaches the listener `own`: one bound to all addresses is reached by every
/// address of this machine, and those are the ones a socket can be bound to.
fn is_own(own: SocketAddr, address: SocketAddr) -> bool {
    own.port() == address.port()
        && match own.ip().is_unspecified() {
            true => UdpSocket::bind((address.ip(), 0)).is_ok(),
            false => own.ip().to_canonical() == address.ip().to_canonical(),
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listener_on_all_addresses_matches_any_address_of_this_machine() {
        let reaches =
            |own: &str, address: &str| is_own(own.parse().unwrap(), address.parse().unwrap());
        for address in ["127.0.0.1:8080", "127.9.9.9:8080"] {
            assert!(reaches("0.0.0.0:8080", address), "{address}");
        }
        assert!(!reaches("0.0.0.0:8080", "127.0.0.1:8081"));
        assert!(!reaches("0.0.0.0:8080", "192.0.2.77:8080"));
        assert!(reaches("[::ffff:10.0.0.1]:80", "10.0.0.1:80"));
        assert!(!reaches("10.0.0.2:80", "10.0.0.1:80"));
    }
}
