//! Small files and the machine below them: clocks, paths, hexadecimal text, rotated files, space,
//! priorities and file descriptors of a process.

pub mod access;
pub mod address;
pub mod aside;
pub mod causes;
pub mod descriptors;
pub mod hex;
pub mod memory;
pub mod positioned;
pub mod priority;
mod reading_error;
mod root;
pub mod rotated;
pub mod short_form;
#[cfg(unix)]
pub mod socket;
pub mod space;
pub mod wall;

use std::fs::File;
use std::io;
use std::path::Path;

pub use reading_error::ReadingError;
pub use root::Root;

/// `true` for a device, a pipe or a socket, behind links too; `false` for files, folders and what is absent.
#[must_use]
pub fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Makes the name of a new file durable: its folder must reach the disk too. Without effect on systems other than Unix,
/// which do not open folders.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
