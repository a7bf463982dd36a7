//! The text of a file, and the lines in it.

use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// Characters of a source line shown around an error.
const EXCERPT_CHARS: usize = 96;

/// A named text with its line starts.
pub struct Source<'a> {
    /// Name of the file, as the user gave it.
    pub(crate) name: &'a str,
    pub text: &'a str,
    line_starts: Vec<u32>,
}

impl<'a> Source<'a> {
    /// Indexes the lines of `text`, which is at most `FILE_BYTES_MAX` long.
    pub fn new(name: &'a str, text: &'a str) -> Self {
        let mut line_starts = vec![0];
        for (offset, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                line_starts.push(u32::try_from(offset + 1).unwrap_or(u32::MAX));
            }
        }
        Self { name, text, line_starts }
    }

    /// Line of a byte offset, counted from 1. Offsets past the end belong to the last line.
    pub fn line(&self, offset: usize) -> usize {
        let offset = u32::try_from(offset.min(self.text.len())).unwrap_or(u32::MAX);
        self.line_starts.partition_point(|&start| start <= offset).max(1)
    }

    /// Line and column of a byte offset, both from 1; columns count characters.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.line(offset);
        let start = self.line_start(line);
        let end = offset.clamp(start, self.text.len());
        let column = self.text.as_bytes()[start..end].iter().filter(|byte| is_char_start(**byte));
        (line, column.count() + 1)
    }

    /// The source line of a span with carets under it, or nothing for an empty file. Control
    /// characters are blanked, and a long line is cut around the span.
    pub(crate) fn excerpt(&self, span: &Range<usize>) -> String {
        let (line, column) = self.position(span.start);
        let start = self.line_start(line);
        let rest = self.text.get(start..).unwrap_or_default();
        let text = rest.split('\n').next().unwrap_or_default();
        let text = text.strip_suffix('\r').unwrap_or(text);
        let skipped = (column - 1).saturating_sub(EXCERPT_CHARS / 2);
        let window: String =
            text.chars().skip(skipped).take(EXCERPT_CHARS).map(printable).collect();
        let before = column - 1 - skipped;
        let length = self.text.get(span.clone()).map_or(1, |part| part.chars().count());
        let columns = |from: usize, count: usize| -> usize {
            window.chars().skip(from).take(count).map(|c| c.width().unwrap_or(1)).sum()
        };
        let carets = "^".repeat(columns(before, length).max(1));
        let gutter = line.to_string();
        let indent = " ".repeat(gutter.len());
        let (lead, pad) = if skipped > 0 { ("…", 1) } else { ("", 0) };
        let tail = if text.chars().nth(skipped + EXCERPT_CHARS).is_some() { "…" } else { "" };
        let blank = " ".repeat(columns(0, before) + pad);
        format!("{indent} |\n{gutter} | {lead}{window}{tail}\n{indent} | {blank}{carets}")
    }

    /// Byte offset of a line's first character; lines count from 1.
    pub(crate) fn line_start(&self, line: usize) -> usize {
        self.line_starts.get(line - 1).map_or(self.text.len(), |&start| start as usize)
    }
}

/// `true` if a UTF-8 byte begins a character.
fn is_char_start(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

/// A character as a terminal may show it: one column, no effect.
fn printable(character: char) -> char {
    match character {
        '\t' => ' ',
        control if control.is_control() => '\u{fffd}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters() {
        let source = Source::new("x", "a\nöb = 1\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (2, 1));
        assert_eq!(source.position(4), (2, 2));
        assert_eq!(source.position(99), (3, 1));
        assert_eq!(Source::new("x", "").position(7), (1, 1));
    }

    #[test]
    fn excerpts_mark_the_span() {
        let source = Source::new("x", "a = 1\r\nkey\t= \"v\"\r\n");
        assert_eq!(source.excerpt(&(13..16)), "  |\n2 | key = \"v\"\n  |       ^^^");
    }

    #[test]
    fn wide_characters_get_two_carets() {
        let source = Source::new("x", "名 = \"漢字\"\n");
        assert_eq!(source.excerpt(&(6..14)), "  |\n1 | 名 = \"漢字\"\n  |      ^^^^^^");
    }

    #[test]
    fn long_lines_are_cut_around_the_span() {
        let text = format!("{}é{}", "x".repeat(5_000), "y".repeat(5_000));
        let excerpt = Source::new("x", &text).excerpt(&(5_000..5_002));
        let lines: Vec<&str> = excerpt.lines().collect();
        let caret = lines[2].chars().position(|c| c == '^');
        assert_eq!(lines[1].chars().position(|c| c == 'é'), caret);
        assert!(lines[1].chars().count() < 110, "{excerpt}");
    }
}
