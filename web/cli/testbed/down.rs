//! `testbed down`: removal of a testbed.

use std::path::PathBuf;
use std::time::Duration;

use axum::http::Method;
use clap::Args;
use groundwave_io::testbed::State;
use serde_json::json;

use super::Selection;
use super::client::{is_running, request};
use crate::cli::output::Output;
use groundwave::serve::Failure;
use groundwave::serve::testbed::remove;

/// Time limit for the end of a controller.
const STOP_TIMEOUT: Duration = Duration::from_secs(10);

/// Remove a testbed: controller, programs and namespaces; bound ports get their previous state
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed down\n  groundwave testbed down --keep-log ridge.gwlog && groundwave replay ridge.gwlog"
)]
pub struct Down {
    /// Copy the log of the testbed to this file, for `replay`
    #[arg(long, value_name = "FILE")]
    keep_log: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

impl Down {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let all = State::all().map_err(Failure::machine)?;
        if self.selection.name.is_none() && all.is_empty() {
            return match output.json {
                true => output.json(&json!({ "testbed": null, "nodes_removed": 0 })),
                false => output.text("no testbed is up\n"),
            };
        }
        let state = self.selection.state()?;
        stop_controller(&state)?;
        let removed = remove(&state, self.keep_log.as_deref())?;
        let name = &state.testbed;
        if output.json {
            return output.json(&json!({ "testbed": name, "nodes_removed": removed }));
        }
        output.text(&match removed {
            0 => format!("no testbed {name}\n"),
            nodes => format!("testbed {name} removed: {nodes} nodes\n"),
        })
    }
}

/// Stops the controller if it is running.
fn stop_controller(state: &State) -> Result<(), Failure> {
    if !is_running(state) {
        return Ok(());
    }
    request(state, Method::POST, "/v1/stop", None::<&()>)?;
    let interval = Duration::from_millis(20);
    for _ in 0..STOP_TIMEOUT.as_millis() / interval.as_millis() {
        // The socket is removed last, after the log is closed.
        if !state.socket().exists() {
            return Ok(());
        }
        std::thread::sleep(interval);
    }
    if !is_running(state) {
        return Ok(());
    }
    Err(Failure::Machine(format!(
        "the controller of {} did not stop; stop it and repeat `down`",
        state.testbed
    )))
}
