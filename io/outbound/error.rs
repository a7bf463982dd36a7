//! Errors of outbound requests.

use std::io;

use thiserror::Error;

/// Error of an outbound request.
#[derive(Debug, Error)]
pub enum OutboundError {
    /// Malformed or unsupported URL.
    #[error("invalid URL: found {found:?}, allowed {allowed}")]
    Url {
        /// URL without its user information and query.
        found: String,
        /// Allowed form.
        allowed: &'static str,
    },
    /// Target that the policy forbids.
    #[error(
        "forbidden target {target}: {reason}; the start flag --allow-target admits exact targets"
    )]
    Forbidden {
        /// Host and port.
        target: String,
        /// Reason.
        reason: String,
    },
    /// Name without an address.
    #[error("unknown host {host}")]
    Resolve {
        /// Host name.
        host: String,
        /// Cause.
        #[source]
        cause: io::Error,
    },
    /// Failed connection.
    #[error("no connection to {target}: {cause}")]
    Connect {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        cause: io::Error,
    },
    /// Failed TLS handshake.
    #[error("no TLS connection to {target}: {cause}")]
    Tls {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        cause: io::Error,
    },
    /// Time limit passed.
    #[error("no answer from {target} within {limit_ms} ms")]
    Timeout {
        /// Host and port.
        target: String,
        /// Time limit, ms.
        limit_ms: u128,
    },
    /// Body longer than allowed.
    #[error("the answer from {target} is longer than {limit_bytes} bytes")]
    TooLong {
        /// Host and port.
        target: String,
        /// Limit, bytes.
        limit_bytes: usize,
    },
    /// Broken HTTP.
    #[error("invalid answer from {target}: {cause}")]
    Http {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        cause: hyper::Error,
    },
    /// Request that cannot be written.
    #[error("invalid request to {target}: {cause}")]
    Request {
        /// Host and port.
        target: String,
        /// Cause.
        #[source]
        cause: hyper::http::Error,
    },
}

impl OutboundError {
    /// True for targets that the policy forbids.
    #[must_use]
    pub fn is_forbidden(&self) -> bool {
        matches!(self, Self::Forbidden { .. })
    }
}
