//! Reads and writes of a file at an offset, whose own position does not count.

use std::fs::File;
use std::io;

/// Reads bytes at an offset, as many as there are at once; their number, 0 at the end of the file.
///
/// # Errors
/// Of the file system.
pub fn read_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    #[cfg(unix)]
    let length = std::os::unix::fs::FileExt::read_at(file, bytes, offset)?;
    #[cfg(windows)]
    let length = std::os::windows::fs::FileExt::seek_read(file, bytes, offset)?;
    Ok(length)
}

/// Reads bytes at an offset until the buffer is full.
///
/// # Errors
/// Of the file system; [`io::ErrorKind::UnexpectedEof`] where the file ends before.
#[cfg(unix)]
pub fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

/// Writes all bytes at an offset.
///
/// # Errors
/// Of the file system.
#[cfg(unix)]
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Reads bytes at an offset until the buffer is full.
///
/// # Errors
/// Of the file system; [`io::ErrorKind::UnexpectedEof`] where the file ends before.
#[cfg(windows)]
pub fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match read_at(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                bytes = &mut bytes[length..];
                offset += length as u64;
            }
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) => return Err(err),
        }
    }
    Ok(())
}

/// Writes all bytes at an offset.
///
/// # Errors
/// Of the file system.
#[cfg(windows)]
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(length) => {
                bytes = &bytes[length..];
                offset += length as u64;
            }
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) => return Err(err),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_where_they_were_written_and_not_beyond_the_end() {
        let file = tempfile::tempfile().unwrap();
        write_all_at(&file, b"wave", 3).unwrap();
        let mut bytes = [1; 7];
        read_exact_at(&file, &mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"\0\0\0wave");
        let error = read_exact_at(&file, &mut bytes, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
