//! Configuration of the mesh gateway.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use groundwave_credentials::PrivateKey;
use groundwave_credentials::{check_private, load_or_make};
use groundwave_engine::Handle;
use groundwave_files::Root;
use groundwave_gateway::Snapshot;
use groundwave_gateway::canonical::served;
use groundwave_gateway::onboarding::AddressPool;
use groundwave_host::gpio::LineName;
use groundwave_http::Failure;
use groundwave_http::option_value::{host_name, interface_name, require_file};
use groundwave_http::tls::Identity;
use groundwave_io_gateway::firmware::FirmwareFolder;
use groundwave_io_gateway::nut::NutAddress;
use groundwave_io_gateway::reply_log::ReplyLog;
use groundwave_outbound::{AllowedTarget, TargetPolicy};
use groundwave_protocol::PublicKey;
use tokio_util::sync::CancellationToken;

use super::gateway_folder::GatewayFolder;
use crate::services::vault::Vault;
use crate::tunnel_device::TunnelDevice;
use crate::{Gateway, Settings};

/// WireGuard tunnel of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum TunnelChoice {
    /// Where the kernel supports it
    Auto,
    /// Required: fail without it
    On,
    /// No tunnel
    Off,
}

/// Authentication of camera streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum StreamAuth {
    /// None
    None,
    /// Access token
    Token,
}

