//! The page: its files, the source they come from, and which interfaces it may ask.

mod beside;
mod files;
mod offer;
mod statics;

use std::path::PathBuf;

pub use beside::with_gateway;
pub use files::{asks_for_html, index, page};
pub use offer::Offer;
pub use statics::statics;

/// Source of static files.
#[derive(Debug, Clone)]
pub enum Frontend {
    /// A folder.
    Folder(PathBuf),
    /// Built-in page.
    BuiltIn,
}
