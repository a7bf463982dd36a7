//! `completions`: shell completion scripts.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use groundwave_http::Failure;

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave completions bash > groundwave.bash     # to /etc/bash_completion.d/
  groundwave completions zsh > _groundwave          # to a folder of $fpath
  groundwave completions fish > groundwave.fish     # to ~/.config/fish/completions/";

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Completions {
    /// Shell
    shell: Shell,
}

impl Completions {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "groundwave", &mut script);
        if output.json {
            let script = String::from_utf8_lossy(&script);
            return output
                .json(&serde_json::json!({ "shell": self.shell.to_string(), "script": script }));
        }
        output.text(&String::from_utf8_lossy(&script))
    }
}
