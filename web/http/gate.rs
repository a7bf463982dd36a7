//! Listener with limits of connections, in all and by source, and optional
//! TLS. Connections beyond the limits are closed unread.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

/// Connections at once.
pub const CONNECTIONS_MAX: usize = 2_048;
/// Connections at once from one address; this machine itself is not counted.
pub const CONNECTIONS_PER_SOURCE_MAX: usize = 64;
/// Timeout of a TLS handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// TLS 1.2 and 1.3 acceptor with a certificate and its key.
///
/// # Errors
/// The invalid file and its error.
pub fn identity(certificates: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let told = |path: &Path, why: String| format!("{}: {why}", path.display());
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificates)
        .map_err(|err| told(certificates, err.to_string()))?
        .collect();
    let chain = chain.map_err(|err| told(certificates, err.to_string()))?;
    let key_der = PrivateKeyDer::from_pem_file(key).map_err(|err| told(key, err.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|err| err.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key_der)
        .map_err(|err| told(certificates, err.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Number of connections by source.
type Counts = Arc<Mutex<BTreeMap<IpAddr, usize>>>;

/// Counted connection; released on drop.
struct Place {
    source: IpAddr,
    counts: Counts,
}

impl Place {
    fn take(counts: &Counts, source: IpAddr) -> Option<Self> {
        let mut held = counts.lock().unwrap_or_else(PoisonError::into_inner);
        let here = held.get(&source).copied().unwrap_or(0);
        let full = held.values().sum::<usize>() >= CONNECTIONS_MAX
            || here >= CONNECTIONS_PER_SOURCE_MAX && !source.is_loopback();
        if full {
            return None;
        }
        held.insert(source, here + 1);
        Some(Self {
            source,
            counts: Arc::clone(counts),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut held = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        match held.get_mut(&self.source) {
            Some(count) if *count > 1 => *count -= 1,
            _ => {
                held.remove(&self.source);
            }
        }
    }
}

/// Accepted connection.
pub struct Admitted {
    stream: Box<dyn Stream>,
    _place: Place,
}

impl AsyncRead for Admitted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Admitted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, bytes)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Peer of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

impl Connected<IncomingStream<'_, Gate>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Gate>) -> Self {
        Self(*stream.remote_addr())
    }
}

/// Listener with limits.
pub struct Gate {
    address: SocketAddr,
    ready: mpsc::Receiver<(Admitted, SocketAddr)>,
}

impl Gate {
    /// Listens on what `listener` is bound to, with TLS if there is an identity.
    ///
    /// # Errors
    /// When the listener has no address.
    pub fn open(listener: TcpListener, identity: Option<TlsAcceptor>) -> io::Result<Self> {
        let address = listener.local_addr()?;
        let (admit, ready) = mpsc::channel(64);
        tokio::spawn(watch(listener, identity, admit));
        Ok(Self { address, ready })
    }
}

async fn watch(
    mut listener: TcpListener,
    identity: Option<TlsAcceptor>,
    admit: mpsc::Sender<(Admitted, SocketAddr)>,
) {
    let counts = Counts::default();
    loop {
        let (stream, from) = tokio::select! {
            // The listener of axum waits out errors such as too many open files.
            accepted = Listener::accept(&mut listener) => accepted,
            () = admit.closed() => return,
        };
        let Some(place) = Place::take(&counts, from.ip().to_canonical()) else {
            continue;
        };
        let _ = stream.set_nodelay(true);
        let (identity, admit) = (identity.clone(), admit.clone());
        match identity {
            None => {
                let stream: Box<dyn Stream> = Box::new(stream);
                let admitted = Admitted {
                    stream,
                    _place: place,
                };
                if admit.send((admitted, from)).await.is_err() {
                    return;
                }
            }
            // A slow handshake holds up nobody else.
            Some(identity) => {
                tokio::spawn(async move {
                    if let Some(stream) = shake(identity, stream).await {
                        let admitted = Admitted {
                            stream,
                            _place: place,
                        };
                        let _ = admit.send((admitted, from)).await;
                    }
                });
            }
        }
    }
}

async fn shake(identity: TlsAcceptor, stream: TcpStream) -> Option<Box<dyn Stream>> {
    let shaken = tokio::time::timeout(HANDSHAKE, identity.accept(stream)).await;
    match shaken {
        Ok(Ok(stream)) => Some(Box::new(stream)),
        Ok(Err(err)) => {
            tracing::debug!(%err, "a handshake failed");
            None
        }
        Err(_) => None,
    }
}

impl Listener for Gate {
    type Io = Admitted;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(admitted) => admitted,
            // The watch ends only with this gate.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_and_given_back() {
        let counts = Counts::default();
        let source: IpAddr = "192.0.2.1".parse().unwrap();
        let mut held: Vec<_> = (0..CONNECTIONS_PER_SOURCE_MAX)
            .map(|_| Place::take(&counts, source).unwrap())
            .collect();
        assert!(Place::take(&counts, source).is_none());
        let other: IpAddr = "192.0.2.2".parse().unwrap();
        assert!(Place::take(&counts, other).is_some());
        held.pop();
        held.push(Place::take(&counts, source).unwrap());
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let rest = CONNECTIONS_MAX - CONNECTIONS_PER_SOURCE_MAX;
        held.extend((0..rest).map(|_| Place::take(&counts, here).unwrap()));
        assert!(Place::take(&counts, other).is_none());
        held.clear();
        assert!(counts.lock().unwrap().is_empty());
    }
}
