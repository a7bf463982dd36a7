//! `testbed down`: removal of a testbed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave_http::Failure;
use groundwave_http::option_value::file_path;
use groundwave_testbed::{State, is_alive, kill_process};
use groundwave_web_testbed::serve::{UnrestoredPorts, remove};
use serde_json::json;

use super::Selection;
use super::client::{controller_pid, request_stop};
use crate::cli::output::Output;

/// Time limit for the end of a controller, which closes the log of a large testbed.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// Time limit for the end of a controller that did not answer.
const SILENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Remove a testbed: controller, programs and namespaces; bound ports get their previous state
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed down\n  groundwave testbed down --keep-log ridge.gwlog && groundwave replay ridge.gwlog\n  groundwave testbed down --forget-ports"
)]
pub struct Down {
    /// Copy the log of the testbed to this file, for `replay`
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(file_path))]
    keep_log: Option<PathBuf>,
    /// Leave bound ports that cannot be restored as they are, such as those of a daemon that is gone
    #[arg(long)]
    forget_ports: bool,
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
        let is_up = all.contains(&state.testbed);
        let keep_log = self.keep_log.as_deref();
        keep_log.map_or(Ok(()), require_file)?;
        let log = keep_log.filter(|_| state.log().exists());
        stop_controller(&state)?;
        let unrestored = match self.forget_ports {
            true => UnrestoredPorts::Forget,
            false => UnrestoredPorts::Keep,
        };
        let removed = remove(&state, keep_log, unrestored)?;
        let name = &state.testbed;
        if output.json {
            let document = json!({ "testbed": name, "nodes_removed": removed, "log": log });
            return output.json(&document);
        }
        let log = log.map(|log| format!("; log: {}", log.display())).unwrap_or_default();
        output.text(&match (is_up, removed) {
            (false, 0) => format!("no testbed {name}{log}\n"),
            (_, nodes) => format!("testbed {name} removed: {nodes} nodes{log}\n"),
        })
    }
}

/// Refuses a log that cannot be kept, before anything is removed.
fn require_file(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let problem = match folder {
        _ if path.is_dir() => "a folder",
        Some(folder) if !folder.is_dir() => "no such folder",
        _ => return Ok(()),
    };
    let path = path.display();
    let what = format!("invalid --keep-log {path}: found {problem}, allowed a file in a folder");
    Err(Failure::Input(what))
}

/// Stops the controller if it is running. The removal goes on whatever becomes of its answer; one that
/// does not stop is killed.
fn stop_controller(state: &State) -> Result<(), Failure> {
    let Some(pid) = controller_pid(state) else {
        // One without a socket is starting.
        return match state.controller() {
            Some(pid) => kill_process(pid).map_err(Failure::machine),
            None => Ok(()),
        };
    };
    let limit = match request_stop(state) {
        Ok(()) => STOP_TIMEOUT,
        Err(failure) => {
            let (testbed, why) = (&state.testbed, failure.message());
            tracing::warn!(testbed, why, "the answer of the controller is missing");
            SILENT_TIMEOUT
        }
    };
    let interval = Duration::from_millis(20);
    for _ in 0..limit.as_millis() / interval.as_millis() {
        // The socket is removed last, after the log is closed.
        if !state.socket().exists() || !is_alive(pid) {
            return Ok(());
        }
        std::thread::sleep(interval);
    }
    tracing::warn!(pid, "the controller does not stop and is killed");
    kill_process(pid).map_err(Failure::machine)
}
