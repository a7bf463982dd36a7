//! Text of a document, and the lines in it.

use super::Format;
use super::error::{Fault, FormatError, Location};
use super::limits::BYTES_MAX;

/// The document as text: UTF-8 of at most [`BYTES_MAX`] bytes, without a byte order mark.
pub(super) fn text<'b>(format: &Format, bytes: &'b [u8]) -> Result<&'b str, FormatError> {
    bounded(bytes).map_err(|fault| fault.at(format, Location::default()))?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let actual = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16".to_owned(),
            [b'P', b'K', ..] => "a zip file".to_owned(),
            _ => format!("byte {} not UTF-8", good.len()),
        };
        Fault::new("", actual, "UTF-8 text").at(format, Location::new(line_of(good), ""))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Refuses more than [`BYTES_MAX`] bytes.
pub(super) fn bounded(bytes: &[u8]) -> Result<(), Fault> {
    if bytes.len() <= BYTES_MAX {
        return Ok(());
    }
    let actual = format!("{} bytes", bytes.len());
    Err(Fault::new("", actual, format!("up to {BYTES_MAX} bytes")))
}

/// Line, from 1, that follows `before`.
pub(super) fn line_of(before: &[u8]) -> u64 {
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

/// Line, from 1, of a row that the reader of tables has at `position` in `table`. The reader counts the ends of the
/// line before, of CRLF and of empty lines, as part of the row.
pub(super) fn line_of_row(position: Option<&csv::Position>, table: &[u8]) -> usize {
    let Some(position) = position else { return 0 };
    let rest = usize::try_from(position.byte()).ok().and_then(|begin| table.get(begin..));
    let ends = rest.unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() as usize + ends.filter(|byte| **byte == b'\n').count()
}

/// The lines of a text by offset, found in logarithmic time and in any order.
pub(super) struct Lines {
    /// Offsets of the line feeds; a text has at most [`BYTES_MAX`] bytes.
    feeds: Vec<u32>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Self {
        let feeds = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self { feeds: feeds.map(|(offset, _)| offset as u32).collect() }
    }

    /// Line, from 1, of an offset.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.feeds.partition_point(|feed| (*feed as usize) < offset) + 1
    }
}
