//! HTTP client of downloads: addresses that the user of the command names, proxies, time limits.

use std::io;
use std::time::Duration;

use groundwave_files::causes::with_causes;
use groundwave_http_client::{OpenResponse, exchange};
use groundwave_outbound::Trust;
use hyper::Request;
use hyper::body::Bytes;
use hyper::header::{CONNECTION, HOST, HeaderName, PROXY_AUTHORIZATION, USER_AGENT};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::rustls::{CertificateError, Error as TlsError};
use tokio_util::sync::CancellationToken;
use url::{Position, Url};

use super::error::FetchError;
use super::proxy::{Proxy, authorisation};

/// Longest answer of a proxy, bytes.
const ANSWER_BYTES_MAX: usize = 8192;

/// Client of downloads.
#[derive(Debug, Clone)]
pub struct Client {
    /// Proxies.
    pub proxy: Proxy,
    /// Trust in the certificates of servers.
    pub trust: Trust,
    /// Time limit of a connection and of the head of a response.
    pub connect_max: Duration,
    /// Longest pause between bytes of a body.
    pub idle_max: Duration,
    /// Pause before another try.
    pub pause: Duration,
    /// Ends downloads when it is cancelled; their bytes stay for the next one.
    pub stop: CancellationToken,
}

impl Client {
    /// Client with the usual time limits and the authorities of the operating system.
    #[must_use]
    pub fn new(proxy: Proxy) -> Self {
        Self {
            proxy,
            trust: Trust::System,
            connect_max: Duration::from_secs(20),
            idle_max: Duration::from_secs(30),
            pause: Duration::from_secs(1),
            stop: CancellationToken::new(),
        }
    }

    /// Sends a request and reads the head of the response.
    pub(super) async fn get(
        &self,
        url: &Url,
        fields: &[(HeaderName, String)],
    ) -> Result<OpenResponse, FetchError> {
        let fail = |reason: String| FetchError::Network { url: url.to_string(), reason };
        let broken = |error: hyper::Error| fail(with_causes(&error));
        let whole = async {
            let proxy = self.proxy.of(url);
            let stream = connect(proxy.unwrap_or(url)).await.map_err(fail)?;
            let is_secure = url.scheme() == "https";
            let (target, proxy_field) = match proxy {
                Some(proxy) if !is_secure => (&url[..Position::AfterQuery], authorisation(proxy)),
                _ => (&url[Position::BeforePath..Position::AfterQuery], None),
            };
            let mut request = Request::get(target)
                .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
                .header(CONNECTION, "close")
                .header(USER_AGENT, concat!("groundwave/", env!("CARGO_PKG_VERSION")));
            for (name, value) in fields {
                request = request.header(name, value);
            }
            if let Some(value) = proxy_field {
                request = request.header(PROXY_AUTHORIZATION, value);
            }
            let request = request.body(Bytes::new()).map_err(|error| fail(error.to_string()))?;
            if !is_secure {
                return exchange(stream, request).await.map_err(broken);
            }
            let host = url.host_str().unwrap_or_default();
            let stream = match proxy {
                Some(proxy) => tunnel(stream, proxy, url).await.map_err(fail)?,
                None => stream,
            };
            let name = host.trim_start_matches('[').trim_end_matches(']');
            let stream = self.trust.shake(name, stream).await;
            let stream = stream.map_err(|error| refused(url, &error))?;
            exchange(stream, request).await.map_err(broken)
        };
        let limit_s = self.connect_max.as_secs_f64();
        let outcome = timeout(self.connect_max, whole).await;
        outcome.unwrap_or_else(|_| Err(fail(format!("no answer within {limit_s} s"))))
    }
}

/// Connects to the host of an address.
async fn connect(url: &Url) -> Result<TcpStream, String> {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let port = url.port_or_known_default().unwrap_or(80);
    let stream = groundwave_http_client::connect((host, port)).await;
    stream.map_err(|error| format!("no connection to {host}:{port}: {error}"))
}

/// The reason why a server does not get a request: no other try changes its certificate.
fn refused(url: &Url, error: &io::Error) -> FetchError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let reason = match inner {
        Some(TlsError::InvalidCertificate(CertificateError::UnknownIssuer)) => {
            "its authority is not among the trusted ones".to_owned()
        }
        Some(TlsError::InvalidCertificate(fault)) => fault.to_string(),
        _ if error.kind() == io::ErrorKind::NotFound => error.to_string(),
        _ => {
            return FetchError::Network { url: url.to_string(), reason: format!("TLS: {error}") };
        }
    };
    let url = url.to_string();
    FetchError::Certificate { url, reason }
}

/// Asks a proxy for a tunnel to a host (RFC 9110, section 9.3.6).
async fn tunnel(mut stream: TcpStream, proxy: &Url, url: &Url) -> Result<TcpStream, String> {
    let host = url.host_str().unwrap_or_default();
    let port = url.port_or_known_default().unwrap_or(443);
    let field = authorisation(proxy).and_then(|value| value.to_str().ok().map(str::to_owned));
    let field = field.map_or(String::new(), |value| format!("Proxy-Authorization: {value}\r\n"));
    let connect_request =
        format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n{field}\r\n");
    let broken = |error: io::Error| format!("proxy: {error}");
    stream.write_all(connect_request.as_bytes()).await.map_err(broken)?;
    let mut answer = Vec::new();
    // Byte by byte: what follows the answer belongs to the tunnel.
    while !answer.ends_with(b"\r\n\r\n") {
        if answer.len() == ANSWER_BYTES_MAX {
            return Err(format!("proxy: answer longer than {ANSWER_BYTES_MAX} bytes"));
        }
        answer.push(stream.read_u8().await.map_err(broken)?);
    }
    let line = String::from_utf8_lossy(&answer);
    let line = line.lines().next().unwrap_or_default();
    match line.split(' ').nth(1) {
        Some(status) if status.len() == 3 && status.starts_with('2') => Ok(stream),
        _ => Err(format!("proxy: found {line:?}, allowed a status of 200")),
    }
}

/// The next piece of a body, with a limit of the pause before it; none at the end.
pub(super) async fn next(
    response: &mut OpenResponse,
    idle_max: Duration,
) -> Result<Option<Bytes>, String> {
    let piece = timeout(idle_max, response.next()).await;
    let piece = piece.map_err(|_| format!("no byte within {} s", idle_max.as_secs_f64()))?;
    piece.map_err(|error| with_causes(&error))
}
