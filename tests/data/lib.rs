//! Where tests find data that the repository is too small for.
//!
//! Small fixtures are shipped under `tests/fixtures`. A test of anything else declares it with
//! `#[needs(terrain)]` or `#[needs(shared("..."))]` of `groundwave_needs`, and is ignored where it
//! is missing.

use std::path::{Path, PathBuf};

/// A file or folder of the full reference data: in `GROUNDWAVE_SHARED`, or in `shared` beside the
/// checkout.
///
/// # Panics
///
/// Where there is no such file.
#[must_use]
pub fn shared(relative: &str) -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("GROUNDWAVE_SHARED").map_or_else(usual, PathBuf::from);
    existing(folder.join(relative))
}

/// A file or folder that `make data` or one of its siblings fetched: in `GROUNDWAVE_DATA`, or in
/// `.data` of the checkout.
///
/// # Panics
///
/// Where there is no such file.
#[must_use]
pub fn fetched(relative: &str) -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.data");
    let folder = std::env::var_os("GROUNDWAVE_DATA").map_or_else(usual, PathBuf::from);
    existing(folder.join(relative))
}

fn existing(path: PathBuf) -> PathBuf {
    assert!(path.exists(), "{} was there at build time", path.display());
    path
}
