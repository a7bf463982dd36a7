//! Where tests find the full reference vector sets.
//!
//! The repository ships small fixtures under `tests/fixtures`; the full sets are too large to
//! ship and live in a folder `shared` beside the checkout, or wherever `GROUNDWAVE_SHARED` says.

use std::fmt::Display;
use std::io::Write;
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
    skipped(format_args!(
        "{relative} is not available (looked in {})",
        root.display()
    ));
    None
}

/// Says aloud that a test, or a part of one, was skipped: to the process's own stderr, because
/// what `eprintln!` says is captured and only shown for tests that fail.
pub fn skipped(what: impl Display) {
    // A stderr that is gone hears nothing; the test's verdict does not depend on it.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {what}");
}
