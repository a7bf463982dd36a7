//! Results on stdout: JSON documents, text, tables, progress.

use std::io::{ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::stream::RawStream;
use anstyle::{AnsiColor, Style};
use groundwave_files::is_special;
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
        serde_json::to_writer_pretty(&mut out, document)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(out))
            .map_err(of_stdout)
    }

    /// Refuses standard output as the file of an option where a JSON document goes there.
    ///
    /// # Errors
    /// For `-` with `--json`.
    pub fn refuse_stdout(self, name: &str, path: &Path) -> Result<(), Failure> {
        match self.json {
            true => refuse_stdout_beside(name, path, "--json"),
            false => Ok(()),
        }
    }

    /// Writes `document` as JSON on one line, for streams of documents.
    pub fn json_line(self, document: &impl Serialize) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, document)
            .map_err(std::io::Error::from)
            .and_then(|()| writeln!(out))
            .and_then(|()| out.flush())
            .map_err(of_stdout)
    }

    /// Writes text; escape sequences are removed unless stdout is a terminal or `--color always`.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(of_stdout)
    }
}

/// True where escape sequences are written to `stream`: by `--color`, else on terminals.
pub fn has_colour(stream: &impl RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// True after [`be_quiet`].
static IS_QUIET: AtomicBool = AtomicBool::new(false);

/// Hides all progress bars and notes of the process: `--quiet`.
pub fn be_quiet() {
    IS_QUIET.store(true, Ordering::Relaxed);
}

/// Writes a line to stderr, unless `--quiet` is in force: a warning or a hint.
pub fn note(line: &str) {
    if !IS_QUIET.load(Ordering::Relaxed) {
        to_stderr(line);
    }
}

/// Writes a line to stderr. One that cannot be written, because a log is full or its reader has left, ends no work.
pub(crate) fn to_stderr(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A progress bar on stderr; hidden without a terminal, with `--color never` and with `--quiet`.
pub fn progress(count: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is constant");
    let bar = ProgressBar::new(count).with_style(style);
    if !has_colour(&std::io::stderr()) || IS_QUIET.load(Ordering::Relaxed) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

/// True if a path means standard input or output.
pub fn is_stdio(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses standard output as the file of an option where `other` is written there.
///
/// # Errors
/// For `-`.
pub fn refuse_stdout_beside(name: &str, path: &Path, other: &str) -> Result<(), Failure> {
    match is_stdio(path) {
        true => Err(Failure::Input(format!(
            "invalid {name}: found - beside {other}, allowed a file: both go to standard output"
        ))),
        false => Ok(()),
    }
}

/// Refuses to write over an existing file, unless `force` is set, and to write a folder. Devices and FIFOs are
/// written to.
pub fn refuse_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if is_stdio(path) || !path.exists() || is_special(path) {
        return Ok(());
    }
    let file = path.display();
    match path.is_dir() {
        true => Err(Failure::Input(format!("invalid file to write: found the folder {file}"))),
        false if force => Ok(()),
        false => Err(Failure::Input(format!("{file} exists: --force writes over it"))),
    }
}

/// As [`refuse_existing`], for logs: they are read again while they are written, which standard output and devices
/// are not.
pub fn refuse_existing_log(path: &Path, force: bool) -> Result<(), Failure> {
    if is_stdio(path) || is_special(path) {
        let path = path.display();
        let what = format!(
            "invalid log: found {path}, allowed the path of a file; `-` is for tables and documents"
        );
        return Err(Failure::Input(what));
    }
    folder_of(path)?;
    refuse_existing(path, force)
}

/// As [`refuse_existing_log`], for logs, which are created only where there is no file: with `force` an existing
/// one is removed. The path at which the log is created: that behind a symbolic link.
pub fn make_way(path: &Path, force: bool) -> Result<PathBuf, Failure> {
    refuse_existing_log(path, force)?;
    let target = behind_links(path);
    if force && target.is_file() {
        std::fs::remove_file(&target)?;
    }
    Ok(target)
}

/// The path of an existing file behind its symbolic links, or the same path.
#[must_use]
pub fn behind_links(path: &Path) -> PathBuf {
    match path.is_symlink() {
        true => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
        false => path.to_owned(),
    }
}

/// Writes a whole file or none; `-` is standard output. An existing file keeps its mode, and its name where `path` is a
/// symbolic link; devices and FIFOs are written to.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    if is_stdio(path) {
        return write_stdout(bytes);
    }
    let failed = |error: std::io::Error| Failure::from(error).within(&write_to(path));
    if is_special(path) {
        let mut device = std::fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        return device.write_all(bytes).and_then(|()| device.flush()).map_err(failed);
    }
    replace(whole_file(&behind_links(path), bytes, USUAL_MODE)?, path)
}

/// A file for the content of a path, which [`replace`] puts there.
pub fn file_for(path: &Path) -> Result<tempfile::NamedTempFile, Failure> {
    match is_stdio(path) || is_special(path) {
        true => Ok(tempfile::NamedTempFile::new()?),
        false => whole_file(&behind_links(path), &[], USUAL_MODE),
    }
}

/// Puts a whole file in the place of a path, as [`write_whole`] does.
pub fn replace(mut file: tempfile::NamedTempFile, path: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::from(error).within(&write_to(path));
    if is_stdio(path) {
        file.as_file_mut().rewind()?;
        let mut out = std::io::stdout().lock();
        return std::io::copy(file.as_file_mut(), &mut out)
            .and_then(|_| out.flush())
            .map_err(of_stdout);
    }
    if is_special(path) {
        file.as_file_mut().rewind().map_err(failed)?;
        let mut device = std::fs::OpenOptions::new().write(true).open(path).map_err(failed)?;
        std::io::copy(file.as_file_mut(), &mut device).map_err(failed)?;
        return Ok(());
    }
    let target = behind_links(path);
    if let Ok(before) = std::fs::metadata(&target) {
        file.as_file().set_permissions(before.permissions()).map_err(failed)?;
    }
    file.persist(&target).map_err(|err| failed(err.error))?;
    Ok(())
}

/// Writes a whole new file of a mode, less what the process masks, or none.
///
/// # Errors
/// Where there is a file.
pub fn write_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::from(error).within(&write_to(path));
    let file = whole_file(path, bytes, mode)?;
    file.as_file().sync_all().map_err(failed)?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(err) if err.error.kind() == ErrorKind::AlreadyExists => refuse_existing_new(path),
        Err(err) => Err(failed(err.error)),
    }
}

