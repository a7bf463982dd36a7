//! Where results go and how they look.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use groundwave::text::Table;
use groundwave_systems::radio::Verdict;
use serde::Serialize;

use super::failure::Failure;

/// The choice every subcommand shares.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// One JSON document instead of text.
    pub json: bool,
}

impl Output {
    /// Writes `document` as JSON.
    pub fn json(self, document: &impl Serialize) -> Result<(), Failure> {
        let mut out = std::io::stdout().lock();
        serde_json::to_writer_pretty(&mut out, document).map_err(std::io::Error::from)?;
        writeln!(out)?;
        Ok(())
    }

    /// Writes text, with colour where that is wanted.
    pub fn text(self, text: &str) -> Result<(), Failure> {
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }
}

/// Columns of the terminal, 100 where there is none.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0).max(40))
}

/// A heading.
pub fn heading(text: &str) -> String {
    painted(Style::new().bold(), text)
}

/// Something that matters less.
pub fn faint(text: &str) -> String {
    painted(Style::new().dimmed(), text)
}

/// Something to doubt.
pub fn warning(text: &str) -> String {
    painted(AnsiColor::Yellow.on_default(), text)
}

/// A table with a bold head, whose cells in `verdict_column` are coloured by their verdict.
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

/// A verdict as one word.
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
        "poor" | "none" | "below target" => AnsiColor::Red.on_default(),
        "no link" => Style::new().dimmed(),
        _ => Style::new(),
    }
}

fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// The name a unit variant has in JSON: the one users meet in files.
pub fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        other => unreachable!("only unit variants are asked for: {other:?}"),
    }
}
