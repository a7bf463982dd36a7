//! Outbound HTTP requests and their responses.

use std::net::SocketAddr;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use url::Url;

use super::error::OutboundError;
use super::tls::Trust;

/// Time limit of a request, from the lookup to the last byte of the body.
pub const REQUEST_MAX: Duration = Duration::from_secs(10);

/// Longest body of a response, bytes.
pub const BODY_BYTES_MAX: usize = 1 << 20;

/// Longest URL, bytes.
const URL_BYTES_MAX: usize = 2048;

/// Outbound request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Method.
    pub method: Method,
    pub(super) url: Url,
    /// Header fields; `Host`, `Connection` and the length of the body are set by the client.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// Time limit; at most [`REQUEST_MAX`] is used.
    pub limit: Duration,
    /// Trust in the certificate of the server.
    pub trust: Trust,
    /// Longest body of the response, bytes.
    pub body_bytes_max: usize,
}

/// Parses a URL of one of these schemes: with a host, without user information.
pub(super) fn parse(
    text: &str,
    schemes: &[&str],
    allowed: &'static str,
) -> Result<Url, OutboundError> {
    // User information may be a password: of such a URL only the scheme is shown.
    let wrong = || {
        let end = match text.contains('@') {
            true => text.find("://"),
            false => text.find(['?', '#']),
        };
        let start = &text[..end.unwrap_or(if text.contains('@') { 0 } else { text.len() })];
        OutboundError::Url { found: start.chars().take(64).collect(), allowed }
    };
    if text.len() > URL_BYTES_MAX {
        return Err(wrong());
    }
    let url = Url::parse(text).map_err(|_| wrong())?;
    let is_bare = url.username().is_empty() && url.password().is_none();
    let has_host = url.host_str().is_some_and(|host| !host.is_empty());
    let has_port = url.port() != Some(0);
    match is_bare && has_host && has_port && schemes.contains(&url.scheme()) {
        true => Ok(url),
        false => Err(wrong()),
    }
}

impl Request {
    /// Request without header fields and body.
    ///
    /// # Errors
    /// [`OutboundError::Url`] unless the URL has the scheme http or https, a host, and no user
    /// information.
    pub fn new(method: Method, url: &str) -> Result<Self, OutboundError> {
        let allowed = "http:// or https:// with a host and without user information";
        Ok(Self {
            method,
            url: parse(url, &["http", "https"], allowed)?,
            headers: HeaderMap::new(),
            body: Bytes::new(),
            limit: REQUEST_MAX,
            trust: Trust::System,
            body_bytes_max: BODY_BYTES_MAX,
        })
    }

    /// Host of the URL; IPv6 addresses without brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        let host = self.url.host_str().unwrap_or_default();
        host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Port of the URL.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.url.port_or_known_default().unwrap_or(80)
    }

    pub(super) fn is_secure(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit.min(REQUEST_MAX)
    }

    /// The request on the wire.
    pub(super) fn head(&self) -> Result<hyper::Request<Bytes>, hyper::http::Error> {
        let path = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let host = &self.url[url::Position::BeforeHost..url::Position::AfterPort];
        let mut request =
            hyper::Request::builder().method(&self.method).uri(path).body(self.body.clone())?;
        let headers = request.headers_mut();
        headers.extend(self.headers.clone());
        for derived in [hyper::header::CONTENT_LENGTH, hyper::header::TRANSFER_ENCODING] {
            headers.remove(derived);
        }
        headers.insert(hyper::header::HOST, host.parse()?);
        headers.insert(hyper::header::CONNECTION, "close".parse()?);
        if !headers.contains_key(hyper::header::USER_AGENT) {
            let agent = concat!("groundwave/", env!("CARGO_PKG_VERSION"));
            headers.insert(hyper::header::USER_AGENT, agent.parse()?);
        }
        Ok(request)
    }
}

/// Response to an outbound request; redirects are responses like others.
#[derive(Debug, Clone)]
pub struct Response {
    /// Status.
    pub status: StatusCode,
    /// Header fields.
    pub headers: HeaderMap,
    /// Body.
    pub body: Bytes,
    /// Address of the server.
    pub address: SocketAddr,
    /// Time from the lookup to the last byte, ms.
    pub latency_ms: f64,
}
