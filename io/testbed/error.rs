//! Failures of a testbed.

use std::io;
use std::path::PathBuf;

use groundwave_kernel::KernelError;
use thiserror::Error;

/// Failure to create, read or tear down a testbed.
#[derive(Debug, Error)]
pub enum TestbedError {
    /// A refusal of the kernel, or a failed system call.
    #[error("{what}")]
    Kernel {
        /// Operation that failed.
        what: String,
        /// Cause.
        #[source]
        source: KernelError,
    },
    /// A failed operation on a file, a folder or a namespace.
    #[error("{what} {}", path.display())]
    File {
        /// Operation that failed.
        what: &'static str,
        /// Path.
        path: PathBuf,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// The testbed has a controller.
    #[error("testbed {testbed} has a controller, process {pid}")]
    Controlled {
        /// Name of the testbed.
        testbed: String,
        /// Process, 0 if it just ended.
        pid: i32,
    },
    /// A required program cannot be started.
    #[error("start {program}; {hint}")]
    Program {
        /// Name of the program.
        program: String,
        /// Package that provides it.
        hint: &'static str,
        /// Cause.
        #[source]
        source: io::Error,
    },
    /// A program ended with an error.
    #[error("{program} failed: {output}")]
    Failed {
        /// Name of the program.
        program: String,
        /// Output of the program.
        output: String,
    },
    /// More nodes than a bridge segment supports.
    #[error(
        "{node} is one too many for a segment, which holds {most} nodes; wire the links instead"
    )]
    Crowded {
        /// Name of the node.
        node: String,
        /// Most nodes.
        most: u32,
    },
    /// No name of a testbed.
    #[error("invalid name of a testbed: found {0:?}, allowed 1 to 16 of a-z, 0-9 and '-'")]
    Name(String),
    /// An unknown node.
    #[error("there is no node {name:?} in the testbed {testbed}; it has {have}")]
    NoNode {
        /// Requested name.
        name: String,
        /// Name of the testbed.
        testbed: String,
        /// Existing nodes.
        have: String,
    },
}

impl TestbedError {
    /// A failure to create the tokio runtime.
    #[must_use]
    pub fn runtime(source: io::Error) -> Self {
        Self::File { what: "create a runtime for", path: "the network".into(), source }
    }

    /// A traffic control failure during `what`.
    pub(super) fn kernel<E: Into<KernelError>>(what: impl Into<String>) -> impl FnOnce(E) -> Self {
        let what = what.into();
        |source: E| Self::Kernel { what, source: source.into() }
    }

    /// A failed file operation.
    pub(super) fn file(
        what: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { what, path, source }
    }
}
