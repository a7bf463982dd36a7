//! Tables that fit a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Where a cell's text stands in its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Narrowest a squeezed column may become, in terminal cells.
const NARROWEST: usize = 6;

/// Between columns.
const GAP: &str = "  ";

/// A table of plain text. Cells may carry a style, which is applied after padding, so that
/// escape sequences never count as width.
#[derive(Debug, Clone, Default)]
pub struct Table {
    heads: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    #[must_use]
    pub fn new(heads: &[(&str, Align)]) -> Self {
        let heads = heads
            .iter()
            .map(|(head, align)| ((*head).to_owned(), *align))
            .collect();
        Self {
            heads,
            rows: Vec::new(),
        }
    }

    /// Adds a row; missing cells are empty, surplus ones dropped.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let mut cells: Vec<_> = cells.into_iter().map(|cell| printable(&cell)).collect();
        cells.resize(self.heads.len(), String::new());
        self.rows.push(cells);
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Heads of the columns.
    pub fn heads(&self) -> impl Iterator<Item = (&str, Align)> {
        self.heads
            .iter()
            .map(|(head, align)| (head.as_str(), *align))
    }

    /// The rows, a cell for each column.
    pub fn rows(&self) -> impl Iterator<Item = &[String]> {
        self.rows.iter().map(Vec::as_slice)
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in lines of at most `width` terminal cells, where that is possible at all:
    /// columns of words are squeezed first, the widest most.
    ///
    /// `style` may decorate a padded cell of the column and row it is told; row `None` is the
    /// head.
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
            let Some(widest) = words
                .max_by_key(|&i| widths[i])
                .filter(|&i| widths[i] > NARROWEST)
            else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }
}

/// Names come from files: a control character must not reach the terminal.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
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
        assert_eq!(
            plain(&sample(), 80),
            "node         km\nMarstrand  12.5\nÖckerö        3\n"
        );
    }

    #[test]
    fn words_give_way_before_numbers_and_nothing_passes_the_edge() {
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
