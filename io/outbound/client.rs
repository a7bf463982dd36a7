//! Client of outbound requests.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use groundwave_files::wall::monotonic_ns;
use groundwave_http_client::{BodyError, OpenResponse, exchange, within};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::client::TlsStream;

use super::connect::{CONNECT_MAX, Guard, Resolve, SystemResolver, Target};
use super::error::OutboundError;
use super::policy::TargetPolicy;
use super::request::{Request, Response};
use super::tls::Trust;

/// Client of outbound requests; cheap to clone.
#[derive(Clone)]
pub struct Outbound(Arc<Guard>);

impl Outbound {
    /// Client with the name service of the operating system.
    #[must_use]
    pub fn new(policy: TargetPolicy) -> Self {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// Client with another name service.
    #[must_use]
    pub fn with_resolver(policy: TargetPolicy, resolver: Arc<dyn Resolve>) -> Self {
        let own = RwLock::default();
        Self(Arc::new(Guard { policy, resolver, own }))
    }

    /// Forbids a listener of this program as a target.
    pub fn listens_on(&self, address: SocketAddr) {
        let mut own = self.0.own.write().unwrap_or_else(PoisonError::into_inner);
        own.push(address);
    }

    /// Resolves and judges a host and port, of any protocol over TCP.
    ///
    /// # Errors
    /// [`OutboundError::Forbidden`] or [`OutboundError::Resolve`].
    pub async fn target(&self, host: &str, port: u16) -> Result<Target, OutboundError> {
        self.0.target(host, port).await
    }

    /// Judges a host and port as far as that goes without the name service.
    ///
    /// # Errors
    /// [`OutboundError::Forbidden`].
    pub fn judge(&self, host: &str, port: u16) -> Result<(), OutboundError> {
        self.0.judge(host, port)
    }

    /// Connects to a target over TCP.
    ///
    /// # Errors
    /// [`OutboundError::Connect`].
    pub async fn connect(&self, target: &Target) -> Result<TcpStream, OutboundError> {
        self.0.connect(target).await
    }

    /// Connects to a target over TLS.
    ///
    /// # Errors
    /// [`OutboundError::Connect`] or [`OutboundError::Tls`].
    pub async fn connect_tls(
        &self,
        target: &Target,
        trust: &Trust,
    ) -> Result<TlsStream<TcpStream>, OutboundError> {
        let stream = self.connect(target).await?;
        let stream = within(CONNECT_MAX, trust.shake(&target.host, stream));
        stream.await.map_err(|cause| OutboundError::Tls { target: target.label(), cause })
    }

    /// Sends a request and reads the response.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn send(&self, request: &Request) -> Result<Response, OutboundError> {
        let started_ns = monotonic_ns();
        let limit = request.limit();
        let whole = async {
            let target = self.target(request.host(), request.port()).await?;
            self.exchange(&target, request, started_ns).await
        };
        bounded(limit, request, whole).await
    }

    /// Sends a request to a target that was judged before.
    ///
    /// # Errors
    /// Without a complete response.
    pub async fn send_to(
        &self,
        target: &Target,
        request: &Request,
    ) -> Result<Response, OutboundError> {
        let whole = self.exchange(target, request, monotonic_ns());
        bounded(request.limit(), request, whole).await
    }

    async fn exchange(
        &self,
        target: &Target,
        request: &Request,
        started_ns: u64,
    ) -> Result<Response, OutboundError> {
        let (open, address) = self.open_to(target, request).await?;
        let (status, headers) = (open.status, open.headers.clone());
        let body = open.whole(request.body_bytes_max).await;
        let body = body.map_err(|cause| match cause {
            BodyError::Http(cause) => OutboundError::Http { target: target.label(), cause },
            BodyError::TooLong { limit_bytes } => {
                OutboundError::TooLong { target: target.label(), limit_bytes }
            }
        })?;
        Ok(Response {
            status,
            headers,
            body,
            address,
            latency_ms: monotonic_ns().saturating_sub(started_ns) as f64 / 1e6,
        })
    }

    /// Sends a request and reads the head of the response; the body has no time limit.
    ///
    /// # Errors
    /// Without a response.
    pub async fn open(&self, request: &Request) -> Result<OpenResponse, OutboundError> {
        let whole = async {
            let target = self.target(request.host(), request.port()).await?;
            Ok(self.open_to(&target, request).await?.0)
        };
        bounded(request.limit(), request, whole).await
    }

    async fn open_to(
        &self,
        target: &Target,
        request: &Request,
    ) -> Result<(OpenResponse, SocketAddr), OutboundError> {
        let label = target.label();
        let peer = |stream: &TcpStream| {
            stream
                .peer_addr()
                .map_err(|cause| OutboundError::Connect { target: target.label(), cause })
        };
        if request.is_secure() {
            let stream = self.connect_tls(target, &request.trust).await?;
            let address = peer(stream.get_ref().0)?;
            return Ok((send_over(label, request, stream).await?, address));
        }
        let stream = self.connect(target).await?;
        let address = peer(&stream)?;
        Ok((send_over(label, request, stream).await?, address))
    }
}

/// The work, within the time limit of its request.
async fn bounded<T>(
    limit: Duration,
    request: &Request,
    work: impl Future<Output = Result<T, OutboundError>>,
) -> Result<T, OutboundError> {
    let outcome = timeout(limit, work).await;
    outcome.unwrap_or_else(|_| {
        Err(OutboundError::Timeout {
            target: super::connect::label(request.host(), request.port()),
            limit_ms: limit.as_millis(),
        })
    })
}

/// HTTP/1.1 over a stream.
async fn send_over(
    target: String,
    request: &Request,
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
) -> Result<OpenResponse, OutboundError> {
    let broken = |cause| OutboundError::Http { target: target.clone(), cause };
    let head =
        request.head().map_err(|cause| OutboundError::Request { target: target.clone(), cause })?;
    exchange(stream, head).await.map_err(broken)
}
