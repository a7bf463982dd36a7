//! The page: its files, the source they come from, and the interfaces it may request.

mod basemap;
mod beside;
mod files;
mod offer;
mod position;
mod statics;

use std::path::PathBuf;

pub use basemap::Basemap;
pub use beside::with_gateway;
pub use files::{asks_for_html, index, page, towns};
pub use offer::Offer;
pub use statics::statics;

/// Source of the files of the page.
#[derive(Debug, Clone)]
pub enum Source {
    /// A folder.
    Folder(PathBuf),
    /// Built-in page.
    BuiltIn,
}

/// The page of a planning server.
#[derive(Debug, Clone)]
pub struct Frontend {
    /// Source of the files.
    pub source: Source,
    /// Roads and names below the mesh.
    pub basemap: Option<Basemap>,
}

impl Frontend {
    /// Built-in page without a base map.
    pub const BUILT_IN: Self = Self { source: Source::BuiltIn, basemap: None };
}
