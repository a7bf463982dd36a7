//! Where tests find the full reference vector sets.
//!
//! The repository ships small fixtures under `tests/fixtures`; the full sets are too large to
//! ship and live in a folder `shared` beside the checkout, or wherever `GROUNDWAVE_SHARED` says.

use std::path::PathBuf;

/// The path of `relative` inside the shared data folder, or `None` (said aloud on stderr) when
/// it is absent. A caller that gets `None` returns early: the shipped fixtures still ran.
#[must_use]
pub fn shared(relative: &str) -> Option<PathBuf> {
    let root = std::env::var_os("GROUNDWAVE_SHARED").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")),
        PathBuf::from,
    );
    let path = root.join(relative);
    if path.exists() {
        return Some(path);
    }
    eprintln!(
        "SKIPPED: {relative} is not available (looked in {})",
        root.display()
    );
    None
}
