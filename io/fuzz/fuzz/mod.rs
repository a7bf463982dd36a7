//! Fuzz targets of every parser of foreign bytes of the crates in `io`: `make fuzz` runs them for a time, the
//! ordinary tests over their corpus.

mod configs;
mod documents;
mod foreign;
mod ground;
mod kernel;
mod programs;
mod stores;

use std::path::{Path, PathBuf};

/// A document of the repository.
fn shipped(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name);
    std::fs::read(&path).unwrap_or_else(|err| panic!("{}: {err}", path.display()))
}

/// Parses bytes as a file of this name in a folder of its own.
fn as_file(name: &str, bytes: &[u8], parse: impl Fn(&Path)) {
    let folder = tempfile::tempdir().expect("a folder");
    let path: PathBuf = folder.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    parse(&path);
}

/// Bytes as text, invalid sequences replaced.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
