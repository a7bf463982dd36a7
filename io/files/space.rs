//! Space of file systems: how much there is, and space set aside beyond the end of a file.

use std::fs::File;
use std::io;
use std::path::Path;

#[cfg(target_os = "linux")]
use nix::errno::Errno;
#[cfg(target_os = "linux")]
use nix::fcntl::{FallocateFlags, fallocate};

/// Space that this process may still take on the file system of `path`, bytes; `None` where that is
/// unknown, as on systems other than Unix.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(path).ok()?;
    // Blocks reserved for the administrator count for the administrator.
    let blocks = match rustix::process::geteuid().is_root() {
        true => space.f_bfree,
        false => space.f_bavail,
    };
    Some(blocks.saturating_mul(space.f_frsize))
}

/// Space that this process may still take on the file system of a path: unknown on systems other than Unix.
#[cfg(not(unix))]
pub const fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// Sets no space aside: systems other than Linux cannot without a longer file.
#[cfg(not(target_os = "linux"))]
pub const fn reserve(_: &File, _: u64, _: u64) -> io::Result<()> {
    Ok(())
}

/// Sets space aside behind the first `length` bytes of a file, whose length stays: what is appended
/// within it finds space on a disk that is full. Without effect where the file system cannot.
#[cfg(target_os = "linux")]
pub fn reserve(file: &File, length: u64, bytes: u64) -> io::Result<()> {
    let (from, bytes) = (signed(length)?, signed(bytes)?);
    match fallocate(file, FallocateFlags::FALLOC_FL_KEEP_SIZE, from, bytes) {
        Err(Errno::EOPNOTSUPP | Errno::ENOSYS) => Ok(()),
        done => Ok(done?),
    }
}

#[cfg(target_os = "linux")]
fn signed(bytes: u64) -> io::Result<i64> {
    i64::try_from(bytes).map_err(io::Error::other)
}

#[cfg(all(test, target_os = "linux"))]
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
