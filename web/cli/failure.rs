//! How the program ends when it cannot do what was asked.

use std::error::Error;
use std::fmt::Write as _;
use std::process::ExitCode;

/// Why a subcommand failed.
#[derive(Debug)]
pub enum Failure {
    /// What was given is wrong: exit code 2.
    Input(String),
    /// The world broke or the machine failed: exit code 1.
    Machine(String),
    /// Whoever read the output went away: exit code 0, as for any Unix filter.
    Unread,
}

impl Failure {
    /// Wrong input, told with its chain of causes.
    pub fn input(error: impl Error) -> Self {
        Self::Input(chain(&error))
    }

    /// A failing machine, told with its chain of causes.
    pub fn machine(error: impl Error) -> Self {
        Self::Machine(chain(&error))
    }

    /// Tells the failure on stderr.
    pub fn tell(self) -> ExitCode {
        let (what, code) = match self {
            Self::Input(what) => (what, 2),
            Self::Machine(what) => (what, 1),
            Self::Unread => return ExitCode::SUCCESS,
        };
        let style = anstyle::AnsiColor::Red.on_default().bold();
        anstream::eprintln!("{style}error{style:#}: {what}");
        ExitCode::from(code)
    }
}

impl From<std::io::Error> for Failure {
    fn from(err: std::io::Error) -> Self {
        if err.kind() == std::io::ErrorKind::BrokenPipe {
            Self::Unread
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
