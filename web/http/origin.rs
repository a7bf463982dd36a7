//! Source of a request, for bounds and turns by client.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::FromRequestParts;
use axum::extract::connect_info::ConnectInfo;
use axum::http::HeaderMap;
use axum::http::request::Parts;

use super::admission::Source;
use super::endpoints::Describe;

/// Header field with the addresses of a client and its proxies.
const FORWARDED: &str = "x-forwarded-for";

/// Source of a request: of its connection, or of the client that a proxy on this machine names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin(pub Source);

impl Origin {
    /// Origin of a request from `peer`. Header fields from other machines are ignored.
    fn of(peer: IpAddr, headers: &HeaderMap) -> Self {
        let list =
            headers.get_all(FORWARDED).iter().next_back().and_then(|value| value.to_str().ok());
        // Each proxy adds the address it saw; the last one is that of the proxy on this machine.
        let last = list.and_then(|list| list.rsplit(',').next()?.trim().parse().ok());
        Self(Source::of(match last {
            Some(client) if peer.is_loopback() => client,
            _ => peer,
        }))
    }
}

impl Describe for Origin {}

impl<S: Send + Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        // Requests without a connection, as tests make them, are local.
        let ip = peer.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0.ip());
        Ok(Self::of(ip.to_canonical(), &parts.headers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarded_address_counts_from_loopback_alone() {
        let mut headers = HeaderMap::new();
        headers.append(FORWARDED, "203.0.113.9, 192.0.2.7".parse().unwrap());
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let of = |peer: &str| Origin::of(ip(peer), &headers).0;
        assert_eq!(of("127.0.0.1"), Source::of(ip("192.0.2.7")));
        assert_eq!(of("198.51.100.1"), Source::of(ip("198.51.100.1")));
        let none = Origin::of(ip("127.0.0.1"), &HeaderMap::new());
        assert_eq!(none.0, Source::of(ip("127.0.0.1")));
    }
}
