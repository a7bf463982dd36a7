//! Reasons why terrain cannot be fetched.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::super::index::IndexError;

/// Reason why terrain cannot be fetched.
#[derive(Debug, Error)]
pub enum FetchError {
    /// The URL of a source, a file or a proxy is malformed.
    #[error("invalid URL: found {found:?}, allowed {allowed}")]
    Url {
        /// The URL without user information.
        found: String,
        /// Allowed form.
        allowed: &'static str,
    },
    /// The server cannot be reached, or the connection broke more often than is tolerated.
    #[error("{url}: {reason}")]
    Network {
        /// The file.
        url: String,
        /// Error of the network.
        reason: String,
    },
    /// The certificate of the server is not trusted.
    #[error(
        "{url}: invalid certificate of the server: {reason}; allowed: one for its name by a trusted \
        authority (those of the operating system, or of SSL_CERT_FILE and SSL_CERT_DIR)"
    )]
    Certificate {
        /// The file.
        url: String,
        /// Fault of the certificate.
        reason: String,
    },
    /// The server has no such file.
    #[error("{url}: not published")]
    Absent {
        /// The file.
        url: String,
    },
    /// Bytes are missing in the cache, and none may be fetched.
    #[error(
        "{url}: found no bytes of this window in the cache, allowed with --offline: windows read before"
    )]
    Offline {
        /// The file.
        url: String,
    },
    /// The server refuses.
    #[error("{url}: found status {status}, allowed 200 or 206")]
    Status {
        /// The file.
        url: String,
        /// Status.
        status: u16,
    },
    /// The bytes are not those that were received before.
    #[error("{url}: wrong bytes: found SHA-256 {found}, allowed {expected}; the file was dropped")]
    Digest {
        /// The file.
        url: String,
        /// Digest of the bytes.
        found: String,
        /// Digest that was expected.
        expected: String,
    },
    /// The bytes are not terrain of the requested square.
    #[error("{url}: wrong bytes: {reason}; the file was dropped")]
    Content {
        /// The file.
        url: String,
        /// First difference.
        reason: String,
    },
    /// The download was cancelled.
    #[error("{url}: cancelled; another fetch continues it")]
    Cancelled {
        /// The file.
        url: String,
    },
    /// A file of the cache cannot be read or written.
    #[error("{operation} {}: {err}", path.display())]
    Disk {
        /// Operation that failed.
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        err: io::Error,
    },
    /// The index of the cache cannot be used.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl FetchError {
    /// True where another try may succeed.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Network { .. } => true,
            Self::Status { status, .. } => matches!(status, 408 | 429 | 500..=599),
            _ => false,
        }
    }

    pub(super) fn disk(
        operation: &'static str,
        path: &std::path::Path,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |err| Self::Disk { operation, path, err }
    }
}
