//! Why traffic could not be shaped or looked at.

use std::io;

use groundwave_systems::impair::{Failure, FailureKind};
use thiserror::Error;

/// Why traffic could not be shaped or looked at. A change that failed left what was before, unless
/// the message says that this, too, failed.
#[derive(Debug, Error)]
pub enum KernelError {
    /// The program lacks CAP_NET_ADMIN in this network namespace.
    #[error("{what}: permission denied: CAP_NET_ADMIN is missing")]
    Permission {
        /// What was tried.
        what: String,
    },
    /// This backend does not do it, or the kernel lacks a module for it.
    #[error("{what} is not supported{}", said_module(.module.as_deref()))]
    Unsupported {
        /// What was asked for, for example `latency`.
        what: String,
        /// The module that the kernel lacks, for example `sch_netem`.
        module: Option<String>,
    },
    /// The kernel refused it.
    #[error("{what}: the kernel refused: {}{}", io::Error::from_raw_os_error(*.errno), said(.detail.as_deref()))]
    Rejected {
        /// What was tried.
        what: String,
        /// The error number, positive.
        errno: i32,
        /// The kernel's own words, if it gave any.
        detail: Option<String>,
    },
    /// A distribution table cannot be used.
    #[error("distribution table {name:?}: {problem}")]
    Table {
        /// Its name.
        name: String,
        /// Where it was looked for and what is wrong with it.
        problem: String,
    },
    /// There is no such interface.
    #[error("there is no interface {what}")]
    Gone {
        /// Its name or number.
        what: String,
    },
    /// The kernel could not be talked to, or answered what cannot be understood.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: io::Error,
    },
}

fn said_module(name: Option<&str>) -> String {
    name.map_or_else(String::new, |name| {
        format!(": the kernel has no module {name}")
    })
}

fn said(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(": {text}"))
}

impl KernelError {
    /// An answer that cannot be understood.
    pub(crate) fn garbled(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Io {
            what: what.into(),
            source: io::Error::new(io::ErrorKind::InvalidData, why.into()),
        }
    }

    /// The failure as the world records it.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let kind = match self {
            Self::Permission { .. } => FailureKind::Denied,
            Self::Unsupported { .. } | Self::Table { .. } => FailureKind::Unsupported,
            Self::Rejected { .. } => FailureKind::Rejected,
            Self::Gone { .. } | Self::Io { .. } => FailureKind::Io,
        };
        Failure {
            kind,
            message: self.to_string(),
        }
    }
}
