//! WireGuard tunnel: kernel peers follow the approved registrations.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundwave_credentials::{PrivateKey, PublicKey as KernelKey};
use groundwave_files::ReadingError;
use groundwave_gateway::Snapshot;
use groundwave_gateway::onboarding::AddressPool;
use groundwave_host::readings::RouteSocket;
use groundwave_netlink::wireguard::{AllowedIp, DeviceConfig, Peer, PeerConfig, WireGuard};
use groundwave_protocol::PublicKey;
use tokio_util::sync::CancellationToken;

use super::world::World;
use crate::settings::Settings;

/// State of the gateway's end of the tunnel.
#[derive(Debug, Default)]
pub struct TunnelState(AtomicBool);

impl TunnelState {
    /// `true` while the gateway listens at its address in the tunnel.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets whether the gateway listens at its address in the tunnel.
    pub fn set_reachable(&self, is_reachable: bool) {
        self.0.store(is_reachable, Ordering::Relaxed);
    }
}

/// Reconciliation interval without changes.
const LOOK: Duration = Duration::from_secs(30);

/// Creates the tunnel interface unless it exists; sets key, port and address.
///
/// # Errors
/// The kernel's error.
pub fn lay(
    ifname: &str,
    key: PrivateKey,
    listen_port: u16,
    ip: Ipv4Addr,
    prefix_len: u8,
    mtu: u16,
) -> Result<(), ReadingError> {
    let mut routes = RouteSocket::open(None)?;
    routes.ensure_device(ifname, "wireguard")?;
    let wish = DeviceConfig {
        private_key: Some(key),
        listen_port: Some(listen_port),
        ..DeviceConfig::default()
    };
    WireGuard::open(None)?.set(ifname, &wish)?;
    routes.add_address(ifname, IpAddr::V4(ip), prefix_len)?;
    routes.bring_up(ifname, Some(u32::from(mtu)))
}

/// Desired peers by key.
fn wished(view: &Snapshot) -> BTreeMap<[u8; 32], Ipv4Addr> {
    let peers = view.onboarding.peers();
    peers.map(|(registration, ip)| (*registration.public_key.bytes(), ip)).collect()
}

/// Changes from `seen` to `desired`.
fn changes(wished: &BTreeMap<[u8; 32], Ipv4Addr>, peers: &[Peer]) -> Vec<PeerConfig> {
    let removals = peers
        .iter()
        .filter(|peer| !wished.contains_key(&peer.public_key.0))
        .map(|peer| PeerConfig::Removed { public_key: peer.public_key });
    let as_wished = |key: &[u8; 32], ip: Ipv4Addr| {
        peers
            .iter()
            .find(|peer| peer.public_key.0 == *key)
            .is_some_and(|peer| peer.allowed_ips == [format!("{ip}/32")])
    };
    let present = wished.iter().filter(|(key, ip)| !as_wished(key, **ip)).map(|(key, ip)| {
        PeerConfig::Present {
            public_key: KernelKey(*key),
            allowed_ips: vec![AllowedIp { address: IpAddr::V4(*ip), prefix_len: 32 }],
            endpoint: None,
            keepalive_s: None,
        }
    });
    // Departures first: an address may go from one peer to another.
    removals.chain(present).collect()
}

/// Gives the tunnel the gateway's address of the pool, if it lacks it.
fn address(ifname: &str, pool: AddressPool) -> Result<(), ReadingError> {
    let mut routes = RouteSocket::open(None)?;
    routes.add_address(ifname, IpAddr::V4(pool.gateway()), pool.prefix_len())
}

fn reconcile(ifname: &str, view: &Snapshot) -> Result<usize, ReadingError> {
    address(ifname, view.onboarding.pool)?;
    let mut kernel = WireGuard::open(None)?;
    let device = kernel.device(ifname)?;
    let peers = changes(&wished(view), &device.peers);
    let count = peers.len();
    if count > 0 {
        let wish = DeviceConfig { peers, ..DeviceConfig::default() };
        kernel.set(ifname, &wish)?;
    }
    Ok(count)
}

/// Reconciles the tunnel's peers until the gateway stops.
pub async fn follow(world: World, settings: Arc<Settings>, stop: CancellationToken) {
    if settings.tunnel.is_none() {
        return;
    }
    let mut views = world.watch();
    let mut reconciled = None;
    loop {
        let view = views.borrow_and_update().clone();
        let is_current =
            reconciled.as_ref().is_some_and(|onboarding| Arc::ptr_eq(onboarding, &view.onboarding));
        if !is_current {
            reconciled = Some(Arc::clone(&view.onboarding));
            let ifname = settings.tunnel_ifname.clone();
            match tokio::task::spawn_blocking(move || reconcile(&ifname, &view)).await {
                Ok(Ok(0)) => {}
                Ok(Ok(count)) => tracing::info!(count, "peers of the tunnel changed"),
                Ok(Err(err)) => {
                    tracing::error!(%err, "the tunnel could not be changed");
                    reconciled = None;
                    tokio::time::sleep(Duration::from_secs(1)).await;
                }
                Err(err) => tracing::error!(%err, "the tunnel could not be looked at"),
            }
        }
        tokio::select! {
            () = stop.cancelled() => return,
            changed = views.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(LOOK) => reconciled = None,
        }
    }
}

/// Peers in the kernel; `None` without access to it.
pub async fn peers(settings: &Settings) -> Option<BTreeMap<PublicKey, Peer>> {
    settings.tunnel.as_ref()?;
    let ifname = settings.tunnel_ifname.clone();
    let look = move || WireGuard::open(None)?.device(&ifname);
    let device = tokio::task::spawn_blocking(look).await.ok()?.ok()?;
    let named = device.peers.into_iter().filter_map(|peer| {
        let key = PublicKey::new(peer.public_key.0).ok()?;
        Some((key, peer))
    });
    Some(named.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(key: u8, ip: &str) -> Peer {
        Peer {
            public_key: KernelKey([key; 32]),
            endpoint: None,
            allowed_ips: vec![ip.to_owned()],
            latest_handshake: None,
            rx_bytes: 0,
            tx_bytes: 0,
            persistent_keepalive: 0,
        }
    }

    #[test]
    fn only_what_differs_is_changed_and_departures_come_first() {
        let ip = |last| Ipv4Addr::new(10, 42, 0, last);
        let wished = BTreeMap::from([([1; 32], ip(1)), ([2; 32], ip(2)), ([3; 32], ip(4))]);
        let present = [peer(1, "10.42.0.1/32"), peer(3, "10.42.0.3/32"), peer(9, "10.42.0.4/32")];
        let changes = changes(&wished, &present);
        assert_eq!(changes.len(), 3);
        assert!(
            matches!(changes[0], PeerConfig::Removed { public_key } if public_key.0 == [9; 32])
        );
        assert!(
            matches!(&changes[1], PeerConfig::Present { public_key, .. } if public_key.0 == [2; 32])
        );
        assert!(matches!(&changes[2], PeerConfig::Present { allowed_ips, .. }
            if allowed_ips[0].to_string() == "10.42.0.4/32"));
    }
}