/// Refuses a new file where there is one.
pub fn refuse_existing_new(path: &Path) -> Result<(), Failure> {
    match !is_stdio(path) && path.exists() {
        true => Err(Failure::Input(format!("{} exists; name a new file", path.display()))),
        false => Ok(()),
    }
}

/// Writes bytes to standard output.
pub fn write_stdout(bytes: &[u8]) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).map_err(of_stdout)
}

/// The failure of writing to standard output.
fn of_stdout(error: std::io::Error) -> Failure {
    Failure::from(error).within("write standard output")
}

/// Mode of files, less what the process masks.
pub const USUAL_MODE: u32 = 0o666;

fn write_to(path: &Path) -> String {
    format!("write {}", path.display())
}

/// The folder of a file to write.
///
/// # Errors
/// Where there is none.
pub fn folder_of(path: &Path) -> Result<&Path, Failure> {
    let folder = path.parent().filter(|parent| *parent != Path::new(""));
    let folder = folder.unwrap_or(Path::new("."));
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(Failure::Input(format!(
            "invalid file to write: found {}, allowed files in folders; {} is none",
            path.display(),
            folder.display()
        ))),
    }
}

/// The content of a file beside it, under another name.
fn whole_file(path: &Path, bytes: &[u8], mode: u32) -> Result<tempfile::NamedTempFile, Failure> {
    let folder = folder_of(path)?;
    let failed = |error: std::io::Error| Failure::from(error).within(&write_to(path));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    let mut file = builder.tempfile_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    Ok(file)
}

/// Width of text without a terminal, columns.
const WIDTH_USUAL: usize = 100;

/// Minimum width of a terminal that text is laid out for, columns.
const WIDTH_MIN: usize = 40;

/// Width of the terminal, columns; `None` without one.
fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0).max(WIDTH_MIN))
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
    table_within(table, verdict_column, WIDTH_USUAL)
}

/// A table as [`table`] shows it, of another width where the output is not a terminal.
pub fn table_within(table: &Table, verdict_column: Option<usize>, file_width: usize) -> String {
    let style = |column, row: Option<usize>, cell: String| match row {
        None => painted(Style::new().bold(), &cell),
        Some(_) if verdict_column == Some(column) => {
            let style = verdict_style(cell.trim());
            painted(style, &cell)
        }
        Some(_) => cell,
    };
    match terminal_width() {
        Some(width) => table.render_in_blocks(width, style),
        None => table.render(file_width, style),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_output_beside_a_json_document_gives_an_error() {
        let (stdio, file) = (Path::new("-"), Path::new("links.csv"));
        let json = Output { json: true };
        let error = json.refuse_stdout("--output", stdio).unwrap_err();
        assert_eq!(
            error.message(),
            "invalid --output: found - beside --json, allowed a file: both go to standard output"
        );
        assert!(json.refuse_stdout("--output", file).is_ok());
        assert!(Output { json: false }.refuse_stdout("--output", stdio).is_ok());
        assert!(refuse_stdout_beside("--html", stdio, "--report").is_err());
    }
}
