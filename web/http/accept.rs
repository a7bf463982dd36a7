//! Listeners: how they accept a connection, where it comes from, and its connect info.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

use super::admission::Source;
use super::connection::Timeouts;

/// Listener of connections.
pub trait Accept: Send + 'static {
    /// An accepted connection.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Times of its connections unless others are set.
    const TIMEOUTS: Timeouts;

    /// The next connection and its source.
    ///
    /// # Errors
    /// Of the system call; the listener can go on.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Source)>> + Send;
}

impl Accept for TcpListener {
    type Stream = TcpStream;
    const TIMEOUTS: Timeouts = Timeouts::NETWORK;

    async fn accept(&self) -> io::Result<(TcpStream, Source)> {
        let (stream, from) = Self::accept(self).await?;
        // Answers are short and wait for nothing.
        let _ = stream.set_nodelay(true);
        Ok((stream, Source::of(from.ip())))
    }
}

#[cfg(unix)]
impl Accept for UnixListener {
    type Stream = UnixStream;
    const TIMEOUTS: Timeouts = Timeouts::LOCAL;

    async fn accept(&self) -> io::Result<(UnixStream, Source)> {
        let (stream, _) = Self::accept(self).await?;
        let source = match stream.peer_cred() {
            Ok(peer) => Source::User(peer.uid()),
            Err(_) => Source::Local,
        };
        Ok((stream, source))
    }
}

/// Connect info of the connections of a listener.
pub trait PeerOf<L: Accept>: Clone + Send + Sync + 'static {
    /// The info, `None` when the connection is gone.
    fn of(stream: &L::Stream) -> Option<Self>;
}

impl PeerOf<TcpListener> for SocketAddr {
    fn of(stream: &TcpStream) -> Option<Self> {
        stream.peer_addr().ok()
    }
}
