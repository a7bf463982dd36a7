//! Peer of a connection.

use std::fmt;

use groundwave_http::accept::PeerOf;
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};

/// Peer process by `SO_PEERCRED`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Peer {
    /// User id.
    pub uid: Option<u32>,
    /// Process id at the time of the connection.
    pub pid: Option<i32>,
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.uid, self.pid) {
            (Some(uid), Some(pid)) => write!(f, "uid {uid}, pid {pid}"),
            (Some(uid), None) => write!(f, "uid {uid}"),
            (None, _) => f.write_str("unknown"),
        }
    }
}

impl PeerOf<UnixListener> for Peer {
    fn of(stream: &UnixStream) -> Option<Self> {
        let told = stream.peer_cred().ok();
        Some(Self { uid: told.map(|told| told.uid()), pid: told.and_then(|told| told.pid()) })
    }
}

impl PeerOf<TcpListener> for Peer {
    /// TCP does not tell: there, tools that speak no Unix sockets test the interface.
    fn of(_: &TcpStream) -> Option<Self> {
        Some(Self::default())
    }
}
