//! Work in another network namespace.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::sched::{CloneFlags, setns};

use super::KernelError;

/// Does `work` in the network namespace at `netns`, or here when there is none. The work runs on a
/// thread of its own, which ends with it: a namespace is a property of a thread, and threads that
/// others use must not change theirs.
///
/// # Errors
/// When the namespace cannot be opened or entered, which needs CAP_SYS_ADMIN.
///
/// # Panics
/// When `work` does.
pub fn within<T: Send>(
    netns: Option<&Path>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, KernelError> {
    let Some(path) = netns else {
        return Ok(work());
    };
    let failed = |source| KernelError::Io {
        what: format!("enter the network namespace {}", path.display()),
        source,
    };
    let namespace = File::open(path).map_err(failed)?;
    std::thread::scope(|scope| {
        let inside = scope.spawn(move || {
            setns(&namespace, CloneFlags::CLONE_NEWNET).map_err(io::Error::from)?;
            Ok(work())
        });
        inside
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
    .map_err(failed)
}
