//! Failures of subcommands and their exit codes.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Failure of a subcommand.
#[derive(Debug)]
pub enum Failure {
    /// Invalid input: exit code 2.
    Input(String),
    /// Failure of the simulation or the machine: exit code 1.
    Machine(String),
    /// Broken pipe on stdout: exit code 0, as for any Unix filter.
    BrokenPipe,
}

impl Failure {
    /// Invalid input, with the chain of causes.
    pub fn input(error: impl Error) -> Self {
        Self::Input(chain(&error))
    }

    /// Failure of the machine, with the chain of causes.
    pub fn machine(error: impl Error) -> Self {
        Self::Machine(chain(&error))
    }

    /// Writes the failure to stderr; returns the exit code.
    pub fn report(self) -> ExitCode {
        let (message, code) = match self {
            Self::Input(message) => (message, 2),
            Self::Machine(message) => (message, 1),
            Self::BrokenPipe => return ExitCode::SUCCESS,
        };
        let style = anstyle::AnsiColor::Red.on_default().bold();
        anstream::eprintln!("{style}error{style:#}: {message}");
        ExitCode::from(code)
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
        let _ = write!(text, ": {cause}");
        source = cause.source();
    }
    text
}
