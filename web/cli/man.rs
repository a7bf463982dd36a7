//! `man`: manual pages, or one page of Markdown, made from the command line.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, Command, CommandFactory};
use groundwave_http::Failure;
use serde_json::json;

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave man out/man
  groundwave man out/man --markdown";

/// Columns of help on a page.
const PAGE_COLUMNS: usize = 80;

/// Page of all commands.
const MARKDOWN: &str = "commands.md";

/// Write manual pages of all commands into a folder
#[derive(Args)]
#[command(after_help = EXAMPLES, hide = true)]
pub struct Man {
    /// Folder of the pages; created if missing, pages in it are written over
    folder: PathBuf,

    /// Write one page of Markdown, `commands.md`, instead
    #[arg(long)]
    markdown: bool,
}

impl Man {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let failed = |error: std::io::Error| {
            Failure::Input(format!("write manual pages to {}: {error}", self.folder.display()))
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let pages = match self.markdown {
            true => {
                let text = markdown(super::Cli::command());
                std::fs::write(self.folder.join(MARKDOWN), text).map_err(failed)?;
                1
            }
            false => {
                // Pages of commands that the help hides have no reader.
                clap_mangen::generate_to(super::Cli::command(), &self.folder).map_err(failed)?;
                std::fs::read_dir(&self.folder).map_err(failed)?.count()
            }
        };
        let folder = self.folder.display().to_string();
        match output.json {
            true => output.json(&json!({ "folder": folder, "pages": pages })),
            false => output.text(&format!("{pages} pages in {folder}\n")),
        }
    }
}

/// The help of all commands that are shown, a section each.
fn markdown(command: Command) -> String {
    let mut command = command.term_width(PAGE_COLUMNS);
    command.build();
    let mut page = "# Commands\n".to_owned();
    section(&mut page, &mut command, "groundwave");
    page
}

fn section(page: &mut String, command: &mut Command, path: &str) {
    let help = command.render_long_help();
    let _ = write!(page, "\n## {path}\n\n```text\n{}\n```\n", help.to_string().trim_end());
    for subcommand in command.get_subcommands_mut() {
        if subcommand.is_hide_set() || subcommand.get_name() == "help" {
            continue;
        }
        let path = format!("{path} {}", subcommand.get_name());
        section(page, subcommand, &path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_of_commands_has_a_section_each() {
        let page = markdown(super::super::Cli::command());
        for title in ["## groundwave link", "## groundwave sweep merge", "## groundwave impair set"]
        {
            assert!(page.contains(&format!("\n{title}\n")), "{title}");
        }
        assert!(!page.contains("## groundwave man"), "hidden");
        assert!(page.contains("Examples:\n  groundwave link"));
    }
}
