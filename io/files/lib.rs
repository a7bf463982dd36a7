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

/// Makes the name of a new file durable: its folder must reach the disk too. Without effect on systems other than Unix,
/// which do not open folders.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
}
