//! `man`: manual pages made from the command line.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use groundwave_http::Failure;
use serde_json::json;

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave man out/man";

/// Write manual pages of all commands into a folder
#[derive(Args)]
#[command(after_help = EXAMPLES, hide = true)]
pub struct Man {
    /// Folder of the pages; created if missing, pages in it are written over
    folder: PathBuf,
}

impl Man {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::Input(format!("write manual pages to {}: {error}", self.folder.display()))
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        // Pages of commands that the help hides have no reader.
        clap_mangen::generate_to(super::Cli::command(), &self.folder).map_err(failed)?;
        let pages = std::fs::read_dir(&self.folder).map_err(failed)?.count();
        let folder = self.folder.display().to_string();
        match output.json {
            true => output.json(&json!({ "folder": folder, "pages": pages })),
            false => output.text(&format!("{pages} pages in {folder}\n")),
        }
    }
}
