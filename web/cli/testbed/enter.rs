//! `testbed exec` and `testbed shell`: programs in the namespace of a node.

use std::io::ErrorKind;
use std::process::Command;

use clap::Args;
use groundwave_http::Failure;
use groundwave_testbed::{TestbedError, replace};

use super::Selection;

/// Exit code of a missing program, as that of a shell (POSIX.1, 2.8.2).
const NOT_FOUND: u8 = 127;
/// Exit code of a program that cannot be executed.
const NOT_EXECUTABLE: u8 = 126;

/// Run a program in a node
#[derive(Args)]
#[command(
    after_help = "Examples:\n  groundwave testbed exec west -- ping -c 3 east\n  groundwave testbed exec east -- iperf3 -s\n\nThe exit code is that of the program; 127 without such a program, 126 if it cannot be executed."
)]
pub struct Exec {
    /// Short name of the node
    node: String,
    /// Program and arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<String>,
    #[command(flatten)]
    selection: Selection,
}

impl Exec {
    pub fn run(self) -> Result<(), Failure> {
        let (program, arguments) = self.command.split_first().expect("clap requires one");
        let mut command = Command::new(program);
        command.args(arguments);
        execute(&self.selection, &self.node, command)
    }
}

/// Open a shell in a node
#[derive(Args)]
#[command(after_help = "Examples:\n  groundwave testbed shell west")]
pub struct Shell {
    /// Short name of the node
    node: String,
    #[command(flatten)]
    selection: Selection,
}

impl Shell {
    pub fn run(self) -> Result<(), Failure> {
        let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let mut command = Command::new(shell);
        command.env("PS1", format!("[{}] \\w# ", self.node));
        execute(&self.selection, &self.node, command)
    }
}

/// Replaces this process by the program.
fn execute(selection: &Selection, node: &str, mut command: Command) -> Result<(), Failure> {
    let state = selection.state()?;
    let path = state.node(node).map_err(Failure::input)?;
    command.env("GROUNDWAVE_NODE", node);
    command.env("GROUNDWAVE_TESTBED", &state.testbed);
    let failure = replace(&path, node, &state.hosts(), &mut command);
    let code = match &failure {
        TestbedError::Program { source, .. } if source.kind() == ErrorKind::NotFound => NOT_FOUND,
        TestbedError::Program { .. } => NOT_EXECUTABLE,
        _ => return Err(Failure::machine(failure)),
    };
    Err(Failure::exit(failure, code))
}
