//! Text files of bounded size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::limits::FILE_BYTES_MAX;

/// Byte order mark in UTF-8.
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reason for refusing a file.
#[derive(Debug)]
pub struct Fault {
    pub what: String,
    pub allowed: String,
}

fn fault(what: String, allowed: &str) -> Fault {
    Fault { what, allowed: allowed.to_owned() }
}

fn unreadable(error: std::io::Error) -> Fault {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            fault("cannot be read: there is no such file".to_owned(), "the path of a file")
        }
        _ => fault(format!("cannot be read: {error}"), ""),
    }
}

fn limit() -> String {
    let mebibytes = FILE_BYTES_MAX >> 20;
    format!("at most {FILE_BYTES_MAX} bytes ({mebibytes} MiB)")
}

/// The text of a file of at most [`FILE_BYTES_MAX`], without a byte order mark; of standard input for the path `-`. Larger
/// files, folders and devices are refused unread.
pub fn text(path: &Path) -> Result<String, Fault> {
    if path == Path::new("-") {
        return text_of(std::io::stdin().lock(), "more bytes than that");
    }
    // Asked before opening: opening a pipe would wait for its other end.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(fault("not a file".to_owned(), "a plain file"));
    }
    if metadata.len() > FILE_BYTES_MAX {
        let what = format!("{} bytes are too many", metadata.len());
        return Err(fault(what, &limit()));
    }
    // A file may grow after it was asked for its size.
    let file = File::open(path).map_err(unreadable)?;
    text_of(file, "it grew while it was read")
}

/// All that `source` has, unless it is longer than allowed: then the fault is `too_long`.
fn text_of(source: impl Read, too_long: &str) -> Result<String, Fault> {
    let mut bytes = Vec::new();
    source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(fault(too_long.to_owned(), &limit()));
    }
    // A byte order mark would be part of the first word.
    if bytes.starts_with(UTF_8_MARK) {
        bytes.drain(..UTF_8_MARK.len());
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let before = error.as_bytes()[..offset].iter();
        let line = before.filter(|byte| **byte == b'\n').count() + 1;
        let what = format!("byte {offset} (line {line}) is not UTF-8");
        fault(what, "UTF-8 text")
    })
}
