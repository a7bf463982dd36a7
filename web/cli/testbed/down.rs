//! Taking a testbed away.

use std::path::PathBuf;
use std::time::Duration;

use axum::http::Method;
use clap::Args;
use groundwave_io::testbed::{State, tear_down};
use serde_json::json;

use super::Which;
use super::client::{answers, ask};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// How long a controller may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Take a testbed away: its controller, its programs, its namespaces. Nothing there is no error
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed down\n  groundwave testbed down --keep-log ridge.gwlog && groundwave replay ridge.gwlog"
)]
pub struct Down {
    /// Keep the log of everything that happened, for `replay`
    #[arg(long, value_name = "FILE")]
    keep_log: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
}

impl Down {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let all = State::all().map_err(Failure::machine)?;
        if self.which.name.is_none() && all.is_empty() {
            return match output.json {
                true => output.json(&json!({ "testbed": null, "nodes_removed": 0 })),
                false => output.text("no testbed is up\n"),
            };
        }
        let state = self.which.state()?;
        end_controller(&state)?;
        let removed = tear_down(&state, self.keep_log.as_deref()).map_err(Failure::machine)?;
        let name = &state.testbed;
        if output.json {
            return output.json(&json!({ "testbed": name, "nodes_removed": removed }));
        }
        output.text(&match removed {
            0 => format!("testbed {name} was not there\n"),
            nodes => format!("testbed {name} is gone: {nodes} nodes\n"),
        })
    }
}

/// Ends the controller, if one answers.
fn end_controller(state: &State) -> Result<(), Failure> {
    if !answers(state) {
        return Ok(());
    }
    ask(state, Method::POST, "/v1/stop", None::<&()>)?;
    let nap = Duration::from_millis(20);
    for _ in 0..PATIENCE.as_millis() / nap.as_millis() {
        // It unlinks its socket last, when the log is closed.
        if !state.socket().exists() {
            return Ok(());
        }
        std::thread::sleep(nap);
    }
    if !answers(state) {
        return Ok(());
    }
    Err(Failure::Machine(format!(
        "the controller of {} does not end; end it yourself and say `down` again",
        state.testbed
    )))
}
