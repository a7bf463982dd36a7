//! Problems of errors of models, logs and changes.

use groundwave_engine::log::LogError;
use groundwave_http::Problem;
use groundwave_model::mesh::MeshError;
use groundwave_model::relay::RelayError;
use groundwave_scenario::changes::ChangeError;

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

/// Problem of a log.
pub(crate) fn log_problem(error: LogError) -> Problem {
    Problem::bad_request(format!("the log: {error}"))
}
