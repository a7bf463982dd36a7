//! The allocator of the program.
//!
//! Pictures and tiles of terrain are tens of megabytes each, which the C library returns to the kernel when
//! they are freed and has mapped anew, page by page: a tenth of a sweep's time. jemalloc keeps them for a
//! while, in huge pages, which the C library takes only where an environment variable says so.

use tikv_jemallocator::Jemalloc;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Settings of jemalloc, read before `main`: huge pages for all, whose halves lie idle in every arena, so
/// that two must do; what has 16 MiB or more, tiles of 1" above all, goes back to the kernel at once, lest
/// memory grow with tiles.
#[expect(unsafe_code, reason = "jemalloc finds its settings by this name")]
// SAFETY: no other item has the name; C reads the first word, a pointer to text that ends with a zero.
#[unsafe(export_name = "_rjem_malloc_conf")]
pub static SETTINGS: &[u8] = b"thp:always,narenas:2,oversize_threshold:16777216\0";
