//! Memory that the C library keeps.

/// Size from which freed memory is returned to the kernel, bytes: a tile of 1" has 52 MB, and memory must not
/// grow with tiles.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const RETURNED: libc::c_int = 16 << 20;

/// Has freed memory kept for what comes next, but for large pieces, in one heap of all threads. Pictures
/// have ten megabytes each; returned to the kernel they are mapped anew page by page, up to a tenth of a
/// short sweep's time. For programs that end after a sweep, before they have threads; other C libraries do as
/// they do.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    for (parameter, value) in [
        (libc::M_MMAP_THRESHOLD, RETURNED),
        (libc::M_TRIM_THRESHOLD, libc::c_int::MAX),
        (libc::M_ARENA_MAX, 1),
    ] {
        #[expect(unsafe_code, reason = "the only way to the allocator's settings")]
        // SAFETY: sets a number of the allocator under its lock. What it refuses changes nothing.
        unsafe {
            libc::mallopt(parameter, value);
        }
    }
}
