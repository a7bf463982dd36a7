//! Results on stdout: JSON documents, text, tables, progress.

use std::io::Write;
use std::path::Path;

use anstream::stream::RawStream;
use anstyle::{AnsiColor, Style};
use groundwave_gateway::Snapshot;
use groundwave_model::radio::{Assumptions, Verdict};
use groundwave_raster::scene;
use groundwave_simulation::link::LinkView;
use groundwave_text::Table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use groundwave_http::Failure;
use groundwave_setup::terrain::REMEDY;

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

/// A progress bar on stderr; hidden without a terminal and with `--color never`.
pub fn progress(count: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).expect("the template is constant");
    let bar = ProgressBar::new(count).with_style(style);
    if !has_colour(&std::io::stderr()) {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
    bar.enable_steady_tick(std::time::Duration::from_millis(250));
    bar
}

/// True if a path means standard input or output.
pub fn is_stdio(path: &Path) -> bool {
    path == Path::new("-")
}

/// Refuses to write over an existing file, unless `force` says so.
pub fn refuse_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if force || is_stdio(path) || !path.exists() {
        return Ok(());
    }
    let file = path.display();
    Err(Failure::Input(format!("{file} exists: --force writes over it")))
}

/// As [`refuse_existing`], for files that are created only where there is none: with `force` an
/// existing one is removed.
pub fn make_way(path: &Path, force: bool) -> Result<(), Failure> {
    refuse_existing(path, force)?;
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
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|err| Failure::from(err.error))?;
    Ok(())
}

/// Writes a picture: PNG where the name of the file ends with `.png`, else SVG.
pub fn picture(path: &Path, svg: &str) -> Result<(), Failure> {
    let failed = |err: &dyn std::error::Error| {
        Failure::Input(format!("write picture {}: {err}", path.display()))
    };
    let extension = path.extension().unwrap_or_default();
    let written = if extension.eq_ignore_ascii_case("png") {
        let bitmap = scene::Bitmap::from_svg(svg).map_err(|err| failed(&err))?;
        std::fs::write(path, bitmap.to_png().map_err(|err| failed(&err))?)
    } else {
        std::fs::write(path, svg)
    };
    written.map_err(|err| failed(&err))
}

/// Width of the terminal, columns; 100 without a terminal.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).max(40))
}

/// Lines on what a prediction assumes and, where there is one, on its calibration `profile`.
pub fn assumed(assumptions: &Assumptions, profile: Option<String>) -> String {
    let profile = profile.map(|profile| format!("calibration profile: {profile}"));
    std::iter::once(format!("assumed: {assumptions}"))
        .chain(profile)
        .map(|line| format!("{}\n", faint(&line)))
        .collect()
}

/// Name of the calibration profile, in quotes.
pub fn profile_name(assumptions: &Assumptions) -> Option<String> {
    let profile = assumptions.calibration.as_ref()?;
    Some(format!("{:?}", profile.name))
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

/// Name of the verdict of a link with `missing_samples` in its profile.
pub fn verdict_over(missing_samples: u32, found: Verdict) -> &'static str {
    match missing_samples {
        0 => verdict(found),
        _ => NO_TERRAIN,
    }
}

/// Links whose profiles have samples without terrain data or in voids, as a warning.
pub fn gaps(snapshot: &Snapshot) -> Option<String> {
    let count = |has_gap: fn(&LinkView) -> bool| {
        let links = snapshot.links.iter();
        links.filter(|link| has_gap(link)).count()
    };
    let missing = count(|link| link.budget.missing_samples > 0);
    let voids = count(|link| link.budget.void_samples > 0);
    let mut parts = Vec::new();
    if missing > 0 {
        parts.push(missing_links(missing, snapshot.links.len()));
    }
    if voids > 0 {
        parts.push(format!("{voids} links cross voids of tiles, interpolated"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Sentence about links without terrain data.
pub fn missing_links(missing: usize, all: usize) -> String {
    format!(
        "no terrain data under {missing} of {all} links: they assume ground at sea level; {REMEDY}"
    )
}

/// The first names of a list, and how many more there are.
pub fn some_of(names: &[&str]) -> String {
    const SHOWN: usize = 5;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Name of a verdict.
pub fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Excellent => "excellent",
        Verdict::Good => "good",
        Verdict::Marginal => "marginal",
        Verdict::Poor => "poor",
        Verdict::NoLink => "no link",
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

/// A progress bar of the units of a sweep.
pub fn units_progress(units: usize) -> ProgressBar {
    progress(
        units as u64,
        "{bar:30} {pos}/{len} units  {per_sec}  {elapsed} elapsed, {eta} left  {msg}",
    )
}

/// Counts a unit.
pub fn advance(progress: &ProgressBar, found: bool) {
    progress.inc(1);
    if found {
        // Units found on disk say nothing of the speed of the rest.
        progress.reset_eta();
    }
}
