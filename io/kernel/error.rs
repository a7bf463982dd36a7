//! Failures of traffic control.

use std::io;
use std::path::Path;

use groundwave_impair::{Failure, FailureKind};
use groundwave_netlink::NetlinkError;
use netlink_packet_core::DecodeError;
use nix::libc::{EACCES, EINTR, ENOBUFS, ENODEV, ENOENT, EPERM};
use thiserror::Error;

use super::{Handle, Request, Verb};

/// Failure to change or read traffic control. A failed change leaves the previous state in force,
/// unless the message says that restoring it failed too.
#[derive(Debug, Error)]
pub enum KernelError {
    /// The process lacks CAP_NET_ADMIN in this network namespace.
    #[error("{what}: permission denied: CAP_NET_ADMIN is missing")]
    Permission {
        /// Operation that failed.
        what: String,
    },
    /// Unsupported by this backend, or by a kernel without the module.
    #[error("{what} is not supported{}", module_suffix(.module.as_deref()))]
    Unsupported {
        /// Unsupported property, for example `latency`.
        what: String,
        /// Missing kernel module, for example `sch_netem`.
        module: Option<String>,
    },
    /// The kernel refused the request.
    #[error("{what}: the kernel refused: {}{}", io::Error::from_raw_os_error(*.errno), suffix(.detail.as_deref()))]
    Rejected {
        /// Operation that failed.
        what: String,
        /// The error number, positive.
        errno: i32,
        /// Text of the extended acknowledgement.
        detail: Option<String>,
    },
    /// Unusable distribution table.
    #[error("distribution table {name:?}: {problem}")]
    Table {
        /// Name of the table.
        name: String,
        /// Path and problem.
        problem: String,
    },
    /// A bridge or a switch: frames that it forwards pass the disciplines of its ports only.
    #[error(
        "invalid interface {interface}: found a bridge, whose own disciplines do not see the frames that it \
         forwards, allowed an interface such as a port of it"
    )]
    Bridge {
        /// Name of the interface.
        interface: String,
    },
    /// No such interface.
    #[error("there is no interface {what}")]
    Gone {
        /// Name or number of the interface.
        what: String,
    },
    /// A system call failed, or the answer cannot be decoded.
    #[error("{what}: {source}")]
    Io {
        /// Operation that failed.
        what: String,
        /// Error of the system call.
        source: io::Error,
    },
}

impl From<DecodeError> for KernelError {
    fn from(err: DecodeError) -> Self {
        Self::invalid_answer("read an answer of the kernel", err)
    }
}

fn module_suffix(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| format!(": the kernel has no module {name}"))
}

fn suffix(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(": {text}"))
}

impl KernelError {
    /// A failure to open a netlink socket.
    pub(crate) fn open(netns: Option<&Path>, source: io::Error) -> Self {
        let what = match netns {
            None => "open a netlink socket".to_owned(),
            Some(path) => format!("open a netlink socket in {}", path.display()),
        };
        Self::Io { what, source }
    }

    /// The failure of the operation `what`.
    pub(crate) fn netlink(what: impl Into<String>, error: NetlinkError) -> Self {
        let what = what.into();
        match error {
            NetlinkError::Refused { errno: EPERM, .. } => Self::Permission { what },
            NetlinkError::Refused { errno, message } => {
                Self::Rejected { what, errno, detail: message }
            }
            NetlinkError::Io(source) => Self::Io { what, source },
            NetlinkError::Decode(err) => Self::invalid_answer(what, err),
        }
    }

    /// An answer that cannot be decoded.
    pub(crate) fn invalid_answer(what: impl Into<String>, err: impl Into<DecodeError>) -> Self {
        let err: DecodeError = err.into();
        Self::Io { what: what.into(), source: io::Error::new(io::ErrorKind::InvalidData, err) }
    }

    /// The error for error number `errno`, positive, and the text `detail` of the extended
    /// acknowledgement in answer to `request`.
    #[must_use]
    pub(crate) fn refused(request: &Request, errno: i32, detail: Option<String>) -> Self {
        let verb = match request.verb {
            Verb::Create => "create",
            Verb::Change => "change",
            Verb::Replace => "replace",
            Verb::Delete => "delete",
        };
        let what = format!("{verb} {} {}", request.kind, request.handle);
        let unknown_kind = match detail.as_deref() {
            Some(detail) => detail.contains("kind is unknown"),
            None => request.verb == Verb::Create && request.parent == Handle::ROOT,
        };
        match errno {
            EPERM | EACCES => Self::Permission { what },
            ENODEV => Self::Gone { what: format!("number {}", request.index) },
            ENOENT if unknown_kind => Self::Unsupported {
                what: request.kind.to_owned(),
                module: Some(format!("sch_{}", request.kind)),
            },
            EINTR | ENOBUFS => Self::Io { what, source: io::Error::from_raw_os_error(errno) },
            _ => Self::Rejected { what, errno, detail },
        }
    }

    /// The failure as recorded in the world.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let kind = match self {
            Self::Permission { .. } => FailureKind::Denied,
            Self::Unsupported { .. } | Self::Table { .. } | Self::Bridge { .. } => {
                FailureKind::Unsupported
            }
            Self::Rejected { .. } => FailureKind::Rejected,
            Self::Gone { .. } | Self::Io { .. } => FailureKind::Io,
        };
        Failure { kind, message: self.to_string() }
    }
}
