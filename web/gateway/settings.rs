//! What a gateway is told when it starts.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use groundwave_systems::onboarding::{AddressPool, GatewayEnd};

use crate::gateway::services::passwords::Effort;

/// Settings of a gateway.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The mesh interface.
    pub mesh_ifname: String,
    /// The tunnel's interface.
    pub tunnel_ifname: String,
    /// Underlay addresses.
    pub underlay: AddressPool,
    /// Overlay addresses.
    pub overlay: AddressPool,
    /// The gateway's end of the tunnel; without one no node gets a credential by itself.
    pub tunnel: Option<GatewayEnd>,
    /// Largest packet of the tunnel, bytes.
    pub tunnel_mtu: u16,
    /// Time between two heartbeats.
    pub heartbeat: Duration,
    /// Time between two reports of readings.
    pub telemetry: Duration,
    /// Whether the policy `open` may be chosen.
    pub insecure_open: bool,
    /// Names the gateway answers to, beside its addresses.
    pub hosts: Vec<String>,
    /// How much work a password's hash is.
    pub effort: Effort,
    /// Where dnsmasq keeps its leases.
    pub leases: Option<std::path::PathBuf>,
    /// Where dnsmasq reads reservations from.
    pub reservations: Option<std::path::PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mesh_ifname: "bat0".to_owned(),
            tunnel_ifname: "wg0".to_owned(),
            underlay: AddressPool::new(Ipv4Addr::new(10, 41, 0, 0), 24).expect("a sound range"),
            overlay: AddressPool::default(),
            tunnel: None,
            tunnel_mtu: 1420,
            heartbeat: Duration::from_secs(5),
            telemetry: Duration::from_secs(5),
            insecure_open: false,
            hosts: vec!["localhost".to_owned()],
            effort: Effort::default(),
            leases: None,
            reservations: None,
        }
    }
}

impl Settings {
    /// Whether a request for `host` may be meant for this gateway: an address always is, a name
    /// only if it is known. A page that gives its own name this gateway's address is not.
    #[must_use]
    pub fn answers_to(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<IpAddr>().is_ok()
            || self
                .hosts
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_nobody_gave_it_are_not_answered() {
        let settings = Settings::default();
        for host in [
            "localhost:8080",
            "127.0.0.1",
            "10.41.0.1:8080",
            "[::1]:8080",
            "LOCALHOST",
        ] {
            assert!(settings.answers_to(host), "{host}");
        }
        for host in [
            "evil.example:8080",
            "127.0.0.1.nip.io",
            "",
            "localhost.evil",
        ] {
            assert!(!settings.answers_to(host), "{host}");
        }
    }
}
