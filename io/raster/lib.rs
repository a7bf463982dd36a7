//! Coverage as files: rasters, pictures, outlines and tables.
//!
//! Independent of how a value was computed. A [`Rows`] gives a raster row by row, from north
//! to south, each row once; the GeoTIFF and the cell table are written in that one pass, so that
//! memory stays bounded whatever the raster. Pictures, overlays and contours are made from a
//! [`Grid`] in memory, which [`Grid::reduce`] draws from the same rows at a bounded size.
//!
//! The same input gives the same bytes, on any number of threads: no clock, no name of a
//! machine, no order of arrival gets into a file. A file appears under its name when it is
//! complete and not before (see [`PartFile`]).

mod archive;
mod atomic;
pub mod cog;
mod contour;
mod error;
pub mod geojson;
mod geometry;
mod grid;
pub mod kmz;
mod metric;
pub mod picture;
mod pyramid;
pub mod scene;
pub mod site;
pub mod table;
mod warp;
mod xml;

pub use atomic::{PartFile, write_whole};
pub use error::RasterError;
pub use geometry::{BadGeometry, GridGeometry};
pub use grid::{Grid, Resampling, Rows};
pub use metric::{Crs, MetricGeometry, UtmZone};
pub use pyramid::{Cells, Pyramid, TILE_SIDE, Tile, Window};
pub use site::{Sector, Site};
pub use warp::RasterWriter;
