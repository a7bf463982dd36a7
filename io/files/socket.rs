//! A Unix socket with an exclusive owner, a mode and a group.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use nix::sys::stat::Mode;
use nix::unistd::{Gid, Group};
use thiserror::Error;

use crate::access::Access;

/// Failure to serve a socket.
#[derive(Debug, Error)]
pub enum SocketError {
    /// Another process serves the socket.
    #[error("{} is in use: another process answers on it", .path.display())]
    Answered {
        /// Path of the socket.
        path: PathBuf,
    },
    /// The path is not a socket.
    #[error("{} exists and is not a socket: it is left alone", .path.display())]
    NoSocket {
        /// Path.
        path: PathBuf,
    },
    /// Unknown group.
    #[error("there is no group {group:?}; allowed: a name or a number of /etc/group")]
    NoGroup {
        /// Requested group.
        group: String,
    },
    /// The process may not give the socket to the group.
    #[error(
        "cannot give {} to group {group:?}: the process is not in the group; allowed: a group of the \
         process, by SupplementaryGroups={group} in its systemd unit, which \
         `groundwave impaird --unit` prints",
        .path.display()
    )]
    NotInGroup {
        /// Path of the socket.
        path: PathBuf,
        /// Requested group.
        group: String,
    },
    /// A system call failed.
    #[error("cannot {operation} {}", .path.display())]
    System {
        /// Operation that failed.
        operation: &'static str,
        /// Path.
        path: PathBuf,
        /// Cause.
        #[source]
        cause: std::io::Error,
    },
}

/// A served socket. Dropping it unlinks the path, unless another socket took its place.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
    inode: (u64, u64),
    // Held, not read: it keeps a second process out while a stale socket is replaced.
    _lock: File,
}

impl Socket {
    /// Listens on `path`. An existing socket is removed only when no process answers on it; a missing
    /// folder is created.
    ///
    /// The listener is blocking.
    ///
    /// # Errors
    /// When a process answers, the path is not a socket, or the system refuses; existing files are
    /// then kept.
    pub fn listen(path: &Path, access: &Access) -> Result<(Self, UnixListener), SocketError> {
        let tried = |operation, path: &Path| {
            let path = path.to_owned();
            move |cause| SocketError::System { operation, path, cause }
        };
        let gid = access.group.as_deref().map(find_group).transpose()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.exists()) {
            std::fs::create_dir(folder).map_err(tried("make the folder", folder))?;
        }
        let lock = lock(path)?;
        remove_stale(path)?;
        let listener = bind(path).map_err(tried("listen on", path))?;
        let facts = std::fs::symlink_metadata(path).map_err(tried("look at", path))?;
        // From here on a failure unlinks the socket.
        let socket = Self { path: path.to_owned(), inode: (facts.dev(), facts.ino()), _lock: lock };
        if let Some(gid) = gid {
            let given = std::os::unix::fs::chown(path, None, Some(gid.as_raw()));
            given.map_err(|cause| match (cause.kind(), &access.group) {
                (ErrorKind::PermissionDenied, Some(group)) => {
                    SocketError::NotInGroup { path: path.to_owned(), group: group.clone() }
                }
                _ => tried("give to its group", path)(cause),
            })?;
        }
        let mode = std::fs::Permissions::from_mode(access.mode);
        std::fs::set_permissions(path, mode).map_err(tried("set the mode of", path))?;
        Ok((socket, listener))
    }

    /// Path of the socket.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let facts = std::fs::symlink_metadata(&self.path);
        if facts.is_ok_and(|facts| (facts.dev(), facts.ino()) == self.inode)
            && let Err(err) = std::fs::remove_file(&self.path)
        {
            tracing::warn!(path = %self.path.display(), %err, "the socket could not be unlinked");
        }
    }
}

fn find_group(group: &str) -> Result<Gid, SocketError> {
    let unknown = || SocketError::NoGroup { group: group.to_owned() };
    if let Ok(number) = group.parse() {
        return Ok(Gid::from_raw(number));
    }
    let found = Group::from_name(group).ok().flatten();
    found.map(|group| group.gid).ok_or_else(unknown)
}

