//! Problems of errors of models, logs and changes.

use groundwave_engine::log::LogError;
use groundwave_http::Problem;
use groundwave_model::mesh::MeshError;
use groundwave_model::relay::RelayError;
use groundwave_scenario::changes::ChangeError;
use groundwave_scenario::formats::{FormatError, without_options};

/// Problem of an analysis of a mesh.
pub(crate) fn mesh_problem(error: MeshError) -> Problem {
    Problem::bad_request(error.to_string())
}

/// Problem of a plan of relays.
pub(crate) fn relay_problem(error: RelayError) -> Problem {
    Problem::bad_request(error.to_string())
}

/// Problem of changes of a recorded world.
pub(crate) fn change_problem(error: ChangeError) -> Problem {
    match error {
        ChangeError::World(_) => Problem::internal(error.to_string()),
        _ => Problem::bad_request(error.to_string()),
    }
}

/// Problem of a document. Clients have no command line: options are left out.
#[must_use]
pub fn format_problem(error: FormatError) -> Problem {
    Problem::bad_request(without_options(&error.to_string()))
}

/// Problem of a log.
pub(crate) fn log_problem(error: LogError) -> Problem {
    Problem::bad_request(format!("the log: {error}"))
}
