//! Text files of bounded size.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::limits::FILE_BYTES_MAX;

/// Reason for refusing a file.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) what: String,
    pub(crate) allowed: String,
}

/// The text of a file of at most [`FILE_BYTES_MAX`]. Larger files, folders and devices are
/// refused unread.
pub(crate) fn text(path: &Path) -> Result<String, Fault> {
    let fault = |what: String, allowed: &str| Fault {
        what,
        allowed: allowed.to_owned(),
    };
    let unreadable = |error: std::io::Error| fault(format!("cannot be read: {error}"), "");
    // Asked before opening: opening a pipe would wait for its other end.
    let metadata = std::fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(fault("not a file".to_owned(), "a plain file"));
    }
    let limit = format!(
        "at most {FILE_BYTES_MAX} bytes ({} MiB)",
        FILE_BYTES_MAX >> 20
    );
    if metadata.len() > FILE_BYTES_MAX {
        return Err(fault(
            format!("{} bytes are too many", metadata.len()),
            &limit,
        ));
    }
    let mut bytes = Vec::new();
    // A file may grow after it was asked for its size.
    let file = File::open(path).map_err(unreadable)?;
    file.take(FILE_BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(fault("it grew while it was read".to_owned(), &limit));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..offset]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        fault(
            format!("byte {offset} (line {line}) is not UTF-8"),
            "UTF-8 text",
        )
    })
}
