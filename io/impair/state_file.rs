//! Files of the state of a daemon, beside its socket: they last as long as what the kernel has.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// File of some state of a daemon: that of its socket with `.` and `kind` behind it.
#[must_use]
pub fn beside(socket: &Path, kind: &str) -> PathBuf {
    let mut name = socket.as_os_str().to_owned();
    name.push(".");
    name.push(kind);
    name.into()
}

/// Reads the state of a daemon that ran before; the default without a file.
///
/// # Errors
/// When the file cannot be read or is damaged.
pub fn load<T: DeserializeOwned + Default>(path: &Path) -> io::Result<T> {
    match std::fs::read(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(T::default()),
        Err(err) => Err(err),
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::other),
    }
}

/// Writes state, so that the file is the earlier one or this one.
///
/// # Errors
/// Those of the file system.
pub fn store<T: Serialize>(path: &Path, state: &T) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    let bytes = serde_json::to_vec(state).map_err(io::Error::other)?;
    let write = || {
        let mut file = File::create(&fresh)?;
        file.write_all(&bytes)?;
        file.sync_all()?;
        std::fs::rename(&fresh, path)
    };
    let written = write();
    if written.is_err() {
        // The error to report is the first one.
        let _ = std::fs::remove_file(&fresh);
    }
    written
}
