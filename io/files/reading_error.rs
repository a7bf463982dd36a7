//! Failures to read the state of the machine.

use std::io;

use libc::{EACCES, EAFNOSUPPORT, ENODEV, ENOENT, ENXIO, EOPNOTSUPP, EPERM, EPROTONOSUPPORT};
use netlink_packet_core::DecodeError;
use thiserror::Error;

/// Failure to read or change the state of the machine.
#[derive(Debug, Error)]
pub enum ReadingError {
    /// The machine lacks it: a kernel module, an interface, a file.
    #[error("{what} is absent")]
    Absent {
        /// Name of the missing item.
        what: String,
    },
    /// The process lacks the permission.
    #[error("{what}: permission denied")]
    Permission {
        /// Operation that was refused.
        what: String,
    },
    /// The kernel refused, or a system call failed.
    #[error("{what}: {source}{}", suffix(.said.as_deref()))]
    Io {
        /// Operation that failed.
        what: String,
        /// Error number, or the error of the file system.
        source: io::Error,
        /// Text of the kernel's extended acknowledgement.
        said: Option<String>,
    },
    /// An answer that cannot be decoded.
    #[error("cannot understand {at}")]
    Decode {
        /// Place in the answer.
        at: String,
    },
}

fn suffix(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(": {text}"))
}

impl ReadingError {
    /// An answer that cannot be decoded at `at`.
    pub fn decode(at: impl Into<String>) -> Self {
        Self::Decode { at: at.into() }
    }

    /// An error of a file or a socket.
    pub fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::errno(what.into(), source, None)
    }

    /// A refused netlink request: error number, positive, and text of the acknowledgement.
    pub fn refused(what: impl Into<String>, errno: i32, said: Option<String>) -> Self {
        Self::errno(what.into(), io::Error::from_raw_os_error(errno), said)
    }

    fn errno(what: String, source: io::Error, said: Option<String>) -> Self {
        match source.raw_os_error() {
            Some(EPERM | EACCES) => Self::Permission { what },
            Some(ENOENT | ENXIO | ENODEV | EAFNOSUPPORT | EPROTONOSUPPORT | EOPNOTSUPP) => {
                Self::Absent { what }
            }
            _ => Self::Io { what, source, said },
        }
    }

    /// Absence of what was asked for.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent { .. })
    }
}

impl From<DecodeError> for ReadingError {
    fn from(error: DecodeError) -> Self {
        Self::decode(error.to_string())
    }
}
