//! Results on stdout: JSON documents, text, tables, progress.

use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::stream::RawStream;
use anstyle::{AnsiColor, Style};
use groundwave_http::Failure;
use groundwave_text::Table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

/// Output options that all subcommands share.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// One JSON document instead of text.
    pub json: bool,
}

impl Output {
    /// Writes `document` as indented JSON.
    pub fn json(self, document: &impl Serialize) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, document).map_err(std::io::Error::from)?;
        writeln!(out)?;
        Ok(())
    }

    /// Writes `document` as JSON on one line, for streams of documents.
    pub fn json_line(self, document: &impl Serialize) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, document).map_err(std::io::Error::from)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }

    /// Writes text; escape sequences are removed unless stdout is a terminal or `--color always`.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }
}

/// An error as a JSON document on one line.
pub fn error_json(message: &str, exit_code: u8) -> String {
    serde_json::json!({ "error": { "message": message, "exit_code": exit_code } }).to_string()
}

/// True where escape sequences are written to `stream`: by `--color`, else on terminals.
pub fn has_colour(stream: &impl RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// True after [`hide_progress`].
static HIDES_PROGRESS: AtomicBool = AtomicBool::new(false);

/// Hides all progress bars of the process: `--quiet`.
pub fn hide_progress() {
    HIDES_PROGRESS.store(true, Ordering::Relaxed);
}

/// A progress bar on stderr; hidden without a terminal, with `--color never` and with `--quiet`.
pub fn progress(count: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is constant");
    let bar = ProgressBar::new(count).with_style(style);
    if !has_colour(&std::io::stderr()) || HIDES_PROGRESS.load(Ordering::Relaxed) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

/// True if a path means standard input or output.
pub fn is_stdio(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses to write over an existing file, unless `force` is set.
pub fn refuse_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if force || is_stdio(path) || !path.exists() {
        return Ok(());
    }
    let file = path.display();
    Err(Failure::Input(format!("{file} exists: --force writes over it")))
}

/// As [`refuse_existing`], for logs: they are read again while they are written, which standard output is not.
pub fn refuse_existing_log(path: &Path, force: bool) -> Result<(), Failure> {
    if is_stdio(path) {
        let what =
            "invalid log: found -, allowed the path of a file; `-` is for tables and documents";
        return Err(Failure::Input(what.to_owned()));
    }
    refuse_existing(path, force)
}

/// As [`refuse_existing_log`], for logs, which are created only where there is no file: with `force` an existing
/// one is removed.
pub fn make_way(path: &Path, force: bool) -> Result<(), Failure> {
    refuse_existing_log(path, force)?;
    if force && path.is_file() {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

/// Writes a whole file or none; `-` is standard output.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_stdio(path) {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes)?;
        return Ok(out.flush()?);
    }
    let folder = path.parent().filter(|parent| *parent != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    if !folder.is_dir() {
        let (path, folder) = (path.display(), folder.display());
        let what = format!(
            "invalid file to write: found {path}, allowed files in folders; {folder} is none"
        );
        return Err(Failure::Input(what));
    }
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|err| Failure::from(err.error))?;
    Ok(())
}

/// Width of the terminal, columns; 100 without a terminal.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).max(40))
}

/// Text in bold.
pub fn heading(text: &str) -> String {
    painted(Style::new().bold(), text)
}

/// Dimmed text, for secondary information.
pub fn faint(text: &str) -> String {
    painted(Style::new().dimmed(), text)
}

/// Text in yellow, for warnings.
pub fn warning(text: &str) -> String {
    painted(AnsiColor::Yellow.on_default(), text)
}

/// A table with bold headings; cells of `verdict_column` are coloured by verdict.
pub fn table(table: &Table, verdict_column: Option<usize>) -> String {
    table.render(width(), |column, row, cell| match row {
        None => painted(Style::new().bold(), &cell),
        Some(_) if verdict_column == Some(column) => {
            let style = verdict_style(cell.trim());
            painted(style, &cell)
        }
        Some(_) => cell,
    })
}

/// Verdict of a link whose profile has samples without terrain data: its figures assume sea level.
pub const NO_TERRAIN: &str = "no terrain data";

/// The first names of a list, and how many more there are.
pub fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let list = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}

fn verdict_style(word: &str) -> Style {
    match word {
        "excellent" | "good" => AnsiColor::Green.on_default(),
        "marginal" => AnsiColor::Yellow.on_default(),
        "poor" | "none" | "below target" | NO_TERRAIN => AnsiColor::Red.on_default(),
        "no link" => Style::new().dimmed(),
        _ => Style::new(),
    }
}

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Name of a unit variant in JSON.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("only unit variants are asked for: {other:?}"),
    }
}
