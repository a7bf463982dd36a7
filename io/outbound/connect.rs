//! Resolution of a target and connection to it: one lookup, every address judged, one of them used.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use groundwave_http_client::{connect, within};
use tokio::net::TcpStream;

use super::error::OutboundError;
use super::policy::TargetPolicy;

/// Time limit of a connection.
pub const CONNECT_MAX: Duration = Duration::from_secs(5);

/// Addresses of a name, as they will be.
pub type Lookup<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Lookup of host names.
pub trait Resolve: Send + Sync {
    /// All addresses of a host.
    fn resolve<'a>(&'a self, host: &'a str) -> Lookup<'a>;
}

/// Name service of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str) -> Lookup<'a> {
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((host, 0)).await?;
            Ok(addresses.map(|address| address.ip()).collect())
        })
    }
}

/// Target that the policy admits, with its addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) addresses: Vec<SocketAddr>,
    /// Admitted by its name, whatever its addresses are.
    pub(super) is_named: bool,
}

impl Target {
    /// Addresses to connect to, in the order of the name service.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Host name or address of the request.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Host and port.
    pub(super) fn label(&self) -> String {
        label(&self.host, self.port)
    }
}

/// Host and port, as in a URL.
pub(super) fn label(host: &str, port: u16) -> String {
    match host.contains(':') {
        true => format!("[{host}]:{port}"),
        false => format!("{host}:{port}"),
    }
}

/// Guard of outbound connections.
pub(super) struct Guard {
    pub(super) policy: TargetPolicy,
    pub(super) resolver: Arc<dyn Resolve>,
    /// Listeners of this program.
    pub(super) own: RwLock<Vec<SocketAddr>>,
}

impl Guard {
    fn check(&self, address: SocketAddr) -> Result<(), &'static str> {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        self.policy.check(address, &own)
    }

    /// Judges an address, or a name that is known without the name service.
    pub(super) fn judge(&self, host: &str, port: u16) -> Result<(), OutboundError> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if self.policy.admits_name(host, port) {
            return Ok(());
        }
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let ip = match host.parse::<IpAddr>() {
            Ok(ip) => Some(ip),
            // RFC 6761: such names are loopback addresses.
            Err(_) if name == "localhost" || name.ends_with(".localhost") => {
                Some(IpAddr::V4(Ipv4Addr::LOCALHOST))
            }
            Err(_) => None,
        };
        let judged = match ip {
            Some(ip) => {
                self.check(SocketAddr::new(ip, port)).map_err(|why| format!("{ip} is {why}"))
            }
            None => self.policy.check_name(host).map_err(str::to_owned),
        };
        judged.map_err(|reason| OutboundError::Forbidden { target: label(host, port), reason })
    }

    /// Resolves and judges a target.
    pub(super) async fn target(&self, host: &str, port: u16) -> Result<Target, OutboundError> {
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let forbidden =
            |reason: String| OutboundError::Forbidden { target: label(host, port), reason };
        let unknown = |cause| OutboundError::Resolve { host: host.to_owned(), cause };
        let is_named = self.policy.admits_name(host, port);
        let ips = match host.parse::<IpAddr>() {
            Ok(ip) => vec![ip],
            Err(_) => {
                if !is_named {
                    let checked = self.policy.check_name(host);
                    checked.map_err(|why| forbidden(why.to_owned()))?;
                }
                within(CONNECT_MAX, self.resolver.resolve(host)).await.map_err(unknown)?
            }
        };
        if ips.is_empty() {
            return Err(unknown(io::ErrorKind::NotFound.into()));
        }
        let addresses: Vec<_> = ips.iter().map(|ip| SocketAddr::new(*ip, port)).collect();
        // One bad address spoils the name.
        for address in addresses.iter().filter(|_| !is_named) {
            let checked = self.check(*address);
            checked.map_err(|why| forbidden(format!("{} is {why}", address.ip())))?;
        }
        Ok(Target { host: host.to_owned(), port, addresses, is_named })
    }

    /// Connects to an address of the target.
    pub(super) async fn connect(&self, target: &Target) -> Result<TcpStream, OutboundError> {
        let failed = |cause| OutboundError::Connect { target: target.label(), cause };
        let stream = within(CONNECT_MAX, connect(&target.addresses[..])).await.map_err(failed)?;
        let peer = stream.peer_addr().map_err(failed)?;
        if !target.is_named {
            let checked = self.check(peer);
            checked.map_err(|why| OutboundError::Forbidden {
                target: target.label(),
                reason: format!("{} is {why}", peer.ip()),
            })?;
        }
        Ok(stream)
    }
}