/// Configuration of the gateway.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Mesh gateway")]
pub struct GatewayConfig {
    /// Address of the gateway
    #[arg(
        long,
        env = "GATEWAY_BIND",
        value_name = "ADDR",
        value_parser = groundwave_http::socket_address,
        default_value = "0.0.0.0:8080"
    )]
    pub gateway_bind: SocketAddr,

    /// Folder.
    #[command(flatten)]
    pub state: GatewayFolder,

    /// File with the password of the first admin, mode 0600 or 0640, 12 to 1024 characters that are no
    /// common password [default: a random password]
    #[arg(long, env = "GATEWAY_ADMIN_PASSWORD_FILE", value_name = "FILE")]
    pub admin_password_file: Option<PathBuf>,

    /// Underlay addresses, assigned by DHCP
    #[arg(long, env = "GATEWAY_UNDERLAY", value_name = "CIDR", default_value = "10.41.0.0/24")]
    pub underlay: String,

    /// Overlay addresses, assigned by the gateway
    #[arg(long, env = "GATEWAY_OVERLAY", value_name = "CIDR", default_value = "10.42.0.0/24")]
    pub overlay: String,

    /// Mesh interface
    #[arg(
        long,
        env = "GATEWAY_MESH_IFNAME",
        value_name = "NAME",
        value_parser = interface_name,
        default_value = "bat0"
    )]
    pub mesh_ifname: String,

    /// WireGuard tunnel
    #[arg(long, env = "GATEWAY_TUNNEL", value_enum, default_value = "auto")]
    pub tunnel: TunnelChoice,

    /// WireGuard interface
    #[arg(
        long,
        env = "GATEWAY_TUNNEL_IFNAME",
        value_name = "NAME",
        value_parser = interface_name,
        default_value = "wg0"
    )]
    pub tunnel_ifname: String,

    /// Endpoint of the tunnel announced to nodes [default: first underlay address, port 51820]
    #[arg(long, env = "GATEWAY_TUNNEL_ENDPOINT", value_name = "ADDR")]
    pub tunnel_endpoint: Option<SocketAddr>,

    /// Heartbeat interval, 0.1 to 3600 s; a node is stale after 3 missed heartbeats, offline after 12
    #[arg(long, env = "GATEWAY_HEARTBEAT_S", value_name = "S", default_value = "5")]
    pub heartbeat_s: f64,

    /// Lease file of dnsmasq
    #[arg(long, env = "GATEWAY_LEASES", value_name = "FILE")]
    pub leases: Option<PathBuf>,

    /// Reservation folder of dnsmasq (`dhcp-hostsdir`)
    #[arg(long, env = "GATEWAY_RESERVATIONS", value_name = "DIR")]
    pub reservations: Option<PathBuf>,

    /// NUT server with power supplies, HOST or HOST:PORT; `off` for none
    #[arg(
        long,
        env = "GATEWAY_NUT",
        value_name = "HOST",
        value_parser = nut_server,
        default_value = "127.0.0.1:3493"
    )]
    pub nut: String,

    /// GPIO line of this machine that operators may read and set; repeatable [example: gpiochip0:17]
    #[arg(
        long = "gpio-line",
        env = "GATEWAY_GPIO_LINES",
        value_name = "CHIP:OFFSET",
        value_delimiter = ','
    )]
    pub gpio_lines: Vec<LineName>,

    /// TLS address of the gateway, used with --tls-cert
    #[arg(
        long,
        env = "GATEWAY_TLS_BIND",
        value_name = "ADDR",
        value_parser = groundwave_http::socket_address,
        default_value = "0.0.0.0:8443",
        requires = "tls_cert"
    )]
    pub gateway_tls_bind: SocketAddr,

    /// Certificate chain, PEM; enables TLS on its own port
    #[arg(long, env = "GATEWAY_TLS_CERT", value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,

    /// Private key of the certificate, PEM, mode 0600 or 0640
    #[arg(long, env = "GATEWAY_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,

    /// Address of a proxy whose header field X-Forwarded-For names the client; repeatable
    /// [example: 127.0.0.1]
    #[arg(
        long = "trusted-proxy",
        env = "GATEWAY_TRUSTED_PROXIES",
        value_name = "ADDRESS",
        value_delimiter = ','
    )]
    pub trusted_proxies: Vec<IpAddr>,

    /// Host name of the gateway besides `localhost` and its addresses; repeatable
    #[arg(
        long = "host",
        env = "GATEWAY_HOSTS",
        value_name = "NAME",
        value_delimiter = ',',
        value_parser = host_name
    )]
    pub hosts: Vec<String>,

    /// Target of outbound requests that is otherwise forbidden (loopback, link-local, metadata
    /// services, own listeners): HOST, HOST:PORT, ADDRESS, ADDRESS:PORT or ADDRESS/PREFIX; repeatable
    #[arg(
        long = "allow-target",
        env = "GATEWAY_ALLOW_TARGETS",
        value_name = "TARGET",
        value_delimiter = ','
    )]
    pub allowed_targets: Vec<AllowedTarget>,

    /// Forbid private addresses as targets of outbound requests
    #[arg(long, env = "GATEWAY_FORBID_PRIVATE_TARGETS")]
    pub forbid_private_targets: bool,

    /// Authentication of camera streams: none, or an access token in the query parameter `t`
    #[arg(long, env = "GATEWAY_CAMERA_STREAM_AUTH", value_enum, default_value = "none")]
    pub camera_stream_auth: StreamAuth,

    /// Show the public map to anyone: /map and /meshviewer.json, with names, states, positions and links
    /// of approved nodes without the tag `private`
    #[arg(long, env = "GATEWAY_PUBLIC_MAP", value_parser = clap::builder::BoolishValueParser::new())]
    pub public_map: bool,

    /// Send the positions of approved nodes without the tag `private` as Cursor on Target by UDP, each 10 s; repeatable
    /// [example: 239.2.3.1:6969]
    #[arg(
        long = "cot",
        env = "GATEWAY_COT",
        value_name = "ADDRESS:PORT",
        value_delimiter = ',',
        value_parser = crate::public::cot::receiver
    )]
    pub cot_receivers: Vec<SocketAddr>,

    /// Servers that flows reach.
    #[command(flatten)]
    pub flows: super::flow_config::FlowConfig,

    /// Control socket of the testbed that the page shows and steers
    /// [example: /run/groundwave/ridge/control.sock]
    #[arg(long, env = "GATEWAY_TESTBED_SOCKET", value_name = "PATH")]
    pub testbed_socket: Option<PathBuf>,

    /// Allow the onboarding policy `open`, which admits every node; for laboratories only
    #[arg(long, env = "GATEWAY_INSECURE_OPEN_ONBOARDING")]
    pub insecure_open_onboarding: bool,
}

/// Value of `--nut` without a server.
const NO_NUT: &str = "off";

/// Default port of the tunnel.
const TUNNEL_PORT: u16 = 51820;

/// Value of `--nut`.
fn nut_server(text: &str) -> Result<String, String> {
    match text {
        NO_NUT => Ok(text.to_owned()),
        _ => text.parse::<NutAddress>().map(|_| text.to_owned()),
    }
}

fn range(key: &str, text: &str) -> Result<AddressPool, Failure> {
    AddressPool::parse(text).map_err(|err| Failure::Input(format!("--{key}: {err}")))
}

