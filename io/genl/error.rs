//! Why the machine could not be asked, or its answer not be understood.

use std::io;

use thiserror::Error;

use crate::kernel::KernelError;

/// Why there is no reading.
#[derive(Debug, Error)]
pub enum ReadingError {
    /// This machine does not have it: a kernel module, an interface, a file.
    #[error("{what} is absent")]
    Absent {
        /// What was looked for.
        what: String,
    },
    /// This program may not.
    #[error("{what}: permission denied")]
    Permission {
        /// What was tried.
        what: String,
    },
    /// The machine was asked and refused, or could not be asked.
    #[error("{what}: {source}{}", spoken(.said.as_deref()))]
    Io {
        /// What was tried.
        what: String,
        /// The error number or what the file system said.
        source: io::Error,
        /// The kernel's own words, if it gave any.
        said: Option<String>,
    },
    /// An answer that cannot be understood.
    #[error("cannot understand {at}")]
    Decode {
        /// Where in the answer.
        at: String,
    },
}

fn spoken(words: Option<&str>) -> String {
    words.map_or_else(String::new, |words| format!(": {words}"))
}

const EPERM: i32 = 1;
const ENOENT: i32 = 2;
const ENXIO: i32 = 6;
const EACCES: i32 = 13;
const ENODEV: i32 = 19;
const EAFNOSUPPORT: i32 = 97;
const EPROTONOSUPPORT: i32 = 93;
const EOPNOTSUPP: i32 = 95;

impl ReadingError {
    /// An answer that cannot be understood at `at`.
    pub(crate) fn decode(at: impl Into<String>) -> Self {
        Self::Decode { at: at.into() }
    }

    /// What an error of a file or a socket means to a reader.
    pub(crate) fn io(what: impl Into<String>, source: io::Error) -> Self {
        Self::errno(what, source, None)
    }

    /// A refusal: error number, positive, and the kernel's words.
    pub(crate) fn refused(what: impl Into<String>, errno: i32, said: Option<String>) -> Self {
        Self::errno(what, io::Error::from_raw_os_error(errno), said)
    }

    fn errno(what: impl Into<String>, source: io::Error, said: Option<String>) -> Self {
        let what = what.into();
        match source.raw_os_error() {
            Some(EPERM | EACCES) => Self::Permission { what },
            Some(ENOENT | ENXIO | ENODEV | EAFNOSUPPORT | EPROTONOSUPPORT | EOPNOTSUPP) => {
                Self::Absent { what }
            }
            _ => Self::Io { what, source, said },
        }
    }

    /// Whether the machine merely does not have it.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Absent { .. })
    }
}

impl From<KernelError> for ReadingError {
    fn from(err: KernelError) -> Self {
        match err {
            KernelError::Permission { what } => Self::Permission { what },
            KernelError::Unsupported { what, .. } | KernelError::Gone { what } => {
                Self::Absent { what }
            }
            KernelError::Rejected {
                what,
                errno,
                detail,
            } => Self::refused(what, errno, detail),
            KernelError::Io { what, source } => Self::io(what, source),
            KernelError::Table { name, problem } => Self::decode(format!("{name}: {problem}")),
        }
    }
}
