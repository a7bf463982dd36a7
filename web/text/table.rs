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

/// Width of a text column that is wanted before columns go into a table below, terminal cells.
const TEXT_WIDTH: usize = 16;

/// Text columns at the beginning that name the rows, at most.
const KEYS_MAX: usize = 2;

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
        let all: Vec<usize> = (0..self.heads.len()).collect();
        self.block(&all, width, &style)
    }

    /// As [`Self::render`], for terminals, which break long lines: columns that do not fit follow in a table
    /// below, behind those that name the rows.
    #[must_use]
    pub fn render_in_blocks(
        &self,
        width: usize,
        style: impl Fn(usize, Option<usize>, String) -> String,
    ) -> String {
        let blocks = self.blocks(width);
        let blocks = blocks.iter().map(|columns| self.block(columns, width, &style));
        blocks.collect::<Vec<_>>().join("\n")
    }

    /// Columns of the table in groups that fit the width.
    fn blocks(&self, width: usize) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.heads.len()).collect();
        let total = |widths: &[usize]| {
            widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
        };
        if total(&self.widths(&all, width)) <= width {
            return vec![all];
        }
        let is_text = |column: usize| self.heads[column].1 == Align::Left;
        let keys = all.iter().take(KEYS_MAX).take_while(|column| is_text(**column)).count().max(1);
        let (keys, rest) = all.split_at(keys.min(all.len()));
        let cells = |column: usize| match is_text(column) {
            true => self.natural_width(column).min(TEXT_WIDTH),
            false => self.natural_width(column),
        };
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        for column in rest {
            let fits = |block: &Vec<usize>| {
                let widths: Vec<_> = block.iter().chain([column]).map(|one| cells(*one)).collect();
                total(&widths) <= width
            };
            match blocks.last_mut().filter(|block| fits(block)) {
                Some(block) => block.push(*column),
                None => blocks.push([keys, &[*column]].concat()),
            }
        }
        if blocks.is_empty() { vec![all] } else { blocks }
    }

    /// Some columns as lines.
    fn block(
        &self,
        columns: &[usize],
        width: usize,
        style: &impl Fn(usize, Option<usize>, String) -> String,
    ) -> String {
        let widths = self.widths(columns, width);
        let mut out = String::new();
        let heads: Vec<String> = self.heads.iter().map(|(head, _)| head.clone()).collect();
        let lines = std::iter::once((None, &heads));
        for (row, cells) in lines.chain(self.rows.iter().enumerate().map(|(i, row)| (Some(i), row)))
        {
            let mut line = String::new();
            for (place, (&column, &cell_width)) in columns.iter().zip(&widths).enumerate() {
                if place > 0 {
                    line.push_str(GAP);
                }
                let cut = shorten(&cells[column], cell_width);
                let pad = " ".repeat(cell_width.saturating_sub(cut.width()));
                let last = place + 1 == columns.len();
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

    /// Width of the longest cell of a column.
    fn natural_width(&self, column: usize) -> usize {
        let cells = self.rows.iter().map(|row| row[column].width());
        cells.chain([self.heads[column].0.width()]).max().unwrap_or(0)
    }

    /// Widths of columns beside each other, text shrunk as far as needed and possible.
    fn widths(&self, columns: &[usize], width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> =
            columns.iter().map(|column| self.natural_width(*column)).collect();
        let gaps = GAP.len() * columns.len().saturating_sub(1);
        while widths.iter().sum::<usize>() + gaps > width {
            let words = (0..widths.len()).filter(|&i| self.heads[columns[i]].1 == Align::Left);
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

    fn blocks(table: &Table, width: usize) -> String {
        table.render_in_blocks(width, |_, _, cell| cell)
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
    fn columns_that_do_not_fit_follow_below_with_the_names_of_their_rows() {
        let heads = ["link", "to", "length", "loss dB", "SNR dB"];
        let mut number = 0;
        let mut table = Table::new(&heads.map(|head| {
            number += 1;
            (head, if number > 2 { Align::Right } else { Align::Left })
        }));
        table.row(["south", "north", "1.56 km", "111.3", "22.7"].map(str::to_owned));
        let whole =
            "link   to      length  loss dB  SNR dB\nsouth  north  1.56 km    111.3    22.7\n";
        assert_eq!(blocks(&table, 39), whole);
        let halves = "link   to      length  loss dB\nsouth  north  1.56 km    111.3\n\n\
                      link   to     SNR dB\nsouth  north    22.7\n";
        assert_eq!(blocks(&table, 32), halves);
        for width in 20..60 {
            let text = blocks(&table, width);
            assert!(text.lines().all(|line| line.width() <= width.max(21)), "{width}: {text}");
            let cells: Vec<&str> = text.split_whitespace().collect();
            assert!(["1.56", "111.3", "22.7"].iter().all(|cell| cells.contains(cell)), "{text}");
        }
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        let mut table = Table::new(&[("node", Align::Left)]);
        table.row(["a\u{1b}[2Jb".to_owned()]);
        assert!(!plain(&table, 80).contains('\u{1b}'));
    }
}