/// A leased address outside a range, if there is one.
fn outside(view: &Snapshot, overlay: AddressPool) -> Option<Ipv4Addr> {
    view.onboarding.leases.keys().find(|ip| !overlay.holds(**ip)).copied()
}

impl GatewayConfig {
    /// Refuses options that contradict each other.
    ///
    /// # Errors
    /// With both options.
    pub fn check(&self) -> Result<(), Failure> {
        if let (TunnelChoice::Off, Some(endpoint)) = (self.tunnel, self.tunnel_endpoint) {
            let what = format!(
                "invalid --tunnel-endpoint: found {endpoint} beside --tunnel off, allowed with a tunnel"
            );
            return Err(Failure::Input(what));
        }
        Ok(())
    }

    /// Overlay addresses.
    pub fn overlay(&self) -> Result<AddressPool, Failure> {
        range("overlay", &self.overlay)
    }

    /// Overlay addresses, those of the network that this gateway serves, else the configured ones; `true`
    /// beside them if there can be a tunnel. A network is mended over the API, which is served for that.
    fn served(
        &self,
        view: &Snapshot,
        underlay: AddressPool,
    ) -> Result<(AddressPool, bool), Failure> {
        let networks = view.config.networks.iter().map(|(id, network)| (id, &network.object));
        let Some((id, network)) = served(networks) else {
            let overlay = self.overlay()?;
            let allowed = match overlay.special() {
                Some(special) => format!("ranges apart from {special}"),
                None if overlay.overlaps(&underlay) => {
                    format!("ranges apart from --underlay {underlay}")
                }
                None => match outside(view, overlay) {
                    Some(ip) => format!(
                        "a range with {ip}, the address of a node: start with the range of before and \
                         revoke the node, to change it"
                    ),
                    None => return Ok((overlay, true)),
                },
            };
            let what = format!("invalid --overlay: found {overlay}, allowed {allowed}");
            return Err(Failure::Input(what));
        };
        let overlay = network.pool().map_err(Failure::Input)?;
        if let Some(ip) = outside(view, overlay) {
            tracing::error!(
                network = network.name,
                %overlay,
                "this network lacks {ip}, the address of a node, which is not reached there: revoke the node"
            );
        }
        let is_apart = overlay.special().is_none() && !overlay.overlaps(&underlay);
        if !is_apart {
            tracing::error!(
                network = network.name,
                %overlay,
                %underlay,
                "no tunnel: the overlay range of this network overlaps the underlay or is special; change it \
                 (PUT /v1/model/networks/{id}), then restart the gateway"
            );
        }
        Ok((overlay, is_apart))
    }

    /// NUT server, unless there is none.
    fn nut_server(&self) -> Result<Option<NutAddress>, Failure> {
        let read = |text: &str| {
            text.parse().map_err(|err| Failure::Input(format!("invalid --nut: {err}")))
        };
        (self.nut != NO_NUT).then(|| read(&self.nut)).transpose()
    }

    /// Certificate and key for TLS, if configured.
    pub(super) fn tls_identity(&self) -> Result<Option<Identity>, Failure> {
        let files = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        if let Some((cert, key)) = files {
            require_file("--tls-cert", cert, "a certificate (PEM)")?;
            require_file("--tls-key", key, "the key of the certificate (PEM)")?;
            check_private(key).map_err(Failure::input)?;
        }
        let read = |(cert, key)| Identity::read(cert, key).map_err(Failure::Input);
        files.map(read).transpose()
    }

    /// Password of the first admin, if configured; checked by the rule of passwords if it is `needed`.
    pub(super) fn admin_password(&self, needed: bool) -> Result<Option<String>, Failure> {
        let path = self.admin_password_file.as_deref();
        let read = |path| super::admin::read_password("--admin-password-file", path, needed);
        path.map(read).transpose()
    }

    /// Vault of the secrets in the world, by the key in the folder of the state.
    pub fn vault(&self) -> Result<Vault, Failure> {
        Ok(Vault::new(&self.state.key()?))
    }

