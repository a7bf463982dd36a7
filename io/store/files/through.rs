//! Files that are written through: space is filled with zeros ahead, so that a write changes its own
//! blocks and nothing else of the file system.
//!
//! Where the file system has it, writes bypass the page cache (`O_DIRECT`) in blocks of 512 bytes, or
//! of 4,096 on disks that have no smaller ones; elsewhere they go through it (`O_DSYNC`) in blocks of
//! 4,096.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use groundwave_files::positioned::read_exact_at;
use groundwave_files::positioned::write_all_at;

use super::{Change, Files};

/// Smallest block, bytes.
pub(crate) const BLOCK_BYTES_MIN: usize = 512;
/// Largest block, bytes: that of a page.
pub(crate) const BLOCK_BYTES_MAX: usize = 4096;

/// A buffer that begins at a page, as `O_DIRECT` requires.
pub(crate) struct Aligned {
    bytes: Vec<u8>,
    from: usize,
    length: usize,
}

impl Aligned {
    /// A buffer of zeros.
    pub fn zeros(length: usize) -> Self {
        let bytes = vec![0; length + BLOCK_BYTES_MAX];
        let from = bytes.as_ptr().align_offset(BLOCK_BYTES_MAX);
        Self { bytes, from, length }
    }

    /// Bytes of the buffer.
    pub fn bytes(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.length]
    }
}

/// Fills a file with zeros from one offset to another and waits until they are on disk; leaves it as
/// it was when that fails.
pub(crate) fn fill(path: &Path, files: &Files, from: u64, to: u64) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let options = options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    let file = options.open(path)?;
    let zeros = vec![0; 64 << 10];
    let mut at = from;
    let mut write = || {
        while at < to {
            let part = (to - at).min(zeros.len() as u64) as usize;
            write_all_at(&file, &zeros[..part], at)?;
            files.note(path, &Change::Written(at, &zeros[..part]));
            at += part as u64;
        }
        file.sync_all()?;
        files.note(path, &Change::Synced);
        groundwave_files::sync_folder(path)?;
        files.note(path, &Change::FolderSynced);
        Ok(())
    };
    let written = write();
    if written.is_err() {
        match from {
            // The error to report is the first one.
            0 => drop(std::fs::remove_file(path)),
            _ => drop(file.set_len(from)),
        }
    }
    written
}

/// A file for blocks that are written through, and their length, bytes.
pub(crate) fn open_blocks(path: &Path) -> io::Result<(File, usize)> {
    #[cfg(target_os = "linux")]
    if let Ok(file) = open_with(path, nix::libc::O_DIRECT | nix::libc::O_DSYNC) {
        for block in [BLOCK_BYTES_MIN, BLOCK_BYTES_MAX] {
            let mut probe = Aligned::zeros(block);
            if read_exact_at(&file, probe.bytes(), 0).is_ok() {
                return Ok((file, block));
            }
        }
    }
    #[cfg(unix)]
    let file = open_with(path, nix::libc::O_DSYNC)?;
    #[cfg(windows)]
    let file = open_with(path, FILE_FLAG_WRITE_THROUGH)?;
    Ok((file, BLOCK_BYTES_MAX))
}

/// Flag of Windows for writes that are on disk when they return.
#[cfg(windows)]
const FILE_FLAG_WRITE_THROUGH: u32 = 0x8000_0000;

/// Opens a file for reads and writes with flags of the system.
#[cfg(unix)]
fn open_with(path: &Path, flags: i32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true);
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, flags).open(path)
}

/// Opens a file for reads and writes with flags of the system.
#[cfg(windows)]
fn open_with(path: &Path, flags: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true);
    std::os::windows::fs::OpenOptionsExt::custom_flags(options, flags).open(path)
}
