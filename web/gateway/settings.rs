//! Settings of a gateway.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use groundwave_gateway::onboarding::AddressPool;
use groundwave_host::gpio::LineName;
use groundwave_io_gateway::firmware::FirmwareFolder;
use groundwave_io_gateway::notice::FlowServers;
use groundwave_io_gateway::nut::NutAddress;
use groundwave_io_gateway::reply_log::ReplyLog;
use groundwave_outbound::TargetPolicy;
use groundwave_protocol::GatewayEnd;

use crate::tunnel_device::TunnelDevice;

/// Cost of a hash.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Memory, KiB.
    pub memory_kib: u32,
    /// Number of passes.
    pub passes: u32,
}

impl Default for Effort {
    /// OWASP recommendation for argon2id: 19 MiB, two passes.
    fn default() -> Self {
        Self { memory_kib: 19_456, passes: 2 }
    }
}

/// Settings of a gateway.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Mesh interface.
    pub mesh_ifname: String,
    /// Tunnel interface.
    pub tunnel_ifname: String,
    /// Underlay addresses.
    pub underlay: AddressPool,
    /// Overlay addresses.
    pub overlay: AddressPool,
    /// Tunnel endpoint of the gateway; without one, admins issue the credentials of nodes.
    pub tunnel: Option<GatewayEnd>,
    /// Interface of the tunnel, which the gateway keeps as it is to be.
    pub tunnel_device: Option<Arc<TunnelDevice>>,
    /// The tunnel is required: the health check reports its absence.
    pub tunnel_wanted: bool,
    /// MTU of the tunnel, bytes.
    pub tunnel_mtu: u16,
    /// Heartbeat period.
    pub heartbeat: Duration,
    /// Telemetry interval.
    pub telemetry: Duration,
    /// The enrolment policy `open` may be set.
    pub insecure_open: bool,
    /// Network namespace of the firewall; that of the process if absent.
    pub netns: Option<std::path::PathBuf>,
    /// File with the settings of the mesh before an unconfirmed change; in memory only if absent.
    pub mesh_before: Option<std::path::PathBuf>,
    /// Folder of firmware images; none are taken if absent.
    pub firmware: Option<FirmwareFolder>,
    /// Damaged history of readings, while it exists.
    pub damaged_history: Option<std::path::PathBuf>,
    /// Log of replies to requests with an `Idempotency-Key`; in memory only if absent.
    pub replies: Option<Arc<ReplyLog>>,
    /// NUT server; optional.
    pub nut: Option<NutAddress>,
    /// Accepted host names, beside IP addresses.
    pub hosts: Vec<String>,
    /// Cost of a password hash.
    pub effort: Effort,
    /// Lease file of dnsmasq.
    pub leases: Option<std::path::PathBuf>,
    /// GPIO lines that may be read and set.
    pub gpio_lines: Vec<LineName>,
    /// Reservation folder of dnsmasq.
    pub reservations: Option<std::path::PathBuf>,
    /// Servers that flows reach.
    pub flow_servers: FlowServers,
    /// Targets of outbound requests.
    pub targets: TargetPolicy,
    /// Streams of cameras require an access token.
    pub camera_tokens: bool,
    /// The public map is shown to callers without a token.
    pub public_map: bool,
    /// Receivers of the positions of nodes as Cursor on Target.
    pub cot_receivers: Vec<SocketAddr>,
    /// Control socket of a testbed; optional.
    pub testbed_socket: Option<std::path::PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mesh_ifname: "bat0".to_owned(),
            tunnel_ifname: "wg0".to_owned(),
            underlay: AddressPool::new(Ipv4Addr::new(10, 41, 0, 0), 24).expect("a sound range"),
            overlay: AddressPool::default(),
            tunnel: None,
            tunnel_device: None,
            tunnel_wanted: false,
            tunnel_mtu: 1420,
            heartbeat: Duration::from_secs(5),
            telemetry: Duration::from_secs(5),
            insecure_open: false,
            netns: None,
            mesh_before: None,
            firmware: None,
            damaged_history: None,
            replies: None,
            nut: None,
            hosts: vec!["localhost".to_owned()],
            effort: Effort::default(),
            gpio_lines: Vec::new(),
            leases: None,
            reservations: None,
            flow_servers: FlowServers::default(),
            targets: TargetPolicy::default(),
            camera_tokens: false,
            public_map: false,
            cot_receivers: Vec::new(),
            testbed_socket: None,
        }
    }
}

impl Settings {
    /// `true` if `host` names this gateway: any IP address, or a known name (protection against DNS
    /// rebinding).
    #[must_use]
    pub fn answers_to(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<IpAddr>().is_ok()
            || self.hosts.iter().any(|other| other.eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_nobody_gave_it_are_not_answered() {
        let settings = Settings::default();
        for host in ["localhost:8080", "127.0.0.1", "10.41.0.1:8080", "[::1]:8080", "LOCALHOST"] {
            assert!(settings.answers_to(host), "{host}");
        }
        for host in ["evil.example:8080", "127.0.0.1.nip.io", "", "localhost.evil"] {
            assert!(!settings.answers_to(host), "{host}");
        }
    }
}
