//! Listener at the gateway's address in the tunnel.
//!
//! Nodes log in and send heartbeats through the tunnel. A gateway that is bound to one address of the
//! machine listens there too, or approved nodes reach nothing.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use groundwave_http::serve::{Serving, serve_with};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::Gateway;
use crate::services::tunnel::TunnelState;

/// Wait after a failure to listen.
const PAUSE: Duration = Duration::from_secs(1);

/// Server of the gateway's routes at a further address.
pub(super) struct TunnelListener {
    /// Address that the gateway listens on.
    pub own: SocketAddr,
    pub routes: Router,
    pub serving: Serving,
    pub state: Arc<TunnelState>,
}

impl TunnelListener {
    /// Serves at `ip` of the tunnel until `stop`, as soon as the address is there.
    async fn serve_at(&self, ip: Ipv4Addr, stop: &CancellationToken) {
        let address = SocketAddr::new(IpAddr::V4(ip), self.own.port());
        if self.own.ip().is_unspecified() || self.own == address {
            self.state.set_reachable(true);
            stop.cancelled().await;
            return;
        }
        self.state.set_reachable(false);
        let mut is_reported = false;
        while !stop.is_cancelled() {
            match TcpListener::bind(address).await {
                Ok(listener) => {
                    tracing::info!("nodes in the tunnel reach the gateway at http://{address}");
                    self.state.set_reachable(true);
                    let (routes, serving) = (self.routes.clone(), self.serving.clone());
                    let end =
                        serve_with::<_, SocketAddr>(listener, routes, stop.clone(), serving).await;
                    self.state.set_reachable(false);
                    if let Err(err) = end {
                        tracing::error!(%err, "listener of the tunnel failed");
                    }
                }
                Err(err) if !is_reported => {
                    is_reported = true;
                    tracing::error!(%err, "nodes in the tunnel do not reach the gateway at {address}");
                }
                Err(_) => {}
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    /// Serves at the gateway's address of the overlay, whichever it is, until the gateway stops.
    pub(super) async fn follow(self, gateway: Gateway) {
        if gateway.settings.tunnel.is_none() {
            return;
        }
        let mut views = gateway.world.watch();
        while !gateway.stop.is_cancelled() {
            let ip = views.borrow_and_update().onboarding.pool.gateway();
            gateway.outbound.listens_on(SocketAddr::new(IpAddr::V4(ip), self.own.port()));
            let change = async {
                while views.changed().await.is_ok() {
                    if views.borrow_and_update().onboarding.pool.gateway() != ip {
                        return true;
                    }
                }
                false
            };
            let goes_on = tokio::select! {
                () = self.serve_at(ip, &gateway.stop) => false,
                is_moved = change => is_moved,
            };
            if !goes_on {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    const TUNNEL: Ipv4Addr = Ipv4Addr::new(127, 0, 7, 1);

    async fn response(address: SocketAddr) -> Option<String> {
        let mut stream = TcpStream::connect(address).await.ok()?;
        let request = b"GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        stream.write_all(request).await.ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.ok()?;
        Some(text)
    }

    #[tokio::test]
    async fn gateway_bound_to_one_address_is_reachable_in_the_tunnel() {
        let own = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let own = own.local_addr().unwrap();
        let state = Arc::new(TunnelState::default());
        let listener = TunnelListener {
            own,
            routes: Router::new().route("/", get(|| async { "served" })),
            serving: Serving::of_process(),
            state: Arc::clone(&state),
        };
        let stop = CancellationToken::new();
        let address = SocketAddr::new(IpAddr::V4(TUNNEL), own.port());
        // The address is taken at first.
        let other = TcpListener::bind(address).await.unwrap();
        let until = stop.clone();
        let server = tokio::spawn(async move { listener.serve_at(TUNNEL, &until).await });
        tokio::task::yield_now().await;
        assert!(!state.is_reachable());
        drop(other);
        let text = loop {
            match response(address).await {
                Some(text) => break text,
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        assert!(text.ends_with("served"), "{text}");
        assert!(state.is_reachable());
        stop.cancel();
        server.await.unwrap();
    }
}
