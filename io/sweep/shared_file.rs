//! Files that several processes may write at the same moment.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use groundwave_raster::{RasterError, write_whole};

/// Writes a file that several processes may write at the same moment, unless these bytes are there.
pub(super) fn write_once(path: &Path, bytes: &[u8]) -> io::Result<()> {
    const TRIES: u32 = 100;
    for _ in 0..TRIES {
        if fs::read(path).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        match write_whole(path, bytes).map_err(RasterError::into_io) {
            Err(err) if is_busy(&err) => std::thread::sleep(Duration::from_millis(10)),
            written => return written,
        }
    }
    Err(io::ErrorKind::ResourceBusy.into())
}

/// True where another process is writing the same file.
pub(super) fn is_busy(error: &io::Error) -> bool {
    use io::ErrorKind::{ResourceBusy, WouldBlock};
    matches!(error.kind(), ResourceBusy | WouldBlock)
}
