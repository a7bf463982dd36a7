//! `man`: manual pages, or pages of Markdown, made from the command line and the HTTP interfaces.

mod http;
mod options;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Args, Command};
use groundwave_http::Failure;
use groundwave_http::option_value::{folder_path, refuse_file};
use serde_json::{Value, json};

use super::output::Output;

const EXAMPLES: &str = "\
Examples:
  groundwave man out/man
  groundwave man out/man --markdown";

/// Columns of help on a page.
const PAGE_COLUMNS: usize = 80;

/// Pages of commands, of HTTP operations and of keys of the configuration file.
const MARKDOWN: [&str; 3] = ["commands.md", "http.md", "configuration-keys.md"];

/// Ports of the impairment daemon whose operations the page has.
const PORTS: usize = 2;

/// Write manual pages of all commands into a folder
#[derive(Args)]
#[command(after_help = EXAMPLES, hide = true)]
pub struct Man {
    /// Folder of the pages; created if missing, pages in it are written over
    #[arg(value_parser = PathBufValueParser::new().try_map(folder_path))]
    folder: PathBuf,

    /// Write three pages of Markdown instead: `commands.md`, `http.md`, `configuration-keys.md`
    #[arg(long)]
    markdown: bool,
}

impl Man {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        refuse_file("FOLDER", &self.folder)?;
        let failed = |error: std::io::Error| {
            Failure::Input(format!("write manual pages to {}: {error}", self.folder.display()))
        };
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let pages = match self.markdown {
            true => {
                for (name, text) in MARKDOWN.into_iter().zip(references()) {
                    std::fs::write(self.folder.join(name), text).map_err(failed)?;
                }
                MARKDOWN.len()
            }
            false => {
                // Pages of commands that the help hides have no reader.
                let command = super::command().disable_help_subcommand(true);
                let mut command = groundwave_command::laid_out(command);
                command.build();
                pages(command, &self.folder).map_err(failed)?;
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

/// Texts of the pages of Markdown.
fn references() -> [String; 3] {
    let mut command = super::command();
    command.build();
    let documents = documents();
    let keys = options::page(&command);
    [markdown(super::command()), http::page(&documents), keys]
}

/// OpenAPI documents of the interfaces of all services.
fn documents() -> [Value; 4] {
    [
        groundwave_planning::document().json().clone(),
        groundwave_web_gateway::document(),
        groundwave_impaird::document(PORTS).json().clone(),
        groundwave_web_testbed::document().json().clone(),
    ]
}

/// Writes the page of a command and those of the commands below it.
fn pages(command: Command, folder: &Path) -> std::io::Result<()> {
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        pages(subcommand.clone(), folder)?;
    }
    page(command).generate_to(folder).map(drop)
}

/// The page of a command, with title, source and manual in its head.
fn page(command: Command) -> clap_mangen::Man {
    let title = command.get_display_name().unwrap_or(command.get_name()).to_ascii_uppercase();
    clap_mangen::Man::new(command)
        .title(title)
        // An empty date would be no field, and the source the date.
        .date(" ")
        .source(concat!("groundwave ", env!("CARGO_PKG_VERSION")))
        .manual("Groundwave Manual")
}

/// The help of all commands that are shown, a section each.
fn markdown(command: Command) -> String {
    let mut command = groundwave_command::laid_out(command).term_width(PAGE_COLUMNS);
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
    fn manual_pages_have_title_source_and_manual_in_their_head() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = super::super::command();
        command.build();
        pages(command, folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join("groundwave-link.1")).unwrap();
        let head = text.lines().find(|line| line.starts_with(".TH")).unwrap();
        let version = env!("CARGO_PKG_VERSION");
        let fields = format!("1 \" \" \"groundwave {version}\" \"Groundwave Manual\"");
        assert_eq!(head, format!(".TH GROUNDWAVE-LINK {fields}"));
        assert!(!folder.path().join("groundwave-man.1").exists(), "hidden");
    }

    #[test]
    fn page_of_commands_has_a_section_each() {
        let page = markdown(super::super::command());
        for title in ["## groundwave link", "## groundwave sweep merge", "## groundwave impair set"]
        {
            assert!(page.contains(&format!("\n{title}\n")), "{title}");
        }
        assert!(!page.contains("## groundwave man"), "hidden");
        assert!(page.contains("Examples:\n  groundwave link"));
    }
}
