//! Work in another network namespace.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::sched::{CloneFlags, setns};

/// Runs `work` in the network namespace at `netns`, in the current one for `None`. The namespace
/// belongs to a thread: `work` runs on a thread of its own, which ends with it.
///
/// # Errors
/// When the namespace cannot be opened or entered, which needs CAP_SYS_ADMIN.
///
/// # Panics
/// When `work` does.
pub fn within<T: Send>(netns: Option<&Path>, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    let Some(path) = netns else {
        return Ok(work());
    };
    let namespace = File::open(path)?;
    std::thread::scope(|scope| {
        let inside = scope.spawn(move || {
            setns(&namespace, CloneFlags::CLONE_NEWNET)?;
            Ok(work())
        });
        inside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
