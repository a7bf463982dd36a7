//! Files that supply the heights of a terrain.

use std::path::PathBuf;

use super::about::About;

/// A file that supplies heights.
#[derive(Debug, Clone, PartialEq)]
pub struct Supplying {
    /// The file.
    pub path: PathBuf,
    /// Name it was published under.
    pub name: String,
    /// Data set.
    pub about: About,
    /// Digest of what names its version, where it is at an address.
    pub digest: Option<String>,
    /// Edges of its posts: south, west, north, east, deg.
    pub bounds_deg: [f64; 4],
}
