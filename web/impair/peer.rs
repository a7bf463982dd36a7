//! Peer of a connection.

use std::fmt;

use axum::extract::connect_info::Connected;
use axum::serve::IncomingStream;
use tokio::net::{TcpListener, UnixListener};

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

impl Connected<IncomingStream<'_, UnixListener>> for Peer {
    fn connect_info(stream: IncomingStream<'_, UnixListener>) -> Self {
        let told = stream.io().peer_cred().ok();
        Self {
            uid: told.map(|told| told.uid()),
            pid: told.and_then(|told| told.pid()),
        }
    }
}

impl Connected<IncomingStream<'_, TcpListener>> for Peer {
    /// TCP does not tell: there, tools that speak no Unix sockets test the interface.
    fn connect_info(_: IncomingStream<'_, TcpListener>) -> Self {
        Self::default()
    }
}
