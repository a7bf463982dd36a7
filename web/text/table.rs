//! Tables that fit a terminal.
//!
//! comfy-table wraps long cells into several lines and shrinks columns of numbers too; here a row is
//! one line, only text is cut, and the same table is written as HTML. That takes fewer lines than
//! configuring a library to do it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Alignment of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// Least width of a shrunk column, terminal cells.
const WIDTH_MIN: usize = 6;

/// Gap between columns.
const GAP: &str = "  ";

/// A table of plain text. Styles are applied after padding: escape sequences do not count as width.
#[derive(Debug, Clone, Default)]
pub struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these column headings.
    #[must_use]
    pub fn new(heads: &[(&str, Align)]) -> Self {
        let heads = heads.iter().map(|(head, align)| ((*head).to_owned(), *align)).collect();
        Self { heads, rows: Vec::new() }
    }

    /// Adds a row; missing cells are empty, extra ones ignored.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<_> = cells.into_iter().map(|cell| printable(&cell)).collect();
        cells.resize(self.heads.len(), String::new());
        self.rows.push(cells);
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Column headings.
    pub fn heads(&self) -> impl Iterator<Item = (&str, Align)> {
        self.heads.iter().map(|(head, align)| (head.as_str(), *align))
    }

    /// Rows, one cell per column.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in lines of at most `width` terminal cells if possible: text columns are shrunk, the
    /// widest first.
    ///
    /// `style` decorates the padded cell of a column and row; row `None` is the heading.
    #[must_use]
    pub fn render(
        &self,
        width: usize,
        style: impl Fn(usize, Option<usize>, String) -> String,
    ) -> String {
        let widths = self.widths(width);
        let mut out = String::new();
        let heads: Vec<String> = self.heads.iter().map(|(head, _)| head.clone()).collect();
        let lines = std::iter::once((None, &heads));
        for (row, cells) in lines.chain(self.rows.iter().enumerate().map(|(i, row)| (Some(i), row)))
        {
            let mut line = String::new();
            for (column, cell) in cells.iter().enumerate() {
                if column > 0 {
                    line.push_str(GAP);
                }
                let cut = shorten(cell, widths[column]);
                let pad = " ".repeat(widths[column].saturating_sub(cut.width()));
                let last = column + 1 == cells.len();
                let padded = match self.heads[column].1 {
                    Align::Left if last => cut,
                    Align::Left => cut + &pad,
                    Align::Right => pad + &cut,
                };
                line.push_str(&style(column, row, padded));
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    fn widths(&self, width: usize) -> Vec<usize> {
        let column = |i: usize| {
            let cells = self.rows.iter().map(|row| row[i].width());
            cells.chain([self.heads[i].0.width()]).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.heads.len()).map(column).collect();
        let gaps = GAP.len() * self.heads.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let words = (0..widths.len()).filter(|&i| self.heads[i].1 == Align::Left);
            let Some(widest) = words.max_by_key(|&i| widths[i]).filter(|&i| widths[i] > WIDTH_MIN)
            else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
}

/// Replaces control characters, which names from files may hold.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn shorten(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut short = String::new();
    let mut used = 0;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used + 1 > width {
            break;
        }
        short.push(c);
    }
    short + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(table: &Table, width: usize) -> String {
        table.render(width, |_, _, cell| cell)
    }

    fn sample() -> Table {
        let mut table = Table::new(&[("node", Align::Left), ("km", Align::Right)]);
        table.row(["Marstrand".to_owned(), "12.5".to_owned()]);
        table.row(["Öckerö".to_owned(), "3".to_owned()]);
        table
    }

    #[test]
    fn columns_line_up_by_what_is_seen() {
        assert_eq!(plain(&sample(), 80), "node         km\nMarstrand  12.5\nÖckerö        3\n");
    }

    #[test]
    fn text_is_cut_before_numbers_to_fit_the_width() {
        let text = plain(&sample(), 13);
        assert_eq!(text, "node       km\nMarstr…  12.5\nÖckerö      3\n");
        assert!(text.lines().all(|line| line.width() <= 13));
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut table = Table::new(&[("node", Align::Left)]);
        table.row(["a\u{1b}[2Jb".to_owned()]);
        assert!(!plain(&table, 80).contains('\u{1b}'));
    }
}
