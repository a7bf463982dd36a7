//! The folder of named network namespaces, as ip-netns(8) keeps it.

use std::fs;
use std::io;
use std::path::Path;

use nix::errno::Errno;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};

use super::names::NETNS;

const NO_TEXT: Option<&str> = None;

/// Makes the folder a shared mount of its own, as the first `ip netns add` does: a later one would otherwise
/// mount the folder over itself, and hide the namespaces that are there.
///
/// # Errors
/// When the system refuses.
pub(super) fn prepare() -> io::Result<()> {
    fs::create_dir_all(NETNS)?;
    let share = || mount(NO_TEXT, NETNS, NO_TEXT, MsFlags::MS_SHARED | MsFlags::MS_REC, NO_TEXT);
    match share() {
        // It is not a mount.
        Err(Errno::EINVAL) => {
            mount(Some(NETNS), NETNS, NO_TEXT, MsFlags::MS_BIND | MsFlags::MS_REC, NO_TEXT)?;
            Ok(share()?)
        }
        outcome => Ok(outcome?),
    }
}

/// Removes the namespace at a path; its content goes with it once nothing uses it.
///
/// # Errors
/// When the system refuses.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    // A crash may leave a file without a mounted namespace.
    while umount2(path, MntFlags::MNT_DETACH).is_ok() {}
    match remove_file(path) {
        // It is mounted below another mount of the folder, where no path leads.
        Err(err) if err.kind() == io::ErrorKind::ResourceBusy => remove_hidden(path),
        outcome => outcome,
    }
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

/// Removes the file of a hidden mount from a view of the file system where nothing is mounted on it: the kernel
/// then ends its mounts in all other views.
fn remove_hidden(path: &Path) -> io::Result<()> {
    std::thread::scope(|scope| {
        // Mounts of its own belong to a thread; this one ends with its work.
        let work = scope.spawn(|| -> io::Result<()> {
            unshare(CloneFlags::CLONE_NEWNS)?;
            mount(NO_TEXT, "/", NO_TEXT, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NO_TEXT)?;
            loop {
                while umount2(path, MntFlags::MNT_DETACH).is_ok() {}
                let outcome = remove_file(path);
                let is_busy =
                    outcome.as_ref().is_err_and(|err| err.kind() == io::ErrorKind::ResourceBusy);
                // One mount of the folder less.
                if !is_busy || umount2(NETNS, MntFlags::MNT_DETACH).is_err() {
                    return outcome;
                }
            }
        });
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
