//! Why a testbed could not be laid, looked at or taken away.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::kernel::KernelError;

/// Why a testbed could not be laid, looked at or taken away.
#[derive(Debug, Error)]
pub enum TestbedError {
    /// The kernel said no, or could not be asked.
    #[error("{what}")]
    Kernel {
        /// What was tried.
        what: String,
        /// Why not.
        #[source]
        source: KernelError,
    },
    /// A file, a folder or a namespace.
    #[error("{what} {}", path.display())]
    File {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A program that a testbed needs.
    #[error("start {program}; {hint}")]
    Program {
        /// Which.
        program: String,
        /// How to get it.
        hint: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A program failed.
    #[error("{program} failed: {said}")]
    Failed {
        /// Which.
        program: String,
        /// What it said.
        said: String,
    },
    /// A node that a segment has no room for.
    #[error(
        "{node} is one too many for a segment, which holds {most} nodes; wire the links instead"
    )]
    Crowded {
        /// Which node.
        node: String,
        /// How many fit.
        most: u32,
    },
    /// A node that has no namespace.
    #[error("there is no node {name:?} in the testbed {testbed}; it has {have}")]
    NoNode {
        /// As it was asked for.
        name: String,
        /// Which testbed.
        testbed: String,
        /// What there is.
        have: String,
    },
}

impl TestbedError {
    /// A failure to make the runtime that asks the kernel.
    #[must_use]
    pub fn runtime(source: io::Error) -> Self {
        Self::File {
            what: "make a runtime for",
            path: "the network".into(),
            source,
        }
    }

    /// A refusal of the kernel's.
    pub(super) fn kernel(what: impl Into<String>) -> impl FnOnce(KernelError) -> Self {
        let what = what.into();
        |source| Self::Kernel { what, source }
    }

    /// A failure of a file.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
