//! Open files and sockets of this process.

#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the limit of open files and sockets to the most this process may have; the limit then.
#[cfg(unix)]
#[must_use]
pub fn raise_limit() -> u64 {
    let now = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: now.maximum, maximum: now.maximum };
    let limit = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => now.maximum,
        Err(_) => now.current,
    };
    limit.unwrap_or(u64::MAX)
}

/// The limit of open files and sockets: none on systems other than Unix.
#[cfg(not(unix))]
#[must_use]
pub const fn raise_limit() -> u64 {
    u64::MAX
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_most_allowed() {
        let limit = raise_limit();
        let now = getrlimit(Resource::Nofile);
        assert_eq!(now.current.unwrap_or(u64::MAX), limit);
        assert_eq!(now.current, now.maximum);
    }
}
