//! Proxies that an administrator trusts to name the address of a client.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::extract::connect_info::ConnectInfo;
use axum::http::HeaderMap;
use axum::middleware::{Next, from_fn};

/// Header field with the addresses of a client and its proxies, each added by the next proxy.
const FORWARDED: &str = "x-forwarded-for";

/// Address of an entry of the field; some proxies add the port, and brackets to an address of IPv6.
fn address(entry: &str) -> Option<IpAddr> {
    let entry = entry.trim();
    let bare = || entry.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
    let ip = entry.parse::<IpAddr>().ok();
    let ip = ip.or_else(|| entry.parse::<SocketAddr>().ok().map(|address| address.ip()));
    ip.or_else(|| bare().map(IpAddr::V6))
}

/// Address of the client of a request from `peer`: the last one that no proxy of `proxies` has. Header
/// fields from other machines are ignored.
fn client(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let mut client = peer.to_canonical();
    let values = headers.get_all(FORWARDED).iter().rev();
    let addresses = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
    for entry in addresses {
        if !proxies.contains(&client) {
            break;
        }
        match address(entry) {
            Some(address) => client = address.to_canonical(),
            None => break,
        }
    }
    client
}

/// Gives requests through trusted proxies the address of their client.
pub(super) fn behind(router: Router, proxies: &[IpAddr]) -> Router {
    if proxies.is_empty() {
        return router;
    }
    let proxies: Arc<[IpAddr]> = proxies.iter().map(IpAddr::to_canonical).collect();
    router.layer(from_fn(move |mut request: Request, next: Next| {
        let proxies = Arc::clone(&proxies);
        async move {
            let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0);
            if let Some(peer) = peer {
                let ip = client(peer.ip(), request.headers(), &proxies);
                request.extensions_mut().insert(ConnectInfo(SocketAddr::new(ip, peer.port())));
            }
            next.run(request).await
        }
    }))
}

#[cfg(test)]
mod tests {
    use axum::body::{Body, to_bytes};
    use axum::routing::get;
    use tower::ServiceExt as _;

    use super::*;
    use crate::access::ClientAddress;

    #[tokio::test]
    async fn address_of_a_client_is_that_which_trusted_proxies_name() {
        let proxies: Vec<IpAddr> = ["127.0.0.1", "10.0.0.2"].map(|ip| ip.parse().unwrap()).to_vec();
        let router =
            Router::new().route("/", get(async |client: ClientAddress| client.0.to_string()));
        let router = behind(router, &proxies);
        for (peer, forwarded, client) in [
            ("127.0.0.1", &["192.0.2.7"][..], "192.0.2.7"),
            // The client names another address before: the proxy adds the real one.
            ("127.0.0.1", &["10.42.0.5, 192.0.2.7"], "192.0.2.7"),
            ("127.0.0.1", &["10.42.0.5", "192.0.2.7, 10.0.0.2"], "192.0.2.7"),
            ("::ffff:10.0.0.2", &["2001:db8::1"], "2001:db8::1"),
            ("127.0.0.1", &["192.0.2.7:5555"], "192.0.2.7"),
            ("127.0.0.1", &["10.42.0.5:1, [2001:db8::1]:80"], "2001:db8::1"),
            ("127.0.0.1", &["[2001:db8::1]"], "2001:db8::1"),
            ("192.0.2.9", &["10.42.0.5"], "192.0.2.9"),
            ("127.0.0.1", &["unknown"], "127.0.0.1"),
            ("127.0.0.1", &[], "127.0.0.1"),
        ] {
            let mut request = Request::get("/").body(Body::empty()).unwrap();
            for value in forwarded {
                request.headers_mut().append(FORWARDED, value.parse().unwrap());
            }
            let peer = SocketAddr::new(peer.parse().unwrap(), 1);
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = router.clone().oneshot(request).await.unwrap();
            let body = to_bytes(response.into_body(), 100).await.unwrap();
            assert_eq!(body, client, "{peer} {forwarded:?}");
        }
    }
}
