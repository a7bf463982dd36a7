//! Exit codes of the errors of sweeps.

use std::io::ErrorKind;

use groundwave_http::Failure;
use groundwave_sweep::SweepError;

/// The exit code of an error.
pub(super) fn failure(error: SweepError) -> Failure {
    match error {
        // A folder that is not there, or a file in its place, is what the user named.
        SweepError::Disk { ref err, .. }
            if [ErrorKind::NotFound, ErrorKind::AlreadyExists, ErrorKind::NotADirectory]
                .contains(&err.kind()) =>
        {
            Failure::input(error)
        }
        // As a shell reports a program that SIGINT ended.
        SweepError::Stopped => Failure::Exit { message: error.to_string(), code: 130 },
        SweepError::Disk { .. } | SweepError::Product { .. } | SweepError::InUse { .. } => {
            Failure::machine(error)
        }
        SweepError::Foreign { .. }
        | SweepError::NoColumn { .. }
        | SweepError::Crs { .. }
        | SweepError::Evaluate { .. }
        | SweepError::Unfinished { .. } => Failure::input(error),
    }
}
