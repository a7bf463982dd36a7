//! Terrain from elsewhere: sources, a cache of their files by digest, downloads that resume.
//!
//! ```text
//! <cache>/index.json             what was fetched: name, length, ETag, SHA-256, data set
//! <cache>/<source>/<sha256>.tif  files
//! <cache>/<source>/<name>.part   a download that is not complete, and <name>.part.json about it
//! <cache>/.windows/              blocks of files that are read by windows
//! ```

mod client;
mod download;
mod error;
mod proxy;
mod source;
mod squares;
mod store;
#[cfg(test)]
mod tests;
mod windows;

pub use super::index::{Entry, INDEX_FILE, Index, IndexError};
pub use client::Client;
pub use error::FetchError;
pub use proxy::Proxy;
pub use source::{LAND_COVER, SOURCES, Source};
pub use squares::{AREA_MAX, squares_around, squares_within};
pub use store::{Cache, Counts, Event, State, check_address};
pub use windows::{WindowedFile, Windows};