/// Takes the lock file beside the socket. Without it two processes that start together could both
/// find the socket stale, and the second would unlink the fresh socket of the first.
fn lock(path: &Path) -> Result<File, SocketError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let opened = OpenOptions::new().create(true).append(true).open(&name);
    let file = opened.map_err(|cause| SocketError::System {
        operation: "open the lock",
        path: name.clone(),
        cause,
    })?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(SocketError::Answered { path: path.to_owned() }),
        Err(TryLockError::Error(cause)) => {
            Err(SocketError::System { operation: "lock", path: name, cause })
        }
    }
}

fn remove_stale(path: &Path) -> Result<(), SocketError> {
    let tried = |operation, cause| SocketError::System { operation, path: path.to_owned(), cause };
    match std::fs::symlink_metadata(path) {
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(()),
        Err(err) => return Err(tried("look at", err)),
        Ok(facts) if !facts.file_type().is_socket() => {
            let path = path.to_owned();
            return Err(SocketError::NoSocket { path });
        }
        Ok(_) => {}
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(SocketError::Answered { path: path.to_owned() }),
        Err(err) if err.kind() == ErrorKind::ConnectionRefused => {
            tracing::info!(path = %path.display(), "nobody answers on this socket; it is replaced");
            std::fs::remove_file(path).map_err(|cause| tried("remove the stale", cause))
        }
        Err(err) => Err(tried("ask who answers on", err)),
    }
}

/// Binds without permissions for others, which are granted after the group is set.
fn bind(path: &Path) -> std::io::Result<UnixListener> {
    let before = nix::sys::stat::umask(Mode::from_bits_truncate(0o177));
    let bound = UnixListener::bind(path);
    nix::sys::stat::umask(before);
    bound
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open() -> Access {
        Access { mode: 0o660, group: None }
    }

    #[test]
    fn mode_and_group_are_as_asked_and_the_socket_goes_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("made/impair.sock");
        let gid = nix::unistd::getgid();
        let access = Access { mode: 0o640, group: Some(gid.to_string()) };
        let (socket, _listener) = Socket::listen(&path, &access).unwrap();
        let facts = std::fs::metadata(&path).unwrap();
        assert_eq!((facts.permissions().mode() & 0o777, facts.gid()), (0o640, gid.as_raw()));
        drop(socket);
        assert!(!path.exists());
    }

    #[test]
    fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("impair.sock");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "std leaves the file behind");
        let (socket, _listener) = Socket::listen(&path, &open()).unwrap();
        let told = Socket::listen(&path, &open()).unwrap_err();
        assert!(matches!(told, SocketError::Answered { .. }), "{told}");
        drop(socket);
        // A foreign process takes no lock: only its answer keeps this one out.
        let foreign = UnixListener::bind(&path).unwrap();
        let told = Socket::listen(&path, &open()).unwrap_err();
        assert!(matches!(told, SocketError::Answered { .. }), "{told}");
        drop(foreign);
    }

    #[test]
    fn what_is_no_socket_is_left_alone_and_a_successor_is_not_unlinked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("impair.sock");
        std::fs::write(&path, "notes").unwrap();
        let told = Socket::listen(&path, &open()).unwrap_err().to_string();
        assert!(told.contains("is not a socket"), "{told}");
        assert_eq!(std::fs::read(&path).unwrap(), b"notes");
        std::fs::remove_file(&path).unwrap();

        let (socket, _listener) = Socket::listen(&path, &open()).unwrap();
        std::fs::remove_file(&path).unwrap();
        let _successor = UnixListener::bind(&path).unwrap();
        drop(socket);
        assert!(path.exists(), "another's socket stays");
    }

    #[test]
    fn an_unknown_group_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("impair.sock");
        let access = Access { mode: 0o660, group: Some("no-such-group".to_owned()) };
        let told = Socket::listen(&path, &access).unwrap_err();
        assert!(matches!(told, SocketError::NoGroup { .. }), "{told}");
        assert!(!path.exists());
    }
}
