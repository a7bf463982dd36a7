//! Failures of daemons and subcommands.

use std::error::Error;
use std::fmt::Write as _;

/// Failure of a daemon or subcommand, by the side at fault.
#[derive(Debug)]
pub enum Failure {
    /// Invalid input: exit code 2.
    Input(String),
    /// Failure of the simulation or the machine: exit code 1.
    Machine(String),
    /// Failure with an exit code of its own.
    Exit {
        /// Text.
        message: String,
        /// Exit code.
        code: u8,
    },
    /// Broken pipe on stdout: exit code 0, as for any Unix filter.
    BrokenPipe,
}

impl Failure {
    /// Invalid input, with the chain of causes.
    pub fn input(error: impl Error) -> Self {
        Self::Input(chain(&error))
    }

    /// No terrain data under a result, which is shown all the same: exit code 3.
    #[must_use]
    pub fn no_terrain(message: String) -> Self {
        Self::Exit { message, code: 3 }
    }

    /// End by a signal before all was done: exit code 130, as of a program that the signal ends.
    #[must_use]
    pub fn stopped() -> Self {
        Self::Exit { message: "stopped before the end by a signal".to_owned(), code: 130 }
    }

    /// Failure of the machine, with the chain of causes.
    pub fn machine(error: impl Error) -> Self {
        Self::Machine(chain(&error))
    }

    /// The same failure of a part of the work: `part: text`.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        let text = |message: String| format!("{part}: {message}");
        match self {
            Self::Input(message) => Self::Input(text(message)),
            Self::Machine(message) => Self::Machine(text(message)),
            Self::Exit { message, code } => Self::Exit { message: text(message), code },
            Self::BrokenPipe => Self::BrokenPipe,
        }
    }

    /// Text of the failure.
    #[must_use]
    pub fn message(&self) -> &str {
        match self {
            Self::Input(message) | Self::Machine(message) | Self::Exit { message, .. } => message,
            Self::BrokenPipe => "broken pipe",
        }
    }

    /// Failure with an exit code of its own, with the chain of causes.
    pub fn exit(error: impl Error, code: u8) -> Self {
        let message = chain(&error);
        Self::Exit { message, code }
    }
}

impl From<std::io::Error> for Failure {
    fn from(err: std::io::Error) -> Self {
        if err.kind() == std::io::ErrorKind::BrokenPipe {
            Self::BrokenPipe
        } else {
            Self::machine(err)
        }
    }
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Some messages hold that of their cause already.
        let message = cause.to_string();
        if !text.ends_with(&message) {
            let _ = write!(text, ": {message}");
        }
        source = cause.source();
    }
    text
}
