//! WireGuard tunnel: kernel peers follow the approved registrations.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use groundwave_credentials::PublicKey as KernelKey;
use groundwave_files::ReadingError;
use groundwave_gateway::Snapshot;
use groundwave_gateway::onboarding::AddressPool;
use groundwave_host::readings::RouteSocket;
use groundwave_netlink::wireguard::{AllowedIp, DeviceConfig, Peer, PeerConfig, WireGuard};
use groundwave_protocol::PublicKey;
use tokio_util::sync::CancellationToken;

use super::world::World;
use crate::settings::Settings;
use crate::tunnel_device::TunnelDevice;

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
/// First and longest time between two attempts after a failure.
const RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Makes the interface and its peers as they are to be; `before` is the pool of the address that it was
/// given last.
fn reconcile(
    tunnel: &TunnelDevice,
    view: &Snapshot,
    before: Option<AddressPool>,
) -> Result<usize, ReadingError> {
    let pool = view.onboarding.pool;
    if tunnel.restore(pool)? {
        tracing::warn!(
            ifname = tunnel.ifname,
            "another program changed the tunnel: it was laid again"
        );
    }
    let mut routes = RouteSocket::open(None)?;
    routes.add_address(&tunnel.ifname, IpAddr::V4(pool.gateway()), pool.prefix_len())?;
    if let Some(before) = before.filter(|before| *before != pool) {
        let ip = IpAddr::V4(before.gateway());
        routes.remove_address(&tunnel.ifname, ip, before.prefix_len())?;
    }
    let mut kernel = WireGuard::open(None)?;
    let device = kernel.device(&tunnel.ifname)?;
    let peers = changes(&wished(view), &device.peers);
    let count = peers.len();
    if count > 0 {
        let wish = DeviceConfig { peers, ..DeviceConfig::default() };
        kernel.set(&tunnel.ifname, &wish)?;
    }
    Ok(count)
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

/// Failures of attempts in a row.
#[derive(Debug, Default)]
struct Failures {
    /// Message of the last one; none after a success.
    message: Option<String>,
    count: u32,
}

impl Failures {
    /// Counts a failure; `true` if its message is another one than that of the last attempt.
    fn add(&mut self, message: String) -> bool {
        self.count = self.count.saturating_add(1);
        self.message.replace(message.clone()) != Some(message)
    }

    /// Time to the next attempt.
    fn pause(&self) -> Duration {
        let (first, longest) = RETRY;
        first.saturating_mul(1 << self.count.saturating_sub(1).min(10)).min(longest)
    }
}

/// Reconciles the tunnel and its peers until the gateway stops.
pub async fn follow(world: World, settings: Arc<Settings>, stop: CancellationToken) {
    let Some(device) = settings.tunnel_device.clone() else {
        return;
    };
    let mut views = world.watch();
    let mut reconciled = None;
    let mut pool = Some(settings.overlay);
    let mut failures = Failures::default();
    loop {
        let view = views.borrow_and_update().clone();
        let is_current =
            reconciled.as_ref().is_some_and(|onboarding| Arc::ptr_eq(onboarding, &view.onboarding));
        let mut pause = LOOK;
        if !is_current {
            reconciled = Some(Arc::clone(&view.onboarding));
            let (device, before, next) = (Arc::clone(&device), pool, view.onboarding.pool);
            let work = move || reconcile(&device, &view, before);
            match tokio::task::spawn_blocking(work).await {
                Ok(Ok(count)) => {
                    pool = Some(next);
                    if count > 0 {
                        tracing::info!(count, "peers of the tunnel changed");
                    }
                    if std::mem::take(&mut failures).count > 0 {
                        tracing::info!("the tunnel is as it is to be again");
                    }
                }
                Ok(Err(err)) => {
                    reconciled = None;
                    if failures.add(err.to_string()) {
                        tracing::error!(%err, "the tunnel could not be changed");
                    }
                    pause = failures.pause();
                }
                Err(err) => tracing::error!(%err, "the tunnel could not be looked at"),
            }
        }
        if failures.count > 0 {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
            continue;
        }
        tokio::select! {
            () = stop.cancelled() => return,
            changed = views.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(pause) => reconciled = None,
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

    #[test]
    fn failure_is_reported_once_and_attempts_become_rare() {
        let mut failures = Failures::default();
        let reports: Vec<_> = (0..9).map(|_| failures.add("gone".to_owned())).collect();
        assert_eq!(reports.iter().filter(|is_new| **is_new).count(), 1);
        assert_eq!(failures.pause(), RETRY.1);
        assert!(failures.add("other".to_owned()));
        let mut first = Failures::default();
        first.add("gone".to_owned());
        assert_eq!(first.pause(), RETRY.0);
    }
}