    /// A gateway over `world`, with its keys, audit log, history and tunnel; `planning` is the address
    /// of the planning API of this program, if it serves.
    pub fn open(
        &self,
        world: Handle<Snapshot>,
        planning: Option<SocketAddr>,
        stop: CancellationToken,
    ) -> Result<Gateway, Failure> {
        if !(0.1..=3600.0).contains(&self.heartbeat_s) {
            let what =
                format!("invalid --heartbeat-s: found {}, allowed 0.1 to 3600", self.heartbeat_s);
            return Err(Failure::Input(what));
        }
        let view = world.view();
        let underlay = range("underlay", &self.underlay)?;
        let (overlay, is_apart) = self.served(&view, underlay)?;
        let key = self.state.key()?;
        let audit = super::audit::open(&self.state.file("audit.jsonl"), &key)?;
        let telemetry = self.state.file("telemetry.redb");
        let history = super::history::open(&telemetry)?;
        let mut hosts = vec!["localhost".to_owned()];
        let machine = groundwave_host::readings::host::info(&Root::default());
        hosts.extend(machine.ok().map(|machine| machine.hostname));
        hosts.extend(self.hosts.iter().cloned());
        let heartbeat = Duration::from_secs_f64(self.heartbeat_s);
        let defaults = Settings::default();
        let path = self.state.file("replies.jsonl");
        let replies = ReplyLog::open(&path).map_err(Failure::input)?;
        if replies.damaged_lines > 0 {
            tracing::error!(
                "log of replies {}: {} damaged lines are ignored; requests of theirs may be carried out again",
                path.display(),
                replies.damaged_lines
            );
        }
        let tunnel_device = match is_apart {
            true => self.create_tunnel(overlay, defaults.tunnel_mtu)?,
            false => None,
        };
        let tunnel = tunnel_device.as_ref().map(|device| device.end(overlay));
        let settings = Settings {
            mesh_ifname: self.mesh_ifname.clone(),
            tunnel_ifname: self.tunnel_ifname.clone(),
            underlay,
            overlay,
            damaged_history: Some(
                self.state.file(&format!("telemetry.redb.{}", super::history::DAMAGED)),
            ),
            tunnel,
            tunnel_device,
            tunnel_wanted: self.tunnel != TunnelChoice::Off,
            heartbeat,
            telemetry: heartbeat,
            insecure_open: self.insecure_open_onboarding,
            hosts,
            mesh_before: Some(self.state.file("mesh-unconfirmed.json")),
            firmware: Some(
                FirmwareFolder::open(&self.state.file("firmware")).map_err(Failure::input)?,
            ),
            replies: Some(Arc::new(replies)),
            nut: self.nut_server()?,
            gpio_lines: self.gpio_lines.clone(),
            flow_servers: self.flows.open(planning)?,
            leases: self.leases.clone(),
            reservations: self.reservations.clone(),
            targets: TargetPolicy {
                forbids_private: self.forbid_private_targets,
                allowed: self.allowed_targets.clone(),
            },
            camera_tokens: self.camera_stream_auth == StreamAuth::Token,
            public_map: self.public_map,
            cot_receivers: self.cot_receivers.clone(),
            testbed_socket: self.testbed_socket.clone(),
            ..defaults
        };
        Ok(Gateway::new(world, settings, &key, audit, history, stop))
    }

    /// Creates the tunnel, if there can be one.
    fn create_tunnel(
        &self,
        overlay: AddressPool,
        mtu_bytes: u16,
    ) -> Result<Option<Arc<TunnelDevice>>, Failure> {
        if self.tunnel == TunnelChoice::Off {
            return Ok(None);
        }
        let bytes = load_or_make::<32>(&self.state.file("tunnel.key")).map_err(Failure::input)?;
        let key = PrivateKey::from_bytes(bytes);
        let public_key = PublicKey::new(key.public().0).map_err(Failure::Machine)?;
        let underlay = range("underlay", &self.underlay)?;
        let usual = SocketAddr::new(IpAddr::V4(underlay.gateway()), TUNNEL_PORT);
        let endpoint = self.tunnel_endpoint.unwrap_or(usual);
        let ifname = self.tunnel_ifname.clone();
        let device = TunnelDevice { ifname, key, public_key, endpoint, mtu_bytes };
        match device.lay(overlay) {
            Ok(()) => Ok(Some(Arc::new(device))),
            Err(err) if self.tunnel == TunnelChoice::Auto => {
                tracing::warn!(
                    %err,
                    "no tunnel: nodes get their credentials from an admin (POST /v1/nodes/{{id}}/rotate-credentials)"
                );
                Ok(None)
            }
            Err(err) => Err(Failure::Machine(format!("--tunnel on: {err}"))),
        }
    }
}
