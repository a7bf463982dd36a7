//! Space of file systems: how much there is, and space set aside beyond the end of a file.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{FallocateFlags, fallocate};
use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;

/// Space that this process may still take on the file system of `path`, bytes; `None` where that is
/// unknown.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let found = statvfs(path).ok()?;
    // Blocks reserved for the administrator count for the administrator.
    let blocks = match geteuid().is_root() {
        true => found.blocks_free(),
        false => found.blocks_available(),
    };
    Some(blocks.saturating_mul(found.fragment_size()))
}

/// Sets space aside behind the first `length` bytes of a file, whose length stays: what is appended
/// within it finds space on a disk that is full. Without effect where the file system cannot.
pub fn reserve(file: &File, length: u64, bytes: u64) -> io::Result<()> {
    let (from, bytes) = (signed(length)?, signed(bytes)?);
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from, bytes) {
        Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
        done => Ok(done?),
    }
}

fn signed(bytes: u64) -> io::Result<i64> {
    i64::try_from(bytes).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn space_set_aside_leaves_the_length_and_what_is_appended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut file = File::create(&path).unwrap();
        file.write_all(b"one").unwrap();
        reserve(&file, 3, 1 << 20).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 3);
        file.write_all(b"two").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"onetwo");
        assert!(free_bytes(&path).is_some());
        assert_eq!(free_bytes(&folder.path().join("absent")), None);
    }
}
